"""`schema check SCHEMA LEFT RIGHT`: the owner sees what does not fit before any ε is spent."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from redveil.report.result import Result
from support.command_line import Command
from support.console import is_one_line

LEFT = """\
id,age,sick,ward
1,30,1,north
2,old,1,north
3,50,perhaps,north
4,40,0,east
5,40,0,
6,40,0,south
6,41,0,south
,41,0,south
7,200,1,south
"""
RIGHT = "id,cough\n" + "".join(f"{number},1\n" for number in range(1, 9))
FIELDS: list[dict[str, Any]] = [
    {"name": "id", "type": "string"},
    {"name": "age", "type": "integer", "constraints": {"minimum": 0, "maximum": 120}},
    {"name": "sick", "type": "boolean"},
    {
        "name": "ward",
        "type": "string",
        "constraints": {"enum": ["north", "south"], "required": True},
    },
]


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[str, str, str]:
    monkeypatch.chdir(tmp_path)
    left, right = (
        {"primaryKey": "id", "fields": fields}
        for fields in (FIELDS, [FIELDS[0], {"name": "cough", "type": "boolean"}])
    )
    package = {
        "name": "clinic",
        "id": "7e57",
        "resources": [
            {"name": "left", "path": "left.csv", "schema": left},
            {"name": "right", "path": "right.csv", "schema": right},
        ],
        "redveil": {"unit": "patient"},
    }
    Path("datapackage.json").write_text(json.dumps(package), encoding="utf-8")
    Path("left.csv").write_text(LEFT, encoding="utf-8")
    Path("right.csv").write_text(RIGHT, encoding="utf-8")
    return "datapackage.json", "left.csv", "right.csv"


def test_everything_that_does_not_fit_is_listed_with_its_place(
    files: tuple[str, str, str], command: Command
) -> None:
    done = command("schema", "check", *files)
    assert done.code == 0
    lines = done.out.splitlines()[3:]
    assert all(line.startswith("owner only: ") for line in lines)
    assert [line.removeprefix("owner only: ") for line in lines] == [
        "4 patients in both views",
        "1 patient in the right view only: left out",
        "1 patient with several rows in the left view: left out",
        "1 row without an entity key in the left view: left out",
        "2 patients without a required value: left out",
        "left, age: 1 outside the bounds (1 time 200), 1 unreadable, now missing",
        "left, sick: 1 unreadable, now missing",
        "left, ward: 1 missing, 1 in undeclared categories, now missing, required, so left out",
        "left.csv, line 9, column id: no entity key; give every row a key",
        "left.csv, line 7, column id: one of several rows of an entity; keep one row per entity",
        "left.csv, line 8, column id: one of several rows of an entity; keep one row per entity",
        "left.csv, line 10, column age: outside the bounds; correct it, list it in missingValues "
        "if it means missing, or widen the bounds",
        "left.csv, line 3, column age: not a number; correct it, or list it in missingValues if it "
        "means missing",
        "left.csv, line 4, column sick: neither true nor false; correct it, or list it in "
        "trueValues, falseValues or missingValues",
        "left.csv, line 5, column ward: an undeclared category; correct it, add it to the "
        "categories, or list it in missingValues",
        *(
            f"left.csv, line {line}, column ward: no value in a required attribute; correct the "
            "row, or remove required if values may be missing whatever the rows say"
            for line in (5, 6)
        ),
    ]
    assert done.err.startswith("NOT PRIVATE")
    assert "WARNING: 33.3 % of the patients lack a required value" in done.err
    assert "nothing was charged" in done.err


def test_a_strict_check_fails_in_one_line(files: tuple[str, str, str], command: Command) -> None:
    done = command("schema", "check", *files, "--strict")
    assert done.code == 2
    assert done.err.splitlines()[-1].startswith("redveil: left.csv and right.csv: rows do not fit")


def test_a_schema_is_still_checked_alone(files: tuple[str, str, str], command: Command) -> None:
    assert command("schema", "check", files[0]).code == 0
    refused = command("schema", "check", *files[:2])
    assert refused.code == 2
    assert is_one_line(refused.err)


def test_only_the_first_places_are_listed(files: tuple[str, str, str], command: Command) -> None:
    rows = "".join(f"{number},x,1,north\n" for number in range(1, 8))
    Path("left.csv").write_text(f"id,age,sick,ward\n{rows}", encoding="utf-8")
    done = command("schema", "check", *files)
    assert done.out.count("not a number") == 3
    assert "… and 4 more like it" in done.out


def test_mine_prints_the_same_summary_and_warns(
    files: tuple[str, str, str], command: Command
) -> None:
    done = command("mine", *files[1:], "--epsilon", "1")
    assert done.code == 0
    assert "owner only: 2 patients without a required value: left out" in done.err
    assert "owner only: WARNING: left, sick: 16.7 % of the values are unreadable" in done.err
    assert "line 4" not in done.err


def test_a_quiet_run_says_nothing_of_the_rows(
    files: tuple[str, str, str], command: Command
) -> None:
    done = command("mine", *files[1:], "--epsilon", "1", "--quiet")
    assert (done.code, done.out) == (0, "")
    assert "owner only" not in done.err


def test_a_strict_run_stops_before_anything_is_charged(
    files: tuple[str, str, str], command: Command
) -> None:
    done = command("mine", *files[1:], "--epsilon", "1", "--strict")
    assert done.code == 2
    assert is_one_line(done.err)
    assert not Path("result.json").exists()


@pytest.mark.parametrize("rows", ["", "99,1,1,north\n"])
def test_an_empty_join_is_mined_only_if_the_owner_says_so(
    files: tuple[str, str, str], command: Command, rows: str
) -> None:
    Path("left.csv").write_text(f"id,age,sick,ward\n{rows}", encoding="utf-8")
    stopped = command("mine", *files[1:], "--epsilon", "1")
    assert stopped.code == 2
    assert not Path("result.json").exists()
    done = command("mine", *files[1:], "--epsilon", "1", "--few-in-common")
    assert done.code == 0
    assert "owner only: WARNING: no entity was loaded" in done.err
    assert Result.read("result.json").certificate.epsilon == "1"
