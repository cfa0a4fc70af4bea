"""The chance-corrected index of a pair of queries, and its interval.

It is (J − E) / (1 − E), where E is the Jaccard index expected if unrelated: 0 for unrelated
queries, 1 for equal supports, negative if there is less overlap than expected.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from redveil.findings.estimate import Moments
from redveil.findings.leverage import possible_leverages

Floats = NDArray[np.float64]

# Steps of the search for the ends of an interval, and how far each goes.
SEARCH_STEPS: Final = 12
DAMPING: Final = 0.7


def corrected_bounds(moments: Moments, critical_value: float) -> tuple[Floats, Floats, Floats]:
    """Return estimates, lower and upper bounds of the chance-corrected index, float64[pairs].

    The bounds are its extremes over all counts (overlap, supports and number of entities) whose
    errors have a Mahalanobis length of at most `critical_value`. They are searched for by following
    the gradient.
    """
    counts = np.stack([moments.both, moments.left, moments.right, np.maximum(moments.size, 1.0)])
    estimate = _of_counts(counts)
    if critical_value == 0:
        return estimate, estimate, estimate
    spread = _covariances(moments)
    low, high = (_extreme(counts, spread, critical_value, direction) for direction in (-1.0, 1.0))
    return estimate, np.minimum(low, estimate), np.maximum(high, estimate)


def _extreme(counts: Floats, spread: Floats, length: float, direction: float) -> Floats:
    """Return the smallest or largest index within a Mahalanobis length of some counts, [pairs].

    counts: float64[4, pairs]; spread: float64[4, 4, pairs], their covariances
    """
    here, best = counts, _of_counts(counts)
    for _ in range(SEARCH_STEPS):
        slope = _gradient(here)
        step = np.einsum("ijp,jp->ip", spread, slope)
        size = np.sqrt(np.maximum((slope * step).sum(axis=0), 1e-300))
        there = counts + direction * length * step / size
        here = here + DAMPING * (there - here)
        for tried in (there, here):
            index = _of_counts(tried)
            best = np.minimum(best, index) if direction < 0 else np.maximum(best, index)
    return best


def _gradient(counts: Floats) -> Floats:
    """Return the slope of the index in each of the four counts, float64[4, pairs]."""
    width = 1e-4 * np.maximum(counts[3], 1.0)
    slopes = []
    for place in range(4):
        off = np.zeros_like(counts)
        off[place] = width
        slopes.append((_of_counts(counts + off) - _of_counts(counts - off)) / (2 * width))
    return np.stack(slopes)


def _of_counts(counts: Floats) -> Floats:
    """Return the index from overlap, supports and number of entities, float64[4, pairs]."""
    both, left, right, size = counts
    entities = np.maximum(size, 1.0)
    a, b = np.clip(left / entities, 0.0, 1.0), np.clip(right / entities, 0.0, 1.0)
    return corrected_index(a, b, both / entities - a * b)


def _covariances(m: Moments) -> Floats:
    """Return the covariances of overlap, supports and number of entities, float64[4, 4, pairs]."""
    return np.array(
        [
            [m.both_both, m.both_left, m.both_right, m.both_size],
            [m.both_left, m.left_left, m.left_right, m.left_size],
            [m.both_right, m.left_right, m.right_right, m.right_size],
            [m.both_size, m.left_size, m.right_size, m.size_size],
        ]
    )


def cautious_corrected(moments: Moments) -> Floats:
    """Return the chance-corrected index one standard error of the leverage below its estimate."""
    at = possible_leverages(moments, 1.0, 1)
    size = np.maximum(moments.size, 1.0)
    return np.asarray(corrected_index(at.left, at.right, at.low / size)[0, 0])


def corrected_index(left: Floats, right: Floats, leverage: Floats) -> Floats:
    """Return the chance-corrected index, from shares and a leverage per entity.

    >>> one = np.array([0.25])
    >>> corrected_index(one, one, np.array([0.1875])), corrected_index(one, one, np.array([0.0]))
    (array([1.]), array([0.]))
    """
    a, b = left, right
    most = np.minimum(a * (1 - b), b * (1 - a))
    surplus = np.clip(leverage, -np.minimum(a * b, (1 - a) * (1 - b)), most)
    # (J − E) / (1 − E) with everything over a common denominator.
    bottom = (a + b - a * b - surplus) * (a + b - 2 * a * b)
    safe = bottom > 1e-15
    index = np.divide((a + b) * surplus, bottom, out=np.zeros_like(bottom), where=safe)
    return np.asarray(np.clip(index, -1.0, 1.0))
