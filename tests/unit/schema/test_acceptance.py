"""What of a draft still equals the data."""

from __future__ import annotations

from typing import Any

import pytest

from redveil.schema.acceptance import accepted, from_data


def listed(field: dict[str, Any], taken: object) -> list[str]:
    """Return what is listed of one field with a note of what was taken."""
    extras = {**field.get("redveil", {}), "draft": {"remark": "…", "taken": taken}}
    table = {"primaryKey": ["id"], "fields": [{"name": "id"}, {**field, "redveil": extras}]}
    found = from_data({"resources": [{"schema": table}, {"schema": {**table, "fields": []}}]})
    return [one.text for one in found]


def number(minimum: float, maximum: float, **more: Any) -> dict[str, Any]:
    constraints = {"minimum": minimum, "maximum": maximum, **more.pop("constraints", {})}
    return {"name": "x", "type": "number", "constraints": constraints, **more}


def test_bounds_are_compared_one_by_one_and_by_value() -> None:
    taken = {"minimum": 0, "maximum": 100}
    assert listed(number(0.0, 100.0), taken) == ["minimum 0", "maximum 100"]
    assert listed(number(0, 120), taken) == ["minimum 0"]
    assert listed(number(-1, 100), taken) == ["maximum 100"]
    assert listed(number(-1, 120), taken) == []


def test_bounds_of_dates_are_compared() -> None:
    bounds = {"minimum": "1950-01-01", "maximum": "2004-12-31"}
    date = {"name": "x", "type": "date", "constraints": bounds, "redveil": {"cuts": "years"}}
    assert listed(date, bounds) == ["minimum 1950-01-01", "maximum 2004-12-31"]
    earlier = {**date, "constraints": {**bounds, "minimum": "1900-01-01"}}
    assert listed(earlier, bounds) == ["maximum 2004-12-31"]


def test_required_is_listed_until_it_is_taken_out() -> None:
    taken = {"required": True}
    assert listed(number(0, 1, constraints={"required": True}), taken) == [
        "required: no value is missing"
    ]
    assert listed(number(0, 1), taken) == []


def test_the_type_is_listed_until_another_is_declared() -> None:
    assert listed(number(0, 1), {"type": "number"}) == ["type number"]
    assert listed({**number(0, 100), "type": "integer"}, {"type": "number"}) == []
    words = {"name": "x", "type": "any", "constraints": {"enum": ["a", "b"]}}
    assert listed(words, {"type": "string"}) == []


def test_how_values_are_written_is_listed_while_it_means_something() -> None:
    german = number(0, 1, decimalChar=",", groupChar=" ")
    signs = {"decimalChar": ",", "groupChar": " "}
    assert listed(german, signs) == ['decimalChar ","', 'groupChar " "']
    assert listed({**german, "groupChar": "."}, signs) == ['decimalChar ","']
    assert listed({**german, "type": "boolean"}, signs) == []
    yes = {"name": "x", "type": "boolean", "trueValues": ["yes"], "falseValues": ["no"]}
    said = {"trueValues": ["yes"], "falseValues": ["no"]}
    assert listed(yes, said) == ["values that mean true: yes", "values that mean false: no"]
    assert listed({**yes, "trueValues": ["yes", "y"]}, said) == ["values that mean false: no"]
    assert listed({**german, **said}, said) == []
    bounds = {"minimum": "1950-01-01", "maximum": "2004-12-31"}
    date = {"name": "x", "type": "date", "format": "%d.%m.%Y", "constraints": bounds}
    assert listed(date, {"format": "%d.%m.%Y", "cuts": "years"}) == [
        "format %d.%m.%Y",
        "cut points: years",
    ]
    assert listed({**date, "format": "%m.%d.%Y"}, {"format": "%d.%m.%Y"}) == []
    assert listed({**german, "format": "%d.%m.%Y"}, {"format": "%d.%m.%Y"}) == []


def test_a_column_that_is_not_used_is_listed_if_the_draft_left_it_out() -> None:
    unused = {"name": "x", "type": "any", "redveil": {"use": False}}
    assert listed(unused, {"use": False}) == ["not used"]
    assert listed(unused, {}) == []
    assert listed(number(0, 1), {"use": False}) == []


def of_table(taken: object, **declared: Any) -> list[str]:
    """Return what is listed of a table with a note of what was taken."""
    table = {"fields": [{"name": "id"}], "primaryKey": declared.pop("primaryKey", "id")}
    table["missingValues"] = declared.pop("missingValues", [""])
    noted = {"schema": table, "redveil": {"draft": {"taken": taken}}, **declared}
    return [str(one) for one in from_data({"resources": [noted]})]


