"""Extraction: redescriptions from a leaf table.

Pairs of terms (leaves, inner nodes, and their negations) are extended by further disjuncts.
Everything here works on released numbers, so it costs nothing. Noise-aware extraction compares
candidates by the lower bound of their Jaccard index, never by the luckiest estimate.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from redveil.findings.critical_values import report_critical_values
from redveil.findings.estimate import Estimate, Moments, estimate
from redveil.findings.leaf_table import LeafTable
from redveil.findings.ranking import LITERAL_DISCOUNT, Sketch, novel
from redveil.findings.redescription import Redescription
from redveil.findings.reporting import Constraints
from redveil.findings.statistics import (
    CriticalValues,
    jaccard_bounds,
    pessimistic_p_values,
    statistics_of,
)
from redveil.findings.taste import Taste, said_plainly
from redveil.query.formula import Query, literal_count
from redveil.query.leaves import term_ends, term_nodes, union_query
from redveil.query.simplify import simplified
from redveil.schema import Schema
from redveil.trees.splits import Splits

Flags = NDArray[np.bool_]
Floats = NDArray[np.float64]

# Starting pairs that are extended together; bounds the memory of one batch.
BATCH = 256
ANYTHING = Taste()


@dataclass(slots=True, eq=False)
class _Candidates:
    """Query pairs under construction: covered ends, and the terms that cover them."""

    left: Flags  # bool[pairs, left ends]
    right: Flags  # bool[pairs, right ends]
    left_terms: list[tuple[int, ...]]
    right_terms: list[tuple[int, ...]]

    def copy(self) -> _Candidates:
        """Return the pairs as they are now."""
        terms = list(self.left_terms), list(self.right_terms)
        return _Candidates(self.left.copy(), self.right.copy(), *terms)


class Extractor:
    """Extracts redescriptions from one leaf table.

    noise_aware: judge candidates by the pessimistic ends of their intervals; otherwise, as in the
                 paper, by their estimates
    tables:      how many leaf tables the intervals must hold for together
    taste:       what queries may say
    """

    def __init__(
        self,
        table: LeafTable,
        schema: Schema,
        constraints: Constraints,
        *,
        noise_aware: bool = True,
        tables: int = 1,
        taste: Taste = ANYTHING,
    ) -> None:
        self._taste = taste
        #: Whether anything satisfied the constraints and was not to the user's taste.
        self.refused = False
        self._trees = table.left, table.right
        self._splits = Splits.of(schema.left), Splits.of(schema.right)
        self._constraints = constraints
        # The paper joins leaves; inner nodes are often all that stands out from the noise.
        self._inner = noise_aware
        self._terms = (
            term_ends(table.left, inner=noise_aware),
            term_ends(table.right, inner=noise_aware),
        )
        self._depths = tuple(
            [(node + 1).bit_length() - 1 for node in term_nodes(tree, inner=noise_aware)]
            for tree in self._trees
        )
        self._estimate = estimate(table)
        self.critical = report_critical_values(table, *self._terms, tables)
        self._noise_aware = noise_aware
        self._queries: dict[tuple[int, tuple[int, ...]], Query] = {}
        self._judging = self.critical if noise_aware else CriticalValues(0.0, 0.0)

    @property
    def estimate(self) -> Estimate:
        """The table's best estimate."""
        return self._estimate

    def extract(self, number: int, *, only_novel: bool = False) -> list[Redescription]:
        """Return redescriptions that satisfy the constraints, one for each pair of coverages.

        number:     the table's number, counted from 0
        only_novel: leave out what cannot appear in a list ranked by novelty
        """
        seen: dict[tuple[bytes, bytes], _Find] = {}
        for batch in self._stages():
            found = self._judge(batch.left, batch.right)
            for i in np.flatnonzero(found.satisfied).tolist():
                if not self._may_be_said(batch, i):
                    self.refused = True
                    continue
                find = _Find(batch, found, i, self._length(batch, i))
                key = batch.left[i].tobytes(), batch.right[i].tobytes()
                # The same coverage in other words: the shorter wording wins.
                if key not in seen or find.length < seen[key].length:
                    seen[key] = find
        finds = list(seen.values())
        if only_novel:
            sketches = [find.sketch(self._literals(find)) for find in finds]
            finds = [finds[i] for i in novel(sketches, self._estimate)]
        return [self._describe(find.batch, find.found, find.i, number) for find in finds]

    def _may_be_said(self, batch: _Candidates, i: int) -> bool:
        """Return whether the two queries of a pair are as the user wants them."""
        if self._taste.allows_all:
            return True
        return self._taste.allows(
            self._query(0, batch.left_terms[i]), self._query(1, batch.right_terms[i])
        )

    def _stages(self) -> Iterator[_Candidates]:
        """Yield pairs of queries, grown as far as it helps.

        What has grown may not be to the user's taste: then it is also yielded as it was before.
        """
        for batch in self._simple():
            if not self._taste.allows_all:
                yield batch.copy()
            for _ in self._grow(batch):
                if not self._taste.allows_all:
                    yield batch.copy()
            if self._taste.allows_all:
                yield batch

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

        The paper extends only pairs that satisfy the constraints by themselves. Noise-aware bounds
        are too wide for that: small pairs may satisfy them once they are joined.
        """
        lefts, rights = self._terms
        pairs = [(a, b) for a in range(len(lefts)) for b in range(len(rights))]
        if not self._noise_aware:
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

    def _grow(self, batch: _Candidates) -> Iterator[None]:
        """Add the best disjunct to each side in turn, as long as it helps and satisfies Γ."""
        for _ in range(self._constraints.max_disjuncts - 1):
            before = batch.left.copy(), batch.right.copy()
            self._grow_side(batch, 0)
            self._grow_side(batch, 1)
            yield
            if np.array_equal(before[0], batch.left) and np.array_equal(before[1], batch.right):
                return

    def _grow_side(self, batch: _Candidates, side: int) -> None:
        """Extend every pair on one side by the disjunct that raises its value most."""
        terms = self._terms[side]
        ours, theirs = (batch.left, batch.right) if side == 0 else (batch.right, batch.left)
        wordings = batch.left_terms if side == 0 else batch.right_terms
        pairs, options = len(ours), len(terms)
        wider = (ours[:, None, :] | terms[None, :, :]).reshape(pairs * options, -1)
        other = np.repeat(theirs, options, axis=0)
        now, kept = self._lower_bounds(batch.left, batch.right), self._discounts(side)
        left, right = (wider, other) if side == 0 else (other, wider)
        found = self._judge(left, right, np.divide.outer(now, kept).ravel())
        value = np.where(found.satisfied, found.low, -1.0).reshape(pairs, options) * kept
        if not self._taste.negation:
            # Negated terms come last; whatever they say plainly, another node says too.
            value[:, options // 2 :] = -1.0
        best = value.argmax(axis=1)
        for i in np.flatnonzero(value[np.arange(pairs), best] > now):
            ours[i] |= terms[best[i]]
            wordings[i] = (*wordings[i], int(best[i]))

    def _discounts(self, side: int) -> Floats:
        """Return which share of its value a pair keeps with one more term to read, [terms].

        The paper does not discount long terms.
        """
        # As many negations as there are terms to negate.
        literals = np.tile(self._depths[side], 2)
        return np.asarray(np.where(self._noise_aware, LITERAL_DISCOUNT**literals, 1.0))

    def _lower_bounds(self, left: Flags, right: Flags) -> Floats:
        """Return the lower bounds of J, by which pairs of coverages are compared."""
        return jaccard_bounds(self._estimate.moments(left, right), self._judging.intervals)[1]

    def _judge(self, left: Flags, right: Flags, better_than: Floats | float = -1.0) -> _Judged:
        """Evaluate pairs of coverages; check the constraints where a lower bound is better."""
        moments = self._estimate.moments(left, right)
        low = jaccard_bounds(moments, self._judging.intervals)[1]
        wanted = self._constraints
        certain = moments.both - self._judging.intervals * np.sqrt(moments.both_both)
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
        p = pessimistic_p_values(moments.of(rest), self._estimate, self._judging.counts)
        satisfied[rest] = p <= wanted.max_p_value
        return _Judged(moments, low, satisfied)

    def _describe(self, batch: _Candidates, found: _Judged, i: int, number: int) -> Redescription:
        """Return one pair with its queries and statistics."""
        moments = found.moments.of(np.array([i]))
        return Redescription(
            left=self._query(0, batch.left_terms[i]),
            right=self._query(1, batch.right_terms[i]),
            statistics=statistics_of(moments, self._estimate, self.critical),
            table=number,
            left_ends=tuple(np.flatnonzero(batch.left[i]).tolist()),
            right_ends=tuple(np.flatnonzero(batch.right[i]).tolist()),
        )

    def _query(self, side: int, terms: tuple[int, ...]) -> Query:
        """Return the union of some terms as a query; each is simplified once."""
        if (side, terms) not in self._queries:
            self._queries[side, terms] = self._union(side, terms)
        return self._queries[side, terms]

    def _union(self, side: int, terms: tuple[int, ...]) -> Query:
        """Return the union of some terms as a query with as few literals as possible."""
        union = union_query(self._trees[side], self._splits[side], terms, inner=self._inner)
        view = self._splits[side].view
        known = frozenset(a.name for a in view.attributes if a.required)
        query = simplified(union, known, view.orders)
        return query if self._taste.negation else said_plainly(query, view)


def _describes(covered: Flags, leaves: int) -> Flags:
    """Return which coverages are neither empty nor all leaves, bool[pairs]."""
    return np.asarray(covered.any(axis=1) & ~covered[:, :leaves].all(axis=1), dtype=np.bool_)


@dataclass(frozen=True, slots=True, eq=False)
class _Find:
    """One pair of a batch that satisfies the constraints, and the length of its queries."""

    batch: _Candidates
    found: _Judged
    i: int
    length: int

    def sketch(self, literals: int) -> Sketch:
        """Return what a ranking looks at."""
        covered = (self.batch.left[self.i], self.batch.right[self.i])
        left, right = (tuple(np.flatnonzero(side).tolist()) for side in covered)
        return Sketch(float(self.found.low[self.i]), literals, left, right)


@dataclass(frozen=True, slots=True, eq=False)
class _Judged:
    """How some pairs were judged, each [pairs]."""

    moments: Moments
    low: Floats
    satisfied: Flags
