"""Cut points bought with ε: a noisy histogram on a public grid, and bins of equal share from it.

A column costs one `count`. Proof: algorithms/cut_points.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from redveil.data.table import NumericColumn, Table
from redveil.privacy.loss import count_variance
from redveil.privacy.mechanisms import count
from redveil.privacy.plan import Plan, Purse, Step, StepKey, StepKind
from redveil.privacy.randomness import Randomness
from redveil.schema import Attribute, Side
from redveil.schema.fine_grid import fine_grid
from redveil.sealed import Sealed, within

Floats: TypeAlias = NDArray[np.float64]
Integers: TypeAlias = NDArray[np.int64]


# How far neighbours are averaged over, in bins; the noise decides which.
_BANDWIDTHS: Final = (0.1, 0.7, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 9.0)
# A bin that stands out from its neighbours by this many standard errors is a value of its own.
_STANDS_OUT: Final = 4.0
# Shares are tried from small to large, in steps of this ratio.
_SHARE_RATIO: Final = 1.05
_SMALLEST_SHARE: Final = 1e-6


@dataclass(frozen=True, slots=True)
class CutPointRequest:
    """One numeric attribute whose cut points are to be bought.

    >>> from redveil.schema import Kind
    >>> str(CutPointRequest(Side.RIGHT, Attribute("cost", Kind.NUMERIC)).key)
    'cut points, right cost'
    """

    side: Side
    attribute: Attribute

    @property
    def key(self) -> StepKey:
        """The step that pays for its histogram."""
        return StepKey(StepKind.CUT_POINTS, part=f"{self.side} {self.attribute.name}")


def cuts_plan(wanted: Sequence[CutPointRequest], epsilon: Fraction) -> Plan:
    """Divide ε equally over the columns: a pure function of public parameters.

    >>> from redveil.schema import Kind
    >>> columns = [CutPointRequest(side, Attribute("cost", Kind.NUMERIC)) for side in Side]
    >>> [str(step.price) for step in cuts_plan(columns, Fraction(1, 10)).steps]
    ['1/20', '1/20']
    """
    price = epsilon / len(wanted)
    return Plan(epsilon, tuple(Step(one.key, "count", price) for one in wanted))


def bought_cuts(
    table: Sealed[Table],
    wanted: Sequence[CutPointRequest],
    most: int,
    epsilon: Fraction,
    randomness: Randomness,
) -> tuple[tuple[float, ...], ...]:
    """Buy cut points for some columns: each gets at least one, and at most `most`.

    >>> from redveil.privacy.randomness import SystemRandomness
    >>> from redveil.schema import Kind
    >>> cost = Attribute("cost", Kind.NUMERIC, maximum=100, cuts=(0, 1, 10, 50))
    >>> column = NumericColumn(cost, np.repeat([0.0, 2.0, 7.0], 1000))
    >>> table = Sealed(Table(3000, {}, {"cost": column}))
    >>> wanted = [CutPointRequest(Side.RIGHT, cost)]
    >>> bought_cuts(table, wanted, 3, Fraction(10), SystemRandomness())[0][0]
    0.0
    """
    purse = Purse(epsilon)
    purse.commit(cuts_plan(wanted, epsilon))
    found = tuple(_column(table, one, most, purse, randomness) for one in wanted)
    purse.close()
    return found


def _column(
    table: Sealed[Table], one: CutPointRequest, most: int, purse: Purse, randomness: Randomness
) -> tuple[float, ...]:
    """Measure one column's histogram; all that comes after it is post-processing."""
    grid = np.array(fine_grid(one.attribute), dtype=np.float64)
    exact = within(partial(fine_counts, one=one, grid=grid), table)
    receipt = purse.pay(one.key, "count")
    noisy = count(exact, receipt, randomness).value
    mass = smoothed(noisy.astype(np.float64), count_variance(receipt.price))
    return tuple(grid[list(even_cuts(mass, most))].tolist())


