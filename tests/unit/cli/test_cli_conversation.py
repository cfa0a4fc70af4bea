"""The commands describe, refine and confirm, as a user types them."""

from __future__ import annotations

from pathlib import Path

import pytest

from redveil.budget.ledger import Ledger
from redveil.report.result import Result
from support.command_line import Clinic, Command, Typist

THREE_FILES = ["datapackage.json", "diagnoses.csv", "laboratory.csv"]


def tables(files: Clinic) -> tuple[str, str]:
    return str(files.folder / "diagnoses.csv"), str(files.folder / "laboratory.csv")


def test_a_query_is_described(clinic_files: Clinic, command: Command) -> None:
    out = str(clinic_files.result)
    done = command("describe", "[gout]", *tables(clinic_files), "-e", "20", "-o", out)
    assert done.code == 0
    assert "given       [gout]" in done.out
    assert done.err.endswith(f"written to {out}\n")
    result = Result.read(out)
    assert result.certificate.algorithm == "describe"
    assert {one.left.text for one in result} <= {"[gout]", "![gout]"}
    shown = command("show", out)
    assert "given       [gout]" in shown.out
    (charge,) = Ledger(clinic_files.folder / "datapackage.ledger.sqlite").charges("clinic")
    assert (charge.paid_for.purpose, charge.paid_for.result) == ("describe", "result.json")


@pytest.mark.parametrize(
    ("query", "options", "problem"),
    [
        ("[goat]", (), "QUERY: no attribute goat; did you mean gout?"),
        ("[gout", (), "QUERY: position "),
        ("[gout]", ("--within", "[agee > 3]"), "--within: no attribute agee; did you mean age?"),
        (
            "[gout]",
            ("--within", "![gout]"),
            "QUERY: true for no patient that the question is about",
        ),
        ("[gout]", ("--depth", "3"), "describe draws trees exactly, up to depth 2"),
        ("[gout]", ("--tree-share", "2"), "--tree-share must lie between 0 and 1"),
        ("[gout]", ("--max-support", "7"), "--max-support"),
    ],
)
def test_what_cannot_be_described_is_refused_before_loading(
    query: str, options: tuple[str, ...], problem: str, clinic_files: Clinic, command: Command
) -> None:
    out = str(clinic_files.result)
    done = command("describe", query, *tables(clinic_files), "-e", "1", "-o", out, *options)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"redveil: {problem}")
    assert done.err.count("\n") == 1
    assert clinic_files.names() == THREE_FILES


@pytest.fixture
def mined(clinic_files: Clinic, command: Command) -> Path:
    done = command(*clinic_files.mine, "-e", "50", "-q", "--depth", "1", "--trials", "1")
    assert done.code == 0
    assert len(Result.read(clinic_files.result)) >= 1
    return clinic_files.result


def test_a_redescription_is_refined(mined: Path, clinic_files: Clinic, command: Command) -> None:
    out = str(clinic_files.folder / "deeper.json")
    done = command("refine", str(mined), *tables(clinic_files), "-e", "5", "--of", "1", "-o", out)
    assert done.code == 0
    first = Result.read(mined).redescriptions[0]
    given = Result.read(out).certificate.given
    assert given is not None
    assert [one.text for one in given.queries] == [first.left.text, first.right.text]


def test_a_list_is_confirmed(mined: Path, clinic_files: Clinic, command: Command) -> None:
    out = str(clinic_files.folder / "again.json")
    done = command("confirm", str(mined), *tables(clinic_files), "-e", "5", "-o", out)
    assert done.code == 0
    assert "difference" in done.out
    first, again = Result.read(mined), Result.read(out)
    assert [one.left for one in again] == [one.left for one in first]
    assert all(one.before for one in again)
    assert "difference" in command("show", out).out
    assert "difference_low" in command("show", out, "--format", "csv").out
    assert "difference" not in command("show", str(mined)).out


VOUCHED = "the patients are others than those that the list was found on, or nothing is confirmed"


@pytest.mark.parametrize(
    ("options", "typed", "is_asked", "vouched"),
    [
        ((), None, False, False),
        (("--others",), None, False, True),
        (("--perhaps-same",), "", False, False),
        ((), "y\n", True, True),
        ((), "\n", True, False),
        ((), "", True, False),
    ],
)
def test_the_owner_is_asked_whether_the_entities_are_others(
    options: tuple[str, ...],
    typed: str | None,
    is_asked: bool,  # noqa: FBT001 - what is expected
    vouched: bool,  # noqa: FBT001
    mined: Path,
    clinic_files: Clinic,
    command: Command,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if typed is not None:
        monkeypatch.setattr("sys.stdin", Typist(typed))
    out = str(clinic_files.folder / "again.json")
    call = ("confirm", str(mined), *tables(clinic_files), "-e", "1", "-q", "-o", out)
    done = command(*call, *options)
    assert (done.code, done.out) == (0, "")
    assert ("found on, without exception?" in done.err) is is_asked
    again = Result.read(out)
    assert (VOUCHED in again.certificate.conditions) is vouched
    shown = command("show", out).out
    assert ("possibly the same patients" in shown) is not vouched
    assert ("confirmed, if these are other patients" in shown) is not vouched


@pytest.mark.parametrize("name", ["refine", "confirm"])
def test_the_first_result_is_not_written_over(
    name: str, mined: Path, clinic_files: Clinic, command: Command
) -> None:
    before = mined.read_bytes()
    done = command(name, str(mined), *tables(clinic_files), "-e", "5", "-o", str(mined))
    assert done.code == 2
    assert "this command needs that file itself" in done.err
    assert mined.read_bytes() == before


def test_a_number_that_is_not_listed_is_not_charged(
    mined: Path, clinic_files: Clinic, command: Command
) -> None:
    ledger = Ledger(clinic_files.folder / "datapackage.ledger.sqlite")
    spent = ledger.spent("clinic")
    out = str(clinic_files.folder / "deeper.json")
    done = command("refine", str(mined), *tables(clinic_files), "-e", "5", "--of", "99", "-o", out)
    assert done.code == 2
    assert "the result has no such redescription; use a number from 1 to " in done.err
    assert ledger.spent("clinic") == spent


def test_questions_can_be_planned(command: Command) -> None:
    assert "tree score" in command("plan", "--algorithm", "describe", "-e", "1").out
    assert "level 2" in command("plan", "--algorithm", "refine", "-e", "1").out
    steps = command("plan", "--algorithm", "confirm", "--trials", "2", "-e", "1").out
    assert steps.count("leaf table") == 2


def test_mining_does_not_offer_questions(clinic_files: Clinic, command: Command) -> None:
    done = command(*clinic_files.mine, "--algorithm", "describe")
    assert done.code == 2
