"""What a leaf table says: the cells, least squares, or the paper's two passes.

Cells, and margins if they were asked for, are measured with independent noise of known variance.
Without margins the cells are the fit. With both, generalised least squares has a closed form,
because the three designs share eigenvectors: a two-way table falls into its mean, row effects,
column effects and interactions, and each part is only rescaled. The same four numbers give the
variance of every support, so nothing is ever inverted.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from redveil.findings.leaf_table import Counted, LeafTable, Prices, noise_variance

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Moments:
    """Estimates and (co)variances for query pairs, each float64[pairs].

    both, left, right, size: the overlap, the two supports, and the number of entities.
    """

    both: Floats
    left: Floats
    right: Floats
    size: Floats
    both_both: Floats
    left_left: Floats
    right_right: Floats
    both_left: Floats
    both_right: Floats
    left_right: Floats
    both_size: Floats
    left_size: Floats
    right_size: Floats
    size_size: Floats

    def of(self, pairs: NDArray[np.int64]) -> Moments:
        """Return the moments of some of the pairs."""
        return Moments(*(getattr(self, field.name)[pairs] for field in fields(self)))


class Estimate(Protocol):
    """The best estimate that a leaf table allows, and its errors."""

    @property
    def cells(self) -> Floats:
        """The estimated cells, float64[left ends, right ends]; can be negative."""
        ...

    @property
    def size(self) -> float:
        """The estimated number of entities."""
        ...

    @property
    def size_deviation(self) -> float:
        """The standard error of `size`."""
        ...

    @property
    def cell_deviation(self) -> float:
        """The standard error of a single cell, or a little more."""
        ...

    def moments(self, left: Flags, right: Flags) -> Moments:
        """Return estimates and variances for pairs of unions of ends."""
        ...

    def all_moments(self, left: Flags, right: Flags) -> Moments:
        """Return those of every left union with every right one, the right ones changing first."""
        ...

    def counts(self, left: Flags, right: Flags) -> Counts:
        """Return the estimates alone, of every left union with every right one."""
        ...

    def moments_of(self, pairs: Pairs) -> Moments:
        """Return estimates and variances for pairs whose estimates are known."""
        ...

    def least_variances(self, counts: Counts, left: Floats, right: Floats) -> tuple[Floats, Floats]:
        """Return factors, float64[lefts] and float64[rights], of bounds of leverages' variances.

        A leverage both − b·left − a·right + a·b·size has at least the product as its variance.

        left, right: the shares a and b, of each union
        """
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Fit:
    """The least-squares table and its noise.

    cells: float64[left ends, right ends], unbiased, can be negative.
    mean, rows, columns, interaction: the variance per unit of each part of a table.
    """

    cells: Floats
    mean: float
    rows: float
    columns: float
    interaction: float

    @property
    def size(self) -> float:
        """The estimated number of entities."""
        return float(self.cells.sum())

    @property
    def size_deviation(self) -> float:
        """The standard error of `size`."""
        return math.sqrt(self.mean * self.cells.size)

    @property
    def cell_deviation(self) -> float:
        """The standard error of a single cell, or a little more."""
        return math.sqrt(self.interaction)

    def moments(self, left: Flags, right: Flags) -> Moments:
        """Return estimates and variances for pairs of unions of ends.

        left: bool[pairs, left ends]; right: bool[pairs, right ends].
        """
        return self.moments_of(_in_pairs(left, right, self.cells, self.cells.sum(axis=1)))

    def all_moments(self, left: Flags, right: Flags) -> Moments:
        """Return those of every left union with every right one, the right ones changing first."""
        return self.moments_of(self.counts(left, right).all_pairs())

    def counts(self, left: Flags, right: Flags) -> Counts:
        """Return the estimates alone, of every left union with every right one."""
        return Counts.of(left, right, self.cells, self.cells.sum(axis=1))

    def moments_of(self, pairs: Pairs) -> Moments:
        """Return estimates and variances for pairs whose estimates are known."""
        height, width = self.cells.shape
        p, q = pairs.left_ends, pairs.right_ends
        within_rows, within_columns = p - p * p / height, q - q * q / width
        return Moments(
            both=pairs.both,
            left=pairs.left,
            right=pairs.right,
            size=np.full_like(p, self.size),
            both_both=self.mean * (p * q) ** 2 / self.cells.size
            + self.rows * q * q / width * within_rows
            + self.columns * p * p / height * within_columns
            + self.interaction * within_rows * within_columns,
            left_left=width * (self.mean * p * p / height + self.rows * within_rows),
            right_right=height * (self.mean * q * q / width + self.columns * within_columns),
            both_left=self.mean * p * p * q / height + self.rows * q * within_rows,
            both_right=self.mean * p * q * q / width + self.columns * p * within_columns,
            left_right=self.mean * p * q,
            both_size=self.mean * p * q,
            left_size=self.mean * p * width,
            right_size=self.mean * q * height,
            size_size=np.full_like(p, self.mean * height * width),
        )

    def least_variances(self, counts: Counts, left: Floats, right: Floats) -> tuple[Floats, Floats]:
        """Return factors of bounds of leverages' variances, given the shares of the unions."""
        height, width = self.cells.shape
        # A leverage weighs cells with a product, and no part of a table has a smaller variance.
        least = min(self.mean, self.rows, self.columns, self.interaction)
        of_left = _squared_length(counts.left_ends, left, height)
        return of_left, least * _squared_length(counts.right_ends, right, width)


