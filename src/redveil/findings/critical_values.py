"""How far intervals must reach to hold for everything that can be asked of a leaf table.

Nobody knows what will be asked, or how often, so the intervals of free questions must hold for all
unions of cells on either side at once. The noise law is public: its effect is simulated, as in
`statistics`. For small tables every pair of unions is tried; for larger ones a bound is taken that
holds for all weightings of the cells, real numbers included, so for unions too. Both depend on
the shape and the prices of a table alone, not on what was counted.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from redveil.findings.estimate import Fit, Moments, Solver, TwoPass, TwoPassSolver, solver
from redveil.findings.leaf_table import LeafTable
from redveil.findings.statistics import (
    CONFIDENCE,
    MOST_SIMULATIONS,
    SIMULATIONS,
    integer_noise,
    simultaneous_reach,
    upper_quantile,
)
from redveil.privacy.loss import Price
from redveil.trees.tree import Tree

Floats: TypeAlias = NDArray[np.float64]
Flags: TypeAlias = NDArray[np.bool_]
Whole: TypeAlias = NDArray[np.int64]

# Pairs of unions times simulations that are tried one by one; about two seconds' work.
MOST_TRIED: Final = 2**25
# Fewer simulations than this say too little.
FEWEST: Final = 400
# Pairs of unions up to which a report's intervals hold for all of them, as answers' do.
MOST_REPORTED: Final = 2**13
# Numbers that are worked on together: few enough to stay in the processor's cache.
BATCH: Final = 2**18
# Below this share of the variances that it is made of, a variance is rounding.
ROUNDING: Final = 1e-9


@dataclass(frozen=True, slots=True)
class Reach:
    """How many standard errors of room the noise needs, for all questions at once.

    `intervals` is for supports and Jaccard indices. `counts` is for whatever else is made of the
    overlap, the two supports and the number of entities together, p-values among them.

    >>> Reach(4.5, 5.2).intervals
    4.5
    """

    intervals: float
    counts: float


def question_reach(table: LeafTable, tables: int = 1) -> Reach:
    """Return how many standard errors the answers to free questions must allow for.

    With it all intervals for supports and Jaccard indices of unions of cells hold together with
    probability 95 %, over all of `tables` tables, each of which gets its share of the other 5 %;
    and so do all p-values. The simulation has nothing to do with the data and always uses the
    same numbers.
    """
    return _reach(
        _shape_of(table.left),
        _shape_of(table.right),
        (table.cells_price, table.left_price, table.right_price),
        tables,
    )


def report_reach(table: LeafTable, left: Flags, right: Flags, tables: int = 1) -> Reach:
    """Return how many standard errors the intervals of a report must allow for.

    left, right: bool[terms, cells], what queries are made of. For trees of two levels the reach
    is that of free questions. For deeper ones, whose unions are too many to try quickly, it is
    the one for all pairs of terms; that it suffices for the unions which a search then makes of
    them is measured (docs/beyond.md), not proved.
    """
    if union_count(table.left) * union_count(table.right) <= MOST_REPORTED:
        return question_reach(table, tables)
    reach = simultaneous_reach(table, left, right, tables)
    return Reach(reach, reach)


def _shape_of(tree: Tree) -> Tree:
    """Return a tree of the same shape; what its splits are does not matter."""
    return Tree(tree.side, tuple(None if s is None else 0 for s in tree.splits), tree.stuck)


# People ask many questions of few tables.
@lru_cache(maxsize=256)
def _reach(
    left: Tree, right: Tree, prices: tuple[Price, Price | None, Price | None], tables: int
) -> Reach:
    shape = len(left.ends), len(right.ends)
    margins = [
        None if price is None else np.zeros(some)
        for price, some in zip(prices[1:], shape, strict=True)
    ]
    table = LeafTable(left, right, np.zeros(shape), margins[0], margins[1], *prices)
    # The smaller the share of a table, the more simulations its quantile needs.
    simulations = min(SIMULATIONS * tables, MOST_SIMULATIONS)
    affordable = MOST_TRIED // (union_count(left) * union_count(right))
    if affordable >= FEWEST:
        largest = _largest_tried(table, min(simulations, affordable))
    else:
        # The bound holds for every weighting, so for both purposes.
        largest = np.repeat(_largest_bound(table, simulations)[:, None], 2, axis=1)
    tail = (1 - CONFIDENCE) / tables
    return Reach(upper_quantile(largest[:, 0], tail), upper_quantile(largest[:, 1], tail))


def union_count(tree: Tree) -> int:
    """Return how many unions of cells a query can cover, nothing included.

    >>> from redveil.schema import Side
    >>> union_count(Tree(Side.LEFT, (0, 1, 2), stuck=(0, 1, 2)))
    26
    """

    def below(node: int) -> int:
        if tree.split(node) is None:
            return 2
        return below(2 * node + 1) * below(2 * node + 2) + (node in tree.stuck)

    return below(0)


def unions(tree: Tree) -> Flags:
    """Return every union of cells that a query can cover, bool[unions, cells], nothing included.

    A query that is true for those who lack a value is true whatever the value is: who covers a
    place to be stuck at covers everything below it.

    >>> from redveil.schema import Side
    >>> unions(Tree(Side.LEFT, (0,), stuck=(0,))).astype(int).tolist()
    [[0, 0, 0], [0, 1, 0], [1, 0, 0], [1, 1, 0], [1, 1, 1]]
    """
    cells = tree.ends

    def below(node: int) -> Flags:
        alone = np.array([[cell == node for cell in cells]])
        if tree.split(node) is None:
            return np.concatenate([np.zeros_like(alone), alone])
        first, second = below(2 * node + 1), below(2 * node + 2)
        found = (first[:, None, :] | second[None, :, :]).reshape(-1, len(cells))
        if node not in tree.stuck:
            return found
        return np.concatenate([found, found.any(axis=0, keepdims=True) | alone])

    return below(0)


def _largest_tried(table: LeafTable, simulations: int) -> Floats:
    """Return the largest studentised errors of all pairs of unions, float64[simulations, 2].

    The first is that of supports and of both − J·either for every J in [0, 1], not only at the
    estimate: the interval holds wherever the true J lies. The second is that of every sum of the
    four counts, whatever their weights.
    """
    # A query that covers nothing is known without error.
    left, right = (each[each.any(axis=1)] for each in (unions(table.left), unions(table.right)))
    no_noise = solver(table).solve(table.cells, table.left_margin, table.right_margin)
    moments = no_noise.moments(np.repeat(left, len(right), axis=0), np.tile(right, (len(left), 1)))
    spread = _Spread(moments)
    lefts = moments.left_left[:: len(right)]
    rights = moments.right_right[: len(right)]
    u, v = left.astype(np.float64), right.astype(np.float64)
    found: list[Floats] = []
    for error in _simulated(table, simulations, BATCH // (len(left) * len(right)) + 1):
        one_left, one_right = _margin(error) @ u.T, error.cells.sum(axis=1) @ v.T
        both = u @ error.cells @ v.T
        flat = both.reshape(len(both), -1)
        either = (one_left[:, :, None] + one_right[:, None, :]).reshape(flat.shape) - flat
        squares = [
            (one_left**2 / lefts).max(axis=1),
            (one_right**2 / rights).max(axis=1),
            spread.largest(flat, either),
        ]
        lengths = _lengths(error, both, (one_left, one_right), (u.sum(axis=1), v.sum(axis=1)))
        found.append(np.sqrt([np.max(squares, axis=0), lengths.max(axis=(1, 2))]).T)
    return np.concatenate(found)


def _lengths(
    error: Fit | TwoPass,
    both: Floats,
    supports: tuple[Floats, Floats],
    sizes: tuple[Floats, Floats],
) -> Floats:
    """Return the squared Mahalanobis lengths of the four counts' errors.

    They are the sums of four independent squared errors: of the cells inside and beside an
    overlap and of the counts in and outside a support; or of a table's mean and its effects.
    both: [simulations, lefts, rights]; supports: [simulations, lefts], [simulations, rights];
    sizes: how many cells each union has.
    """
    left, right = supports
    p, q = sizes
    height, width = error.cells.shape[1:]
    whole = _margin(error).sum(axis=1)
    if isinstance(error, TwoPass):
        beside = right[:, None, :] - both
        inside = both**2 / p[:, None] + beside**2 * _inverse(height - p)[:, None]
        margin = left**2 / p + (whole[:, None] - left) ** 2 * _inverse(height - p)
        return np.asarray(
            inside / (q * error.cell_variance) + margin[:, :, None] / error.left_variance
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


class _Spread:
    """The spread of overlap and union of all pairs, each number float64[pairs]."""

    def __init__(self, moments: Moments) -> None:
        m = moments
        self._both = m.both_both
        self._cross = m.both_left + m.both_right - m.both_both
        either = m.left_left + m.right_right + 2 * m.left_right
        self._either = either - m.both_both - 2 * self._cross
        # The variance of both − either.
        rest = self._both - 2 * self._cross + self._either
        self._rest = np.maximum(rest, ROUNDING * (self._both + self._either))
        determinant = self._both * self._either - self._cross**2
        # Where one follows from the other, no J between 0 and 1 is worse than both of these.
        regular = determinant > ROUNDING * self._both * self._either
        self._inverse = np.divide(1.0, determinant, out=np.zeros_like(rest), where=regular)

    def largest(self, both: Floats, either: Floats) -> Floats:
        """Return the largest squared studentised error of both − J·either over J in [0, 1].

        Over all J it is the Mahalanobis length of (both, either), reached at one of them; if that
        one is not between 0 and 1, the largest is at 0 or at 1. Errors: [simulations, pairs].
        """
        at_ends = np.maximum(both**2 / self._both, (both - either) ** 2 / self._rest)
        top = self._cross * both - self._both * either
        bottom = self._either * both - self._cross * either
        inside = (top * bottom > 0) & (np.abs(top) < np.abs(bottom))
        length = (both * bottom - either * top) * self._inverse
        return np.asarray(np.where(inside, np.maximum(length, at_ends), at_ends).max(axis=1))


def _largest_bound(table: LeafTable, simulations: int) -> Floats:
    """Return a bound of the largest studentised error of all weightings, float64[simulations].

    The weights of every overlap, support and difference from a Jaccard line are a product of row
    weights and column weights, plus row weights alone, plus column weights alone. The parts have
    independent errors, so by Cauchy and Schwarz the sum's studentised error is at most the root
    of the sum of the parts' largest squares. A product's is at most the largest singular value.
    """
    found: list[Floats] = []
    for error in _simulated(table, simulations, BATCH // table.cells.size + 1):
        if isinstance(error, TwoPass):
            squares = _largest_singular(error.cells) ** 2 / error.cell_variance
            squares += (error.left_margin**2).sum(axis=1) / error.left_variance
        else:
            squares = _bound_of_fit(error)
        found.append(np.sqrt(squares))
    return np.concatenate(found)


def _bound_of_fit(error: Fit) -> Floats:
    """Return the sum of the largest squares of mean, row, column and interaction effects."""
    height, width = error.cells.shape[1:]
    grand = error.cells.mean(axis=(1, 2))
    rows = error.cells.mean(axis=2) - grand[:, None]
    columns = error.cells.mean(axis=1) - grand[:, None]
    rest = error.cells - rows[:, :, None] - columns[:, None, :] - grand[:, None, None]
    return np.asarray(
        height * width * grand**2 / error.mean
        + width * (rows**2).sum(axis=1) / error.rows
        + height * (columns**2).sum(axis=1) / error.columns
        + _largest_singular(rest) ** 2 / error.interaction
    )


def _largest_singular(matrices: Floats) -> Floats:
    return np.asarray(np.linalg.norm(matrices, ord=2, axis=(1, 2)))


def _margin(error: Fit | TwoPass) -> Floats:
    """Return the errors of the left cells' counts, float64[simulations, left cells]."""
    return error.left_margin if isinstance(error, TwoPass) else error.cells.sum(axis=2)


def _simulated(table: LeafTable, simulations: int, batch: int) -> Iterator[Fit | TwoPass]:
    """Yield what a table without anybody would be taken for, `batch` tables at a time."""
    noise = np.random.default_rng(20_261_116)
    height, width = table.cells.shape
    solve: Solver | TwoPassSolver = solver(table)
    for begin in range(0, simulations, batch):
        count = min(batch, simulations - begin)
        cells = integer_noise(noise, table.cells_price, (count, height, width))
        left, right = (
            None if price is None else integer_noise(noise, price, (count, some))
            for price, some in ((table.left_price, height), (table.right_price, width))
        )
        yield solve.solve(cells, left, right)
