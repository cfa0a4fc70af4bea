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
from redveil.privacy.loss import Price, count_variance

Floats = NDArray[np.float64]

SIMULATIONS: Final = 2000
# Small tables are drawn more often, for tails that are thinner.
MOST_SIMULATIONS: Final = 16_000
# How certain it is that a simulated quantile is not too small.
QUANTILE_CONFIDENCE: Final = 0.99
# Beyond what simulations show, the logarithm of the tail falls at least by this much for every
# further standard error: a single Laplace variable, the heaviest of all sums of them, has 1.41.
TAIL_DECAY: Final = 1.2
# Integer Gaussian noise this wide is a rounded real one, to more digits than a simulation shows.
WIDE_DEVIATION: Final = 100.0
FARTHEST_DEVIATIONS: Final = 8
_SEED: Final = 20_261_116


def simulated_errors(
    shape: tuple[int, ...], prices: Prices, simulations: int, batch: int = SIMULATIONS
) -> Iterator[Fit | TwoPass]:
    """Yield the errors of estimates from tables of a shape and some prices, in batches.

    The leading axis of every array is the simulation. The draws have nothing to do with what was
    counted, and are always the same.
    """
    height, width = shape
    # Always the same number of draws for a purpose, so that they are kept.
    drawn = SIMULATIONS if simulations <= SIMULATIONS else MOST_SIMULATIONS
    errors = _drawn(height, width, prices, drawn)
    for begin in range(0, simulations, batch):
        end = min(begin + batch, simulations)
        if isinstance(errors, TwoPass):
            margin = errors.left_margin[begin:end]
            yield replace(errors, cells=errors.cells[begin:end], left_margin=margin)
        else:
            yield replace(errors, cells=errors.cells[begin:end])


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


def upper_quantile(simulated: Floats, tail: float) -> float:
    """Return a number that is exceeded with probability `tail` at most.

    The smallest simulated error is taken that lies above the true quantile with a confidence of
    99 %. If there is none, the tail is too thin to be simulated, and is extrapolated.

    >>> upper_quantile(np.arange(1000.0), 0.05)
    965.0
    """
    from scipy.special import bdtr

    count = len(simulated)
    thinnest = max(tail, -math.log(1 - QUANTILE_CONFIDENCE) / count)
    ranks = np.arange(1, count + 1)
    # The r-th smallest lies above the quantile if fewer than r of all lie below it.
    above = np.flatnonzero(bdtr(ranks - 1, count, 1 - thinnest) >= QUANTILE_CONFIDENCE)
    rank = int(above[0]) if above.size else count - 1
    return float(np.sort(simulated)[rank]) + math.log(thinnest / tail) / TAIL_DECAY


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
        return noise.geometric(chance, shape) - noise.geometric(chance, shape)
    deviation = math.sqrt(count_variance(price))
    if deviation > WIDE_DEVIATION:
        return np.rint(noise.normal(0.0, deviation, shape)).astype(np.int64)
    # Farther out than anything that a simulation of billions would show.
    farthest = math.ceil(FARTHEST_DEVIATIONS * deviation) + 1
    whole = np.arange(-farthest, farthest + 1)
    heights = np.cumsum(np.exp(-float(price.amount) * whole.astype(np.float64) ** 2))
    places = np.searchsorted(heights, noise.random(shape) * heights[-1], side="right")
    return np.asarray(whole[places], dtype=np.int64)