def _squared_length(ends: Floats, share: Floats, count: int) -> Floats:
    """Return the squared lengths of unions' weights less a share at all ends, float64[unions].

    ends: how many ends of `count` each union has
    """
    return ends * (1 - share) ** 2 + (count - ends) * share**2


class Pairs(NamedTuple):
    """What pairs of unions of ends hold, each float64[pairs].

    left_ends, right_ends: how many ends the two unions have
    """

    both: Floats
    left: Floats
    right: Floats
    left_ends: Floats
    right_ends: Floats


class Counts(NamedTuple):
    """What unions of ends hold, every left one with every right one.

    both:             float64[lefts, rights]
    left, left_ends:  float64[lefts]; the ends are how many a union has
    right, right_ends: float64[rights]
    """

    both: Floats
    left: Floats
    right: Floats
    left_ends: Floats
    right_ends: Floats

    @classmethod
    def of(cls, left: Flags, right: Flags, cells: Floats, margin: Floats) -> Counts:
        """Add up cells, and the left margin."""
        u, v = left.astype(np.float64), right.astype(np.float64)
        of_right = v @ cells.sum(axis=0)
        return cls(u @ cells @ v.T, u @ margin, of_right, u.sum(axis=1), v.sum(axis=1))

    def pairs(self, lefts: Integers, rights: Integers) -> Pairs:
        """Return the counts of some pairs, given the numbers of their unions, int64[pairs]."""
        ends = self.left_ends[lefts], self.right_ends[rights]
        return Pairs(self.both[lefts, rights], self.left[lefts], self.right[rights], *ends)

    def all_pairs(self) -> Pairs:
        """Return the counts of all pairs, the right unions changing first."""
        lefts, rights = len(self.left), len(self.right)
        left, left_ends = (np.repeat(each, rights) for each in (self.left, self.left_ends))
        right, right_ends = (np.tile(each, lefts) for each in (self.right, self.right_ends))
        return Pairs(self.both.ravel(), left, right, left_ends, right_ends)


def _in_pairs(left: Flags, right: Flags, cells: Floats, margin: Floats) -> Pairs:
    """Pair each left union with the right one of the same number."""
    u, v = left.astype(np.float64), right.astype(np.float64)
    both = ((u @ cells) * v).sum(axis=1)
    return Pairs(both, u @ margin, v @ cells.sum(axis=0), u.sum(axis=1), v.sum(axis=1))


def estimate(table: LeafTable) -> Estimate:
    """Return the best estimate that the measured parts allow."""
    fit = solver(table.cells.shape, table.prices)
    return fit.solve(table.cells, table.left_margin, table.right_margin)


def solver(shape: tuple[int, ...], prices: Prices) -> Solver | TwoPassSolver:
    """Return what turns measurements of a table into an estimate, given its shape and prices."""
    height, width = shape
    cells, left, right = (0.0 if price is None else noise_variance(price) for price in prices)
    if prices.left_margin is None:
        return Solver(height, width, 1 / cells, 0.0, 0.0)
    if prices.right_margin is None:
        return TwoPassSolver(cells, left)
    return Solver(height, width, 1 / cells, 1 / left, 1 / right)


