"""Names of attributes as people write them, with the side in front where it is needed."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from redveil.schema import Attribute, Kind, Side, View
from redveil.schema.naming import find_attribute, shortest, written


def view(*names: str) -> View:
    return View("view", "id", tuple(Attribute(name, Kind.BOOLEAN) for name in names))


def test_a_side_in_front_is_read_before_the_whole_name() -> None:
    left, right = view("age", "left:age"), view("age")
    assert find_attribute("left:age", left, right) == (Side.LEFT, "age")
    assert find_attribute("left:left:age", left, right) == (Side.LEFT, "left:age")
    assert find_attribute("right:age", left, right) == (Side.RIGHT, "age")


def test_a_colon_is_part_of_a_name_unless_a_side_stands_before_it() -> None:
    left, right = view("ratio a:b"), view("right:side")
    assert find_attribute("ratio a:b", left, right) == (Side.LEFT, "ratio a:b")
    assert find_attribute("right:side", left, right) == (Side.RIGHT, "right:side")


def test_an_ambiguous_name_is_not_guessed() -> None:
    assert find_attribute("age", view("age"), view("age")) == (
        "age is in both views",
        "write left:age or right:age",
    )


def test_an_unknown_name_comes_with_names_that_can_be_written() -> None:
    left, right = view("age", "gout"), view("age")
    assert find_attribute("agge", left, right)[1] == "did you mean right:age?"
    assert find_attribute("left:gotu", left, right)[1] == "did you mean gout?"
    assert find_attribute("right:gout", left, right) == (
        "no attribute right:gout",
        "did you mean gout?",
    )
    assert find_attribute("zzz", left, right)[1] == "use one of left:age, gout, right:age"


names = st.sampled_from(("age", "left:age", "right:age", "left:left:age", "left:", ":", "é"))


@given(st.sets(names, min_size=1), st.sets(names, min_size=1))
def test_every_attribute_can_be_named(lefts: set[str], rights: set[str]) -> None:
    left, right = view(*sorted(lefts)), view(*sorted(rights))
    for side, here in ((Side.LEFT, left), (Side.RIGHT, right)):
        for name in here.names:
            for text in (written((side, name)), shortest((side, name), left, right)):
                assert find_attribute(text, left, right) == (side, name)
