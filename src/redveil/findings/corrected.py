"""The chance-corrected index of a pair of queries, and its interval.

It is (J − E) / (1 − E), where E is the Jaccard index expected if unrelated: 0 for unrelated
queries, 1 for equal supports, negative if there is less overlap than expected.
"""

from __future__ import annotations

from itertools import product
from typing import Final

import numpy as np
from numpy.typing import NDArray

from redveil.findings.estimate import Moments
from redveil.findings.leverage import possible_leverages

Floats = NDArray[np.float64]

# Steps of the search for the ends of an interval, and how far each goes.
SEARCH_STEPS: Final = 12
DAMPING: Final = 0.7
# The search begins at the best of these directions, and of none.
_AXIS: Final = (-1.0, -0.5, 0.0, 0.5, 1.0)
_DIRECTIONS: Final = np.array([d for d in product(_AXIS, repeat=4) if any(d)])


def corrected_bounds(moments: Moments, critical_value: float) -> tuple[Floats, Floats, Floats]:
    """Return estimates, lower and upper bounds of the chance-corrected index, float64[pairs].

    The bounds are its extremes over all counts (overlap, supports and number of entities) whose
    errors have a Mahalanobis length of at most `critical_value`. They are searched for in many
    directions, and then by following the gradient.
    """
    counts = np.stack([moments.both, moments.left, moments.right, np.maximum(moments.size, 1.0)])
    estimate = _of_counts(counts)
    if critical_value == 0:
        return estimate, estimate, estimate
    spread = _covariances(moments)
    low, high = (_extreme(counts, spread, critical_value, sign) for sign in (-1.0, 1.0))
    return estimate, np.minimum(low, estimate), np.maximum(high, estimate)


def _extreme(counts: Floats, spread: Floats, length: float, sign: float) -> Floats:
    """Return the smallest or largest index within a Mahalanobis length of some counts, [pairs].

    counts: float64[4, pairs]; spread: float64[4, 4, pairs], their covariances
    """
    here = _farthest_tried(counts, spread, length, sign)
    best = sign * _of_counts(here)
    for _ in range(SEARCH_STEPS):
        slope = _gradient(here)
        step = np.einsum("ijp,jp->ip", spread, slope)
        size = np.sqrt((slope * step).sum(axis=0))
        there = counts + sign * length * np.divide(
            step, size, out=np.zeros_like(step), where=size > 1e-12
        )
        # Where nothing changes, there is nowhere to go.
        there = np.where(size > 1e-12, there, here)
        here = here + DAMPING * (there - here)
        best = np.maximum(best, np.maximum(sign * _of_counts(there), sign * _of_counts(here)))
    return sign * best


def _farthest_tried(counts: Floats, spread: Floats, length: float, sign: float) -> Floats:
    """Return the counts with the smallest or largest index among some directions, [4, pairs]."""
    values, vectors = np.linalg.eigh(np.moveaxis(spread, 2, 0))
    roots = vectors * np.sqrt(np.maximum(values, 0.0))[:, None, :]
    unit = _DIRECTIONS / np.linalg.norm(_DIRECTIONS, axis=1, keepdims=True)
    # float64[4, directions, pairs]
    tried = counts[:, None, :] + length * np.einsum("pij,dj->idp", roots, unit)
    best = (sign * _of_counts(tried)).argmax(axis=0)
    return np.asarray(np.take_along_axis(tried, best[None, None, :], axis=1)[:, 0, :])


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
