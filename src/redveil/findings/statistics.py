"""Noise-aware statistics: intervals from the known noise law, p-values at the pessimistic end."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from redveil.findings.estimate import Estimate, Fit, Moments, TwoPass, estimate, solver
from redveil.findings.leaf_table import LeafTable
from redveil.privacy.loss import Price, count_variance

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

CONFIDENCE: Final = 0.95
# Expected overlaps at which a p-value is tried.
TRIED: Final = 33
SIMULATIONS: Final = 1000
# With several tables the quantile lies further out, and needs more of them.
MOST_SIMULATIONS: Final = 2 * SIMULATIONS
# How sure a simulated quantile is not to be too small.
SURE: Final = 0.99
# Beyond what simulations show, errors of more than a few standard errors become rarer at least by
# this rate for each: a single Laplace variable, the heaviest of all sums of them, has 1.41.
FALL: Final = 1.2
# Integer Gaussian noise this wide is a rounded real one, to more digits than a simulation shows.
WIDE: Final = 100.0
FAR: Final = 8


def simultaneous_reach(table: LeafTable, left: Flags, right: Flags, tables: int = 1) -> float:
    """Return how many standard errors intervals must reach to hold for all pairs at once.

    left: bool[left terms, left cells]; right: bool[right terms, right cells].

    The noise law is public, so its effect is simulated: the reach is the 95 % quantile of the
    largest studentised error among the overlaps of all pairs of terms, their differences from the
    Jaccard line, their leverages, and the supports. Picking the best pair afterwards is then
    already paid for. With several tables, each gets its share of the other 5 %. The simulation has
    nothing to do with the data and always uses the same numbers.
    """
    fitted = estimate(table)
    errors = _simulated_errors(table, min(SIMULATIONS * tables, MOST_SIMULATIONS))
    margin = errors.left_margin if isinstance(errors, TwoPass) else errors.cells.sum(axis=2)
    of_left, of_right = margin @ left.T.astype(np.float64), errors.cells.sum(axis=1) @ right.T
    largest = np.zeros(len(margin))
    # One left term at a time: the pairs of deep trees would not fit into memory together.
    for number, term in enumerate(left):
        m = fitted.moments(np.repeat(term[None], len(right), axis=0), right)
        jaccard = jaccard_bounds(m, 0.0)[0]
        both = (term.astype(np.float64) @ errors.cells) @ right.T
        one, size = of_left[:, [number]], margin.sum(axis=1, keepdims=True)
        # As in `leverage_variance`: noise can leave nobody, or fewer.
        entities = np.maximum(m.size, 1.0)
        share, other = np.clip(m.left / entities, 0, 1), np.clip(m.right / entities, 0, 1)
        surplus = both - other * one - share * of_right + share * other * size
        for error, variance in (
            (both, m.both_both),
            (one, m.left_left[:1]),
            (of_right, m.right_right),
            (both - jaccard * (one + of_right - both), line_variance(m, jaccard)),
            (surplus, leverage_variance(m)),
        ):
            largest = np.maximum(largest, np.abs(error / np.sqrt(variance)).max(axis=1))
    return upper_quantile(largest, (1 - CONFIDENCE) / tables)


def upper_quantile(simulated: Floats, tail: float) -> float:
    """Return a number that is exceeded with probability `tail` at most.

    Of the simulated errors the one is taken that lies above the true quantile with probability
    99 %. Where none does, the tail is too thin to be simulated and is prolonged.

    >>> upper_quantile(np.arange(1000.0), 0.05)
    965.0
    """
    from scipy.special import bdtr

    count = len(simulated)
    thinnest = max(tail, -math.log(1 - SURE) / count)
    ranks = np.arange(1, count + 1)
    # The r-th smallest lies above the quantile if fewer than r of all lie below it.
    sure = np.flatnonzero(bdtr(ranks - 1, count, 1 - thinnest) >= SURE)
    rank = int(sure[0]) if sure.size else count - 1
    return float(np.sort(simulated)[rank]) + math.log(thinnest / tail) / FALL


def _simulated_errors(table: LeafTable, simulations: int) -> Fit | TwoPass:
    """Return what tables without anybody would be taken for, one after the other."""
    noise = np.random.default_rng(20_240_229)
    height, width = table.cells.shape
    cells = integer_noise(noise, table.cells_price, (simulations, height, width))
    lefts_alone, rights_alone = (
        None if price is None else integer_noise(noise, price, (simulations, some))
        for price, some in ((table.left_price, height), (table.right_price, width))
    )
    return solver(table).solve(cells, lefts_alone, rights_alone)


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


def integer_noise(
    noise: np.random.Generator, price: Price, shape: tuple[int, ...]
) -> NDArray[np.int64]:
    """Simulate the noise that a price puts on counts: integer Laplace, or integer Gaussian for ρ.

    Seeded, and so for the public law alone; what is released gets its noise from `privacy`.

    >>> integer_noise(np.random.default_rng(1), Fraction(1, 10), (2,)).shape
    (2,)
    """
    if isinstance(price, Fraction):
        # The difference of two geometric variables.
        chance = -math.expm1(-float(price))
        return noise.geometric(chance, shape) - noise.geometric(chance, shape)
    deviation = math.sqrt(count_variance(price))
    if deviation > WIDE:
        return np.rint(noise.normal(0.0, deviation, shape)).astype(np.int64)
    # Farther out than anything that a simulation of billions would meet.
    farthest = math.ceil(FAR * deviation) + 1
    whole = np.arange(-farthest, farthest + 1)
    heights = np.cumsum(np.exp(-float(price.amount) * whole.astype(np.float64) ** 2))
    places = np.searchsorted(heights, noise.random(shape) * heights[-1], side="right")
    return np.asarray(whole[places], dtype=np.int64)


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
    entities = np.maximum(np.asarray(size, dtype=np.float64), 1.0)
    lefts, rights = np.clip(left, 0.0, entities), np.clip(right, 0.0, entities)
    overlap = np.asarray(np.minimum(both, np.minimum(lefts, rights)), dtype=np.float64)
    chance = lefts * rights / entities**2
    return _tail(overlap, entities, chance)


def pessimistic_p_values(moments: Moments, table: Estimate, reach: float) -> Floats:
    """Return the largest p-values that the noise allows, within `reach` standard errors.

    What makes a find significant is its leverage, both − left·right / size. The four counts have
    errors in common, so the leverage is bounded as a whole, by its linear part and a bound of the
    rest; the p-value is then taken at the worst expected overlap within its own interval.
    """
    m = moments
    likely = p_values(m.both, m.left, m.right, table.size)
    if reach == 0:
        return likely
    size = np.maximum(m.size, 1.0)
    lefts, rights = np.clip(m.left, 0.0, size), np.clip(m.right, 0.0, size)
    off_left, off_right, off_size = (
        reach * np.sqrt(variance) for variance in (m.left_left, m.right_right, m.size_size)
    )
    smallest, largest = np.maximum(size - off_size, 1.0), size + off_size
    # left·right / size less its linear part: its second derivatives, at their largest.
    share, other = (
        np.minimum((count + off) / smallest, 1.0)
        for count, off in ((lefts, off_left), (rights, off_right))
    )
    mixed = other * off_left + share * off_right + share * other * off_size
    curved = (off_left * off_right + mixed * off_size) / smallest
    linear = reach * np.sqrt(leverage_variance(m))
    leverage = m.both - lefts * rights / size - linear - curved
    least = np.maximum(lefts - off_left, 0.0) * np.maximum(rights - off_right, 0.0) / largest
    most = np.minimum((lefts + off_left) * (rights + off_right) / smallest, largest)
    # Where a fixed surplus is likeliest by chance is found by trying.
    expected = np.linspace(least, most, TRIED)
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
