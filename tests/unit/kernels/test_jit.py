"""Where compiled code is kept, and that it runs where it cannot be."""

from __future__ import annotations

import os
import resource
import runpy
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from numba.core import config

from redveil.kernels.jit import kernel

pytestmark = pytest.mark.skipif(
    bool(getattr(config, "DISABLE_JIT", False)), reason="nothing is compiled"
)


def compiled(folder: Path) -> Any:
    """Return a kernel whose source is in a folder."""
    source = folder / "source.py"
    source.write_text("def double(x):\n    return 2 * x\n")
    double: Callable[[int], int] = runpy.run_path(str(source))["double"]
    return kernel(double)


def kept(folder: Path) -> list[Path]:
    return list(folder.rglob("*.nbc"))


def test_compiled_code_is_kept_beside_its_source(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # NUMBA_CACHE_DIR would name another place.
    monkeypatch.setattr(config, "CACHE_DIR", "")
    assert compiled(tmp_path)(21) == 42
    assert kept(tmp_path)


def test_without_a_place_nothing_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # The only place that Numba may look at is for functions from a notebook.
    monkeypatch.setattr(config, "CACHE_LOCATOR_CLASSES", "IPythonCacheLocator", raising=False)
    assert compiled(tmp_path)(21) == 42
    assert not kept(tmp_path)


@pytest.mark.parametrize("home", [Path("~"), None])
def test_without_a_home_none_is_made(
    home: Path | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def at_home() -> Path:
        if home is None:
            raise RuntimeError
        return home

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(Path, "home", at_home)
    monkeypatch.setattr(os, "access", lambda *_: False)
    assert compiled(tmp_path)(21) == 42
    assert [path.name for path in tmp_path.iterdir()] == ["source.py"]


def test_nothing_is_kept_where_others_can_write(tmp_path: Path) -> None:
    tmp_path.chmod(0o777)
    assert compiled(tmp_path)(21) == 42
    assert not kept(tmp_path)


def test_a_full_disk_is_no_reason_to_stop(tmp_path: Path) -> None:
    double = compiled(tmp_path)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, before[1]))
    try:
        assert double(21) == 42
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert not kept(tmp_path)


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
