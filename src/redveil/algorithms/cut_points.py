"""Cut points bought with ε: a noisy histogram on a public grid, and bins of equal share from it.

A column costs one `count`. Proof: algorithms/cut_points.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from redveil.algorithms.even_bins import even_cuts, smoothed
from redveil.data.table import NumericColumn, Table
from redveil.privacy.loss import count_variance
from redveil.privacy.mechanisms import count
from redveil.privacy.plan import Plan, Purse, Step
from redveil.privacy.randomness import Randomness
from redveil.schema import Attribute, Side
from redveil.schema.fine_grid import fine_grid
from redveil.sealed import Sealed, within

Floats: TypeAlias = NDArray[np.float64]
Integers: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Wanted:
    """One numeric attribute whose cut points are to be bought.

    >>> from redveil.schema import Kind
    >>> Wanted(Side.RIGHT, Attribute("cost", Kind.NUMERIC)).step
    'cuts of right cost'
    """

    side: Side
    attribute: Attribute

    @property
    def step(self) -> str:
        """The name by which its histogram is paid for."""
        return f"cuts of {self.side} {self.attribute.name}"


def cuts_plan(wanted: Sequence[Wanted], epsilon: Fraction) -> Plan:
    """Divide ε equally over the columns: a pure function of public parameters.

    >>> from redveil.schema import Kind
    >>> columns = [Wanted(side, Attribute("cost", Kind.NUMERIC)) for side in Side]
    >>> [str(step.price) for step in cuts_plan(columns, Fraction(1, 10)).steps]
    ['1/20', '1/20']
    """
    price = epsilon / len(wanted)
    return Plan(epsilon, tuple(Step(one.step, "count", price) for one in wanted))


def bought_cuts(
    table: Sealed[Table],
    wanted: Sequence[Wanted],
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
    >>> wanted = [Wanted(Side.RIGHT, cost)]
    >>> bought_cuts(table, wanted, 3, Fraction(10), SystemRandomness())[0][0]
    0.0
    """
    purse = cuts_plan(wanted, epsilon).purse()
    found = tuple(_column(table, one, most, purse, randomness) for one in wanted)
    assert purse.is_empty, "every step of the plan is paid for exactly once"
    return found


def _column(
    table: Sealed[Table], one: Wanted, most: int, purse: Purse, randomness: Randomness
) -> tuple[float, ...]:
    """Measure one column's histogram; all that comes after it is post-processing."""
    grid = np.array(fine_grid(one.attribute), dtype=np.float64)
    exact = within(partial(fine_counts, one=one, grid=grid), table)
    receipt = purse.pay(one.step, "count")
    noisy = count(exact, receipt, randomness).value
    mass = smoothed(noisy.astype(np.float64), count_variance(receipt.price))
    return tuple(grid[list(even_cuts(mass, most))].tolist())


def fine_counts(table: Table, one: Wanted, grid: Floats) -> Integers:
    """Count the entities between grid points, int64[points + 1]; who lacks a value is in no bin.

    Bin i holds the values above point i − 1 and up to point i: what a cut there tells apart.

    >>> from redveil.schema import Kind
    >>> cost = Attribute("cost", Kind.NUMERIC, maximum=9)
    >>> table = Table(4, {}, {"cost": NumericColumn(cost, np.array([0.0, 2.0, 2.5, np.nan]))})
    >>> fine_counts(table, Wanted(Side.RIGHT, cost), np.array([0.0, 2.0])).tolist()
    [1, 1, 1]
    """
    column = table.view(one.side)[one.attribute.name]
    assert isinstance(column, NumericColumn)
    known = column.values[~np.isnan(column.values)]
    places = np.searchsorted(grid, known, side="left")
    return np.bincount(places, minlength=grid.size + 1).astype(np.int64)
