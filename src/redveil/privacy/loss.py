"""Privacy loss as exact money: rational numbers, turned into floats once, towards more privacy."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Final

from redveil.errors import InputError

# Beyond this, e^ε is so large that the promise is empty; far smaller, and nothing can be said.
LARGEST_EPSILON: Final = Fraction(100)
SMALLEST_EPSILON: Final = Fraction(1, 10**6)


def parse_epsilon(value: str | float | Fraction) -> Fraction:
    """Read ε as people write it: `1`, `0.1`, `"1/3"`. A float means the decimal that it prints as.

    >>> parse_epsilon(0.1)
    Fraction(1, 10)
    >>> parse_epsilon("1/3")
    Fraction(1, 3)
    >>> parse_epsilon("-1")
    Traceback (most recent call last):
    redveil.errors.InputError: epsilon must lie between 1e-06 and 100, as in 1, 0.25 or 1/3
    """
    try:
        text = repr(value) if isinstance(value, float) else value
        # By way of a float where there is an exponent: a huge one would be written out in digits.
        exponent = isinstance(text, str) and "e" in text.lower()
        epsilon = Fraction(repr(float(text)) if exponent else text)
    except (ValueError, ZeroDivisionError, OverflowError, TypeError):
        epsilon = Fraction(0)
    if isinstance(value, bool) or not SMALLEST_EPSILON <= epsilon <= LARGEST_EPSILON:
        raise InputError(
            f"epsilon must lie between {float(SMALLEST_EPSILON):g} and "
            f"{float(LARGEST_EPSILON):g}, as in 1, 0.25 or 1/3"
        )
    return epsilon


def divide(epsilon: Fraction, shares: Sequence[int | Fraction]) -> tuple[Fraction, ...]:
    """Divide a loss in proportion to shares; the parts add up exactly.

    >>> divide(Fraction(1), [1, 2])
    (Fraction(1, 3), Fraction(2, 3))
    """
    whole = sum(Fraction(share) for share in shares)
    return tuple(epsilon * Fraction(share) / whole for share in shares)


def round_down(number: Fraction) -> float:
    """Return the largest float that is not above a number.

    >>> Fraction(round_down(Fraction(1, 10))) <= Fraction(1, 10) <= Fraction(0.1)
    True
    """
    nearest = float(number)
    return nearest if Fraction(nearest) <= number else math.nextafter(nearest, -math.inf)


def laplace_variance(epsilon: Fraction) -> float:
    """Return the variance of integer Laplace noise, P(k) ∝ exp(−ε·|k|).

    >>> round(laplace_variance(Fraction(1)), 3)
    1.841
    """
    rate = float(epsilon)
    # expm1: 1 − exp(−ε) would lose the digits of a small ε.
    return 2 * math.exp(-rate) / math.expm1(-rate) ** 2
