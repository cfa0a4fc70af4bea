from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

from support.command_line import Clinic, Command
from support.console import is_one_line


def test_what_was_spent_and_what_is_left(clinic_files: Clinic, command: Command) -> None:
    clinic_files.set_budget(Fraction(5, 2))
    clinic_files.change_schema(lambda raw: raw["redveil"].update(budget_delta="1e-5"))
    assert command("budget", clinic_files.schema).out.splitlines() == [
        "clinic: ε = 5/2 left of 5/2",
        "clinic: δ = 1/100000 left of 1/100000",
    ]
    assert command(*clinic_files.mine, "-q").code == 0
    assert command(*clinic_files.mine, "-q", "--delta", "1e-6").code == 0
    shown = command("budget", clinic_files.schema)
    assert shown.code == 0
    table, answer = shown.out.splitlines()[1:-2], shown.out.splitlines()[-2:]
    assert answer == [
        "clinic: ε = 1/2 left of 5/2",
        "clinic: δ = 9/1000000 left of 1/100000",
    ]
    assert [line.split()[1:] for line in table] == [
        ["mine", "1", "0"],
        ["mine", "1", "1/1000000"],
    ]
    listed = json.loads(command("budget", clinic_files.schema, "--json").out)
    assert listed["spent"] == {"epsilon": "2", "delta": "1/1000000"}
    assert listed["left"] == {"epsilon": "1/2", "delta": "9/1000000"}
    assert listed["charges"] == 2


def test_looking_makes_no_ledger(clinic_files: Clinic, command: Command) -> None:
    ledger = clinic_files.set_budget(Fraction(1))
    assert command("budget", clinic_files.schema).code == 0
    assert not ledger.exists()


def test_a_schema_without_a_budget_says_so(clinic_files: Clinic, command: Command) -> None:
    shown = command("budget", clinic_files.schema)
    assert shown.code == 0
    assert "no budget" in shown.err
    listed = json.loads(command("budget", clinic_files.schema, "--json").out)
    assert listed["left"] == {"epsilon": None, "delta": "0"}


def test_a_file_that_is_no_ledger_is_refused(
    clinic_files: Clinic, command: Command, tmp_path: Path
) -> None:
    other = tmp_path / "other.sqlite"
    other.write_text("not a database at all, but long enough to be looked at" * 9)
    refused = command("budget", clinic_files.schema, "--ledger", other)
    assert refused.code == 2
    assert is_one_line(refused.err)
