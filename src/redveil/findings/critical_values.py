"""Critical values: how many standard errors bounds must allow for.

Nobody knows what will be asked of a leaf table, or how often, so the intervals of free questions
must hold for all unions of ends on either side at once. The noise law is public, so its effect is
simulated. For small tables every pair of unions is tried; for larger ones a bound is taken that
holds for all weightings of the ends, real numbers included, and so for unions too. Both depend on
the shape and the prices of a table alone, not on what was counted.

Leverages get critical values of their own, for all pairs of unions and all true shares at once
(findings/leverage.md).
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from redveil.findings.estimate import Fit, Moments, TwoPass, solver
from redveil.findings.kept_simulations import kept
from redveil.findings.leaf_table import LeafTable, Prices
from redveil.findings.noise import (
    FEWEST_SIMULATIONS,
    MOST_SIMULATIONS,
    ROUNDING,
    SIMULATIONS,
    left_margin,
    simulated_errors,
    squared_lengths,
    upper_quantile,
)
from redveil.findings.statistics import CONFIDENCE, CONFIRMING_CONFIDENCE, CriticalValues
from redveil.findings.term_noise import largest_of_terms
from redveil.trees.tree import Tree

Floats: TypeAlias = NDArray[np.float64]
Flags: TypeAlias = NDArray[np.bool_]

# The largest number of pairs of unions, times simulations, that are tried one by one: about two
# seconds' work.
MOST_TRIED: Final = 2**25
# The largest number of pairs of unions for which a report's intervals hold, as those of answers do.
MOST_REPORTED: Final = 2**13
# The same for leverages, which are simulated more often: their tails are looked at more closely.
MOST_LEVERAGES_TRIED: Final = 2**21
# Below this price per count, noise is the same as at this price but for its scale.
FINE_PRICE: Final = Fraction(1, 20)
# How many numbers are worked on together: few enough to stay in the processor's cache.
BATCH: Final = 2**15


def question_critical_values(table: LeafTable, tables: int = 1) -> CriticalValues:
    """Return how many standard errors the answers to free questions must allow for.

    All intervals for supports and Jaccard indices of unions of ends then hold together with
    probability 95 %, over all of `tables` tables, each of which gets its share of the other 5 %;
    and so do all p-values.
    """
    return _for_all_unions(table.left.shape, table.right.shape, table.prices, tables)


def weighting_critical_values(table: LeafTable, tables: int = 1) -> CriticalValues:
    """Return critical values that hold for all sets of ends, and so for any query at all.

    They are larger than those of unions. Queries that ask for missing values need them: only these
    cover a node where entities are stuck and not what is below it.
    """
    return _for_all_weightings(table.cells.shape, table.prices, tables)


def is_union(tree: Tree, covered: Flags) -> bool:
    """Return whether a set of ends is among the `unions` of a tree.

    >>> from redveil.schema import Side
    >>> tree = Tree(Side.LEFT, (0,), stuck=(0,))
    >>> [is_union(tree, np.array(one)) for one in ([1, 0, 0], [0, 0, 1], [1, 1, 1])]
    [True, False, True]
    """
    ends = tree.ends
    return all(
        covered[place] or not _is_above(node, end)
        for node, holds in zip(ends, covered, strict=True)
        if holds and node in tree.stuck
        for place, end in enumerate(ends)
    )


def _is_above(node: int, end: int) -> bool:
    while end > node:
        end = (end - 1) // 2
    return end == node


def report_critical_values(
    table: LeafTable, left: Flags, right: Flags, tables: int = 1
) -> CriticalValues:
    """Return how many standard errors the intervals of a report must allow for.

    left, right: bool[terms, ends], what queries are made of. Up to depth 2, critical values are
    those of free questions. Deeper trees have too many unions to try quickly, so theirs are for all
    pairs of terms; that this suffices for the unions which a search then makes of them is measured
    (docs/explanation/comparison.md), not proved. Critical values of leverages are always those of
    free questions.
    """
    if union_count(table.left) * union_count(table.right) <= MOST_REPORTED:
        return question_critical_values(table, tables)
    value = _for_all_terms(table, left, right, tables)
    everything = question_critical_values(table, tables)
    return CriticalValues(value, value, everything.leverages, everything.confirming)


# Many questions are asked of few tables.
@lru_cache(maxsize=256)
def _for_all_unions(left: Tree, right: Tree, prices: Prices, tables: int) -> CriticalValues:
    tails = (1 - CONFIDENCE) / tables, (1 - CONFIRMING_CONFIDENCE) / tables

    def simulate() -> Floats:
        leverages = _largest_leverages(left, right, _typical(prices))
        thinner = (upper_quantile(leverages, tail) for tail in tails)
        return np.array([*_of_counts(left, right, prices, tails[0]), *thinner])

    return CriticalValues(*kept("unions", (left, right, prices, tails), simulate).tolist())


@lru_cache(maxsize=256)
def _for_all_weightings(shape: tuple[int, ...], prices: Prices, tables: int) -> CriticalValues:
    tails = [(1 - confidence) / tables for confidence in (CONFIDENCE, CONFIRMING_CONFIDENCE)]

    def simulate() -> Floats:
        bound = _largest_bound(shape, prices, SIMULATIONS)
        return np.array([upper_quantile(bound, tail) for tail in tails])

    likely, confirming = kept("weightings", (shape, prices, tails), simulate).tolist()
    return CriticalValues(likely, likely, likely, confirming)


def _typical(prices: Prices) -> Prices:
    """Return prices that give the same noise but for its scale, so that fewer are simulated."""
    cells, *margins = prices
    if any(margins) or not isinstance(cells, Fraction):
        return prices
    return Prices(max(cells, FINE_PRICE))


def _of_counts(left: Tree, right: Tree, prices: Prices, tail: float) -> tuple[float, float]:
    """Return the critical values of supports and Jaccard indices, and of all four counts."""
    affordable = MOST_TRIED // (union_count(left) * union_count(right))
    if affordable >= FEWEST_SIMULATIONS:
        largest = _largest_tried(left, right, prices, min(SIMULATIONS, affordable))
    else:
        # The bound holds for every weighting, so for both purposes.
        bound = _largest_bound((len(left.ends), len(right.ends)), prices, SIMULATIONS)
        largest = np.repeat(bound[:, None], 2, axis=1)
    return upper_quantile(largest[:, 0], tail), upper_quantile(largest[:, 1], tail)


def _for_all_terms(table: LeafTable, left: Flags, right: Flags, tables: int) -> float:
    """Return the critical value for all pairs of terms of a table.

    It is the 95 % quantile of the largest studentised error among the overlaps of all pairs of
    terms, their differences from the Jaccard line, their leverages, and the supports. Picking the
    best pair afterwards is then accounted for. Among several tables, each gets its share of the
    other 5 %.
    """
    tail = (1 - CONFIDENCE) / tables
    ceiling = _largest_bound(table.cells.shape, table.prices, SIMULATIONS)
    return upper_quantile(largest_of_terms(table, left, right, tail, ceiling), tail)


def union_count(tree: Tree) -> int:
    """Return how many unions of ends a query can cover, the empty one included.

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
    """Return every union of ends that a query can cover, bool[unions, ends]; one is empty.

    A query that is true for entities with a missing value is true whatever the value is: if it
    covers a node where entities are stuck, it covers everything below that node.

    >>> from redveil.schema import Side
    >>> unions(Tree(Side.LEFT, (0,), stuck=(0,))).astype(int).tolist()
    [[0, 0, 0], [0, 1, 0], [1, 0, 0], [1, 1, 0], [1, 1, 1]]
    """
    ends = tree.ends

    def below(node: int) -> Flags:
        alone = np.array([[end == node for end in ends]])
        if tree.split(node) is None:
            return np.concatenate([np.zeros_like(alone), alone])
        first, second = below(2 * node + 1), below(2 * node + 2)
        found = (first[:, None, :] | second[None, :, :]).reshape(-1, len(ends))
        if node not in tree.stuck:
            return found
        return np.concatenate([found, found.any(axis=0, keepdims=True) | alone])

    return below(0)


