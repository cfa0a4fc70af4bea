from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

from redveil.data.synthetic import clinic_schema
from redveil.schema.field import FieldReader
from redveil.schema_form.row import KINDS, applied, kind_of, points_of, row_of
from support.forms import AGE, SCHEMA


def edited(field: dict[str, Any], **changes: Any) -> tuple[dict[str, Any], list[str]]:
    """Return a field with some parts of its row changed, and the problems of the row."""
    row = row_of(field)
    for key, value in changes.items():
        row[key] = {**row[key], **value} if isinstance(row[key], dict) else value
    before = deepcopy(field)
    changed, problems = applied(field, row, "place")
    assert field == before
    return changed, [str(one) for one in problems]


SCHEMAS: tuple[dict[str, Any], ...] = (SCHEMA, clinic_schema().to_dict())
FIELDS = [
    field
    for schema in SCHEMAS
    for resource in schema["resources"]
    for field in resource["schema"]["fields"]
]


@pytest.mark.parametrize("field", FIELDS, ids=lambda field: str(field["name"]))
def test_an_unchanged_row_changes_nothing(field: dict[str, Any]) -> None:
    assert edited(field) == (field, [])


@pytest.mark.parametrize("field", FIELDS, ids=lambda field: str(field["name"]))
@pytest.mark.parametrize("kind", KINDS)
def test_every_column_can_become_anything(field: dict[str, Any], kind: str) -> None:
    changed, _ = edited(
        field, kind=kind, use=True, cuts={"rule": "usual"}, categories=["a", "b"],
        minimum="1", maximum="9",
    )  # fmt: skip
    assert kind_of(changed) == kind
    if kind in ("date", "datetime", "yearmonth"):
        changed, _ = edited(changed, minimum="2001-01-01", maximum="2019-12-31")
    reader = FieldReader("place", changed, missing=[""])
    assert reader.attribute() is not None, reader.problems


def test_only_what_differs_is_written() -> None:
    changed, problems = edited(AGE, minimum="0", maximum="110", title="Age (years)")
    assert problems == []
    assert changed["constraints"] == {"minimum": 0, "maximum": 110}
    assert changed["title"] == "Age (years)"
    assert changed["unit of measurement"] == "years"
    assert changed["redveil"] == AGE["redveil"]


def test_a_column_that_becomes_something_else_loses_what_means_nothing_then() -> None:
    changed, _ = edited(AGE, kind="ordered", categories=["young", "old"])
    assert changed["type"] == "string"
    assert changed["constraints"] == {"enum": ["young", "old"]}
    assert changed["redveil"]["kind"] == "ordinal"
    assert "cuts" not in changed["redveil"]
    assert changed["unit of measurement"] == "years"
    back, _ = edited(changed, kind="boolean")
    assert "constraints" not in back
    assert "kind" not in back["redveil"]


@pytest.mark.parametrize(
    ("cuts", "declared", "points"),
    [
        ({"rule": "usual"}, None, 19),
        ({"rule": "explicit", "values": "20, 40; 65\n80"},
         {"method": "explicit", "values": [20, 40, 65, 80]}, 4),
        ({"rule": "equal-width", "count": "4"}, {"method": "equal-width", "count": 4}, 3),
        ({"rule": "decades", "smallest": "5"}, {"method": "decades", "smallest": 5}, 3),
        ({"rule": "symmetric-decades"}, {"method": "symmetric-decades"}, 3),
    ],
)  # fmt: skip
def test_each_rule_for_cut_points(cuts: dict[str, str], declared: object, points: int) -> None:
    changed, problems = edited(AGE, cuts=cuts)
    assert problems == []
    assert changed["redveil"].get("cuts") == declared
    attribute = FieldReader("place", changed, missing=[""]).attribute()
    assert attribute is not None
    assert len(points_of(attribute)) == points
    assert row_of(changed)["cuts"]["rule"] == cuts["rule"]


@pytest.mark.parametrize(
    ("cuts", "declared"),
    [
        ({"rule": "months"}, "months"),
        ({"rule": "explicit", "values": "2012 2015-06"}, ["2012", "2015-06"]),
    ],
)
def test_rules_for_dates(cuts: dict[str, str], declared: object) -> None:
    visit = SCHEMA["resources"][1]["schema"]["fields"][2]
    changed, problems = edited(visit, cuts=cuts)
    assert problems == []
    assert changed["redveil"]["cuts"] == declared
    assert row_of(changed)["cuts"]["rule"] == cuts["rule"]


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"minimum": "1,5"}, "place: the minimum is not a number; write it as in 12.5"),
        ({"maximum": "1e999"}, "place: the maximum is not a number; write it as in 12.5"),
        ({"cuts": {"rule": "explicit", "values": "1 two"}}, "place: a cut point is not a number"),
        ({"cuts": {"rule": "equal-width", "count": "many"}}, "the number of intervals is not a"),
        ({"cuts": {"rule": "decades", "smallest": "x"}}, "the smallest cut point is not a number"),
    ],
)
def test_what_cannot_be_read_is_said(changes: dict[str, Any], problem: str) -> None:
    _, problems = edited(AGE, **changes)
    assert len(problems) == 1
    assert problem in problems[0]


def test_a_column_can_be_left_out_and_taken_in_again() -> None:
    changed, _ = edited(AGE, use=False)
    assert changed["redveil"]["use"] is False
    again, _ = edited(changed, use=True)
    assert again == AGE


def test_strange_fields_are_shown_as_far_as_they_can_be() -> None:
    row = row_of({"name": "x", "type": 3, "constraints": [], "redveil": "?", "title": {}})
    assert row["kind"] == ""
    assert row["title"] == ""
    assert row["cuts"]["rule"] == "usual"
