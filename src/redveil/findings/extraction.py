"""Extraction: redescriptions from a leaf table.

All pairs of unions of ends that short queries cover are compared. Everything here works on released
numbers, so it costs nothing. A pair is worth its chance-corrected index, one standard error below
the estimate, less a hundredth for every literal. Only significance is judged at the pessimistic end
of the noise; what a reader likes or dislikes (supports, lengths, the smallest index) is judged at
the estimates.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from redveil.findings.candidates import Unions
from redveil.findings.critical_values import report_critical_values
from redveil.findings.estimate import Counts, Estimate, Moments, estimate
from redveil.findings.leverage import (
    cautious_corrected,
    corrected_bounds,
    largest_log_p,
    may_be_positive,
    possible_leverages,
)
from redveil.findings.redescription import Redescription
from redveil.findings.released_table import ReleasedTable
from redveil.findings.reporting import Constraints
from redveil.findings.selection import Selection
from redveil.findings.statistics import CriticalValues, jaccard_indices, statistics_of
from redveil.findings.taste import ANY_TASTE, Taste
from redveil.query.formula import Query, literal_count
from redveil.query.leaves import term_ends

Flags = NDArray[np.bool_]
Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# The share of its value that a redescription keeps with every literal that has to be read.
LITERAL_DISCOUNT: Final = 0.95
# The largest number of pairs of unions of a table that are compared.
MOST_PAIRS: Final = 2**18
# How many pairs are worked on together; bounds the memory.
BATCH: Final = 2**14
# For every union, so many of its best partners on the other side remain candidates.
PARTNERS: Final = 4
MOST_CANDIDATES: Final = 200
EVERYTHING: Final = Selection()


@dataclass(frozen=True, slots=True)
class Candidate:
    """A pair of queries that is significant, and what ranking looks at.

    value: the chance-corrected index, one standard error below its estimate, discounted for every
           literal
    half:  the larger of the two supports, as a share of all entities
    lesser: the smaller of them
    log_p: the natural logarithm of the p-value by which it is confirmed, or not
    confirmed: whether it is, if somebody has compared it with all others
    detail: the number of the entry whose story it adds to, if it is listed and does
    """

    table: int
    left: Query
    right: Query
    left_ends: tuple[int, ...]
    right_ends: tuple[int, ...]
    value: float
    half: float = 0.0
    lesser: float = 0.0
    log_p: float = 0.0
    confirmed: bool = False
    detail: int | None = None


class Extractor:
    """Extracts redescriptions from one leaf table.

    taste:     what queries may say
    number:    the table's number, counted from 0
    tables:    how many leaf tables the intervals must hold for together
    selection: what else is asked of a pair
    """

    def __init__(
        self,
        table: ReleasedTable,
        constraints: Constraints,
        taste: Taste = ANY_TASTE,
        number: int = 0,
        tables: int = 1,
        selection: Selection = EVERYTHING,
    ) -> None:
        self._number = number
        self._constraints = constraints
        self._taste = taste
        self._selection = selection
        self._sides = _affordable(table, constraints.max_disjuncts, taste)
        self.estimate: Estimate = estimate(table.counts)
        left, right = (term_ends(tree.tree, inner=True) for tree in (table.left, table.right))
        self.critical: CriticalValues = report_critical_values(table.counts, left, right, tables)

    def candidates(self) -> list[Candidate]:
        """Return the most valuable pairs that satisfy the constraints, the best first."""
        left, right = self._sides
        value, near = self._values()
        best = _with_best_partners(np.where(near & self._may_be_said(), value, -1.0))
        lefts, rights = np.nonzero(best)
        m = self.estimate.moments(left.covered[lefts], right.covered[rights])
        log_p = largest_log_p(m, self.critical.leverages)
        fine = np.flatnonzero(log_p <= np.log(self._constraints.max_p_value))
        order = fine[np.argsort(-value[lefts[fine], rights[fine]], kind="stable")]
        size = max(self.estimate.size, 1.0)
        halves = np.maximum(m.left, m.right) / size
        lesser = np.minimum(m.left, m.right) / size
        order = order[:MOST_CANDIDATES]
        kept = m.of(order)
        confirming = largest_log_p(kept, self.critical.confirming)
        found = [
            replace(
                self._candidate(int(lefts[i]), int(rights[i]), float(index)),
                half=float(halves[i]),
                lesser=float(lesser[i]),
                log_p=float(log_p),
            )
            for i, index, log_p in zip(order, cautious_corrected(kept), confirming, strict=True)
        ]
        return sorted(found, key=lambda one: -one.value)

    def describe(self, one: Candidate) -> Redescription:
        """Return a candidate with its statistics."""
        ends = one.left_ends, one.right_ends
        flags = (
            np.isin(np.arange(count), covered)[None]
            for count, covered in zip(self.estimate.cells.shape, ends, strict=True)
        )
        statistics = statistics_of(self.estimate.moments(*flags), self.estimate, self.critical)
        return Redescription(one.left, one.right, statistics, one.table, *ends, detail=one.detail)

    def _values(self) -> tuple[Floats, Flags]:
        """Return what pairs of unions are worth, and whether they may be listed, [left, right].

        What may not be listed is not looked at any further, and worth less than nothing.
        """
        left, right = self._sides
        shape = len(left), len(right)
        value, near = np.full(shape, -1.0), np.zeros(shape, np.bool_)
        rows = max(BATCH // max(len(right), 1), 1)
        for begin in range(0, len(left), rows):
            counts = self.estimate.counts(left.covered[begin : begin + rows], right.covered)
            # Most pairs are not wanted, and their variances not needed.
            lefts, rights = self._wanted(counts)
            m = self.estimate.moments_of(counts.pairs(lefts, rights))
            fine = np.flatnonzero(self._is_significant(m))
            lefts, rights, m = begin + lefts[fine], rights[fine], m.of(fine)
            kept = LITERAL_DISCOUNT ** (left.lengths[lefts] + right.lengths[rights])
            value[lefts, rights], near[lefts, rights] = cautious_corrected(m) * kept, True
        return value, near & (value > 0)

    def _wanted(self, counts: Counts) -> tuple[Integers, Integers]:
        """Return the pairs whose estimates satisfy the constraints, int64[pairs] each.

        Without those that are certainly not significant.
        """
        wanted, most = self._constraints, self._constraints.max_support * max(self.estimate.size, 0)
        fine = np.logical_and.outer(counts.left <= most, counts.right <= most)
        fine &= counts.both >= wanted.min_support
        if wanted.max_p_value < 1:
            fine &= may_be_positive(self.estimate, counts, self.critical.leverages)
        lefts, rights = np.nonzero(fine)
        pairs = counts.pairs(lefts, rights)
        alike = jaccard_indices(pairs.both, pairs.left, pairs.right) >= wanted.min_jaccard
        return lefts[alike], rights[alike]

    def _is_significant(self, m: Moments) -> Flags:
        """Return where a pair may be significant, and corrected enough, bool[pairs].

        That is: as far as it is cheap to tell.
        """
        surely = possible_leverages(m, self.critical.leverages, 1).low[0, 0] > 0
        least = self._selection.min_corrected
        large = corrected_bounds(m, 0.0)[0] >= least if least > 0 else np.True_
        return np.asarray(large & (surely | (self._constraints.max_p_value >= 1)), dtype=np.bool_)

    def _may_be_said(self) -> Flags | bool:
        """Return which pairs the user wants to hear, bool[left, right]."""
        if not self._taste.unmatched:
            return True
        left, right = self._sides
        return np.array(
            [
                [self._taste.allows(left.query(i), right.query(j)) for j in range(len(right))]
                for i in range(len(left))
            ],
            dtype=np.bool_,
        ).reshape(len(left), len(right))

    def _candidate(self, left: int, right: int, index: float) -> Candidate:
        queries = self._sides[0].query(left), self._sides[1].query(right)
        literals = sum(map(literal_count, queries))
        covered = self._sides[0].covered[left], self._sides[1].covered[right]
        left_ends, right_ends = (tuple(np.flatnonzero(one).tolist()) for one in covered)
        value = index * LITERAL_DISCOUNT**literals
        return Candidate(self._number, *queries, left_ends, right_ends, value)


def _affordable(table: ReleasedTable, max_disjuncts: int, taste: Taste) -> tuple[Unions, Unions]:
    """Return the unions on both sides, of fewer disjuncts if there were too many pairs."""
    for disjuncts in range(max_disjuncts, 0, -1):
        sides = Unions(table.left, disjuncts, taste), Unions(table.right, disjuncts, taste)
        if len(sides[0]) * len(sides[1]) <= MOST_PAIRS or disjuncts == 1:
            return sides
    raise AssertionError("a query has at least one disjunct")


def _with_best_partners(value: Floats) -> Flags:
    """Return which pairs are among the best for one of their two unions, bool[left, right]."""
    chosen = np.zeros(value.shape, np.bool_)
    if not (value > 0).any():
        return chosen
    for axis in (0, 1):
        count = min(PARTNERS, value.shape[axis])
        best = np.argpartition(-value, count - 1, axis=axis).take(range(count), axis=axis)
        np.put_along_axis(chosen, best, values=True, axis=axis)
    return np.asarray(chosen & (value > 0), dtype=np.bool_)