def test_what_was_taken_about_a_table_is_listed() -> None:
    taken = {"encoding": "latin-1", "delimiter": "\t", "primaryKey": ["id"]}
    words = ["left: encoding latin-1", 'left: delimiter "\\t"', "left: entity key: id"]
    dialect = {"delimiter": "\t"}
    assert of_table(taken, encoding="latin-1", dialect=dialect) == words
    assert of_table(taken, dialect=dialect) == words[1:]
    assert of_table(taken, encoding="latin-1") == [words[0], words[2]]
    assert of_table(taken, primaryKey=["other"]) == []


def test_markers_are_listed_one_by_one() -> None:
    taken = {"missingValues": ["NA", "?"]}
    assert of_table(taken, missingValues=["", "?", "-99", "NA"]) == [
        "left: values that mean missing: NA, ?"
    ]
    assert of_table(taken, missingValues=["", "?"]) == ["left: values that mean missing: ?"]
    assert of_table(taken) == []


@pytest.mark.parametrize("taken", [None, [], "all", {"missingValues": "NA"}, {"unknown": 1}])
def test_odd_notes_about_a_table_are_tolerated(taken: object) -> None:
    assert of_table(taken) == []


WORDS: dict[str, Any] = {"name": "x", "type": "string"}


def test_sorting_categories_does_not_make_them_known() -> None:
    taken = {"enum": ["low", "high", "3"]}
    same = {**WORDS, "constraints": {"enum": ["3", "high", "low"]}}
    assert listed(same, taken) == ["3 categories: 3, high, low"]
    ordered = {**same, "redveil": {"kind": "ordinal"}}
    assert listed(ordered, taken) == ["3 categories: 3, high, low"]
    standard = {**WORDS, "categories": ["low", 3, "high"]}
    assert listed(standard, taken) == ["3 categories: low, 3, high"]
    more = {**WORDS, "constraints": {"enum": ["3", "high", "low", "none"]}}
    assert listed(more, taken) == []


@pytest.mark.parametrize(
    ("cuts", "same"),
    [
        ({"method": "equal-width", "count": 20}, True),
        ({"method": "equal-width"}, True),
        (None, True),
        ({"method": "equal-width", "count": 10}, False),
        ([10, 20], False),
    ],
)
def test_cut_rules_are_compared_by_what_they_mean(cuts: object, same: bool) -> None:  # noqa: FBT001
    taken = {"cuts": {"method": "equal-width", "count": 20}}
    field = number(0, 100, redveil={} if cuts is None else {"cuts": cuts})
    assert listed(field, taken) == (["cut points: equal-width"] if same else [])
    explicit = {"cuts": {"method": "explicit", "values": [10, 20.0]}}
    assert bool(listed(field, explicit)) == (cuts == [10, 20])


def test_what_is_no_longer_used_is_not_listed() -> None:
    unused = {**number(0, 100), "redveil": {"use": False}}
    assert listed(unused, {"minimum": 0}) == []
    coded = {**number(0, 100, constraints={"enum": ["0", "1"]})}
    assert listed(coded, {"minimum": 0, "maximum": 100}) == []


@pytest.mark.parametrize("taken", [None, {}, [], "all", {"minimum": "zero"}, {"unknown": 1}])
def test_odd_notes_are_tolerated(taken: object) -> None:
    assert listed(number(0, 100), taken) in ([], ["unknown 1"])


def test_a_note_that_is_a_remark_is_listed_as_it_is() -> None:
    table = {
        "primaryKey": "id",
        "fields": [
            {"name": "id", "redveil": {"draft": "entity key, different in every row"}},
            {**number(0, 1), "redveil": {"draft": "bounds taken from the data"}},
        ],
    }
    (one,) = from_data({"resources": [{"schema": table}, {"schema": table | {"fields": []}}]})
    assert str(one) == "left, x: bounds taken from the data"


def test_accepting_changes_nothing_else() -> None:
    field = {**number(0, 1), "redveil": {"cuts": [0.5], "draft": "…"}}
    noted = {"name": "sick", "type": "boolean", "redveil": {"draft": {"remark": "…"}}}
    table = {"primaryKey": ["id"], "fields": [{"name": "id"}, field, noted]}
    note = {"draft": {"taken": {"encoding": "latin-1"}}}
    resource = {"path": "a.csv", "schema": table, "redveil": note}
    raw = {"title": "Ours", "resources": [resource], "redveil": None}
    done = accepted(raw)
    assert done["title"] == "Ours"
    assert done["redveil"] == {"status": "declared"}
    plain = {"name": "sick", "type": "boolean"}
    kept = {**table, "fields": [{"name": "id"}, {**field, "redveil": {"cuts": [0.5]}}, plain]}
    assert done["resources"] == [{"path": "a.csv", "schema": kept}]
    assert "draft" in field["redveil"]
    assert accepted(raw)["id"] != done["id"]
    assert accepted(done)["id"] == done["id"]
