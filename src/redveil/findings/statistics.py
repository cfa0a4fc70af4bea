"""Noise-aware statistics: intervals from the known noise law, p-values at the pessimistic end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from redveil.findings.estimate import Estimate, Moments

Floats = NDArray[np.float64]

CONFIDENCE: Final = 0.95
# How many expected overlaps are tried in search of the largest p-value.
EXPECTED_OVERLAPS_TRIED: Final = 33


@dataclass(frozen=True, slots=True)
class Interval:
    """An estimate with its bounds.

    >>> Interval(0.5, 0.4, 0.6).low
    0.4
    """

    estimate: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class CriticalValues:
    """How many standard errors bounds must allow for, to hold for all pairs of queries at once.

    `intervals` is for supports and Jaccard indices. `counts` is for whatever else is made of the
    overlap, the two supports and the number of entities together, p-values among them.

    >>> CriticalValues(4.5, 5.2).intervals
    4.5
    """

    intervals: float
    counts: float


@dataclass(frozen=True, slots=True)
class Statistics:
    """What a leaf table says about a pair of queries.

    The intervals hold together for all pairs of queries. `expected_jaccard` is the Jaccard index
    that unrelated queries with these supports would have. `p_value` is the largest that is
    consistent with the noise; `p_value_estimate` is the one at the estimates.
    """

    jaccard: Interval
    expected_jaccard: float
    support_left: Interval
    support_right: Interval
    support_both: Interval
    p_value: float
    p_value_estimate: float


def statistics_of(moments: Moments, estimate: Estimate, critical: CriticalValues) -> Statistics:
    """Return the statistics of a single pair of queries.

    moments: of one pair, float64[1]
    """
    m = moments
    jaccard, low, high = (float(bound[0]) for bound in jaccard_bounds(m, critical.intervals))
    left, right = float(m.left[0]), float(m.right[0])
    return Statistics(
        jaccard=Interval(jaccard, low, high),
        expected_jaccard=expected_jaccard(left, right, estimate.size),
        support_left=_support(left, m.left_left[0], critical),
        support_right=_support(right, m.right_right[0], critical),
        support_both=_support(m.both[0], m.both_both[0], critical),
        p_value=float(pessimistic_p_values(m, estimate, critical.counts)[0]),
        p_value_estimate=float(p_values(m.both, m.left, m.right, estimate.size)[0]),
    )


def _support(estimate: float, variance: float, critical: CriticalValues) -> Interval:
    """Return the interval of a support, which is never negative."""
    width = critical.intervals * float(np.sqrt(variance))
    return Interval(*(max(0.0, float(estimate) + x) for x in (0.0, -width, width)))


def expected_jaccard(left: float, right: float, entities: float) -> float:
    """Return the Jaccard index that two unrelated queries with these supports would have.

    >>> expected_jaccard(50, 50, 100), round(expected_jaccard(10, 10, 100), 3)
    (0.3333333333333333, 0.053)
    >>> expected_jaccard(0, 10, 100)
    0.0
    """
    if min(left, right, entities) <= 0:
        return 0.0
    both = min(left * right / entities, left, right)
    return both / (left + right - both)


def line_variance(moments: Moments, jaccard: Floats) -> Floats:
    """Return the variance of both − J·either, float64[pairs]."""
    m = moments
    either, covariance = _either_variance(m)
    variance = m.both_both - 2 * jaccard * covariance + jaccard**2 * either
    return np.asarray(np.maximum(variance, 1e-12), dtype=np.float64)


def _either_variance(moments: Moments) -> tuple[Floats, Floats]:
    """Return the variance of the union's size, and its covariance with the overlap."""
    m = moments
    variance = (
        m.left_left + m.right_right + m.both_both + 2 * (m.left_right - m.both_left - m.both_right)
    )
    return variance, m.both_left + m.both_right - m.both_both


def jaccard_bounds(moments: Moments, critical_value: float) -> tuple[Floats, Floats, Floats]:
    """Return estimates, lower and upper bounds of J, each float64[pairs], within [0, 1].

    The bounds are the values of J that the overlap and the union do not contradict: those with
    |both − J·either| within `critical_value` standard errors of that difference (Fieller's method).
    """
    m = moments
    both = m.both
    either = m.left + m.right - both
    variance_either, covariance = _either_variance(m)
    square = critical_value * critical_value
    a = either**2 - square * variance_either
    b = both * either - square * covariance
    # b² − a·c with its largest terms cancelled by hand: they would drown a small critical value.
    discriminant = square * (
        either**2 * m.both_both
        - 2 * both * either * covariance
        + both**2 * variance_either
        - square * (variance_either * m.both_both - covariance**2)
    )
    known = (a > 0) & (either > 0)
    safe = np.where(known, a, 1.0)
    root = np.sqrt(np.maximum(discriminant, 0.0))
    low = np.where(known, (b - root) / safe, 0.0)
    high = np.where(known, (b + root) / safe, 1.0)
    estimate = np.divide(both, either, out=np.zeros_like(both), where=either > 0)
    # Rounding must not push the estimate out of its own interval.
    bounds = estimate, np.minimum(low, estimate), np.maximum(high, estimate)
    return tuple(np.clip(x, 0.0, 1.0) for x in bounds)  # type: ignore[return-value]


