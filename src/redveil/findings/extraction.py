"""Redescriptions read off a leaf table: pairs of leaves, negated or not, grown by disjuncts.

Everything here works on released numbers, so it is free. In the hardened profile candidates are
compared by the lower bound of their Jaccard index, never by the luckiest estimate.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from redveil.algorithms.parameters import Constraints
from redveil.findings.critical_values import Reach, report_reach
from redveil.findings.estimate import Estimate, Moments, estimate
from redveil.findings.leaf_table import LeafTable
from redveil.findings.ranking import LITERAL, Sketch, newsworthy
from redveil.findings.redescription import Interval, Redescription
from redveil.findings.statistics import (
    jaccard_bounds,
    p_values,
    pessimistic_p_values,
)
from redveil.query.formula import Query, literal_count
from redveil.query.leaves import term_ends, term_nodes, union_query
from redveil.query.simplify import simplified
from redveil.schema import Schema
from redveil.trees.splits import Splits

Flags = NDArray[np.bool_]
Floats = NDArray[np.float64]

# Starting pairs that are extended together; bounds the memory of one batch.
BATCH = 256


@dataclass(slots=True, eq=False)
class _Candidates:
    """Query pairs under construction: covered cells, and the terms that cover them."""

    left: Flags  # bool[pairs, left cells]
    right: Flags  # bool[pairs, right cells]
    left_terms: list[tuple[int, ...]]
    right_terms: list[tuple[int, ...]]


class Extractor:
    """Reads redescriptions off one leaf table.

    Cautious: candidates are judged by the pessimistic ends of their intervals. Otherwise, as the
    paper has it, by their estimates.
    """

    def __init__(
        self,
        table: LeafTable,
        schema: Schema,
        constraints: Constraints,
        *,
        cautious: bool = True,
        tables: int = 1,
    ) -> None:
        self._trees = table.left, table.right
        self._splits = Splits.of(schema.left), Splits.of(schema.right)
        self._constraints = constraints
        # The paper joins leaves; whole branches are often what a cautious reader can be sure of.
        self._inner = cautious
        self._terms = (
            term_ends(table.left, inner=cautious),
            term_ends(table.right, inner=cautious),
        )
        self._depths = tuple(
            [(node + 1).bit_length() - 1 for node in term_nodes(tree, inner=cautious)]
            for tree in self._trees
        )
        self._estimate = estimate(table)
        self.reach = report_reach(table, *self._terms, tables)
        self._cautious = cautious
        self._words: dict[tuple[int, tuple[int, ...]], Query] = {}
        self._caution = self.reach if cautious else Reach(0.0, 0.0)

    @property
    def estimate(self) -> Estimate:
        """The table's best guess."""
        return self._estimate

    def extract(self, number: int, *, news: bool = False) -> list[Redescription]:
        """Return redescriptions that satisfy the constraints, one for each pair of extents.

        news: only those that can come into a list of news.
        """
        seen: dict[tuple[bytes, bytes], _Find] = {}
        for batch in self._simple():
            self._grow(batch)
            found = self._statistics(batch.left, batch.right)
            for i in np.flatnonzero(found.satisfied).tolist():
                find = _Find(batch, found, i, self._length(batch, i))
                key = batch.left[i].tobytes(), batch.right[i].tobytes()
                # The same extents under other words: the shorter wording wins.
                if key not in seen or find.length < seen[key].length:
                    seen[key] = find
        finds = list(seen.values())
        if news:
            sketches = [find.sketch(self._literals(find)) for find in finds]
            finds = [finds[i] for i in newsworthy(sketches, self._estimate)]
        return [self._describe(find.batch, find.found, find.i, number) for find in finds]

    def _literals(self, find: _Find) -> int:
        """Return how many literals a pair takes."""
        sides = find.batch.left_terms[find.i], find.batch.right_terms[find.i]
        return sum(literal_count(self._query(side, terms)) for side, terms in enumerate(sides))

    def _length(self, batch: _Candidates, i: int) -> int:
        """Return how many literals a pair takes, before anything is simplified."""
        sides = (self._depths[0], batch.left_terms[i]), (self._depths[1], batch.right_terms[i])
        return sum(depths[term % len(depths)] for depths, terms in sides for term in terms)

    def _simple(self) -> Iterator[_Candidates]:
        """Yield pairs of terms to start from, in batches.

        The paper extends only pairs that satisfy the constraints by themselves. Cautious bounds
        are too wide for that: small pairs may hold up once they are joined.
        """
        lefts, rights = self._terms
        pairs = [(a, b) for a in range(len(lefts)) for b in range(len(rights))]
        if not self._cautious:
            everything = lefts[[a for a, _ in pairs]], rights[[b for _, b in pairs]]
            allowed = self._statistics(*everything).satisfied
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
        """Extend every pair on one side by the disjunct that raises its worth most."""
        terms = self._terms[side]
        ours, theirs = (batch.left, batch.right) if side == 0 else (batch.right, batch.left)
        wordings = batch.left_terms if side == 0 else batch.right_terms
        pairs, options = len(ours), len(terms)
        wider = (ours[:, None, :] | terms[None, :, :]).reshape(pairs * options, -1)
        other = np.repeat(theirs, options, axis=0)
        now, kept = self._lower_bounds(batch.left, batch.right), self._left_of_worth(side)
        left, right = (wider, other) if side == 0 else (other, wider)
        found = self._statistics(left, right, np.divide.outer(now, kept).ravel())
        worth = np.where(found.satisfied, found.low, -1.0).reshape(pairs, options) * kept
        best = worth.argmax(axis=1)
        for i in np.flatnonzero(worth[np.arange(pairs), best] > now):
            ours[i] |= terms[best[i]]
            wordings[i] = (*wordings[i], int(best[i]))

    def _left_of_worth(self, side: int) -> Floats:
        """Return which share of its worth a pair keeps if another term has to be read, [terms].

        The paper lets a term be as long as it likes.
        """
        # As many negations as there are terms to negate.
        literals = np.tile(self._depths[side], 2)
        return np.asarray(np.where(self._cautious, LITERAL**literals, 1.0))

    def _lower_bounds(self, left: Flags, right: Flags) -> Floats:
        """Return what pairs of extents are compared by."""
        return jaccard_bounds(self._estimate.moments(left, right), self._caution.intervals)[1]

    def _statistics(
        self, left: Flags, right: Flags, better_than: Floats | float = -1.0
    ) -> _Statistics:
        """Evaluate pairs of extents, and check the constraints where a lower bound is better."""
        moments = self._estimate.moments(left, right)
        low = jaccard_bounds(moments, self._caution.intervals)[1]
        wanted = self._constraints
        certain = moments.both - self._caution.intervals * np.sqrt(moments.both_both)
        most = wanted.max_support * max(self._estimate.size, 0.0)
        satisfied = (
            (low > better_than)
            & (low >= wanted.min_jaccard)
            & (certain >= wanted.min_support)
            & (np.maximum(moments.left, moments.right) <= most)
            & _describes(left, len(self._trees[0].leaves))
            & _describes(right, len(self._trees[1].leaves))
        )
        # p-values cost most, so they come last and only where everything else holds.
        rest = np.flatnonzero(satisfied)
        p = pessimistic_p_values(moments.of(rest), self._estimate, self._caution.counts)
        satisfied[rest] = p <= wanted.max_p_value
        return _Statistics(moments, low, satisfied)

    def _describe(
        self, batch: _Candidates, found: _Statistics, i: int, number: int
    ) -> Redescription:
        """Put one pair into words and numbers."""
        m = found.moments
        only = m.of(np.array([i]))
        likely, low, high = (
            float(bound[0]) for bound in jaccard_bounds(only, self.reach.intervals)
        )
        worst = pessimistic_p_values(only, self._estimate, self.reach.counts)[0]
        likeliest = p_values(m.both[i], m.left[i], m.right[i], self._estimate.size)
        return Redescription(
            left=self._query(0, batch.left_terms[i]),
            right=self._query(1, batch.right_terms[i]),
            jaccard=Interval(likely, low, high),
            support_left=self._support(m.left[i], m.left_left[i]),
            support_right=self._support(m.right[i], m.right_right[i]),
            support_both=self._support(m.both[i], m.both_both[i]),
            p_value=float(worst),
            p_value_estimate=float(likeliest),
            table=number,
            left_ends=tuple(np.flatnonzero(batch.left[i]).tolist()),
            right_ends=tuple(np.flatnonzero(batch.right[i]).tolist()),
        )

    def _query(self, side: int, terms: tuple[int, ...]) -> Query:
        """Return the union of some terms in words, which are looked for once."""
        if (side, terms) not in self._words:
            self._words[side, terms] = self._union(side, terms)
        return self._words[side, terms]

    def _union(self, side: int, terms: tuple[int, ...]) -> Query:
        """Return the union of some terms in as few words as it takes."""
        union = union_query(self._trees[side], self._splits[side], terms, inner=self._inner)
        known = frozenset(a.name for a in self._splits[side].view.attributes if a.required)
        return simplified(union, known)

    def _support(self, estimate: float, variance: float) -> Interval:
        """Return a support's interval; nobody can be covered by less than nobody."""
        reach = self.reach.intervals * float(np.sqrt(variance))
        low, middle, high = (max(0.0, float(estimate) + x) for x in (-reach, 0.0, reach))
        return Interval(middle, low, high)


def _describes(extents: Flags, leaves: int) -> Flags:
    """Return which extents are neither nothing nor everybody whose value is known, bool[pairs]."""
    return np.asarray(extents.any(axis=1) & ~extents[:, :leaves].all(axis=1), dtype=np.bool_)


@dataclass(frozen=True, slots=True, eq=False)
class _Find:
    """One pair of a batch that satisfies the constraints, and how long its words would be."""

    batch: _Candidates
    found: _Statistics
    i: int
    length: int

    def sketch(self, literals: int) -> Sketch:
        """Return what a ranking looks at."""
        cells = (self.batch.left[self.i], self.batch.right[self.i])
        left, right = (tuple(np.flatnonzero(side).tolist()) for side in cells)
        return Sketch(float(self.found.low[self.i]), literals, left, right)


@dataclass(frozen=True, slots=True, eq=False)
class _Statistics:
    """What is known of some pairs, each [pairs]."""

    moments: Moments
    low: Floats
    satisfied: Flags
