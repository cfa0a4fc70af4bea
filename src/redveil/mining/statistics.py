"""Noise-aware statistics: intervals from the known noise law, p-values at the pessimistic end."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from redveil.mining.estimate import Estimate, Moments, TwoPass, estimate, solver
from redveil.mining.leaf_table import LeafTable

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

CONFIDENCE: Final = 0.95
SIMULATIONS: Final = 400


def simultaneous_reach(table: LeafTable, left: Flags, right: Flags) -> float:
    """Return how many standard errors intervals must reach to hold for all pairs at once.

    left: bool[left terms, left cells]; right: bool[right terms, right cells].

    The noise law is public, so its effect is simulated: the reach is the 95 % quantile of the
    largest studentised error among the overlaps of all pairs of terms, their differences from the
    Jaccard line, and the supports. Picking the best pair afterwards is then already paid for. The
    simulation has nothing to do with the data and always uses the same numbers.
    """
    moments = estimate(table).moments(
        np.repeat(left, len(right), axis=0), np.tile(right, (len(left), 1))
    )
    jaccard = jaccard_bounds(moments, 0.0)[0]
    both, lefts, rights = _simulated_errors(table, left, right)
    one_left, one_right = moments.left_left[:: len(right)], moments.right_right[: len(right)]
    largest = np.max(
        [
            _largest(both, moments.both_both),
            _largest(lefts, one_left),
            _largest(rights, one_right),
            _largest(
                both - jaccard * (_all_pairs(lefts, rights) - both), line_variance(moments, jaccard)
            ),
        ],
        axis=0,
    )
    # "higher" and not interpolated: the quantile must hold, not be close.
    return float(np.quantile(largest, CONFIDENCE, method="higher"))


def _largest(errors: Floats, variances: Floats) -> Floats:
    """Return the largest studentised error of each simulation; errors: [simulations, some]."""
    deviations = np.sqrt(variances)
    return np.asarray(np.abs(errors / deviations).max(axis=1), dtype=np.float64)


def _all_pairs(lefts: Floats, rights: Floats) -> Floats:
    """Return the sums of all pairs of columns, [simulations, lefts · rights]."""
    return (lefts[:, :, None] + rights[:, None, :]).reshape(len(lefts), -1)


def _simulated_errors(table: LeafTable, left: Flags, right: Flags) -> tuple[Floats, Floats, Floats]:
    """Return simulated errors: of overlaps of all pairs, of left and of right supports.

    Each is float64[simulations, pairs or terms].
    """
    noise = np.random.default_rng(20_240_229)
    height, width = table.cells.shape
    cells = _integer_laplace(noise, table.cells_price, (SIMULATIONS, height, width))
    lefts_alone = _integer_laplace(noise, table.left_price, (SIMULATIONS, height))
    rights_alone = None
    if table.right_price is not None:
        rights_alone = _integer_laplace(noise, table.right_price, (SIMULATIONS, width))
    guess = solver(table).solve(cells, lefts_alone, rights_alone)
    u, v = left.astype(np.float64), right.astype(np.float64)
    both = (u @ guess.cells @ v.T).reshape(SIMULATIONS, -1)
    margin = guess.left_margin if isinstance(guess, TwoPass) else guess.cells.sum(axis=2)
    return both, margin @ u.T, guess.cells.sum(axis=1) @ v.T


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


def _integer_laplace(
    noise: np.random.Generator, epsilon: Fraction, shape: tuple[int, ...]
) -> NDArray[np.int64]:
    """Simulate integer Laplace noise: the difference of two geometric variables."""
    chance = -math.expm1(-float(epsilon))
    return noise.geometric(chance, shape) - noise.geometric(chance, shape)


def jaccard_bounds(moments: Moments, reach: float) -> tuple[Floats, Floats, Floats]:
    """Return estimates, lower and upper bounds of J, each float64[pairs], within [0, 1].

    The bounds are the values of J that the overlap and the union do not contradict: those with
    |both − J·either| within `reach` standard errors of that difference (Fieller's method).
    """
    m = moments
    both = m.both
    either = m.left + m.right - both
    variance_either, covariance = _either_variance(m)
    square = reach * reach
    a = either**2 - square * variance_either
    b = both * either - square * covariance
    # b² − a·c with its largest terms cancelled by hand: they would drown a small reach.
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
    from scipy.special import betainc

    entities = np.maximum(np.asarray(size, dtype=np.float64), 1.0)
    lefts, rights = np.clip(left, 0.0, entities), np.clip(right, 0.0, entities)
    overlap = np.asarray(np.minimum(both, np.minimum(lefts, rights)), dtype=np.float64)
    chance = lefts * rights / entities**2
    tail = betainc(np.maximum(overlap, 1e-12), np.maximum(entities - overlap + 1, 1e-12), chance)
    return np.asarray(np.where(overlap <= 0, 1.0, tail), dtype=np.float64)


def pessimistic_p_values(moments: Moments, table: Estimate, reach: float) -> Floats:
    """Return p-values with every count at the end of its interval that speaks against the find."""
    pessimistic = p_values(
        moments.both - reach * np.sqrt(moments.both_both),
        moments.left + reach * np.sqrt(moments.left_left),
        moments.right + reach * np.sqrt(moments.right_right),
        table.size - reach * table.size_deviation,
    )
    # Noise can make an overlap larger than its supports; then the estimates are the worse end.
    odd = np.flatnonzero(moments.both > np.minimum(moments.left, moments.right))
    likely = p_values(moments.both[odd], moments.left[odd], moments.right[odd], table.size)
    pessimistic[odd] = np.maximum(pessimistic[odd], likely)
    return pessimistic