def fine_counts(table: Table, one: CutPointRequest, grid: Floats) -> Integers:
    """Count the entities between grid points, int64[points + 1]; who lacks a value is in no bin.

    Bin i holds the values above point i − 1 and up to point i: what a cut there tells apart.

    >>> from redveil.schema import Kind
    >>> cost = Attribute("cost", Kind.NUMERIC, maximum=9)
    >>> table = Table(4, {}, {"cost": NumericColumn(cost, np.array([0.0, 2.0, 2.5, np.nan]))})
    >>> fine_counts(table, CutPointRequest(Side.RIGHT, cost), np.array([0.0, 2.0])).tolist()
    [1, 1, 1]
    """
    column = table.view(one.side)[one.attribute.name]
    assert isinstance(column, NumericColumn)
    known = column.values[~np.isnan(column.values)]
    places = np.searchsorted(grid, known, side="left")
    return np.bincount(places, minlength=grid.size + 1).astype(np.int64)


def smoothed(noisy: Floats, variance: float) -> Floats:
    """Estimate a histogram from noisy counts: neighbours are averaged as far as the noise asks.

    noisy: float64[bins], each count with noise of this variance. Bins that stand out, such as the
    many who paid exactly 0, are left as they are and out of their neighbours' averages. The width
    of the averages is the one with the smallest unbiased estimate of the error.

    >>> smoothed(np.array([500.0, 10, 10, 10, 10]), variance=2.0).tolist()
    [500.0, 10.0, 10.0, 10.0, 10.0]
    """
    place = np.flatnonzero(~_stands_out(noisy, variance))
    estimate = noisy.astype(np.float64)
    counts = estimate[place]
    distance = place[:, None] - place[None, :]
    best = np.inf
    for width in _BANDWIDTHS:
        kernel = np.exp(-0.5 * (distance / width) ** 2)
        kernel /= kernel.sum(axis=1, keepdims=True)
        guess = kernel @ counts
        risk = float(((guess - counts) ** 2).sum() + 2 * variance * np.trace(kernel))
        if risk < best:
            best, estimate[place] = risk, guess
    return np.clip(estimate, 0.0, None)


def even_cuts(mass: Floats, most: int) -> tuple[int, ...]:
    """Return the bins after which to cut, so that at most `most` cuts make masses about equal.

    mass: float64[bins], not negative. A bin that is heavier than the others can be made stays
    alone, and the cuts it saves go to the rest. There is always at least one cut.

    >>> even_cuts(np.ones(8), 3)
    (1, 3, 5)
    >>> even_cuts(np.array([90.0, 1, 1, 1, 1]), 2)
    (0, 2)
    """
    mass = mass if mass.sum() > 0 else np.ones(mass.size)
    # The heaviest bins may stay alone; what they leave is shared by no more than all the bins.
    rest = float(np.sort(mass)[: max(mass.size - most, 1)].sum())
    share = max(rest / (2 * most + 2), float(mass.sum()) * _SMALLEST_SHARE)
    while len(cuts := _greedy(mass, share)) > most:
        share *= _SHARE_RATIO
    return cuts or (int(np.searchsorted(np.cumsum(mass[:-1]), mass[:-1].sum() / 2)),)


def _stands_out(noisy: Floats, variance: float) -> NDArray[np.bool_]:
    """Return which bins are far above the mean of their neighbours, bool[bins]."""
    wide = np.pad(noisy.astype(np.float64), 1, mode="reflect")
    excess = noisy - (wide[:-2] + wide[2:]) / 2
    return np.asarray(excess > _STANDS_OUT * np.sqrt(2 * variance))


def _greedy(mass: Floats, share: float) -> tuple[int, ...]:
    """Cut from the left whenever a bin comes closer to the share without the next one."""
    cuts: list[int] = []
    held = float(mass[0])
    for place, extra in enumerate(mass[1:].tolist()):
        if held + extra - share > share - held:
            cuts.append(place)
            held = 0.0
        held += extra
    return tuple(cuts)
