"""Noise-aware statistics: intervals from the known noise law, p-values at the pessimistic end."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

import numpy as np
from numpy.typing import NDArray

from redveil.findings.binomial import binomial_p_values, largest_binomial_p
from redveil.findings.estimate import Estimate, Moments
from redveil.findings.leverage import ROUNDING, corrected_bounds, largest_log_p, ratio_bounds

Floats = NDArray[np.float64]

CONFIDENCE: Final = 0.95
# How surely the p-values hold by which redescriptions are confirmed.
CONFIRMING_CONFIDENCE: Final = 0.99


class SignificanceTest(StrEnum):
    """How p-values are computed: by Fisher's exact test, or by the paper's binomial tail.

    >>> SignificanceTest.FISHER.value
    'fisher'
    """

    FISHER = "fisher"
    BINOMIAL = "binomial"


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

    intervals:  for supports and Jaccard indices, at 95 %
    counts:     for whatever is made of the overlap, the two supports and the number of entities, at
                95 %; binomial p-values use it
    leverages:  for leverages, and so for Fisher's p-values and chance-corrected indices, at 95 %
    confirming: for leverages, at 99 %

    >>> CriticalValues(4.5, 5.2, 4.8, 5.9).intervals
    4.5
    """

    intervals: float
    counts: float
    leverages: float
    confirming: float


@dataclass(frozen=True, slots=True)
class Statistics:
    """What a leaf table says about a pair of queries.

    The intervals hold together for all pairs of queries. `expected_jaccard` is the Jaccard index
    that unrelated queries with these supports would have, `corrected` the chance-corrected index.
    `p_value` is the largest that is consistent with the noise at 95 %, `p_value_confirming` at
    99 %; `p_value_estimate` is the one at the estimates.
    """

    jaccard: Interval
    expected_jaccard: float
    corrected: Interval
    support_left: Interval
    support_right: Interval
    support_both: Interval
    p_value: float
    p_value_confirming: float
    p_value_estimate: float


def statistics_of(
    moments: Moments,
    estimate: Estimate,
    critical: CriticalValues,
    test: SignificanceTest = SignificanceTest.FISHER,
) -> Statistics:
    """Return the statistics of a single pair of queries.

    moments: of one pair, float64[1]
    """
    m = moments
    jaccard, low, high = (float(bound[0]) for bound in jaccard_bounds(m, critical.intervals))
    left, right = float(m.left[0]), float(m.right[0])
    expected = expected_jaccard(left, right, estimate.size)
    likely, largest, confirming = (
        float(p[0]) for p in p_values_at(m, estimate, test, _levels(critical, test))
    )
    return Statistics(
        jaccard=Interval(jaccard, low, high),
        expected_jaccard=expected,
        corrected=_corrected(m, jaccard, expected, critical),
        support_left=support_interval(left, m.left_left[0], critical),
        support_right=support_interval(right, m.right_right[0], critical),
        support_both=support_interval(m.both[0], m.both_both[0], critical),
        p_value=largest,
        p_value_confirming=confirming,
        p_value_estimate=likely,
    )


def _corrected(
    moments: Moments, jaccard: float, expected: float, critical: CriticalValues
) -> Interval:
    """Return the chance-corrected index of the printed Jaccard indices, with its interval.

    Noise can make an overlap larger than its supports. Bounds are those of possible tables; the
    estimate follows from the estimates that stand beside it, which a reader can check.
    """
    _, low, high = (float(bound[0]) for bound in corrected_bounds(moments, critical.leverages))
    # Queries that everybody satisfies are expected to have an index of 1.
    estimate = (jaccard - expected) / (1 - expected) if 1 - expected > ROUNDING else 0.0
    return Interval(estimate, min(low, estimate), max(high, estimate))


def _levels(critical: CriticalValues, test: SignificanceTest) -> tuple[float, ...]:
    if test is SignificanceTest.BINOMIAL:
        return 0.0, critical.counts, critical.counts
    return 0.0, critical.leverages, critical.confirming


def p_values_at(
    moments: Moments, estimate: Estimate, test: SignificanceTest, levels: tuple[float, ...]
) -> tuple[Floats, ...]:
    """Return the largest p-values within so many standard errors, for each level float64[pairs]."""
    if test is SignificanceTest.FISHER:
        return tuple(np.exp(largest_log_p(moments, level)) for level in levels)
    m = moments
    likely = binomial_p_values(m.both, m.left, m.right, estimate.size)
    return tuple(
        largest_binomial_p(m, estimate, level) if level > 0 else likely for level in levels
    )


def support_interval(estimate: float, variance: float, critical: CriticalValues) -> Interval:
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
    Nor may they contradict the intervals of the three counts. Critical values are for all of these
    together, so it costs nothing, and where the union may be nothing but noise it is all there is.
    """
    m = moments
    both = m.both
    either = m.left + m.right - both
    variance_either, covariance = _either_variance(m)
    low, high = ratio_bounds(both, either, m.both_both, covariance, variance_either, critical_value)
    estimate = jaccard_indices(both, m.left, m.right)
    if critical_value > 0:
        least, most = _bounds_of_counts(m, critical_value)
        low, high = np.maximum(low, least), np.minimum(high, most)
    # Rounding must not push the estimate out of its own interval.
    bounds = estimate, np.minimum(low, estimate), np.maximum(high, estimate)
    return tuple(np.clip(x, 0.0, 1.0) for x in bounds)  # type: ignore[return-value]


def jaccard_indices(both: Floats, left: Floats, right: Floats) -> Floats:
    """Return estimates of J, float64[pairs], within [0, 1]; 0 where nothing is known of a union.

    >>> jaccard_indices(*(np.array([x]) for x in (20.0, 30.0, 40.0)))
    array([0.4])
    """
    either = left + right - both
    index = np.divide(both, either, out=np.zeros_like(both), where=either > 0)
    return np.clip(index, 0.0, 1.0)


def _bounds_of_counts(moments: Moments, critical_value: float) -> tuple[Floats, Floats]:
    """Return the least and the largest J of tables whose counts are within their intervals."""
    m = moments
    counts = (m.both, m.both_both), (m.left, m.left_left), (m.right, m.right_right)
    widths = [critical_value * np.sqrt(variance) for _, variance in counts]
    ends = zip(counts, widths, strict=True)
    both, left, right = [
        (np.maximum(0.0, count - width), np.maximum(0.0, count + width))
        for (count, _), width in ends
    ]
    largest = left[1] + right[1] - both[0]
    least = np.divide(both[0], largest, out=np.zeros_like(largest), where=largest > 0)
    # An overlap is no larger than either support.
    shared = np.minimum(both[1], np.minimum(left[1], right[1]))
    smallest = np.maximum(left[0], shared) + np.maximum(right[0], shared) - shared
    return least, np.divide(shared, smallest, out=np.ones_like(shared), where=smallest > 0)