def _largest_tried(left: Tree, right: Tree, prices: Prices, simulations: int) -> Floats:
    """Return the largest studentised errors of all pairs of unions, float64[simulations, 2].

    The first is that of supports and of both − J·either for every J in [0, 1], not only at the
    estimate: the interval holds wherever the true J lies. The second is that of every sum of the
    four counts, whatever their weights.
    """
    # A query that covers nothing is known without error.
    rows, columns = (each[each.any(axis=1)] for each in (unions(left), unions(right)))
    shape = len(left.ends), len(right.ends)
    no_entities = solver(shape, prices).solve(np.zeros(shape), *map(np.zeros, shape))
    moments = no_entities.all_moments(rows, columns)
    spread = _Spread(moments)
    lefts = moments.left_left[:: len(columns)]
    rights = moments.right_right[: len(columns)]
    u, v = rows.astype(np.float64), columns.astype(np.float64)
    found: list[Floats] = []
    batch = BATCH // (len(rows) * len(columns)) + 1
    for error in simulated_errors(shape, prices, simulations, batch):
        one_left, one_right = left_margin(error) @ u.T, error.cells.sum(axis=1) @ v.T
        both = u @ error.cells @ v.T
        flat = both.reshape(len(both), -1)
        either = (one_left[:, :, None] + one_right[:, None, :]).reshape(flat.shape) - flat
        squares = [
            (one_left**2 / lefts).max(axis=1),
            (one_right**2 / rights).max(axis=1),
            spread.largest(flat, either),
        ]
        lengths = squared_lengths(
            error, both, (one_left, one_right), (u.sum(axis=1), v.sum(axis=1))
        )
        found.append(np.sqrt([np.max(squares, axis=0), lengths.max(axis=(1, 2))]).T)
    return np.concatenate(found)


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


