"""Runs of the command line that are cut off after the release: what was paid for is there."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from fractions import Fraction
from pathlib import Path

import pytest

from redveil import Result
from redveil.budget.ledger import Ledger
from support.command_line import Clinic
from support.console import is_one_line

# The real command line, whose search for redescriptions says that it has begun, and then waits.
WAITING = """
import signal, time
from pathlib import Path
from redveil.findings import findings

def wait(*_, **__):
    Path("begun").touch()
    while True:
        time.sleep(0.01)

findings._hardened = wait
# A shell starts what is in the background with Ctrl-C ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)
from redveil.cli import main
main()
"""
# The same with a search that runs out of memory.
FAILING = WAITING.replace("    while True:\n        time.sleep(0.01)", "    raise MemoryError")


@pytest.fixture
def clinic_files(tmp_path: Path) -> Clinic:
    return Clinic.write(tmp_path / "clinic")


def started(clinic: Clinic, script: str, *arguments: str) -> subprocess.Popen[str]:
    aside = clinic.folder / "aside"
    aside.mkdir()
    tables = str(clinic.left), str(clinic.right)
    return subprocess.Popen(
        [sys.executable, "-c", script, "mine", *tables, "--epsilon", "1", "-q", *arguments],
        cwd=clinic.folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        env={**os.environ, "TMPDIR": str(aside)},
    )


def stopped(run: subprocess.Popen[str], clinic: Clinic, how: signal.Signals) -> tuple[int, str]:
    """Stop a run while it looks for redescriptions; return its exit code and what it said."""
    end = time.monotonic() + 60
    while not (clinic.folder / "begun").exists():
        assert run.poll() is None, run.communicate()
        assert time.monotonic() < end
        time.sleep(0.01)
    run.send_signal(how)
    _, said = run.communicate(timeout=60)
    return run.returncode, said


def shown(path: Path) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "redveil", "show", str(path), "--max-p-value", "1"],
        capture_output=True,
        encoding="utf-8",
        check=True,
        timeout=60,
    )
    return done.stdout


@pytest.mark.parametrize(
    ("output", "how"),
    [
        pytest.param("result.json", signal.SIGINT, id="Ctrl-C"),
        pytest.param("result.json", signal.SIGKILL, id="kill"),
        pytest.param("-", signal.SIGKILL, id="kill, standard output"),
    ],
)
def test_what_was_released_is_in_a_file_when_a_run_is_stopped(
    output: str, how: signal.Signals, clinic_files: Clinic
) -> None:
    ledger = clinic_files.set_budget(Fraction(5))
    clinic_files.result.write_text(json.dumps({"format": "redveil-result", "of": "an earlier run"}))
    code, said = stopped(started(clinic_files, WAITING, "-o", output), clinic_files, how)
    assert Ledger(ledger).spent("clinic").epsilon == 1
    aside = list((clinic_files.folder / "aside").iterdir())
    kept = clinic_files.folder / "result.json.1"
    path = clinic_files.result if output == "result.json" else aside[0]
    assert (len(aside), kept.exists()) == ((0, True) if output == "result.json" else (1, False))
    early = Result.read(path)
    assert early.document.unfinished
    assert early.document.tree_pairs
    assert "Listed again from released tables, at no cost" in shown(path)
    if how is signal.SIGINT:
        assert code == 130
        *_, error = said.splitlines(keepends=True)
        assert is_one_line(error)
        assert "stopped; what was released and paid for is in result.json" in error
    else:
        assert code == -how


def test_a_run_that_is_out_of_memory_says_where_its_result_is(clinic_files: Clinic) -> None:
    run = started(clinic_files, FAILING, "-o", "result.json")
    _, said = run.communicate(timeout=60)
    assert run.returncode == 1
    announcement, error = said.splitlines(keepends=True)
    assert announcement.startswith("new ledger begun")
    assert is_one_line(error)
    assert "the list was not made (MemoryError in redveil.findings.findings, line" in error
    assert "what was released and paid for is in result.json" in error
    assert Result.read(clinic_files.result).document.unfinished


def test_a_run_that_ends_well_leaves_its_result_and_the_one_before(clinic_files: Clinic) -> None:
    earlier = json.dumps({"format": "redveil-result", "of": "an earlier run"})
    clinic_files.result.write_text(earlier)
    before = clinic_files.names()
    run = started(clinic_files, "from redveil.cli import main; main()", "-o", "result.json")
    run.communicate(timeout=60)
    assert run.returncode == 0
    new = {"aside", "datapackage.ledger.sqlite", "result.json.1"}
    assert set(clinic_files.names()) - set(before) == new
    assert (clinic_files.folder / "result.json.1").read_text() == earlier
    assert not Result.read(clinic_files.result).document.unfinished
    assert not list((clinic_files.folder / "aside").iterdir())
