"""Fields: the meaning of each declaration, and every problem of a field."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redveil.schema import Attribute, Kind
from redveil.schema.field import FieldReader

NOT_MINED = "unsupported type; use boolean, integer, number or string, or set redveil.use to false"
BOUNDS = {"minimum": 0, "maximum": 10}

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=5,
)


def read(**raw: object) -> tuple[Attribute | None, list[str]]:
    reader = FieldReader("left, attribute x", {"name": "x", **raw})
    attribute = reader.attribute()
    return attribute, [f"{problem.what}; {problem.remedy}" for problem in reader.problems]


def number(constraints: dict[str, object] | None = None, **extras: object) -> dict[str, Any]:
    return {
        "type": "number",
        "constraints": {**BOUNDS, **(constraints or {})},
        "redveil": extras,
    }


@pytest.mark.parametrize(
    ("raw", "attribute"),
    [
        ({"type": "boolean"}, Attribute("x", Kind.BOOLEAN)),
        (
            {"type": "boolean", "constraints": {"required": True}},
            Attribute("x", Kind.BOOLEAN, required=True),
        ),
        (
            {"type": "boolean", "trueValues": ["ja", 1], "falseValues": ["nein", 0.0]},
            Attribute("x", Kind.BOOLEAN, true_values=("ja", "1"), false_values=("nein", "0")),
        ),
        (
            {"type": "string", "constraints": {"enum": ["a", "b"]}},
            Attribute("x", Kind.CATEGORICAL, categories=("a", "b")),
        ),
        (
            {"type": "integer", "constraints": {"enum": [1, 2.0, 2.5, True]}},
            Attribute("x", Kind.CATEGORICAL, categories=("1", "2", "2.5", "true")),
        ),
        (
            {"type": "string", "categories": ["a", "b"], "categoriesOrdered": True},
            Attribute("x", Kind.ORDINAL, categories=("a", "b")),
        ),
        (
            {"type": "string", "categories": ["a", "b"], "redveil": {"kind": "ordinal"}},
            Attribute("x", Kind.ORDINAL, categories=("a", "b")),
        ),
        (
            {"type": "integer", "constraints": {"minimum": 1, "maximum": 3}},
            Attribute("x", Kind.NUMERIC, minimum=1, maximum=3, cuts=(1.0, 2.0)),
        ),
        (
            number(cuts=[1, 2.5]),
            Attribute("x", Kind.NUMERIC, minimum=0, maximum=10, cuts=(1.0, 2.5)),
        ),
        (
            number(cuts="decades"),
            Attribute("x", Kind.NUMERIC, minimum=0, maximum=10, cuts=(0.0, 1.0, 2.0, 5.0)),
        ),
        (
            number(cuts={"method": "equal-width", "count": 2}),
            Attribute("x", Kind.NUMERIC, minimum=0, maximum=10, cuts=(5.0,)),
        ),
        (
            number(cuts={"method": "decades", "smallest": 5}),
            Attribute("x", Kind.NUMERIC, minimum=0, maximum=10, cuts=(0.0, 5.0)),
        ),
        ({"type": "date", "redveil": {"use": False}}, None),
    ],
)
def test_a_good_field(raw: dict[str, Any], attribute: Attribute | None) -> None:
    assert read(**raw) == (attribute, [])


def test_a_number_without_cuts_is_cut_into_twenty() -> None:
    attribute, problems = read(type="number", constraints=BOUNDS)
    assert problems == []
    assert attribute is not None
    assert attribute.cuts == tuple(x / 2 for x in range(1, 20))


@pytest.mark.parametrize(
    ("raw", "problem"),
    [
        ({}, NOT_MINED),
        ({"type": "date"}, NOT_MINED),
        (
            {"type": "string"},
            "no categories; list them in constraints.enum, or set redveil.use to false",
        ),
        ({"type": "boolean", "redveil": 3}, "redveil is not an object; write redveil as {…}"),
        *(
            (
                {"type": "number", "constraints": {"minimum": 0, "maximum": 9}} | written,
                "decimalChar and groupChar are not supported; "
                "write numbers with a decimal point and without grouping, and remove the keys",
            )
            for written in ({"decimalChar": ","}, {"groupChar": "."})
        ),
        (
            {"type": "boolean", "constraints": []},
            "constraints is not an object; write constraints as {…}",
        ),
        (
            {"type": "boolean", "constraints": {"required": "yes"}},
            "constraints.required is not true or false; write true or false",
        ),
        (
            {"type": "boolean", "redveil": {"kind": "money"}},
            "unknown redveil.kind; use one of boolean, categorical, ordinal, numeric",
        ),
        (
            {"type": "boolean", "trueValues": ["1"], "falseValues": ["1"]},
            "a value is listed as true and as false; list each value once",
        ),
        (
            {"type": "boolean", "trueValues": "yes"},
            "trueValues is not a list; write trueValues as […]",
        ),
        (
            {"type": "boolean", "falseValues": {}},
            "falseValues is not a list; write falseValues as […]",
        ),
        (
            {"type": "boolean", "trueValues": [None]},
            "trueValues contains something other than strings and numbers; write strings",
        ),
        (
            {"type": "string", "constraints": {"enum": ["a", "b", "a"]}},
            "a category is listed twice; list each category once",
        ),
        (
            {"type": "string", "constraints": {"enum": ["a"]}},
            "1 categories; list 2 to 255, merging rare ones, or set redveil.use to false",
        ),
        (
            {"type": "string", "constraints": {"enum": [str(i) for i in range(256)]}},
            "256 categories; list 2 to 255, merging rare ones, or set redveil.use to false",
        ),
        (
            {"type": "string", "constraints": {"enum": "ab"}},
            "constraints.enum is not a list; write constraints.enum as […]",
        ),
        ({"type": "number"}, "no bounds; declare constraints.minimum and constraints.maximum"),
        (
            {"type": "number", "constraints": {"minimum": 0}},
            "no bounds; declare constraints.minimum and constraints.maximum",
        ),
        (
            number({"minimum": "0"}),
            "constraints.minimum is not a finite number; write a number",
        ),
        (
            number({"maximum": 10**400}),
            "constraints.maximum is not a finite number; write a number",
        ),
        (
            number({"maximum": True}),
            "constraints.maximum is not a finite number; write a number",
        ),
        (
            number({"minimum": 10}),
            "the bounds are empty or too wide; declare a minimum below the maximum, both finite",
        ),
        (
            number({"minimum": -1.7e308, "maximum": 1.7e308}),
            "the bounds are empty or too wide; declare a minimum below the maximum, both finite",
        ),
        (
            number(cuts=[2, 1]),
            "cut points are not strictly increasing; correct redveil.cuts.values",
        ),
        (
            number(cuts=[10**400]),
            "a cut point is not a finite number; correct redveil.cuts.values",
        ),
        (
            number(cuts=[11]),
            "a cut point lies outside the bounds (cut points must be >= minimum and < maximum); "
            "correct redveil.cuts.values",
        ),
        (
            number(cuts=[]),
            "0 cut points within the bounds; declare redveil.cuts that give 1 to 254",
        ),
        (
            number(cuts=[i / 30 for i in range(255)]),
            "255 cut points within the bounds; declare redveil.cuts that give 1 to 254",
        ),
        (number(cuts=3), "redveil.cuts is not an object; write redveil.cuts as {…}"),
        (
            number(cuts="quantiles"),
            "unknown redveil.cuts.method; use one of explicit, equal-width, decades, "
            "symmetric-decades",
        ),
        (
            number(cuts={"method": "explicit", "values": ["a"]}),
            "redveil.cuts.values is not a list of numbers; write numbers",
        ),
        (
            number(cuts={"method": "equal-width", "count": 1}),
            "redveil.cuts.count is out of range; use 2 to 255 intervals",
        ),
        (
            number(cuts={"method": "equal-width", "count": True}),
            "redveil.cuts.count is out of range; use 2 to 255 intervals",
        ),
        (
            number(cuts={"method": "decades", "smallest": 0}),
            "redveil.cuts.smallest is not positive; use a positive number",
        ),
        (
            number(cuts={"method": "decades", "smallest": "small"}),
            "redveil.cuts.smallest is not a finite number; write a number",
        ),
    ],
)
def test_a_problem(raw: dict[str, Any], problem: str) -> None:
    attribute, problems = read(**raw)
    assert attribute is None
    # Reported once, and first; an unknown method or an invalid object may cause further problems.
    assert problems[0] == problem
    assert problems.count(problem) == 1


@given(
    st.dictionaries(
        st.sampled_from(
            ["type", "constraints", "redveil", "categories", "trueValues", "categoriesOrdered"]
        ),
        json_values
        | st.sampled_from(["number", "integer", "boolean", "string"])
        | st.dictionaries(
            st.sampled_from(["minimum", "maximum", "enum", "required", "cuts", "kind", "use"]),
            json_values,
        ),
    )
)
def test_any_json_is_an_attribute_or_has_problems_or_is_not_used(raw: dict[str, Any]) -> None:
    attribute, problems = read(**json.loads(json.dumps(raw)))
    unused = isinstance(raw.get("redveil"), dict) and raw["redveil"].get("use") is False
    assert (attribute is not None) + bool(problems) + unused == 1


def test_a_misspelt_cut_rule_is_a_problem_and_not_a_default() -> None:
    raw = {"name": "age", "type": "number", "constraints": {"minimum": 0, "maximum": 9}}
    reader = FieldReader("left, attribute age", raw | {"redveil": {"cutz": [1]}})
    assert reader.attribute() is None
    assert "did you mean redveil.cuts?" in str(reader.problems[0])