def p_values(both: ArrayLike, left: ArrayLike, right: ArrayLike, size: ArrayLike) -> Floats:
    """Return P[X ≥ both] for X ~ Binomial(size, left·right / size²), for real-valued counts.

    The binomial tail is an incomplete beta function, which needs no whole numbers and does not
    lose small probabilities as 1 − cdf would.

    >>> p_values(3, 5, 4, 10).round(4).tolist()
    0.3222
    """
    entities = np.maximum(np.asarray(size, dtype=np.float64), 1.0)
    lefts, rights = np.clip(left, 0.0, entities), np.clip(right, 0.0, entities)
    overlap = np.asarray(np.minimum(both, np.minimum(lefts, rights)), dtype=np.float64)
    chance = lefts * rights / entities**2
    return _tail(overlap, entities, chance)


def pessimistic_p_values(moments: Moments, estimate: Estimate, critical_value: float) -> Floats:
    """Return the largest p-values that the noise allows, within `critical_value` standard errors.

    What makes a find significant is its leverage, both − left·right / size. The four counts have
    errors in common, so the leverage is bounded as a whole, by its linear part and a bound of the
    rest; the p-value is then taken at the worst expected overlap within its own interval.
    """
    m = moments
    likely = p_values(m.both, m.left, m.right, estimate.size)
    if critical_value == 0:
        return likely
    size = np.maximum(m.size, 1.0)
    lefts, rights = np.clip(m.left, 0.0, size), np.clip(m.right, 0.0, size)
    off_left, off_right, off_size = (
        critical_value * np.sqrt(variance) for variance in (m.left_left, m.right_right, m.size_size)
    )
    smallest, largest = np.maximum(size - off_size, 1.0), size + off_size
    # left·right / size less its linear part: its second derivatives, at their largest.
    share, other = (
        np.minimum((count + off) / smallest, 1.0)
        for count, off in ((lefts, off_left), (rights, off_right))
    )
    mixed = other * off_left + share * off_right + share * other * off_size
    curved = (off_left * off_right + mixed * off_size) / smallest
    linear = critical_value * np.sqrt(leverage_variance(m))
    leverage = m.both - lefts * rights / size - linear - curved
    least = np.maximum(lefts - off_left, 0.0) * np.maximum(rights - off_right, 0.0) / largest
    most = np.minimum((lefts + off_left) * (rights + off_right) / smallest, largest)
    # Where a fixed surplus is likeliest by chance is found by trying.
    expected = np.linspace(least, most, EXPECTED_OVERLAPS_TRIED)
    tails = _tail(expected + leverage, largest, expected / largest)
    worst = np.where(leverage > 0, tails.max(axis=0), 1.0)
    # Noise can make an overlap larger than its supports; then the estimates are the worse end.
    return np.asarray(np.maximum(worst, likely), dtype=np.float64)


def leverage_variance(moments: Moments) -> Floats:
    """Return the variance of the linear part of both − left·right / size, float64[pairs]."""
    m = moments
    size = np.maximum(m.size, 1.0)
    of_left, of_right = np.clip(m.right / size, 0.0, 1.0), np.clip(m.left / size, 0.0, 1.0)
    of_size = of_left * of_right
    variance = (
        m.both_both
        + of_left**2 * m.left_left
        + of_right**2 * m.right_right
        + of_size**2 * m.size_size
        - 2 * (of_left * m.both_left + of_right * m.both_right - of_size * m.both_size)
        + 2 * of_left * of_right * m.left_right
        - 2 * of_size * (of_left * m.left_size + of_right * m.right_size)
    )
    return np.asarray(np.maximum(variance, 1e-12), dtype=np.float64)


def _tail(overlap: Floats, size: Floats, chance: Floats) -> Floats:
    """Return P[X ≥ overlap] for X ~ Binomial(size, chance), for real-valued counts."""
    from scipy.special import betainc

    above = np.maximum(size - overlap + 1, 1e-12)
    tail = betainc(np.maximum(overlap, 1e-12), above, np.clip(chance, 0.0, 1.0))
    return np.asarray(np.where(overlap <= 0, 1.0, tail), dtype=np.float64)
