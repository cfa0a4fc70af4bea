from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import pytest

from redveil.budget.charges import PaidFor
from redveil.budget.ledger import Ledger
from redveil.losses.loss import Loss
from redveil.report.result import Result
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
    assert [line.split()[1:4] for line in table] == [["mine", "result.json", "twin,"]] * 2
    assert [line.split()[-2:] for line in table] == [["1", "0"], ["1", "1/1000000"]]
    listed = json.loads(command("budget", clinic_files.schema, "--json").out)
    assert listed["spent"] == {"epsilon": "2", "delta": "1/1000000"}
    assert listed["left"] == {"epsilon": "1/2", "delta": "9/1000000"}
    assert [one["delta"] for one in listed["charges"]] == ["0", "1/1000000"]
    assert listed["charges"][0]["result"] == "result.json"
    assert listed["charges"][0]["parameters"]["min_support"] == 10


def test_looking_makes_no_ledger(clinic_files: Clinic, command: Command) -> None:
    ledger = clinic_files.set_budget(Fraction(1))
    shown = command("budget", clinic_files.schema)
    assert shown.code == 0
    assert f"{ledger}: no such ledger yet" in shown.err
    assert not ledger.exists()


def test_without_a_budget_runs_are_added_up(clinic_files: Clinic, command: Command) -> None:
    for more in ([], ["--delta", "1e-6", "--depth", "1", "--root-score", "leverage"]):
        assert command(*clinic_files.mine, "-q", *more).code == 0
    shown = command("budget", clinic_files.schema)
    assert shown.code == 0
    assert shown.out.splitlines()[-2:] == [
        "clinic: ε = 2 spent; the schema declares no budget",
        "clinic: δ = 1/1000000 spent; the schema declares no budget_delta",
    ]
    assert "twin, depth 1, counts cells, tree_share 1/2, root_score leverage" in shown.out
    listed = json.loads(command("budget", clinic_files.schema, "--json").out)
    assert listed["left"] == {"epsilon": None, "delta": None}
    assert listed["spent"] == {"epsilon": "2", "delta": "1/1000000"}


def test_a_file_that_is_no_ledger_is_refused(
    clinic_files: Clinic, command: Command, tmp_path: Path
) -> None:
    other = tmp_path / "other.sqlite"
    other.write_text("not a database at all, but long enough to be looked at" * 9)
    refused = command("budget", clinic_files.schema, "--ledger", other)
    assert refused.code == 2
    assert is_one_line(refused.err)


def test_what_is_no_file_is_refused(clinic_files: Clinic, command: Command) -> None:
    for name in (":memory:", "/dev/null", clinic_files.folder):
        refused = command("budget", clinic_files.schema, "--ledger", name)
        assert refused.code == 2
        assert is_one_line(refused.err)


def test_purchases_that_are_missing_are_named_and_can_be_added(
    clinic_files: Clinic, command: Command
) -> None:
    clinic_files.set_budget(Fraction(2))
    bought = [{"epsilon": "1/2", "columns": {"left": [], "right": ["CRP"]}}]
    clinic_files.change_schema(lambda raw: raw["redveil"].update(bought=bought))
    shown = command("budget", clinic_files.schema)
    assert "bought for ε = 1/2 that are not in" in shown.err
    refused = command(*clinic_files.mine, "-q")
    assert refused.code == 2
    assert "--add-bought" in refused.err
    added = command("budget", clinic_files.schema, "--add-bought")
    assert added.out.endswith("clinic: ε = 3/2 left of 2\n")
    assert "new ledger begun" in added.err
    assert command(*clinic_files.mine, "-q").code == 0
    conditions = Result.read(clinic_files.result).certificate.conditions
    assert "add ε = 1/2, already spent on the cut points of 1 attribute" in conditions


def test_charges_to_another_data_set_of_the_same_name_are_pointed_out(
    clinic_files: Clinic, command: Command
) -> None:
    assert command(*clinic_files.mine, "-q").code == 0
    clinic_files.change_schema(lambda raw: raw.update(id="another"))
    shown = command("budget", clinic_files.schema)
    assert "charges to 1 other data set named clinic count, too" in shown.err
    assert "ε = 1 spent" in shown.out


def test_without_a_budget_a_folder_that_cannot_be_written_is_no_obstacle(
    clinic_files: Clinic, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The user of these tests may write everywhere, so the system's answer is replaced.
    monkeypatch.setattr("redveil.commands.ledger._is_writable", lambda _: False)
    done = command(*clinic_files.mine)
    assert done.code == 0
    assert "so this run is not recorded" in done.err
    assert not clinic_files.schema.with_name("datapackage.ledger.sqlite").exists()


def test_sums_of_any_length_are_shown(clinic_files: Clinic, command: Command) -> None:
    """Earlier versions took longer numbers, and sums of many charges are long, too."""
    ledger = clinic_files.set_budget(Fraction(1))
    for denominator in (7**2900, 11**2400):
        loss = Loss(Fraction(1, denominator) + Fraction(1, 8))
        Ledger(ledger).charge("clinic", loss, PaidFor("mine"), cap=None)
    shown = command("budget", clinic_files.schema)
    assert shown.code == 0
    assert shown.out.splitlines()[-1] == "clinic: ε = about 0.75 left of 1"
    listed = json.loads(command("budget", clinic_files.schema, "--json").out)
    assert len(listed["spent"]["epsilon"]) > 9000
    refused = command(*clinic_files.mine)
    assert refused.code == 3
    assert "1 requested, about 0.75 left of the budget of 1" in refused.err


def test_prices_of_any_length_do_not_cost_a_result(clinic_files: Clinic, command: Command) -> None:
    bought = [
        {"epsilon": f"1/{denominator}", "columns": {"left": ["age"], "right": []}}
        for denominator in (7**2900, 11**2400)
    ]
    clinic_files.change_schema(lambda raw: raw["redveil"].update(bought=bought))
    assert "ε = about 0 that are not" in command("budget", clinic_files.schema).err
    assert command(*clinic_files.mine, "-q").code == 0


def test_a_schema_without_an_id_records_nothing_under_its_name_alone(
    clinic_files: Clinic, command: Command
) -> None:
    """Renamed and given a budget, it would have forgotten what it had spent."""
    clinic_files.change_schema(lambda raw: raw.pop("id"))
    tables = clinic_files.left, clinic_files.right
    for run in (
        clinic_files.mine,
        ("describe", "[gout]", *tables, "--epsilon", "1", "--output", clinic_files.result),
        ("budget", clinic_files.schema, "--add-bought"),
    ):
        failed = command(*run)
        assert failed.code == 2
        assert "has no id, by which a ledger knows the data set" in failed.err
        assert is_one_line(failed.err)
    assert not list(clinic_files.folder.glob("*.sqlite*"))
    assert command("schema", "accept", clinic_files.schema).code == 0
    assert command(*clinic_files.mine, "--quiet").code == 0
    clinic_files.change_schema(lambda raw: raw.update(name="study"))
    clinic_files.set_budget(Fraction(3, 2))
    failed = command(*clinic_files.mine)
    assert failed.code == 3
    assert "1 requested, 1/2 left of the budget of 3/2" in failed.err
