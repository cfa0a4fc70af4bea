"""Sampling the exponential mechanism's law exactly.

The law is P(i) ∝ base[i] · exp(rate · units[i]). A uniform real number U is compared with the
cumulative weights. Double precision decides almost always, with a proven slack. If U is closer to a
boundary than the slack, the same U is extended by fresh bits and compared by interval arithmetic
until the answer is certain. No approximation remains (privacy/choose.md).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from functools import partial
from typing import Final

import numpy as np
from numpy.typing import NDArray

from redveil.errors import PlanError
from redveil.losses.intervals import MPMATH, interval_arithmetic
from redveil.privacy.randomness import Randomness

Integers = NDArray[np.int64]
# An index, and a lower and an upper bound on the cumulative weight up to and including it.
Boundary = tuple[int, int, int]

# One unit in the last place of a double, relative to its value.
_LAST_PLACE: Final = 2.0**-52
# The relative error of a weight in these units: exponents reach 745 before weights underflow, and
# exp is off by a few units. The additions that make a cumulative weight come on top.
EXPONENT_ERROR: Final = 2 * 745 + 8
LARGEST_BASE: Final = 2**53
_MOST_EXPONENTIALS_CACHED: Final = 2**16


def draw(units: Integers, rate: Fraction, base: Integers, randomness: Randomness) -> int:
    """Draw an index with P(i) ∝ base[i] · exp(rate · units[i]).

    units, base: int64[candidates]; base is not negative, and 0 excludes a candidate.

    >>> from redveil.privacy.randomness import SystemRandomness
    >>> one_allowed = np.array([0, 5, 0])
    >>> draw(np.array([9, 1, 9]), Fraction(1), one_allowed, SystemRandomness())
    1
    """
    must_be_measure(base)
    gaps = units[base > 0].max() - units
    with np.errstate(under="ignore", over="ignore", invalid="ignore"):
        weights = np.where(base > 0, base * np.exp(-float(rate) * gaps), 0.0)
    word = int(randomness.words(1)[0])
    index = settle(weights, EXPONENT_ERROR, word)
    return decide_exactly(gaps, rate, base, word, randomness) if index is None else index


def must_be_measure(base: Integers) -> None:
    """Refuse a base measure that is negative, too large for a double, or 0 everywhere.

    >>> must_be_measure(np.array([0, 3]))
    >>> must_be_measure(np.array([0, 0]))
    Traceback (most recent call last):
    redveil.errors.PlanError: nothing to choose from, or a base measure out of range
    """
    if base.min(initial=0) < 0 or base.max(initial=0) >= LARGEST_BASE or not base.any():
        raise PlanError("nothing to choose from, or a base measure out of range")


def settle(weights: NDArray[np.float64], error: int, word: int) -> int | None:
    """Return the index that a uniform number selects, or None if doubles cannot decide.

    weights: float64[candidates], not negative.
    error:   a bound on the weights' total error, in units of 2^-52 of their sum; the error of
             adding them up comes on top.
    word:    the first 64 binary digits of the uniform number.

    >>> settle(np.array([1.0, 3.0]), EXPONENT_ERROR, 2**63)
    1
    >>> settle(np.array([1.0, 3.0]), EXPONENT_ERROR, 2**62)
    """
    cumulative = np.cumsum(weights)
    total = float(cumulative[-1])
    slack = total * _LAST_PLACE * (error + weights.size)
    low, high = total * (word / 2**64) - slack, total * ((word + 1) / 2**64) + slack
    index = int(np.searchsorted(cumulative, low, side="right"))
    floor = float(cumulative[index - 1]) if index else -slack
    if floor + slack <= low and high <= float(cumulative[index]) - slack:
        return index
    return None


def decide_exactly(
    gaps: Integers, rate: Fraction, base: Integers, word: int, randomness: Randomness
) -> int:
    """Extend the uniform number that starts with `word` until interval arithmetic can decide.

    gaps: int64[candidates], the best score minus the score; not negative where base > 0.
    """
    return continue_until_certain(partial(_boundaries, gaps, rate, base), word, randomness)


def continue_until_certain(
    boundaries: Callable[[int], Iterable[Boundary]], word: int, randomness: Randomness
) -> int:
    """Return the index that a uniform number selects, drawing as many of its digits as needed.

    boundaries: returns the candidates' boundaries in units of 2^-precision, given the precision;
                their error must vanish as the precision grows.
    word:       the first 64 binary digits of the number.
    """
    bits, digits = word, 64
    while True:
        listed = list(boundaries(2 * digits + 64))
        total_low, total_high = listed[-1][1], listed[-1][2]
        low, high = bits * total_low, (bits + 1) * total_high
        before_high = 0
        for index, cumulative_low, cumulative_high in listed:
            if before_high << digits <= low and high <= cumulative_low << digits:
                return index
            before_high = cumulative_high
        bits = bits << 64 | int(randomness.words(1)[0])
        digits += 64


class Exponentials:
    """Lower and upper bounds on exp(−rate · gap), in units of 2^-precision.

    >>> at = Exponentials(Fraction(1), 8)
    >>> at(0), at(1)
    ((256, 256), (93, 95))
    """

    def __init__(self, rate: Fraction, precision: int) -> None:
        self._iv = interval_arithmetic(precision + 32)
        with MPMATH:
            self._step = self._iv.mpf(rate.numerator) / rate.denominator
            self._scale = self._iv.mpf(2) ** precision
        self._known = {0: (1 << precision, 1 << precision)}

    def __call__(self, gap: int) -> tuple[int, int]:
        """Return the lower and the upper bound for a gap, a non-negative integer."""
        if gap in self._known:
            return self._known[gap]
        with MPMATH:
            value = self._iv.exp(-self._step * gap) * self._scale
            bounds = max(int(value.a) - 1, 0), int(value.b) + 1
        if len(self._known) < _MOST_EXPONENTIALS_CACHED:
            self._known[gap] = bounds
        return bounds


def _boundaries(
    gaps: Integers, rate: Fraction, base: Integers, precision: int
) -> Iterator[Boundary]:
    """Yield (index, lower, upper bound on the cumulative weight) in units of 2^-precision."""
    exponential = Exponentials(rate, precision)
    low = high = 0
    for index in np.flatnonzero(base):
        least, most = exponential(int(gaps[index]))
        low += int(base[index]) * least
        high += int(base[index]) * most
        yield int(index), low, high