@dataclass(frozen=True, slots=True)
class Solver:
    """Least squares for tables of one shape; what was not measured has no weight."""

    height: int
    width: int
    weight: float
    left_weight: float
    right_weight: float

    def solve(self, cells: Counted, left: Counted | None, right: Counted | None) -> Fit:
        """Return the generalised least-squares estimate; leading axes are separate tables.

        Minimises Σ (cell − x)² / v_c + Σ (left − row sum)² / v_l + Σ (right − column sum)² / v_r.
        """
        with_rows = self.weight + self.width * self.left_weight
        mean = 1 / (with_rows + self.height * self.right_weight)
        rows = 1 / with_rows
        columns = 1 / (self.weight + self.height * self.right_weight)
        interaction = 1 / self.weight
        counted = np.asarray(cells, dtype=np.float64)
        if left is None or right is None:
            # They fit themselves; going through their effects would only round them.
            return Fit(counted, mean, rows, columns, interaction)
        evidence = self.weight * counted
        evidence = evidence + self.left_weight * left[..., :, None]
        evidence = evidence + self.right_weight * right[..., None, :]
        grand = evidence.mean(axis=(-2, -1), keepdims=True)
        row_effect = evidence.mean(axis=-1, keepdims=True) - grand
        column_effect = evidence.mean(axis=-2, keepdims=True) - grand
        rest = evidence - grand - row_effect - column_effect
        fitted = mean * grand + rows * row_effect + columns * column_effect + interaction * rest
        return Fit(fitted, mean, rows, columns, interaction)


@dataclass(frozen=True, slots=True, eq=False)
class TwoPass:
    """The paper's counts: overlaps from cells, left supports from left counts, the rest by sums.

    Right supports are sums of cells over all left ends, the number of entities is the sum of the
    left counts. cells, left_margin: float64; the variances are those of a single count.
    """

    cells: Floats
    left_margin: Floats
    cell_variance: float
    left_variance: float

    @property
    def size(self) -> float:
        """The estimated number of entities."""
        return float(self.left_margin.sum())

    @property
    def size_deviation(self) -> float:
        """The standard error of `size`."""
        return math.sqrt(self.left_variance * self.left_margin.size)

    @property
    def cell_deviation(self) -> float:
        """The standard error of a single cell."""
        return math.sqrt(self.cell_variance)

    def moments(self, left: Flags, right: Flags) -> Moments:
        """Return estimates and variances for pairs of unions of ends, as `Fit.moments`."""
        return self.moments_of(_in_pairs(left, right, self.cells, self.left_margin))

    def all_moments(self, left: Flags, right: Flags) -> Moments:
        """Return those of every left union with every right one, the right ones changing first."""
        return self.moments_of(self.counts(left, right).all_pairs())

    def counts(self, left: Flags, right: Flags) -> Counts:
        """Return the estimates alone, of every left union with every right one."""
        return Counts.of(left, right, self.cells, self.left_margin)

    def moments_of(self, pairs: Pairs) -> Moments:
        """Return estimates and variances for pairs whose estimates are known."""
        p, q = pairs.left_ends, pairs.right_ends
        nothing = np.zeros_like(p)
        return Moments(
            both=pairs.both,
            left=pairs.left,
            right=pairs.right,
            size=np.full_like(p, self.size),
            both_both=self.cell_variance * p * q,
            left_left=self.left_variance * p,
            right_right=self.cell_variance * q * self.cells.shape[0],
            both_left=nothing,
            both_right=self.cell_variance * p * q,
            left_right=nothing,
            both_size=nothing,
            left_size=self.left_variance * p,
            right_size=nothing,
            size_size=np.full_like(p, self.left_variance * self.left_margin.size),
        )

    def least_variances(self, counts: Counts, left: Floats, right: Floats) -> tuple[Floats, Floats]:
        """Return factors of leverages' variances, given the shares of the unions."""
        of_left = _squared_length(counts.left_ends, left, self.cells.shape[0])
        return of_left, self.cell_variance * counts.right_ends + self.left_variance * right**2


@dataclass(frozen=True, slots=True)
class TwoPassSolver:
    """Takes measurements as they are."""

    cell_variance: float
    left_variance: float

    def solve(self, cells: Counted, left: Counted | None, _right: Counted | None) -> TwoPass:
        """Return the estimate; leading axes are separate tables."""
        assert left is not None, "two passes measure the left margin"
        floats = np.asarray(cells, dtype=np.float64), np.asarray(left, dtype=np.float64)
        return TwoPass(*floats, self.cell_variance, self.left_variance)
