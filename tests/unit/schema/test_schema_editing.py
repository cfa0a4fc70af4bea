"""Changing a schema in Python: as in the schema file, with the same checks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import date
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest

from redveil.data.synthetic import clinic_schema
from redveil.errors import SchemaError
from redveil.schema import Attribute, Kind, Schema, Side, Status, View
from redveil.schema.dates import DateRule

CLINIC = clinic_schema()


def attribute(schema: Schema, name: str, side: Side | None = None) -> Attribute:
    (found,) = (
        one
        for where in Side
        if side in (None, where)
        for one in schema.view(where).attributes
        if one.name == name
    )
    return found


def others(schema: Schema, name: str) -> list[Attribute]:
    views = (schema.left, schema.right)
    return [one for view in views for one in view.attributes if one.name != name]


def test_what_is_not_given_stays_as_it_was() -> None:
    edited = CLINIC.with_attribute("age", cuts=[18, 65])
    assert attribute(edited, "age") == replace(attribute(CLINIC, "age"), cuts=(18.0, 65.0))
    assert others(edited, "age") == others(CLINIC, "age")
    assert edited.left.names == CLINIC.left.names
    assert (edited.name, edited.unit, edited.right) == (CLINIC.name, CLINIC.unit, CLINIC.right)
    assert attribute(CLINIC, "age").maximum == 110, "the schema itself does not change"


def test_new_bounds_keep_no_cut_points_that_may_have_come_from_the_data() -> None:
    drafted = CLINIC.with_attribute("age", minimum=18, maximum=101, cuts=[22.15, 26.3])
    edited = attribute(drafted.with_attribute("age", minimum=0, maximum=100), "age")
    assert (edited.minimum, edited.maximum) == (0, 100)
    assert edited.cuts == tuple(float(x) for x in range(5, 100, 5))
    both = attribute(drafted.with_attribute("age", minimum=0, cuts=[40]), "age")
    assert (both.minimum, both.maximum, both.cuts) == (0, 101, (40.0,))


@pytest.mark.parametrize(
    ("cuts", "expected"),
    [
        ([1, 2.5], (1.0, 2.5)),
        ((1, 2), (1.0, 2.0)),
        (range(1, 4), (1.0, 2.0, 3.0)),
        (np.array([1, 2]), (1.0, 2.0)),
        (pd.Series([1.0, 2.0]), (1.0, 2.0)),
        ("decades", (0.0, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0)),
        ({"method": "equal-width", "count": 4}, (25.0, 50.0, 75.0)),
    ],
)
def test_cut_points_come_as_in_the_file_or_as_arrays(
    cuts: Any, expected: tuple[float, ...]
) -> None:
    edited = CLINIC.with_attribute("age", minimum=0, maximum=100, cuts=cuts)
    assert attribute(edited, "age").cuts == expected


def test_numbers_may_be_those_of_numpy() -> None:
    bounds: dict[str, Any] = {"minimum": np.int64(1), "maximum": np.float32(100.5)}
    edited = CLINIC.with_attribute("age", **bounds)
    assert (attribute(edited, "age").minimum, attribute(edited, "age").maximum) == (1.0, 100.5)


def test_categories_can_be_replaced_and_ordered() -> None:
    edited = CLINIC.with_attribute("blood group", categories=["0", "A"])
    assert attribute(edited, "blood group").categories == ("0", "A")
    assert attribute(edited, "blood group").kind is Kind.CATEGORICAL
    ordered = edited.with_attribute("blood group", kind="ordinal")
    assert attribute(ordered, "blood group").kind is Kind.ORDINAL
    labels: Any = pd.Index(["x", "y"])
    relabelled = ordered.with_attribute("blood group", categories=labels)
    assert attribute(relabelled, "blood group") == Attribute(
        "blood group", Kind.ORDINAL, categories=("x", "y")
    )


@pytest.mark.parametrize(
    ("declared", "expected"),
    [
        ({"categories": ["1", "2"]}, Kind.CATEGORICAL),
        ({"minimum": 0, "maximum": 9}, Kind.NUMERIC),
        ({"true_values": ["j"], "false_values": ["n"]}, Kind.BOOLEAN),
        ({"kind": "boolean"}, Kind.BOOLEAN),
    ],
)
def test_an_attribute_of_another_kind_replaces_the_old_one(
    declared: dict[str, Any], expected: Kind
) -> None:
    for name in ("sex", "gout", "HbA1c"):
        before, edited = attribute(CLINIC, name), CLINIC.with_attribute(name, **declared)
        assert attribute(edited, name).kind is expected
        assert attribute(edited, name).required == before.required


def test_dates_have_bounds_and_cut_points() -> None:
    first: Any = pd.Timestamp("2015-01-01")
    added = CLINIC.with_attribute(
        "admitted", side="left", kind="date", minimum=first, maximum=date(2019, 12, 31)
    )
    made = attribute(added, "admitted")
    assert made.date == DateRule(date(2015, 1, 1), date(2019, 12, 31))
    assert made.categories == ("2015", "2016", "2017", "2018", "2019")
    longer = attribute(added.with_attribute("admitted", maximum="2021-12-31"), "admitted")
    assert longer.categories[-1] == "2021"
    cut = attribute(added.with_attribute("admitted", cuts=["2016", date(2018, 6, 30)]), "admitted")
    assert cut.categories == ("2016", "2018-06-30", "2019-12-31")
    required = attribute(added.with_attribute("admitted", required=True), "admitted")
    assert required == replace(made, required=True)
    listed = attribute(added.with_attribute("admitted", categories=["early", "late"]), "admitted")
    assert (listed.date, listed.categories) == (None, ("early", "late"))
    with pytest.raises(SchemaError, match=r"constraints.minimum is not a date; write it as"):
        added.with_attribute("admitted", minimum="spring")


def test_an_integer_stays_one() -> None:
    field = {"name": "children", "type": "integer", "constraints": {"minimum": 0, "maximum": 3}}
    package: Any = CLINIC.to_dict()
    package["resources"][0]["schema"]["fields"].append(field)
    edited = attribute(Schema.from_dict(package).with_attribute("children", maximum=5), "children")
    assert edited.integer
    assert edited.cuts == (0.0, 1.0, 2.0, 3.0, 4.0)


def test_how_a_boolean_is_written() -> None:
    edited = attribute(CLINIC.with_attribute("gout", true_values=["yes"]), "gout")
    assert edited.true_values == ("yes",)
    assert edited.false_values == attribute(CLINIC, "gout").false_values


@pytest.mark.parametrize("required", [True, False])
def test_whether_values_can_be_missing(required: bool) -> None:  # noqa: FBT001
    for name in ("age", "smoking", "gout"):
        edited = attribute(CLINIC.with_attribute(name, required=required), name)
        assert edited == replace(attribute(CLINIC, name), required=required)


def test_an_attribute_that_a_draft_left_out_can_be_added() -> None:
    edited = CLINIC.with_attribute("ward", side="right", categories=["a", "b"])
    assert edited.right.names[-1] == "ward"
    assert edited.without("ward") == CLINIC


def test_an_attribute_of_both_views_needs_its_side() -> None:
    one = Attribute("age", Kind.BOOLEAN)
    twice = Schema("twice", View("left", "id", (one,)), View("right", "id", (one,)))
    edited = twice.with_attribute("age", side="right", required=True)
    assert attribute(edited, "age", Side.RIGHT).required
    assert not attribute(edited, "age", Side.LEFT).required
    with pytest.raises(SchemaError, match="attribute age: in both views; say which one with side"):
        twice.without("age")


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (lambda s: s.with_attribute("age", minimum=200), "left, attribute age: the bounds are"),
        (lambda s: s.with_attribute("age", minimum="low"), "constraints.minimum is not a finite"),
        (lambda s: s.with_attribute("age", cuts=[65, 18]), "not strictly increasing"),
        (lambda s: s.with_attribute("age", cuts="sometimes"), "unknown redveil.cuts.method"),
        (lambda s: s.with_attribute("sex", categories=["f"]), "left, attribute sex: 1 categories"),
        (lambda s: s.with_attribute("sex", categories="fm"), "is not a list"),
        (lambda s: s.with_attribute("sex", kind="odd"), "unknown kind; use one of numeric"),
        (lambda s: s.with_attribute("age", kind="boolean", cuts=[1]), "cuts does nothing for a b"),
        (lambda s: s.with_attribute("age", cuts=[1], categories=["a"]), "categories does nothing"),
        (lambda s: s.with_attribute("age", required=3), "constraints.required is not true or"),
        (lambda s: s.with_attribute("x", cuts=[1]), "attribute x: in neither view; to add it"),
        (lambda s: s.with_attribute("x", side="left"), "left, attribute x: nothing declared; give"),
        (lambda s: s.with_attribute("x", side="left", minimum=0), "left, attribute x: no bounds"),
        (lambda s: s.with_attribute("x", side="top"), "unknown side; use left or right"),
        (lambda s: s.with_attribute("patient", side="left", cuts=[1]), "it is the entity key"),
        (lambda s: s.without("x"), "attribute x: in neither view; check the name"),
        (lambda s: s.without("sex", side="right"), "attribute sex: not in the right view"),
        (lambda s: s.replace(budget="much"), "budget"),
    ],
)
def test_what_cannot_be_declared_is_refused_in_one_line(
    edit: Callable[[Schema], Schema], message: str
) -> None:
    with pytest.raises(SchemaError, match=message) as caught:
        edit(CLINIC)
    assert "\n" not in str(caught.value)


def test_several_attributes_are_left_out_at_once() -> None:
    edited = CLINIC.without("sex", "HbA1c", "gout")
    assert {*CLINIC.left.names} - {*edited.left.names} == {"sex", "gout"}
    assert {*CLINIC.right.names} - {*edited.right.names} == {"HbA1c"}


def test_name_unit_and_budget_can_be_replaced() -> None:
    drafted = replace(CLINIC, status=Status.DRAFT)
    edited = drafted.replace(name="ward", unit="visit", budget=0.3, budget_delta="1e-6")
    assert edited == replace(
        drafted,
        name="ward",
        unit="visit",
        budget=Fraction(3, 10),
        budget_delta=Fraction(1, 10**6),
    )
    assert edited.replace() == edited
    assert edited.replace(budget=np.float64(0.5)).budget == Fraction(1, 2)


def test_a_title_is_kept_in_the_file_and_through_changes() -> None:
    titled = CLINIC.with_attribute("HbA1c", title="Glycated haemoglobin (%)")
    assert Schema.from_dict(titled.to_dict()) == titled
    assert others(titled, "HbA1c") == others(CLINIC, "HbA1c")
    moved = titled.with_attribute("HbA1c", cuts=[6.5])
    assert attribute(moved, "HbA1c").title == "Glycated haemoglobin (%)"
    turned = titled.with_attribute("HbA1c", kind="boolean")
    assert attribute(turned, "HbA1c").title == "Glycated haemoglobin (%)"


def test_a_title_does_not_change_the_digest() -> None:
    assert CLINIC.with_attribute("HbA1c", title="Glycated haemoglobin").digest == CLINIC.digest


def test_a_title_is_one_line() -> None:
    titled = CLINIC.with_attribute("HbA1c", title=" two \n lines ")
    assert attribute(titled, "HbA1c").title == "two lines"


def test_a_title_that_is_no_text_is_refused() -> None:
    package: Any = CLINIC.to_dict()
    package["resources"][0]["schema"]["fields"][1]["title"] = 7
    with pytest.raises(SchemaError, match=r"attribute age: title is not a text"):
        Schema.from_dict(package)
