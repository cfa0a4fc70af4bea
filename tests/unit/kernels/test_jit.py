"""Where compiled code is kept, that it runs where it cannot be, and that it is what Numba makes."""

from __future__ import annotations

import os
import resource
import runpy
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

from redveil.base.cache import VARIABLE, Cache, cache_of
from redveil.kernels import jit, machine_code
from redveil.kernels.jit import Kernel, kernel
from redveil.kernels.machine_code import MachineCode

pytestmark = pytest.mark.skipif(
    os.environ.get("NUMBA_DISABLE_JIT", "0") not in {"", "0"}, reason="nothing is compiled"
)

SOURCE = """
import numpy as np
def double(x):
    return 2 * x
def total(pair, scale):
    sum = 0.0
    for i in range(pair.first.shape[0]):
        for j in range(pair.first.shape[1]):
            sum += scale * pair.first[i, j]
    return sum + pair.second[0]
def three(x):
    return x, x // 2, -x
def divided(x, y):
    return x // y
def nothing(values):
    values[0] = 7
def allocating(n):
    return np.zeros(n)
"""


class Pair(NamedTuple):
    first: Any
    second: Any


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A cache of its own for every test."""
    monkeypatch.setenv(VARIABLE, str(tmp_path / "cache"))
    cache_of.cache_clear()
    yield tmp_path / "cache" / "kernels"
    cache_of.cache_clear()


def compiled(name: str, tmp_path: Path) -> Any:
    """Return a kernel whose source is in a folder."""
    source = tmp_path / "source.py"
    source.write_text(SOURCE)
    function: Callable[..., object] = runpy.run_path(str(source))[name]
    return kernel(function)


def kept(folder: Path) -> list[Path]:
    return list(folder.glob("[!.]*")) if folder.exists() else []


def test_compiled_code_is_kept_for_its_owner_alone(tmp_path: Path, folder: Path) -> None:
    assert compiled("double", tmp_path)(21) == 42
    (entry,) = kept(folder)
    assert entry.name.startswith("double-")
    assert (folder.stat().st_mode & 0o777, entry.stat().st_mode & 0o777) == (0o700, 0o600)


def test_what_is_kept_is_used(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    double = compiled("double", tmp_path)
    assert (double(21), len(kept(folder))) == (42, 1)
    monkeypatch.setattr(jit, "compiled", None)
    assert compiled("double", tmp_path)(4) == 8


def test_every_combination_of_types_is_compiled(tmp_path: Path, folder: Path) -> None:
    double = compiled("double", tmp_path)
    assert (double(21), double(1.5), double(np.int64(-3))) == (42, 3.0, -6)
    assert len(kept(folder)) == 2


@pytest.mark.parametrize("layout", ["C", "F", "A"])
@pytest.mark.parametrize("dtype", [np.int64, np.uint8, np.float64])
def test_arrays_of_all_layouts_and_tuples_are_passed(
    layout: str, dtype: type, tmp_path: Path
) -> None:
    first: NDArray[Any] = np.arange(12).astype(dtype).reshape(3, 4)
    first = {"C": first, "F": np.asfortranarray(first), "A": np.repeat(first, 2, axis=1)[:, ::2]}[
        layout
    ]
    first.flags.writeable = dtype is not np.uint8
    found = compiled("total", tmp_path)(Pair(first, np.array([5.0])), 0.5)
    assert found == 0.5 * 66 + 5


def test_what_a_kernel_returns_arrives(tmp_path: Path) -> None:
    assert compiled("three", tmp_path)(9) == (9, 4, -9)
    values = np.zeros(1, np.int64)
    assert compiled("nothing", tmp_path)(values) is None
    assert values.tolist() == [7]


def test_an_error_of_a_kernel_is_raised(tmp_path: Path) -> None:
    divided = compiled("divided", tmp_path)
    assert divided(7, 2) == 3
    with pytest.raises(ArithmeticError):
        divided(7, 0)


def test_a_kernel_that_allocates_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Exception, match="zeros"):
        compiled("allocating", tmp_path)(3)


def test_a_changed_source_is_compiled_anew(tmp_path: Path, folder: Path) -> None:
    assert compiled("double", tmp_path)(21) == 42
    (tmp_path / "source.py").write_text(SOURCE.replace("2 * x", "3 * x"))
    changed = kernel(runpy.run_path(str(tmp_path / "source.py"))["double"])
    assert (changed(21), len(kept(folder))) == (63, 2)


@pytest.mark.parametrize(
    "damage", [lambda code: code[:-1], lambda code: code[:0], lambda code: b"x" + code[1:]]
)
def test_damaged_code_is_not_executed(
    damage: Callable[[bytes], bytes], tmp_path: Path, folder: Path
) -> None:
    assert compiled("double", tmp_path)(21) == 42
    (entry,) = kept(folder)
    entry.write_bytes(damage(entry.read_bytes()))
    assert compiled("double", tmp_path)(21) == 42


def test_settings_of_the_compiler_are_part_of_the_name(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert compiled("double", tmp_path)(21) == 42
    monkeypatch.setenv("NUMBA_OPT", "1")
    assert compiled("double", tmp_path)(21) == 42
    assert len(kept(folder)) == 2


def test_code_that_numba_passes_other_arguments_to_is_left_to_numba(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(machine_code.NUMBERS, "int64", ("i32", machine_code.NUMBERS["int64"][1]))
    assert compiled("double", tmp_path)(21) == 42
    assert not kept(folder)


def test_code_that_calls_something_unknown_is_left_to_numba(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "source.py"
    source.write_text("import math\ndef root(x):\n    return math.erf(x)\n")
    monkeypatch.setattr(machine_code, "LIBRARY", frozenset())
    found = kernel(runpy.run_path(str(source))["root"])(0.5)
    assert found == pytest.approx(0.5205, abs=1e-4)
    assert not kept(folder)


def test_without_a_place_nothing_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    monkeypatch.setenv(VARIABLE, "")
    assert compiled("double", tmp_path)(21) == 42
    assert not kept(folder)


def test_a_full_disk_is_no_reason_to_stop(tmp_path: Path, folder: Path) -> None:
    double = compiled("double", tmp_path)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, before[1]))
    try:
        assert double(21) == 42
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert not kept(folder)


def test_an_entry_is_read_as_it_was_written() -> None:
    code = MachineCode("name", "int64", 3, b"\n\x00code")
    assert MachineCode.from_bytes(code.to_bytes()) == code
    assert Cache(None).find("name") is None


def test_numba_is_not_started_for_kernels_that_are_kept(tmp_path: Path) -> None:
    program = (
        "import sys, numpy; from redveil.kernels.bits import ones; "
        "print(ones(numpy.uint64(7)), 'numba' in sys.modules)"
    )
    environment = {name: v for name, v in os.environ.items() if not name.startswith("NUMBA_")}
    printed = [
        subprocess.run(
            [sys.executable, "-c", program],
            env=environment | {VARIABLE: str(tmp_path / "cache")},
            capture_output=True, text=True, check=True, timeout=120,
        ).stdout
        for _ in range(2)
    ]  # fmt: skip
    assert printed == ["3 True\n", "3 False\n"]


def test_a_setting_that_numba_refuses_is_one_line() -> None:
    program = (
        "from redveil.errors import InputError\n"
        "try: import redveil.kernels.jit\n"
        "except InputError as error: print(error)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=os.environ | {"NUMBA_NUM_THREADS": "0"},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert done.stdout.startswith("Numba cannot start (")
    assert done.stdout.endswith("environment variables whose names begin with NUMBA_\n")


def test_a_kernel_keeps_its_name_and_description() -> None:
    from redveil.kernels.bits import ones

    assert type(ones) is Kernel
    assert (vars(ones)["__name__"], "bits of a word" in (ones.__doc__ or "")) == ("ones", True)