# Tables of one shape mostly have the same typical prices, whatever their number is.
@lru_cache(maxsize=64)
def _largest_leverages(left: Tree, right: Tree, prices: Prices) -> Floats:
    """Return the largest studentised error of all leverages, shares and sizes, [simulations].

    Of all pairs of unions and all true shares. If there are too many pairs to try, or if cells do
    not have equal and independent errors, a bound is returned that holds for all weightings.
    """
    shape = len(left.ends), len(right.ends)
    # Counted before any is made: the unions of deep trees would not fit into memory.
    affordable = MOST_LEVERAGES_TRIED // max(_distinct_count(left) * _distinct_count(right), 1)
    plain = prices.left_margin is None and prices.right_margin is None
    if not plain or affordable < FEWEST_SIMULATIONS:
        return _largest_bound(shape, prices, SIMULATIONS)
    rows, columns = _distinct(left), _distinct(right)
    found: list[Floats] = []
    batch = BATCH // (len(rows) * len(columns)) + 1
    simulations = min(MOST_SIMULATIONS, affordable)
    for error in simulated_errors(shape, prices, simulations, batch):
        assert isinstance(error, Fit), "without margins, the cells are the fit"
        found.append(_leverages(error.cells / np.sqrt(error.interaction), rows, columns))
    return np.concatenate(found)


def _distinct(tree: Tree) -> Flags:
    """Return unions that are neither empty nor everything, bool[unions, ends].

    Without missing values, a union and its complement have the same leverages but for the sign.
    """
    found = unions(tree)
    found = found[found.any(axis=1) & ~found.all(axis=1)]
    return found if tree.stuck else found[found[:, 0]]


def _distinct_count(tree: Tree) -> int:
    """Return how many unions `_distinct` makes, without making them."""
    found = union_count(tree) - 2
    return found if tree.stuck else found // 2


