"""The console script itself, in its own process."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from fractions import Fraction
from pathlib import Path

import pytest

from redveil.budget.ledger import Ledger
from redveil.report.result import Result
from support.command_line import Clinic
from support.console import REDVEIL, is_one_line, redveil
from support.results import document, redescription

HEAVY = ("numba", "numpy", "polars", "pyarrow", "scipy", "sqlalchemy", "opendp")


def test_mining_works_with_relative_paths_and_the_schema_beside_the_data(
    clinic_files: Clinic,
) -> None:
    files = clinic_files.left.name, clinic_files.right.name
    done = redveil("mine", *files, "--epsilon", "1/2", folder=clinic_files.folder)
    assert done.returncode == 0
    assert "Traceback" not in done.stderr
    assert "Privacy certificate" in done.stdout
    assert Result.read(clinic_files.result).certificate.epsilon == "1/2"


def test_over_budget_is_exit_code_3_and_one_line(clinic_files: Clinic) -> None:
    clinic_files.set_budget(Fraction(1, 2))
    refused = redveil(*clinic_files.mine, "--quiet")
    assert (refused.returncode, refused.stdout) == (3, "")
    assert is_one_line(refused.stderr)


@pytest.mark.parametrize(
    "arguments",
    [
        ["mine", "gone.csv", "laboratory.csv", "--epsilon", "1"],
        ["mine", "diagnoses.csv", "laboratory.csv", "--epsilon", "much"],
        ["mine", "diagnoses.csv", "laboratory.csv", "--epsilon", "1", "--nonsense"],
        ["show", "diagnoses.csv"],
    ],
)
def test_mistakes_are_exit_code_2_and_one_line(arguments: list[str], clinic_files: Clinic) -> None:
    refused = redveil(*arguments, folder=clinic_files.folder)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert is_one_line(refused.stderr)


@pytest.mark.parametrize("arguments", [["--help"], ["mine", "--help"], ["--version"]])
def test_help_imports_nothing_heavy(arguments: list[str]) -> None:
    program = (
        "import sys\n"
        "from redveil.cli import main\n"
        f"sys.argv = ['redveil', *{arguments!r}]\n"
        "try:\n"
        "    main()\n"
        "except SystemExit as end:\n"
        "    assert not end.code, end.code\n"
        f"found = [name for name in {HEAVY!r} if name in sys.modules]\n"
        "sys.exit(f'imported: {found}' if found else 0)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.stderr == ""
    assert done.returncode == 0
    assert done.stdout


def _interrupted(process: subprocess.Popen[str]) -> tuple[str, str]:
    """Press Ctrl-C, and again if nothing happens: Python drops it while it tidies up."""
    for _ in range(4):
        process.send_signal(signal.SIGINT)
        with contextlib.suppress(subprocess.TimeoutExpired):
            return process.communicate(timeout=20)
    pytest.fail("it does not stop")


def test_ctrl_c_leaves_the_charge_but_no_file(clinic_files: Clinic) -> None:
    charges = clinic_files.set_budget(Fraction(1))
    arguments = [*clinic_files.mine, "--trials", "1000", "--depth", "6"]
    with subprocess.Popen(
        [str(REDVEIL), *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    ) as process:
        # The charge is the last thing before the data is touched.
        deadline = time.monotonic() + 60
        while not (charges.exists() and Ledger(charges).spent("clinic").epsilon == 1):
            assert time.monotonic() < deadline
            assert process.poll() is None
            time.sleep(0.05)
        # A moment later, when its threads mine and it waits for them.
        time.sleep(3)
        try:
            out, err = _interrupted(process)
        finally:
            process.kill()
    assert process.returncode == 130
    assert out == ""
    assert "Traceback" not in err
    assert err.endswith("redveil: stopped; no partial files were left, and any charge stands\n")
    assert not clinic_files.result.exists()
    assert [name for name in clinic_files.names() if name.startswith(".")] == []
    assert Ledger(charges).spent("clinic").epsilon == 1


@pytest.mark.parametrize("arguments", [["--help"], ["plan", "-e", "1", "--json"], ["show"]])
def test_a_closed_pipe_is_no_traceback(arguments: list[str], tmp_path: Path) -> None:
    if arguments == ["show"]:
        path = tmp_path / "result.json"
        Result(document(redescription())).save(path)
        arguments = ["show", str(path)]
    reader, writer = os.pipe()
    os.close(reader)
    try:
        done = subprocess.run(
            [str(REDVEIL), *arguments],
            stdout=writer,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            check=False,
            timeout=60,
        )
    finally:
        os.close(writer)
    assert done.stderr == ""
    assert done.returncode in (0, 1)


def test_a_reader_that_has_seen_enough_gets_its_lines() -> None:
    done = subprocess.run(
        f"'{REDVEIL}' plan --epsilon 1 --trials 1000 --json | head -1",
        shell=True,
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=60,
    )
    assert (done.stdout, done.stderr) == ("{\n", "")


WAITING = """
import sys
from redveil.cli.console import progress, say
with progress("mining") as show:
    show(0.25)
    sys.stdin.readline()
    show(0.75)
say("still here")
print("the result is saved")
"""


def test_a_terminal_that_goes_away_does_not_stop_a_run() -> None:
    """A real terminal, closed while the progress bar is on it."""
    keyboard, screen = os.openpty()
    with subprocess.Popen(
        [sys.executable, "-c", WAITING],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=screen,
        encoding="utf-8",
        env={**os.environ, "TERM": "xterm"},
    ) as process:
        os.close(screen)
        shown = b""
        while b"mining" not in shown:
            shown += os.read(keyboard, 1000)
        os.close(keyboard)
        out, _ = process.communicate("go on\n", timeout=60)
    assert out == "the result is saved\n"
    assert process.returncode == 0
