"""The noise law, simulated.

The law of the noise is public: it follows from the shape of a leaf table and the prices of its
parts. So its effect on anything computed from a table can be simulated, without any data. There is
one simulator, and its draws are kept by shape and price.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from redveil.findings.estimate import Fit, TwoPass, solver
from redveil.findings.leaf_table import Prices
from redveil.losses.loss import Price, count_variance

Floats = NDArray[np.float64]

SIMULATIONS: Final = 2000
# Small tables are drawn more often, for tails that are thinner.
MOST_SIMULATIONS: Final = 16_000
# The largest number of cells that are drawn for all simulations together, unless simulations would
# get too few: what a deep tree with missing values needs must fit into memory, and end.
MOST_CELLS_DRAWN: Final = 2**23
FEWEST_SIMULATIONS: Final = 400
# How certain it is that a simulated quantile is not too small.
QUANTILE_CONFIDENCE: Final = 0.99
# Beyond what simulations show, the logarithm of the tail falls at least by this much for every
# further standard error: a single Laplace variable, the heaviest of all sums of them, has 1.41.
TAIL_DECAY: Final = 1.2
# Integer Gaussian noise this wide is a rounded real one, to more digits than a simulation shows.
WIDE_DEVIATION: Final = 100.0
FARTHEST_DEVIATIONS: Final = 8
# Between these, a geometric variable is a rounded exponential one.
SMALLEST_CHANCE: Final = 1e-12
LARGEST_CHANCE: Final = 0.33
# Below this share of the variances that it is made of, a variance is nothing but rounding.
ROUNDING: Final = 1e-9
_SEED: Final = 20_261_116


def simulated_errors(
    shape: tuple[int, ...], prices: Prices, simulations: int, batch: int = SIMULATIONS
) -> Iterator[Fit | TwoPass]:
    """Yield the errors of estimates from tables of a shape and some prices, in batches.

    The leading axis of every array is the simulation. The draws have nothing to do with what was
    counted, and are always the same. There are fewer for very large tables; a quantile of fewer
    is taken more cautiously (`upper_quantile`).
    """
    height, width = shape
    affordable = max(MOST_CELLS_DRAWN // (height * width), FEWEST_SIMULATIONS)
    # Always the same number of draws for a purpose, so that they are kept.
    drawn = min(SIMULATIONS if simulations <= SIMULATIONS else MOST_SIMULATIONS, affordable)
    errors = _drawn(height, width, prices, drawn)
    for begin in range(0, min(simulations, drawn), batch):
        yield chosen(errors, slice(begin, min(begin + batch, simulations, drawn)))


def chosen(errors: Fit | TwoPass, some: slice | NDArray[np.int64]) -> Fit | TwoPass:
    """Return some of the simulations."""
    if isinstance(errors, TwoPass):
        return replace(errors, cells=errors.cells[some], left_margin=errors.left_margin[some])
    return replace(errors, cells=errors.cells[some])


# Large tables take hundreds of megabytes; the tables of a run mostly have one shape and price.
@lru_cache(maxsize=4)
def _drawn(height: int, width: int, prices: Prices, count: int) -> Fit | TwoPass:
    noise = np.random.default_rng(_SEED)
    cells = integer_noise(noise, prices.cells, (count, height, width))
    left, right = (
        None if price is None else integer_noise(noise, price, (count, some))
        for price, some in ((prices.left_margin, height), (prices.right_margin, width))
    )
    return solver((height, width), prices).solve(cells, left, right)


def left_margin(errors: Fit | TwoPass) -> Floats:
    """Return the errors of the left margin, float64[simulations, left ends]."""
    return errors.left_margin if isinstance(errors, TwoPass) else errors.cells.sum(axis=2)


def squared_lengths(
    error: Fit | TwoPass,
    both: Floats,
    supports: tuple[Floats, Floats],
    sizes: tuple[Floats, Floats],
) -> Floats:
    """Return the squared Mahalanobis lengths of the four counts' errors.

    They are the sums of four independent squared errors: of the cells inside and beside an
    overlap and of the counts in and outside a support; or of a table's mean and its effects.
    both: [simulations, lefts, rights]; supports: [simulations, lefts], [simulations, rights];
    sizes: how many ends each union has.
    """
    left, right = supports
    p, q = sizes
    height, width = error.cells.shape[1:]
    whole = left_margin(error).sum(axis=1)
    if isinstance(error, TwoPass):
        beside = right[:, None, :] - both
        inside = both**2 / p[:, None] + beside**2 * _inverse(height - p)[:, None]
        of_left = left**2 / p + (whole[:, None] - left) ** 2 * _inverse(height - p)
        return np.asarray(
            inside / (q * error.cell_variance) + of_left[:, :, None] / error.left_variance
        )
    rows, columns = left - p / height * whole[:, None], right - q / width * whole[:, None]
    cross = both - left[:, :, None] * (q / width) - (p / height)[:, None] * columns[:, None, :]
    of_rows, of_columns = _inverse(p - p * p / height), _inverse(q - q * q / width)
    alone = rows**2 * of_rows / (width * error.rows)
    alone += (whole**2 / (height * width * error.mean))[:, None]
    return np.asarray(
        cross**2 * (of_rows[:, None] * of_columns / error.interaction)
        + alone[:, :, None]
        + (columns**2 * of_columns / (height * error.columns))[:, None, :]
    )


def _inverse(numbers: Floats) -> Floats:
    """Return 1 / x, and 0 where x is 0: what does not vary does not count."""
    return np.divide(1.0, numbers, out=np.zeros_like(numbers), where=numbers > ROUNDING)


def upper_quantile(simulated: Floats, tail: float) -> float:
    """Return a number that is exceeded with probability `tail` at most.

    The smallest simulated error is taken that lies above the true quantile with a confidence of
    99 %. If there is none, the tail is too thin to be simulated, and is extrapolated.

    >>> upper_quantile(np.arange(1000.0), 0.05)
    965.0
    """
    thinnest = _thinnest(len(simulated), tail)
    rank = quantile_rank(len(simulated), tail)
    return float(np.sort(simulated)[rank]) + math.log(thinnest / tail) / TAIL_DECAY


@lru_cache(maxsize=64)
def quantile_rank(count: int, tail: float) -> int:
    """Return which of so many simulated errors, in order and from 0, is the upper quantile.

    >>> quantile_rank(1000, 0.05)
    965
    """
    # The r-th smallest of n lies above the quantile if fewer than r of all lie below it: if more
    # than n − r lie above. Their number is binomial, and few enough to be added up one by one.
    chance = _thinnest(count, tail)
    odds = math.log(chance) - math.log1p(-chance)
    logarithm, surely = count * math.log1p(-chance), 0.0
    for above in range(count):
        surely += math.exp(logarithm)
        if surely > 1 - QUANTILE_CONFIDENCE:
            return count - max(above, 1)
        logarithm += odds + math.log(count - above) - math.log(above + 1)
    return 0


def _thinnest(count: int, tail: float) -> float:
    """Return the tail, or the thinnest that so many simulations show."""
    return max(tail, -math.log(1 - QUANTILE_CONFIDENCE) / count)


def integer_noise(
    noise: np.random.Generator, price: Price, shape: tuple[int, ...]
) -> NDArray[np.int64]:
    """Simulate the noise that a price puts on counts: integer Laplace, or integer Gaussian for ρ.

    Seeded, and so for the public law alone; released counts get their noise from `privacy`.

    >>> integer_noise(np.random.default_rng(1), Fraction(1, 10), (2,)).shape
    (2,)
    """
    if isinstance(price, Fraction):
        # The difference of two geometric variables.
        chance = -math.expm1(-float(price))
        return _geometric(noise, chance, shape) - _geometric(noise, chance, shape)
    deviation = math.sqrt(count_variance(price))
    if deviation > WIDE_DEVIATION:
        return np.rint(noise.normal(0.0, deviation, shape)).astype(np.int64)
    # Farther out than anything that a simulation of billions would show.
    farthest = math.ceil(FARTHEST_DEVIATIONS * deviation) + 1
    whole = np.arange(-farthest, farthest + 1)
    heights = np.cumsum(np.exp(-float(price.amount) * whole.astype(np.float64) ** 2))
    places = np.searchsorted(heights, noise.random(shape) * heights[-1], side="right")
    return np.asarray(whole[places], dtype=np.int64)


def _geometric(
    noise: np.random.Generator, chance: float, shape: tuple[int, ...]
) -> NDArray[np.int64]:
    """Draw what `noise.geometric` would, several times as fast.

    For chances below 1/3, NumPy divides an exponential variable by a logarithm that it computes
    again for every draw. Chances that are so small that a draw could be too large are left to it.
    """
    if not SMALLEST_CHANCE < chance < LARGEST_CHANCE:
        return noise.geometric(chance, shape)
    drawn = noise.standard_exponential(shape)
    drawn /= -math.log1p(-chance)
    return np.ceil(drawn, out=drawn).astype(np.int64)