def _leverages(errors: Floats, rows: Flags, columns: Flags) -> Floats:
    """Return the largest studentised error of leverages, shares and sizes, [simulations].

    errors: float64[simulations, left ends, right ends], of variance 1

    The weights of a leverage are a product of (cos α on a union, −sin α on the rest), of unit
    length, over the rows, and the same over the columns, with both angles between 0 and 90 degrees.
    Its error is a bilinear form in the four quadrants' errors.
    """
    height, width = errors.shape[1:]
    u, v = rows.astype(np.float64), columns.astype(np.float64)
    p, q = (_inverse_root(flags.sum(axis=1))[:, None] for flags in (rows, columns))
    p_rest, q_rest = (_inverse_root((~flags).sum(axis=1))[:, None] for flags in (rows, columns))
    both = u @ errors @ v.T
    left = errors.sum(axis=2) @ u.T
    right = errors.sum(axis=1) @ v.T
    whole = errors.sum(axis=(1, 2))
    of_left, of_right = left[:, :, None] - both, right[:, None, :] - both
    rest = whole[:, None, None] - of_left - of_right - both
    largest = _largest_form_squared(
        both * (p * q.T),
        of_left * (-p * q_rest.T),
        of_right * (-p_rest * q.T),
        rest * (p_rest * q_rest.T),
    )
    of_rows = _largest_on_arc_squared(left * p.T, -(whole[:, None] - left) * p_rest.T) / width
    of_columns = _largest_on_arc_squared(right * q.T, -(whole[:, None] - right) * q_rest.T) / height
    squares = [
        largest.max(axis=(1, 2)),
        of_rows.max(axis=1),
        of_columns.max(axis=1),
        whole**2 / (height * width),
    ]
    return np.asarray(np.sqrt(np.maximum.reduce(squares)))


def _largest_form_squared(a: Floats, b: Floats, c: Floats, d: Floats) -> Floats:
    """Return the largest (x₁y₁a + x₁y₂b + x₂y₁c + x₂y₂d)² over unit vectors x, y ≥ 0.

    Over all unit vectors it is the largest squared singular value. Its vectors have no entries of
    different sign if the products of the matrix with its transpose have not; otherwise the largest
    value is where one entry is 0.
    """
    aa, bb, cc, dd = a * a, b * b, c * c, d * d
    ab, cd, ac, bd = a * b, c * d, a * c, b * d
    squares = aa + bb + cc + dd
    twice = 2 * (a * d - b * c)
    inside = (squares + np.sqrt(np.maximum(squares**2 - twice**2, 0.0))) / 2
    # On an edge, both entries count where their signs agree; otherwise the larger one alone does.
    on_edges = np.maximum(np.maximum(aa, bb), np.maximum(cc, dd))
    for product, both in ((ab, aa + bb), (cd, cc + dd), (ac, aa + cc), (bd, bb + dd)):
        on_edges = np.maximum(on_edges, both * (product > 0))
    return np.where((ab + cd >= 0) & (ac + bd >= 0), inside, on_edges)


def _largest_on_arc_squared(a: Floats, b: Floats) -> Floats:
    """Return the largest (x·a + y·b)² over unit vectors without a negative entry."""
    return np.where(a * b > 0, a * a + b * b, np.maximum(a * a, b * b))


def _inverse_root(counts: NDArray[np.int64]) -> Floats:
    return np.asarray(1 / np.sqrt(np.maximum(counts, 1)))


@lru_cache(maxsize=32)
def _largest_bound(shape: tuple[int, ...], prices: Prices, simulations: int) -> Floats:
    """Return a bound of the largest studentised error of all weightings, float64[simulations].

    The weights of every overlap, support and difference from a Jaccard line are a product of row
    weights and column weights, plus row weights alone, plus column weights alone. The parts have
    independent errors, so by Cauchy and Schwarz the sum's studentised error is at most the root
    of the sum of the parts' largest squares. A product's is at most the largest singular value.
    """
    parameters = shape, prices, simulations
    return kept("bounds", parameters, lambda: _simulated_bound(shape, prices, simulations))


def _simulated_bound(shape: tuple[int, ...], prices: Prices, simulations: int) -> Floats:
    found: list[Floats] = []
    batch = BATCH // (shape[0] * shape[1]) + 1
    for error in simulated_errors(shape, prices, simulations, batch):
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
