"""Runs of the command line that are cut off after the release: what was paid for is there."""

from __future__ import annotations

import html
import json
import os
import signal
import subprocess
import sys
import time
from fractions import Fraction
from pathlib import Path

import pytest

import redveil
from redveil import Result
from redveil.budget.ledger import Ledger
from support.clinic import clinic
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


def test_a_run_that_is_stopped_where_nothing_can_be_written_prints_what_was_released(
    clinic_files: Clinic,
) -> None:
    """The disk has filled up since the check, and so has that of temporary files."""
    full = WAITING.replace(
        "findings._hardened = wait",
        "findings._hardened = wait\n"
        "from redveil.base import files\n"
        "from redveil.cli import paid_output, outputs\n"
        "def full(path, *_, **__):\n"
        "    raise files.InputError(f'{path}: cannot be written; the disk is full; make room')\n"
        "paid_output.replace_text = full\n"
        "paid_output.set_aside = outputs.set_aside = lambda _: None",
    )
    run = started(clinic_files, full, "-o", "result.json")
    end = time.monotonic() + 60
    while not (clinic_files.folder / "begun").exists():
        assert run.poll() is None, run.communicate()
        assert time.monotonic() < end
        time.sleep(0.01)
    run.send_signal(signal.SIGINT)
    printed, said = run.communicate(timeout=60)
    assert run.returncode == 130
    assert "stopped; what was released and paid for is in standard output" in said
    (clinic_files.folder / "printed.json").write_text(printed, encoding="utf-8")
    assert Result.read(clinic_files.folder / "printed.json").document.tree_pairs


@pytest.mark.parametrize(
    ("how", "code", "words"),
    [
        pytest.param("KeyboardInterrupt", 130, "stopped", id="Ctrl-C"),
        pytest.param(
            "MemoryError", 1, "the result was not written (MemoryError", id="out of memory"
        ),
    ],
)
def test_a_run_that_is_stopped_between_list_and_file_says_where_its_result_is(
    how: str, code: int, words: str, clinic_files: Clinic
) -> None:
    script = f"""
from redveil.report.result import Result
whole = Result.to_json
def to_json(self):
    if self.document.unfinished:
        return whole(self)
    raise {how}
Result.to_json = to_json
from redveil.cli import main
main()
"""
    run = started(clinic_files, script, "-o", "result.json")
    _, said = run.communicate(timeout=60)
    assert run.returncode == code
    *_, error = said.splitlines(keepends=True)
    assert is_one_line(error)
    assert words in error
    assert "what was released and paid for is in result.json" in error
    assert Result.read(clinic_files.result).document.unfinished


def test_commands_make_the_list_of_a_result_that_was_cut_off(clinic_files: Clinic) -> None:
    early: list[Result] = []
    finished = redveil.mine(clinic(), 20, trials=1, keep=early.append)
    assert finished.redescriptions
    early[0].save(clinic_files.result)
    finished.save(clinic_files.folder / "finished.json")
    for arguments, where in (
        (["report", "result.json"], "result.html"),
        (["compare", "result.json", "finished.json", "--json"], None),
        (["show", "result.json", "--format", "csv"], None),
    ):
        done = subprocess.run(
            [sys.executable, "-m", "redveil", *arguments],
            cwd=clinic_files.folder,
            capture_output=True,
            encoding="utf-8",
            check=True,
            timeout=60,
        )
        text = done.stdout if where is None else (clinic_files.folder / where).read_text()
        assert "has not been made" not in text
        first = finished.redescriptions[0].left.text
        names = (first, html.escape(first))
        assert any(name in text or json.dumps(name)[1:-1] in text for name in names)


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
