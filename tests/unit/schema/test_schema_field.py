"""Fields: the meaning of each declaration, and every problem of a field."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redveil.schema import Attribute, Kind
from redveil.schema.dates import DateRule
from redveil.schema.field import FieldReader

NOT_MINED = (
    "unsupported type; use boolean, integer, number, date or string, or set redveil.use to false"
)
BOUNDS = {"minimum": 0, "maximum": 10}
SPECIAL = "is a letter, a digit, a sign or a control character"
FORMATS = "use default (ISO 8601), or a pattern of %d %m %Y %y %H %M %S %f %z"
PERIODS = 'use years, months, days, or a list such as ["2018", "2019-06-30"]'
NO_CUT = "a cut point is not a year, month or day such as 2018, 2018-06 or 2018-06-30"
DATE_CUTS = "correct redveil.cuts"
OUTSIDE = "a cut point lies outside the bounds (each must end before the maximum)"

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


def dated(categories: tuple[str, ...], rule: DateRule, *, required: bool = False) -> Attribute:
    return Attribute("x", Kind.ORDINAL, required, categories=categories, date=rule)


def a_date(**raw: object) -> dict[str, Any]:
    bounds = {"minimum": "2010-01-01", "maximum": "2019-12-31"}
    return {"type": "date", "constraints": bounds, **raw}


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
            Attribute("x", Kind.NUMERIC, minimum=1, maximum=3, cuts=(1.0, 2.0), integer=True),
        ),
        (
            {"type": "year", "constraints": {"minimum": 2010, "maximum": 2012}},
            Attribute(
                "x", Kind.NUMERIC, minimum=2010, maximum=2012, cuts=(2010.0, 2011.0), integer=True
            ),
        ),
        (
            number(cuts=[5]) | {"decimalChar": ",", "groupChar": "."},
            Attribute("x", Kind.NUMERIC, maximum=10, cuts=(5.0,), decimal_char=",", group_char="."),
        ),
        (
            number(cuts=[5]) | {"type": "integer", "groupChar": "."},
            replace(
                Attribute("x", Kind.NUMERIC, maximum=10, cuts=(5.0,), integer=True),
                decimal_char=",",
                group_char=".",
            ),
        ),
        (
            number(cuts={"method": "equal-width", "count": 4}) | {"type": "integer"},
            Attribute("x", Kind.NUMERIC, maximum=10, cuts=(2.0, 5.0, 7.0), integer=True),
        ),
        (
            number(cuts={"method": "decades", "smallest": 0.1}) | {"type": "integer"},
            Attribute("x", Kind.NUMERIC, maximum=10, cuts=(0.0, 1.0, 2.0, 5.0), integer=True),
        ),
        (
            {"type": "date", "constraints": {"minimum": "2010-01-01", "maximum": "2013-12-31"}},
            dated(("2010", "2011", "2012", "2013"), DateRule(date(2010, 1, 1), date(2013, 12, 31))),
        ),
        (
            {
                "type": "date",
                "format": "%d.%m.%Y",
                "constraints": {"minimum": "01.02.2019", "maximum": "2019-06-15"},
            },
            dated(
                ("2019-02", "2019-03", "2019-04", "2019-05", "2019-06"),
                DateRule(date(2019, 2, 1), date(2019, 6, 15), format="%d.%m.%Y"),
            ),
        ),
        (
            {
                "type": "datetime",
                "constraints": {"minimum": "2019-02-01T12:00:00Z", "maximum": "2019-02-03"},
            },
            dated(
                ("2019-02-01", "2019-02-02", "2019-02-03"),
                DateRule(date(2019, 2, 1), date(2019, 2, 3), "datetime"),
            ),
        ),
        (
            {
                "type": "yearmonth",
                "constraints": {"minimum": "2010-01", "maximum": "2019-12", "required": True},
                "redveil": {"cuts": ["2014", "2016-06", 2018]},
            },
            dated(
                ("2014", "2016-06", "2018", "2019"),
                DateRule(date(2010, 1, 1), date(2019, 12, 1), "yearmonth"),
                required=True,
            ),
        ),
        (
            {"type": "date", "constraints": {"enum": ["2019-01-01", "2019-01-02"]}},
            Attribute("x", Kind.CATEGORICAL, categories=("2019-01-01", "2019-01-02")),
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
        ({"type": "time"}, NOT_MINED),
        (
            {"type": "date"},
            "no bounds; declare constraints.minimum and constraints.maximum",
        ),
        (a_date(format="%d. %B %Y"), f"format: %B is not supported; {FORMATS}"),
        (a_date(format="any"), f"format: the format has no year; {FORMATS}"),
        (a_date(format="%d/%m"), f"format: the format has no year; {FORMATS}"),
        (a_date(format="%Y/%m"), f"format: the format has no day; {FORMATS}"),
        (a_date(format="%d/%m/%Y/%y"), f"format: the format has two years; {FORMATS}"),
        (a_date(format="%d/%d/%Y"), f"format: %d occurs twice; {FORMATS}"),
        (
            a_date(constraints={"minimum": "yesterday", "maximum": "2019-12-31"}),
            'constraints.minimum is not a date; write it as "2019-12-31"',
        ),
        (
            a_date(constraints={"minimum": "2019-12-31", "maximum": "2019-12-31"}),
            "the bounds are empty; declare a minimum before the maximum",
        ),
        *(
            (a_date(redveil={"cuts": cuts}), f"{what}; {remedy}")
            for cuts, what, remedy in (
                ("weeks", "redveil.cuts of a date is not a period or a list", PERIODS),
                ({"count": 3}, "redveil.cuts of a date is not a period or a list", PERIODS),
                (["2018-02-30"], NO_CUT, "correct redveil.cuts"),
                (["18"], NO_CUT, "correct redveil.cuts"),
                (["2018", "2018-12"], "cut points are not strictly increasing", DATE_CUTS),
                (["2019"], OUTSIDE, DATE_CUTS),
                (["1999"], OUTSIDE, DATE_CUTS),
                ([], "0 cut points within the bounds", "declare redveil.cuts that give 1 to 254"),
                (
                    "days",
                    "255 cut points within the bounds",
                    "declare redveil.cuts that give 1 to 254",
                ),
            )
        ),
        (
            {"type": "string"},
            "no categories; list them in constraints.enum, or set redveil.use to false",
        ),
        ({"type": "boolean", "redveil": 3}, "redveil is not an object; write redveil as {…}"),
        *(
            (number() | written, f'{what}; write one character each, such as "," and "."')
            for written, what in (
                ({"groupChar": "."}, "decimalChar and groupChar are the same"),
                ({"decimalChar": ",", "groupChar": ","}, "decimalChar and groupChar are the same"),
                ({"decimalChar": ""}, "decimalChar is not one character"),
                ({"decimalChar": ".."}, "decimalChar is not one character"),
                ({"decimalChar": 1}, "decimalChar is not one character"),
                ({"groupChar": ", "}, "groupChar is not one character"),
                ({"groupChar": "0"}, f"groupChar {SPECIAL}"),
                ({"decimalChar": "e"}, f"decimalChar {SPECIAL}"),
                ({"groupChar": "-"}, f"groupChar {SPECIAL}"),
                ({"groupChar": "\n"}, f"groupChar {SPECIAL}"),
            )
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
    # What is not used may have problems all the same.
    assert (attribute is not None) == (not problems and not unused)


def test_a_misspelt_cut_rule_is_a_problem_and_not_a_default() -> None:
    raw = {"name": "age", "type": "number", "constraints": {"minimum": 0, "maximum": 9}}
    reader = FieldReader("left, attribute age", raw | {"redveil": {"cutz": [1]}})
    assert reader.attribute() is None
    assert "did you mean redveil.cuts?" in str(reader.problems[0])
