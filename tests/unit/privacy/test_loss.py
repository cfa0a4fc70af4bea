from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redveil.errors import InputError
from redveil.privacy.loss import divide, parse_epsilon, round_down, total


@pytest.mark.parametrize(
    ("given_as", "means"),
    [
        ("1", Fraction(1)),
        (1, Fraction(1)),
        (0.1, Fraction(1, 10)),
        ("0.1", Fraction(1, 10)),
        ("1/3", Fraction(1, 3)),
        (Fraction(2, 7), Fraction(2, 7)),
        (" 0.25 ", Fraction(1, 4)),
        ("1e-2", Fraction(1, 100)),
    ],
)
def test_epsilon_is_read_as_written(given_as: str | float, means: Fraction) -> None:
    assert parse_epsilon(given_as) == means


@pytest.mark.parametrize(
    "bad",
    [
        "",
        "one",
        "0",
        "-1",
        "1/0",
        "nan",
        "inf",
        "1e9",
        "1e-9",
        "1e999999999",
        "1e-999999999",
        math.nan,
        math.inf,
        True,
    ],
)
def test_a_meaningless_epsilon_is_refused(bad: str | float) -> None:
    with pytest.raises(InputError, match="epsilon must be a number between"):
        parse_epsilon(bad)


@given(
    st.fractions(min_value=Fraction(1, 1000), max_value=100),
    st.lists(st.integers(1, 1000), min_size=1, max_size=20),
)
def test_parts_add_up_exactly(epsilon: Fraction, shares: list[int]) -> None:
    parts = divide(epsilon, shares)
    assert total(parts) == epsilon
    assert all(p * sum(shares) == epsilon * s for p, s in zip(parts, shares, strict=True))


@given(st.fractions(min_value=Fraction(1, 10**6), max_value=100))
def test_floats_are_rounded_towards_privacy(number: Fraction) -> None:
    rounded = round_down(number)
    assert Fraction(rounded) <= number < Fraction(math.nextafter(rounded, math.inf))
