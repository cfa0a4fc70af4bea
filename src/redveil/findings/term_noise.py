"""The noise of terms: how many standard errors the pairs of terms of one leaf table are off.

Unlike the critical values of free questions, this one is for the Jaccard indices and shares that
were estimated, so every table has its own. But most simulations need not be looked at again for
every table: whatever was estimated, they cannot be among the few that decide.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from redveil.findings.estimate import Estimate, Fit, TwoPass, estimate, solver
from redveil.findings.leaf_table import LeafTable, Prices
from redveil.findings.leverage import leverage_variance
from redveil.findings.noise import (
    SIMULATIONS,
    chosen,
    left_margin,
    quantile_rank,
    simulated_errors,
    squared_lengths,
)
from redveil.findings.statistics import jaccard_indices, line_variance

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

# How many numbers are worked on together: few enough to stay in the processor's cache.
BATCH: Final = 2**14
# Products of matrices with more multiplications than this are divided: linear algebra libraries
# would give them to threads of their own, which wait for each other if other work is going on.
MOST_MULTIPLIED: Final = 2**18
# How many simulations are looked at before it is asked again which others can matter.
TOGETHER: Final = 128
# Bounds are computed in another way than what they bound, and so rounded in another way.
SLACK: Final = 1e-9


def largest_of_terms(
    table: LeafTable, left: Flags, right: Flags, tail: float, ceiling: Floats
) -> Floats:
    """Return the largest studentised error of all pairs of terms, float64[simulations].

    Of their overlaps, their differences from the Jaccard line, their leverages, and the supports.
    Exact for simulations that can be at the upper quantile of `tail`, or above it; a lower bound
    for the others, which leaves the quantile as it is.

    left, right: bool[terms, ends]
    ceiling:     float64[simulations], which no weighting of the ends exceeds
    """
    bounds = _bounds(table.cells.shape, table.prices, left.tobytes(), right.tobytes())
    pairs = [
        (some, _Pairs.of(estimate(table), left[some], right)) for some in _divided(left, right)
    ]
    found, rank = np.zeros(len(ceiling)), quantile_rank(len(ceiling), tail)
    order = np.argsort(-ceiling)
    # What is certainly exceeded often enough; it rises as more simulations are looked at.
    least = 0.0
    for begin in range(0, len(order), TOGETHER):
        now = order[begin : begin + TOGETHER]
        if ceiling[now[0]] * (1 + SLACK) < least:
            break
        deciding = now[bounds.high(now) * (1 + SLACK) >= least]
        found[deciding] = bounds.low(deciding)
        least = float(np.partition(found, rank)[rank])
        deciding = deciding[bounds.high(deciding) * (1 + SLACK) >= least]
        for some, pair in pairs:
            _raise(found, deciding, pair, bounds.errors, left[some], right)
        least = float(np.partition(found, rank)[rank])
    return found


def _raise(
    found: Floats,
    deciding: NDArray[np.int64],
    pairs: _Pairs,
    errors: Fit | TwoPass,
    left: Flags,
    right: Flags,
) -> None:
    """Raise what was found in some simulations to the largest error of lines and leverages."""
    for now in _batches(deciding, pairs.jaccard.size):
        largest = pairs.largest(_Errors.of(chosen(errors, now), left, right))
        found[now] = np.maximum(found[now], largest)


def _divided(left: Flags, right: Flags) -> list[slice]:
    """Return parts of the left terms whose products with all right terms are small enough."""
    together = MOST_MULTIPLIED // (max(left.shape[1], right.shape[1]) * len(right))
    step = max(together, 1)
    return [slice(begin, begin + step) for begin in range(0, len(left), step)]


class _Bounds:
    """Bounds of the largest error, whatever is counted, simulation by simulation.

    The lower one is that of overlaps and supports. The upper one is that of every sum of the four
    counts of a pair, whatever their weights. They are computed when they are asked for, once.
    """

    def __init__(self, errors: Fit | TwoPass, nothing: Estimate, left: Flags, right: Flags) -> None:
        self.errors = errors
        self._left, self._right = left, right
        self._moments = [
            (some, nothing.all_moments(left[some], right)) for some in _divided(left, right)
        ]
        # The four counts of a term's complement are sums and differences of the term's own. But of
        # two passes, cells on the right do not add up to the number of entities.
        lefts = _without_complements(left)
        rights = right if isinstance(errors, TwoPass) else _without_complements(right)
        self._weighted = lefts, rights
        self._low, self._high = np.full((2, len(errors.cells)), np.nan)

    def low(self, simulations: NDArray[np.int64]) -> Floats:
        """Return the lower bounds of some simulations, float64[simulations]."""
        missing = simulations[np.isnan(self._low[simulations])]
        self._low[missing] = 0.0
        for some, moments in self._moments:
            left, right = self._left[some], self._right
            deviations = (
                np.sqrt(moments.both_both).reshape(-1, len(right)),
                np.sqrt(moments.left_left[:: len(right)]),
                np.sqrt(moments.right_right[: len(right)]),
            )
            for now in _batches(missing, len(moments.both)):
                error = _Errors.of(chosen(self.errors, now), left, right)
                each = zip((error.both, error.left, error.right), deviations, strict=True)
                surely = [_largest(*one) for one in each]
                self._low[now] = np.maximum.reduce([self._low[now], *surely])
        return self._low[simulations]

    def high(self, simulations: NDArray[np.int64]) -> Floats:
        """Return the upper bounds of some simulations, float64[simulations]."""
        missing = simulations[np.isnan(self._high[simulations])]
        self._high[missing] = 0.0
        lefts, right = self._weighted
        for some in _divided(lefts, right):
            left = lefts[some]
            sizes = left.sum(axis=1) * 1.0, right.sum(axis=1) * 1.0
            for now in _batches(missing, len(left) * len(right)):
                drawn = chosen(self.errors, now)
                error = _Errors.of(drawn, left, right)
                lengths = squared_lengths(drawn, error.both, (error.left, error.right), sizes)
                largest = np.sqrt(lengths.max(axis=(1, 2)))
                self._high[now] = np.maximum(self._high[now], largest)
        return self._high[simulations]


def _without_complements(terms: Flags) -> Flags:
    """Return terms such that every one, or its complement, is among them exactly once.

    >>> _without_complements(np.array([[True, False], [False, True], [True, True]])).tolist()
    [[False, False], [False, True]]
    """
    return np.unique(terms ^ terms[:, :1], axis=0)


def _batches(simulations: NDArray[np.int64], numbers: int) -> Iterator[NDArray[np.int64]]:
    """Divide simulations of so many numbers each into batches that stay in the cache."""
    batch = BATCH // numbers + 1
    for begin in range(0, len(simulations), batch):
        yield simulations[begin : begin + batch]


# The tables of a run mostly have few shapes and one price.
@lru_cache(maxsize=32)
def _bounds(shape: tuple[int, ...], prices: Prices, lefts: bytes, rights: bytes) -> _Bounds:
    """Return the bounds for a shape, prices and terms; lefts, rights: the flags of the terms."""
    left, right = (
        np.frombuffer(flags, np.bool_).reshape(-1, ends)
        for flags, ends in zip((lefts, rights), shape, strict=True)
    )
    (errors,) = simulated_errors(shape, prices, SIMULATIONS)
    nothing = solver(shape, prices).solve(np.zeros(shape), *map(np.zeros, shape))
    return _Bounds(errors, nothing, left, right)


@dataclass(frozen=True, slots=True, eq=False)
class _Errors:
    """The errors of pairs of terms in some simulations.

    both: float64[simulations, left terms, right terms]
    left: float64[simulations, left terms]; right: float64[simulations, right terms]
    size: float64[simulations]
    """

    both: Floats
    left: Floats
    right: Floats
    size: Floats

    @classmethod
    def of(cls, errors: Fit | TwoPass, left: Flags, right: Flags) -> _Errors:
        u, v = left.astype(np.float64), right.astype(np.float64)
        cells, margin = errors.cells, left_margin(errors)
        return cls(u @ cells @ v.T, margin @ u.T, cells.sum(axis=1) @ v.T, margin.sum(axis=1))


@dataclass(frozen=True, slots=True, eq=False)
class _Pairs:
    """What is known of pairs of terms, each float64[left terms, right terms].

    jaccard:        the estimated Jaccard index
    left, right:    the estimated shares of the terms
    line, leverage: the standard errors of the difference from the Jaccard line, and of the
                    leverage
    """

    jaccard: Floats
    left: Floats
    right: Floats
    line: Floats
    leverage: Floats

    @classmethod
    def of(cls, fitted: Estimate, left: Flags, right: Flags) -> _Pairs:
        m = fitted.all_moments(left, right)
        jaccard = jaccard_indices(m.both, m.left, m.right)
        # The noisy number of entities can be 0 or negative.
        entities = np.maximum(m.size, 1.0)
        share, other = np.clip(m.left / entities, 0, 1), np.clip(m.right / entities, 0, 1)
        line, leverage = line_variance(m, jaccard), leverage_variance(m, share, other)
        numbers = jaccard, share, other, np.sqrt(line), np.sqrt(leverage)
        return cls(*(each.reshape(len(left), len(right)) for each in numbers))

    def largest(self, errors: _Errors) -> Floats:
        """Return the largest error of lines and leverages, float64[simulations]."""
        both, one, other = errors.both, errors.left[:, :, None], errors.right[:, None, :]
        off_line = both - self.jaccard * (one + other - both)
        size = errors.size[:, None, None]
        surplus = both - self.right * one - self.left * other + self.left * self.right * size
        return np.maximum(_largest(off_line, self.line), _largest(surplus, self.leverage))


def _largest(errors: Floats, deviations: Floats) -> Floats:
    """Return the largest studentised error of each simulation; overwrites the errors."""
    np.abs(errors, out=errors)
    errors /= deviations
    return np.asarray(errors.max(axis=tuple(range(1, errors.ndim))))
