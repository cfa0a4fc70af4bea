"""A command imports what it needs and no more. Modules are counted: seconds differ by machine."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter

import pytest

from support.command_line import Clinic

PROGRAM = """
import json, sys
from redveil.cli import main
sys.argv[0] = "redveil"
try:
    main()
except SystemExit as stop:
    assert not stop.code, stop.code
print(json.dumps(sorted(sys.modules)), file=sys.stderr)
"""
# The most modules that a command may import of each package; of those not named here, none. What is
# compiled and simulated is on disk by then.
WATCHED = (
    "redveil", "typer", "rich", "pydantic", "numpy", "numba", "llvmlite", "scipy", "pyarrow",
    "opendp", "pandas", "polars", "sklearn", "duckdb", "matplotlib", "openpyxl", "distributed",
    "dask",
)  # fmt: skip
BUDGETS = {
    "--version": {"redveil": 25, "typer": 32},
    "--help": {"redveil": 25, "typer": 32},
    "show": {"redveil": 60, "typer": 32, "rich": 56, "pydantic": 50, "numpy": 110},
    "mine": {
        "redveil": 245, "typer": 32, "rich": 56, "pydantic": 50, "numpy": 120, "llvmlite": 35,
        "pyarrow": 16, "opendp": 12,
    },
}  # fmt: skip


def imported(*arguments: object) -> Counter[str]:
    """Run a command in a new process, and return how many modules of each package it imported."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *map(str, arguments)],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
        env=os.environ | {"NUMBA_DISABLE_JIT": "0"},
    )
    return Counter(name.partition(".")[0] for name in json.loads(done.stderr.splitlines()[-1]))


@pytest.fixture(scope="module")
def commands(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[object]]:
    clinic = Clinic.write(tmp_path_factory.mktemp("clinic"))
    # Always the same kernels, whatever is found.
    shape = ("--quiet", "--trials", 2, "--depth", 2)
    imported(*clinic.mine, *shape)  # compiles what is not compiled yet, and writes a result
    again = [*clinic.mine[:-1], clinic.folder / "again.json", *shape]
    return {
        "--version": ["--version"],
        "--help": ["--help"],
        "show": ["show", clinic.result],
        "mine": again,
    }


@pytest.mark.parametrize("command", BUDGETS)
def test_a_command_imports_no_more_than_it_needs(
    command: str, commands: dict[str, list[object]]
) -> None:
    found = imported(*commands[command])
    budget = BUDGETS[command]
    over = {name: found[name] for name in WATCHED if found[name] > budget.get(name, 0)}
    assert over == {}
    # A budget that is far too large would not notice anything.
    assert all(found[name] > most // 3 for name, most in budget.items())


def test_only_the_parts_of_opendp_that_draw_are_imported() -> None:
    program = (
        "import sys; from fractions import Fraction;"
        "from redveil.privacy.randomness import SystemRandomness as S;"
        "S().laplace(Fraction(1), 1); S().gaussian(Fraction(1), 1);"
        "sys.exit([n for n in sys.modules if n.startswith(('opendp.extras', 'opendp.prelude',"
        " 'pandas', 'polars', 'sklearn'))] or 0)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=60
    )
    assert (done.returncode, done.stderr) == (0, "")
