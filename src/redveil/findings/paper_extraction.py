"""The paper's extraction of redescriptions from a leaf table. The published profile uses it.

Pairs of leaves and their negations that satisfy the constraints are extended by further disjuncts
as long as the Jaccard index grows. Everything is judged at the estimates. A negated leaf is counted
as the sum of the other leaves, without the entities that a missing value keeps out of all leaves,
although some of these satisfy it (the paper's appendix C).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from redveil.findings.binomial import binomial_p_values
from redveil.findings.critical_values import report_critical_values
from redveil.findings.estimate import Estimate, Moments, estimate
from redveil.findings.redescription import Redescription
from redveil.findings.released_table import ReleasedTable
from redveil.findings.reporting import Constraints
from redveil.findings.statistics import (
    CriticalValues,
    Interval,
    SignificanceTest,
    jaccard_bounds,
    statistics_of,
    support_interval,
)
from redveil.findings.taste import ANY_TASTE, Taste
from redveil.query.formula import Query
from redveil.query.leaves import term_ends, term_nodes, terms_query
from redveil.query.simplify import simplified

Flags = NDArray[np.bool_]
Floats = NDArray[np.float64]

# Starting pairs that are extended together; bounds the memory of one batch.
BATCH = 256

# Intervals without width.
_NO_INTERVALS: Final = CriticalValues(0.0, 0.0, 0.0, 0.0)
_without_intervals: ContextVar[bool] = ContextVar("without_intervals", default=False)


@contextmanager
def estimates_only() -> Iterator[None]:
    """Leave out the intervals of published results, which the paper does not have.

    For experiments: what is found is the same, and simulating the noise for the intervals takes
    many times as long as finding it.

    >>> with estimates_only():
    ...     _without_intervals.get()
    True
    """
    before = _without_intervals.set(True)
    try:
        yield
    finally:
        _without_intervals.reset(before)


@dataclass(slots=True, eq=False)
class _Candidates:
    """Query pairs under construction: covered ends, and the terms that cover them."""

    left: Flags  # bool[pairs, left ends]
    right: Flags  # bool[pairs, right ends]
    left_terms: list[tuple[int, ...]]
    right_terms: list[tuple[int, ...]]


@dataclass(frozen=True, slots=True, eq=False)
class _Judged:
    """How some pairs were judged, each [pairs]."""

    moments: Moments
    jaccard: Floats
    satisfied: Flags


@dataclass(frozen=True, slots=True, eq=False)
class PaperCandidate:
    """A pair of coverages that satisfies the constraints, not yet in words: a place in a batch."""

    batch: _Candidates
    found: _Judged
    place: int

    @property
    def jaccard(self) -> float:
        """The estimated Jaccard index."""
        return float(self.found.jaccard[self.place])


class PaperExtractor:
    """Extracts redescriptions from one leaf table as the paper does."""

    def __init__(
        self, table: ReleasedTable, constraints: Constraints, taste: Taste = ANY_TASTE
    ) -> None:
        self._taste = taste
        self._trees = table.left, table.right
        self._constraints = constraints
        self._terms = term_ends(table.left.tree), term_ends(table.right.tree)
        # Leaves are the first ends; the others are where entities are stuck.
        self._placed = tuple(
            np.arange(len(tree.tree.ends)) < len(tree.tree.leaves) for tree in self._trees
        )
        self._estimate = estimate(table.counts)
        # Intervals are as wide as anywhere; the paper makes no claims about all tables together.
        self._critical = (
            _NO_INTERVALS
            if _without_intervals.get()
            else report_critical_values(table.counts, *self._terms)
        )
        self._queries: dict[tuple[int, tuple[int, ...]], Query] = {}

    @property
    def estimate(self) -> Estimate:
        """The table's best estimate."""
        return self._estimate

    def extract(self, number: int) -> list[Redescription]:
        """Return redescriptions that satisfy the constraints, one for each pair of coverages.

        number: the table's number, counted from 0
        """
        said = (self.describe(one, number) for one in self.candidates())
        return [one for one in said if self._taste.allows(one.left, one.right)]

    def candidates(self) -> list[PaperCandidate]:
        """Return the pairs of coverages that satisfy the constraints, each in its shortest words.

        Taste is a matter of words, which most of them never get.
        """
        seen: dict[tuple[bytes, bytes], tuple[int, PaperCandidate]] = {}
        for batch in self._simple():
            self._grow(batch)
            found = self._judge(batch.left, batch.right)
            for i in np.flatnonzero(found.satisfied).tolist():
                key = batch.left[i].tobytes(), batch.right[i].tobytes()
                length = self._length(batch, i)
                # The same coverage in other words: the shorter wording wins.
                if key not in seen or length < seen[key][0]:
                    seen[key] = length, PaperCandidate(batch, found, i)
        return [one for _, one in seen.values()]

    def support(self, one: PaperCandidate) -> Interval:
        """Return the noisy support of a candidate."""
        moments = one.found.moments
        return support_interval(
            moments.both[one.place], moments.both_both[one.place], self._critical
        )

    def _length(self, batch: _Candidates, i: int) -> int:
        """Return how many literals a pair takes, before anything is simplified."""
        total = 0
        for tree, terms in zip(
            self._trees, (batch.left_terms[i], batch.right_terms[i]), strict=True
        ):
            depths = [(node + 1).bit_length() - 1 for node in term_nodes(tree.tree)]
            total += sum(depths[term % len(depths)] for term in terms)
        return total

    def _simple(self) -> Iterator[_Candidates]:
        """Yield pairs of terms that satisfy the constraints by themselves, in batches."""
        lefts, rights = self._terms
        pairs = [(a, b) for a in range(len(lefts)) for b in range(len(rights))]
        everything = lefts[[a for a, _ in pairs]], rights[[b for _, b in pairs]]
        allowed = self._judge(*everything).satisfied
        pairs = [pair for pair, fine in zip(pairs, allowed, strict=True) if fine]
        for begin in range(0, len(pairs), BATCH):
            chunk = pairs[begin : begin + BATCH]
            yield _Candidates(
                lefts[[a for a, _ in chunk]],
                rights[[b for _, b in chunk]],
                [(a,) for a, _ in chunk],
                [(b,) for _, b in chunk],
            )

    def _grow(self, batch: _Candidates) -> None:
        """Add the best disjunct to each side in turn, as long as it helps and satisfies Γ."""
        for _ in range(self._constraints.max_disjuncts - 1):
            before = batch.left.copy(), batch.right.copy()
            self._grow_side(batch, 0)
            self._grow_side(batch, 1)
            if np.array_equal(before[0], batch.left) and np.array_equal(before[1], batch.right):
                return

    def _grow_side(self, batch: _Candidates, side: int) -> None:
        """Extend pairs on one side by the disjunct with the best Jaccard index, if that is allowed.

        The best one is chosen first and held against the constraints afterwards.
        """
        terms = self._terms[side]
        ours, theirs = (batch.left, batch.right) if side == 0 else (batch.right, batch.left)
        wordings = batch.left_terms if side == 0 else batch.right_terms
        pairs, options = len(ours), len(terms)
        wider = (ours[:, None, :] | terms[None, :, :]).reshape(pairs * options, -1)
        other = np.repeat(theirs, options, axis=0)
        now = self._jaccard(batch.left, batch.right)
        left, right = (wider, other) if side == 0 else (other, wider)
        best = self._jaccard(left, right).reshape(pairs, options).argmax(axis=1)
        chosen = np.arange(pairs) * options + best
        found = self._judge(left[chosen], right[chosen], now)
        for i in np.flatnonzero(found.satisfied):
            ours[i] |= terms[best[i]]
            wordings[i] = (*wordings[i], int(best[i]))

    def _moments(self, left: Flags, right: Flags) -> Moments:
        """Return estimates for pairs of coverages, as the paper counts them: in leaves only."""
        return self._estimate.moments(left & self._placed[0], right & self._placed[1])

    def _jaccard(self, left: Flags, right: Flags) -> Floats:
        return jaccard_bounds(self._moments(left, right), 0.0)[0]

    def _judge(self, left: Flags, right: Flags, better_than: Floats | float = -1.0) -> _Judged:
        """Evaluate pairs of coverages; check the constraints where the Jaccard index is better."""
        moments = self._moments(left, right)
        jaccard = jaccard_bounds(moments, 0.0)[0]
        wanted = self._constraints
        most = wanted.max_support * max(self._estimate.size, 0.0)
        satisfied = (
            (jaccard > better_than)
            & (jaccard >= wanted.min_jaccard)
            & (moments.both >= wanted.min_support)
            & (np.maximum(moments.left, moments.right) <= most)
            & describes(left, len(self._trees[0].tree.leaves))
            & describes(right, len(self._trees[1].tree.leaves))
        )
        # p-values cost most, so they come last and only where everything else holds.
        rest = np.flatnonzero(satisfied)
        some = moments.of(rest)
        p = binomial_p_values(some.both, some.left, some.right, self._estimate.size)
        satisfied[rest] = p <= wanted.max_p_value
        return _Judged(moments, jaccard, satisfied)

    def describe(self, one: PaperCandidate, number: int) -> Redescription:
        """Return a candidate with its queries and statistics; number: the table's, from 0."""
        batch, i = one.batch, one.place
        return Redescription(
            left=self._query(0, batch.left_terms[i]),
            right=self._query(1, batch.right_terms[i]),
            statistics=statistics_of(
                one.found.moments.of(np.array([i])),
                self._estimate,
                self._critical,
                SignificanceTest.BINOMIAL,
            ),
            table=number,
            left_ends=tuple(np.flatnonzero(batch.left[i]).tolist()),
            right_ends=tuple(np.flatnonzero(batch.right[i]).tolist()),
        )

    def _query(self, side: int, terms: tuple[int, ...]) -> Query:
        """Return the union of some terms as a query with few literals; each is made once."""
        if (side, terms) not in self._queries:
            tree = self._trees[side]
            union = terms_query(tree, terms)
            self._queries[side, terms] = simplified(union, tree.always_known, tree.orders)
        return self._queries[side, terms]


def describes(covered: Flags, leaves: int) -> Flags:
    """Return which coverages are neither empty nor all leaves, bool[pairs]."""
    return np.asarray(covered.any(axis=1) & ~covered[:, :leaves].all(axis=1), dtype=np.bool_)
