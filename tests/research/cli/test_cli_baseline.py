from __future__ import annotations

import json

import pytest

from support.command_line import Clinic, Command
from support.console import is_one_line

QUICK = ("--depth", "2", "--starts", "4")


@pytest.mark.parametrize("method", ["split-trees", "layered-trees", "cartwheels"])
def test_a_baseline_is_shown_with_a_loud_warning(
    method: str, clinic_files: Clinic, command: Command
) -> None:
    before = clinic_files.names()
    done = command("baseline", method, clinic_files.left, clinic_files.right, *QUICK)
    assert done.code == 0
    assert done.out.startswith("NOT PRIVATE")
    assert "true J" in done.out
    assert f"{method}, no privacy" in done.out
    # Nothing is written, and nothing is charged.
    assert clinic_files.names() == before


def test_a_file_is_marked_and_kept(clinic_files: Clinic, command: Command) -> None:
    path = clinic_files.folder / "baseline.json"
    run = ("baseline", "layered-trees", clinic_files.left, clinic_files.right, *QUICK)
    done = command(*run, "-o", path)
    assert done.code == 0
    assert f"written to {path} (NOT PRIVATE)" in done.err
    again = command(*run, "-o", path)
    assert "previous baseline kept as" in again.err


def test_standard_output_is_the_file_alone(clinic_files: Clinic, command: Command) -> None:
    done = command(
        "baseline", "cartwheels", clinic_files.left, clinic_files.right, *QUICK, "-o", "-"
    )
    assert json.loads(done.out)["warning"].startswith("NOT PRIVATE")


def test_no_other_command_takes_it_for_a_result(clinic_files: Clinic, command: Command) -> None:
    path = clinic_files.folder / "baseline.json"
    run = ("baseline", "layered-trees", clinic_files.left, clinic_files.right, *QUICK)
    assert command(*run, "-o", path).code == 0
    for other in (("show", path), ("report", path), ("ask", path), ("compare", path, path)):
        refused = command(*other)
        assert refused.code == 2
        assert "this is a baseline (NOT PRIVATE), not a result" in refused.err
    assert is_one_line(refused.err)


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("--depth", "0", "--depth must be a whole number from 1 to 10"),
        ("--starts", "0", "--starts must be a whole number"),
        ("--min-leaf", "0", "--min-leaf must be a whole number"),
        ("--min-jaccard", "2", "--min-jaccard must lie between 0 and 1"),
    ],
)
def test_bad_options_are_refused_before_any_file_is_read(
    option: str, value: str, message: str, command: Command
) -> None:
    refused = command("baseline", "split-trees", "no.csv", "none.csv", option, value)
    assert (refused.code, refused.out) == (2, "")
    assert message in refused.err
    assert is_one_line(refused.err)


def test_an_input_is_not_written_over(clinic_files: Clinic, command: Command) -> None:
    run = ("baseline", "split-trees", clinic_files.left, clinic_files.right)
    refused = command(*run, "-o", clinic_files.left)
    assert refused.code == 2
    assert "needs that file itself" in refused.err
