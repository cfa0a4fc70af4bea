from __future__ import annotations

import pytest

from redveil.errors import QueryError
from redveil.query.condition import read_condition, read_conditions
from redveil.schema import Attribute, Kind, Schema, Side, View

SCHEMA = Schema(
    "lakes",
    View(
        "shape",
        "id",
        (
            Attribute("depth", Kind.NUMERIC, maximum=9, cuts=(3.0,)),
            Attribute("wet", Kind.BOOLEAN),
            Attribute("note", Kind.BOOLEAN),
        ),
    ),
    View(
        "life",
        "id",
        (
            Attribute("fish", Kind.CATEGORICAL, categories=("carp", "pike")),
            Attribute("note", Kind.BOOLEAN),
        ),
    ),
)


@pytest.mark.parametrize(
    ("text", "side"),
    [
        ("[wet]", Side.LEFT),
        ("[fish = carp] | [note]", Side.RIGHT),
        ("left: [note]", Side.LEFT),
        (" right :[note]", Side.RIGHT),
        # A cut point that the schema does not offer to trees is no secret either.
        ("[depth > 4.5]", Side.LEFT),
    ],
)
def test_the_side_follows_from_the_attributes_or_the_prefix(text: str, side: Side) -> None:
    assert read_condition(text, SCHEMA, "within").side is side


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[note]", "both views have note; say which one is meant, as in left: [note]"),
        ("[fush = carp]", "no attribute fush; did you mean fish?"),
        ("[wet] & [fish = carp]", "wet is an attribute of the left view, and fish is one of the "),
        ("right: [wet]", "no attribute wet; "),
        ("[fish = eel]", "fish has no such category; use one of carp, pike"),
        ("[wet = 1]", "wet is Boolean; write "),
        ("[depth < 3]", "position 8: '<' is not supported; write <= or >"),
        ("", "position 1: "),
    ],
)
def test_what_the_schema_does_not_allow_is_refused(text: str, problem: str) -> None:
    with pytest.raises(QueryError) as caught:
        read_condition(text, SCHEMA, "within")
    assert str(caught.value).startswith("within: ")
    assert problem in str(caught.value)


def test_several_queries_of_a_view_must_all_hold() -> None:
    read = read_conditions(["[wet]", "[fish = carp]", "[depth > 3]"], SCHEMA, "within")
    assert [(one.side, one.text) for one in read] == [
        (Side.LEFT, "[wet] & [depth > 3]"),
        (Side.RIGHT, "[fish = carp]"),
    ]
    assert read_conditions(None, SCHEMA, "within") == ()


def test_something_else_than_text_is_refused() -> None:
    with pytest.raises(QueryError, match="give a query as text"):
        read_conditions([3], SCHEMA, "within")  # type: ignore[list-item]
