from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from redveil.errors import InputError
from redveil.losses.loss import (
    divide,
    exact,
    parse_epsilon,
    parse_loss,
    read_fraction,
    round_down,
    total,
)


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
        *((kind(0.5), Fraction(1, 2)) for kind in (np.float64, np.float32, np.float16)),
        (np.float64(0.1), Fraction(1, 10)),
        (np.float32(0.1), Fraction(1, 10)),
        *((kind(2), Fraction(2)) for kind in (np.int64, np.int32, np.uint8)),
        (np.str_("1/3"), Fraction(1, 3)),
        (Decimal("0.1"), Fraction(1, 10)),
        (Decimal("1E-3"), Fraction(1, 1000)),
    ],
)
def test_epsilon_is_read_as_written(given_as: Any, means: Fraction) -> None:
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
        np.True_,
        np.float64("nan"),
        np.array([1.0, 2.0]),
        Decimal("Infinity"),
        b"1",
    ],
)
def test_a_meaningless_epsilon_is_refused(bad: Any) -> None:
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


@pytest.mark.parametrize(
    "value",
    ["0." + 63 * "3", 10**100, 10**5000, Fraction(1, 10**70), Fraction(1, 10**5000)],
    ids=["text", "integer", "long integer", "fraction", "long fraction"],
)
def test_a_number_that_is_too_long_is_refused(value: Any) -> None:
    """What is computed from it could not be written in digits once it is paid for."""
    assert read_fraction(value) is None
    with pytest.raises(InputError, match="in at most 64 characters"):
        parse_epsilon(value)
    with pytest.raises(InputError, match="in at most 64 characters"):
        parse_loss(1, value)


@pytest.mark.parametrize("number", [0.1, 1e-6, 1 / 3, 1e-30])
def test_exact_values_of_floats_are_short_enough(number: float) -> None:
    assert read_fraction(Fraction(number)) == Fraction(number)


@given(st.fractions())
def test_digits_are_those_of_str(number: Fraction) -> None:
    assert exact(number) == str(number)
