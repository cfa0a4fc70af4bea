"""Taste: which queries may be reported, and what becomes of those that may not."""

from __future__ import annotations

from typing import Any

import pytest

from redveil.errors import InputError
from redveil.findings.taste import Taste, disjoins, negates, said_plainly
from redveil.query.formula import And, Literal, Not, Or, Query
from redveil.query.text import parse_text
from redveil.schema import Attribute, Kind, View
from redveil.schema.unmatched import Group

GOUT = Literal("gout", "=", value=True)
ASTHMA = Literal("asthma", "=", value=True)
OLD = Literal("age", ">", 40)
URIC = Literal("uric acid", ">", 7.5)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[gout]", ""),
        ("![gout]", "not"),
        ("[age <= 40]", ""),
        ("[age > 40]", ""),
        ("[40 < age <= 60]", ""),
        ("[ward = north]", ""),
        ("[ward != north]", "not"),
        ('[pain > "some"]', ""),
        ("[gout] & [age > 40]", ""),
        ("[gout] & ![asthma]", "not"),
        ("[gout] | [age > 40]", "or"),
        ("!([gout] & [age > 40])", "not or"),
        ("!([gout] | [age > 40])", "not"),
        ("!(!([gout] & [age > 40]))", "not"),
        ("[gout] & !([asthma] & [age > 40])", "not or"),
        ("![gout] | [age > 40]", "not or"),
    ],
)
def test_what_says_not_and_what_says_or(text: str, says: str) -> None:
    query = parse_text(text)
    says_not, says_or = "not" in says, "or" in says
    assert (negates(query), disjoins(query)) == (says_not, says_or)
    assert Taste(negation=False).allows(query, URIC) is not says_not
    assert Taste(negation=False).allows(URIC, query) is not says_not
    assert Taste(disjunction=False).allows(query, URIC) is not says_or
    assert Taste().allows(query, URIC)


def test_each_side_has_its_own_literals() -> None:
    two = And((GOUT, OLD))
    assert Taste(max_literals=2).allows(two, two)
    assert not Taste(max_literals=1).allows(two, URIC)
    assert not Taste(max_literals=1).allows(URIC, two)
    # An interval has two ends.
    assert not Taste(max_literals=1).allows_words(And((OLD, Literal("age", "<=", 60))))


def test_one_of_the_required_attributes_is_enough_on_each_side() -> None:
    some = Taste(required_left=("gout", "asthma"))
    assert some.allows(And((OLD, GOUT)), URIC)
    assert not some.allows(OLD, GOUT)
    assert Taste(required_right=("uric acid",)).allows(OLD, URIC)
    assert not Taste(required_left=("gout",), required_right=("age",)).allows(GOUT, URIC)


def test_no_group_stands_on_both_sides() -> None:
    apart = Taste(unmatched=(Group(("gout", "age"), ("uric acid",)),))
    queries: list[tuple[Query, Query, bool]] = [
        (GOUT, URIC, False),
        (GOUT, OLD, True),
        (And((GOUT, OLD)), Literal("CRP", ">", 1), True),
        (ASTHMA, URIC, True),
        (Not(Or((ASTHMA, OLD))), Or((URIC, Literal("CRP", ">", 1))), False),
    ]
    for left, right, fine in queries:
        assert apart.allows(left, right) is fine


@pytest.mark.parametrize(
    ("wish", "message"),
    [
        ({"max_literals": 0}, "max_literals must lie between 1 and 1000"),
        ({"max_literals": 1.5}, "max_literals must be a whole number"),
        ({"max_literals": "many"}, "max_literals must be a whole number"),
        ({"negation": "no"}, "negation must be True or False"),
        ({"disjunction": 0}, "disjunction must be True or False"),
    ],
)
def test_what_cannot_be_wished_is_refused(wish: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=f"^{message}$"):
        Taste(**wish)


def test_only_wishes_are_listed() -> None:
    assert Taste().public() == {}
    assert Taste().allows_all
    assert Taste("3", disjunction=False).public() == {"max_literals": 3, "disjunction": False}  # type: ignore[arg-type]
    assert not Taste(required_right=("age",)).allows_all


def test_of_two_categories_not_the_one_is_the_other() -> None:
    view = View(
        "people",
        "id",
        (
            Attribute("sex", Kind.CATEGORICAL, categories=("f", "m")),
            Attribute("ward", Kind.CATEGORICAL, categories=("north", "south", "west")),
            Attribute("gout", Kind.BOOLEAN),
        ),
    )
    for text, plain in (
        ("[sex != f] & ![gout]", "[sex = m] & ![gout]"),
        ("!([sex != m] | [ward != north])", "!([sex = f] | [ward != north])"),
        ("[sex = f] | [ward != west]", "[sex = f] | [ward != west]"),
    ):
        assert said_plainly(parse_text(text), view.attributes) == parse_text(plain)
