"""Steering from the command line: names, groups and words, in mine, plan and budget."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest

from redveil.cli.steering import read_group
from redveil.errors import InputError
from redveil.report.result import Result
from support.command_line import Clinic, Command
from support.console import is_one_line

ASKED = [
    *("--ignore", "age", "--ignore", "right:HbA1c", "--require", "gout"),
    *("--unmatched", "gout, CRP", "--unmatched", '["asthma", "CRP", "eGFR"]'),
    *("--max-literals", "2", "--no-negation", "--no-disjunction"),
]


def test_options_reach_certificate_and_ledger(clinic_files: Clinic, command: Command) -> None:
    done = command(*clinic_files.mine, *ASKED)
    assert done.code == 0
    parameters = Result.read(clinic_files.result).certificate.parameters
    expected = {
        "ignore": ("left:age", "right:HbA1c"),
        "require": ("left:gout",),
        "unmatched": (("left:gout", "right:CRP"), ("left:asthma", "right:CRP", "right:eGFR")),
        "max_literals": 2,
        "negation": False,
        "disjunction": False,
    }
    assert expected.items() <= parameters.items()
    assert "leaves out left:age, right:HbA1c" in done.out
    charged = command("budget", clinic_files.folder / "datapackage.json")
    assert "ignore left:age" in " ".join(charged.out.split())


@pytest.mark.parametrize(
    ("mistake", "message"),
    [
        (["--ignore", "agee"], "--ignore: no attribute agee; did you mean age?"),
        (["--only", "left:HbA1c"], "--only: no attribute left:HbA1c; did you mean HbA1c?"),
        (["--require", ""], "--require: no attribute ; "),
        (["--unmatched", "gout"], "--unmatched: gout is on one side only; "),
        (["--unmatched", '["gout"'], "--unmatched: not a JSON list; "),
        (["--unmatched", "[3]"], "--unmatched: not a list of names; "),
        (["--ignore", "gout", "--require", "gout"], "--require: left:gout is left out; "),
        (["--max-literals", "0"], "--max-literals must lie between 1 and "),
    ],
)
def test_what_is_refused_is_not_charged(
    mistake: list[str], message: str, clinic_files: Clinic, command: Command
) -> None:
    ledger = clinic_files.set_budget(Fraction(5))
    refused = command(*clinic_files.mine, *mistake)
    assert refused.code == 2
    assert is_one_line(refused.err)
    assert message in refused.err
    assert not ledger.exists()


def test_a_plan_counts_what_is_left(clinic_files: Clinic, command: Command) -> None:
    schema = clinic_files.folder / "datapackage.json"
    plain = command("plan", "-e", "1", "--schema", schema)
    asked = ["plan", "-e", "1", "--schema", schema, "--only", "gout", "--unmatched", "gout, CRP"]
    steered = command(*asked)
    assert steered.out.splitlines()[:3] == [
        "on that side, uses only left:gout",
        "never matches left:gout, right:CRP with each other",
        "splits to choose from: 1 left, 197 right",
    ]
    assert steered.out.splitlines()[3:] != plain.out.splitlines()
    listed = json.loads(command(*asked, "--json", "--entities", "2000").out)
    assert listed["steering"] == {"only": ["left:gout"], "unmatched": [["left:gout", "right:CRP"]]}
    assert listed["splits"] == {"left": 1, "right": 197}
    assert "steering" not in json.loads(command(*asked[:5], "--json").out)


def test_a_plan_without_a_schema_knows_no_names(command: Command) -> None:
    refused = command("plan", "-e", "1", "--ignore", "age")
    assert refused.code == 2
    assert "--ignore names attributes; give the schema" in refused.err


def test_groups_are_split_at_commas_or_given_as_json() -> None:
    assert read_group(" a ,b, left:c") == ["a", "b", "left:c"]
    assert read_group('  ["a, b", "c"]') == ["a, b", "c"]
    with pytest.raises(InputError, match=r"^--unmatched: not a JSON list"):
        read_group("[a, b]")
