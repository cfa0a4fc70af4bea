from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redveil.query.text import parse_text
from redveil_research.figures.canvas import conjunction_words, drawing, fitted, in_words, measured


@given(st.text(max_size=300), st.floats(0.3, 3), st.integers(1, 3))
def test_no_line_is_wider_than_its_place(text: str, width: float, lines: int) -> None:
    with drawing():
        shown = fitted(text, width, lines=lines)
        assert shown.count("\n") < lines
        assert measured(shown) <= width or len(shown) <= 2


def test_what_fits_is_left_alone_and_what_does_not_keeps_both_ends() -> None:
    with drawing():
        assert fitted("age ≤ 65", 2) == "age ≤ 65"
        long = fitted(f"beginning {'x' * 400} ≤ 12.5", 1.5)
        assert long.startswith("beginning")
        assert long.endswith("≤ 12.5")
        assert "…" in long


def test_a_sign_and_its_value_stay_on_one_line() -> None:
    with drawing():
        wide = measured("MEDREIMB_IP_2009 >")
        assert fitted("MEDREIMB_IP_2009 > 1000", wide) == "MEDREIMB_IP_2009\n> 1000"


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("[gout]", "gout"),
        ("![gout]", "not gout"),
        ("[a <= -2.5]", "a ≤ −2.5"),
        ('[sex != "f m"]', "sex ≠ f m"),
        ("[a is known]", "a known"),
        ("![a is known]", "a missing"),
        ("[a] | [b]", "[a] | [b]"),
    ],
)
def test_tests_read_as_people_write_them(query: str, words: str) -> None:
    assert in_words(parse_text(query)) == words


def test_titles_take_the_place_of_names() -> None:
    titles = {"t3": "March mean (°C)", "gout": ""}
    assert in_words(parse_text("[t3 <= 5]"), titles) == "March mean (°C) ≤ 5"
    assert in_words(parse_text("![gout]"), titles) == "not gout"
    assert conjunction_words(parse_text("[1 < t3 <= 2]"), titles) == ["1 < March mean (°C) ≤ 2"]


def test_conjunctions_are_divided_into_their_tests() -> None:
    assert conjunction_words(parse_text("[a] & [1 < b <= 2] & ![c]")) == ["a", "1 < b ≤ 2", "not c"]
