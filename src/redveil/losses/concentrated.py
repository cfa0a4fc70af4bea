"""The largest zero-concentrated price ρ that an (ε, δ) guarantee allows.

A run that is ρ-zero-concentrated private is (ε, δ)-private if, for some order α > 1,

    (1 / α) · (1 − 1/α)^(α − 1) · exp((α − 1)(αρ − ε)) ≤ δ.

Any order proves it. So double precision may search for a good one, and interval arithmetic then
checks the order found. Proof: losses/concentrated.md.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from typing import Any, Final

from redveil.losses.intervals import MPMATH, interval_arithmetic

# Orders are multiples of this fraction.
ORDER_STEP: Final = Fraction(1, 2**20)
# Significant digits of ρ, so that prices remain readable.
RHO_DIGITS: Final = 4
INTERVAL_BITS: Final = 200
# A larger ε would overflow the search in double precision; it guarantees nothing anyway.
LARGEST_CHECKED_EPSILON: Final = 10**100


@lru_cache(maxsize=1024)
def rho_within(epsilon: Fraction, delta: Fraction) -> Fraction:
    """Return the largest ρ with four significant digits that provably keeps (ε, δ).

    "Largest" is up to the rounding of the search; that ρ keeps (ε, δ) is checked exactly.

    >>> float(rho_within(Fraction(1), Fraction(1, 10**6)))
    0.02435
    """
    low, high = 0.0, float(epsilon)
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if _log_delta(middle, epsilon) <= _log(delta) else (low, middle)
    unit = Fraction(10) ** (math.floor(math.log10(low)) - RHO_DIGITS + 1)
    units = math.floor(Fraction(low) / unit)
    # The search may have rounded up; the check decides.
    while not keeps(units * unit, epsilon, delta):
        units -= 1
    return units * unit


def keeps(rho: Fraction, epsilon: Fraction, delta: Fraction) -> bool:
    """Whether ρ provably keeps (ε, δ): checked with outward rounding, for one good order.

    >>> keeps(Fraction(1, 50), Fraction(1), Fraction(1, 10**6))
    True
    >>> keeps(Fraction(1, 40), Fraction(1), Fraction(1, 10**6))
    False
    """
    if not 0 < rho <= epsilon <= LARGEST_CHECKED_EPSILON:
        return False
    order = 1 + max(round(_best_order(float(rho), float(epsilon)) / ORDER_STEP), 1) * ORDER_STEP
    above, exponent = order - 1, (order - 1) * (order * rho - epsilon)
    numbers = interval_arithmetic(INTERVAL_BITS)

    def enclosed(number: Fraction) -> Any:
        return numbers.mpf(number.numerator) / number.denominator

    with MPMATH:
        log_shrink = numbers.log(enclosed(above / order)) * enclosed(above)
        spent = numbers.exp(enclosed(exponent) + log_shrink) / enclosed(order)
        return bool(spent.b <= enclosed(delta).a)


def _log_delta(rho: float, epsilon: Fraction) -> float:
    """Return log δ for ρ at the best order, approximately."""
    return _log_delta_at(_best_order(rho, float(epsilon)), rho, float(epsilon))


def _log_delta_at(above: float, rho: float, epsilon: float) -> float:
    """Return log δ for the order 1 + `above`, approximately."""
    order = 1 + above
    shrink = above * math.log(above / order) - math.log(order)
    return shrink + above * (order * rho - epsilon)


def _best_order(rho: float, epsilon: float) -> float:
    """Return the order minus 1 at which δ is smallest, approximately; log δ is convex in it."""
    low, high = -40.0, 60.0
    for _ in range(200):
        third = (high - low) / 3
        left, right = low + third, high - third
        if _log_delta_at(math.exp(left), rho, epsilon) <= _log_delta_at(
            math.exp(right), rho, epsilon
        ):
            high = right
        else:
            low = left
    return math.exp((low + high) / 2)


def _log(delta: Fraction) -> float:
    return math.log(delta.numerator) - math.log(delta.denominator)
