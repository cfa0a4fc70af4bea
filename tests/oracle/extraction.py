"""The paper's extraction, from entities instead of tables: every coverage is a set of entities.

An entity may stand for many that are alike; its weight says for how many.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from scipy.stats import binom

Coverage = frozenset[int]
Pair = tuple[Coverage, Coverage]


class TieError(Exception):
    """Two disjuncts are equally good, so that either could be taken."""


@dataclass(frozen=True)
class Rules:
    """What a redescription must satisfy, and how many disjuncts a side may have."""

    max_p_value: float
    min_jaccard: float
    min_support: int
    max_support: float
    max_disjuncts: int


def term_coverages(nodes: Sequence[int], ends: Sequence[int]) -> list[Coverage]:
    """Return who is known to reach each node, then who is known not to.

    nodes: leaves, and inner nodes where whole branches are terms; numbered as in a heap.
    ends:  the node at which each entity stopped. Whoever stopped at a node or below has reached
           it; whoever stopped above it might have, had the value not been missing.
    """
    ways = [frozenset(way_to(end)) for end in ends]
    reached = [frozenset(e for e, way in enumerate(ways) if node in way) for node in nodes]
    perhaps = [frozenset(e for e, end in enumerate(ends) if end in way_to(node)) for node in nodes]
    everyone = frozenset(range(len(ends)))
    return reached + [everyone - a - b for a, b in zip(reached, perhaps, strict=True)]


def way_to(node: int) -> list[int]:
    """Return the nodes from the root to a node, both included."""
    return [node] if node == 0 else [*way_to((node - 1) // 2), node]


@dataclass(frozen=True)
class Entities:
    """Entities with their weights, and the coverages of the terms on both sides.

    known: who ended in a leaf, on either side; the others' values are missing, and the paper counts
           none of them, whatever they are known not to be.
    """

    weights: Sequence[int]
    left: Sequence[Coverage]
    right: Sequence[Coverage]
    known: Pair

    def weigh(self, coverage: Coverage) -> int:
        """Return how many entities there are in a coverage."""
        return sum(self.weights[e] for e in coverage)

    def leaves_of(self, pair: Pair) -> Pair:
        """Return who is in a leaf, of those whom a pair covers."""
        return pair[0] & self.known[0], pair[1] & self.known[1]

    def counted(self, pair: Pair) -> tuple[int, int, int]:
        """Return the supports and the overlap, as the paper counts them."""
        left, right = self.leaves_of(pair)
        return self.weigh(left), self.weigh(right), self.weigh(left & right)

    def jaccard(self, pair: Pair) -> Fraction:
        """Return |both| / |either|, 0 when there is nobody."""
        left, right, both = self.counted(pair)
        either = left + right - both
        return Fraction(both, either) if either else Fraction(0)

    def p_value(self, pair: Pair) -> float:
        """Return the chance of such an overlap between independent queries."""
        size = sum(self.weights)
        left, right, both = self.counted(pair)
        return float(binom.sf(both - 1, size, left / size * (right / size)))

    def satisfies(self, pair: Pair, rules: Rules) -> bool:
        """Whether a pair may be reported."""
        left, right, both = self.counted(pair)
        return (
            self.says_something(pair[0], self.known[0])
            and self.says_something(pair[1], self.known[1])
            and both >= rules.min_support
            and max(left, right) <= rules.max_support * sum(self.weights)
            and self.jaccard(pair) >= rules.min_jaccard
            and self.p_value(pair) <= rules.max_p_value
        )

    def says_something(self, coverage: Coverage, known: Coverage) -> bool:
        """Whether somebody is in a coverage, and somebody whose leaf is known is not."""
        return bool(coverage) and not known <= coverage


def redescriptions(entities: Entities, rules: Rules) -> set[Pair]:
    """Start from every pair of terms that satisfies the rules, and grow it greedily."""
    starts = [(a, b) for a in entities.left for b in entities.right]
    grown = {_grow(entities, rules, pair) for pair in starts if entities.satisfies(pair, rules)}
    return {pair for pair in grown if entities.satisfies(pair, rules)}


def _grow(entities: Entities, rules: Rules, pair: Pair) -> Pair:
    """Widen left, then right, then left again, each time by the best disjunct if one helps."""
    for _ in range(rules.max_disjuncts - 1):
        pair = _best(entities, rules, pair, [(pair[0] | term, pair[1]) for term in entities.left])
        pair = _best(entities, rules, pair, [(pair[0], pair[1] | term) for term in entities.right])
    return pair


def _best(entities: Entities, rules: Rules, now: Pair, wider: Sequence[Pair]) -> Pair:
    """Return the pair with the largest J, if that is more than the J of now and is allowed."""
    found = {pair: entities.jaccard(pair) for pair in wider}
    top = max(found.values())
    if top <= entities.jaccard(now):
        return now
    first, *others = (pair for pair, jaccard in found.items() if jaccard == top)
    # Coverages that differ only in whom nobody counts are not told apart: the first is taken.
    if any(entities.leaves_of(pair) != entities.leaves_of(first) for pair in others):
        raise TieError
    return first if entities.satisfies(first, rules) else now
