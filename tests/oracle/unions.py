"""All pairs of unions of ends, one by one: what the hardened profile compares.

A union is a set of places in the list of a tree's ends. A leaf table is a list of rows.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from oracle.extraction import term_coverages, way_to

Union = frozenset[int]
UnionPair = tuple[Union, Union]

# What a pair keeps of its value with every literal.
LITERAL = 0.95


class CloseError(Exception):
    """Two values are so close that rounding decides between them."""


@dataclass(frozen=True)
class Wording:
    """How a disjunction reads: negated groups and literals."""

    groups: int
    literals: int


def all_unions(
    ends: Sequence[int], leaves: Sequence[int], inner: Sequence[int], most: int
) -> dict[Union, Wording]:
    """Return what disjunctions of up to so many terms cover, each with its plainest wording.

    ends, leaves: nodes, numbered as in a heap; inner: the inner nodes, from the root on
    """
    nodes = [*leaves, *inner[1:]]
    coverages = term_coverages(nodes, ends)
    depths = [len(way_to(node)) - 1 for node in nodes]
    # As many negations as there are nodes; a negated path of several literals is a group.
    terms = [(0, depth) for depth in depths] + [(int(depth > 1), depth) for depth in depths]
    known = frozenset(place for place, end in enumerate(ends) if end in leaves)
    found: dict[Union, Wording] = {}
    for taken in range(1, most + 1):
        for chosen in itertools.combinations(range(len(terms)), taken):
            union = frozenset[int]().union(*(coverages[term] for term in chosen))
            if not union or known <= union:
                continue
            groups, literals = (sum(terms[term][part] for term in chosen) for part in (0, 1))
            best = found.get(union, Wording(groups, literals))
            if (groups, literals) <= (best.groups, best.literals):
                found[union] = Wording(groups, literals)
    return found


@dataclass(frozen=True)
class Cells:
    """The estimated cells of a leaf table, each with an independent error."""

    rows: Sequence[Sequence[float]]
    variance: float

    def sum_over(self, left: Union | None, right: Union | None) -> float:
        """Return how many entities are in some rows and columns; None is all of them."""
        return math.fsum(
            count
            for i, row in enumerate(self.rows)
            if left is None or i in left
            for j, count in enumerate(row)
            if right is None or j in right
        )

    @property
    def size(self) -> float:
        """The number of entities."""
        return self.sum_over(None, None)

    def jaccard(self, pair: UnionPair) -> float:
        """Return the Jaccard index, within [0, 1]."""
        both = self.sum_over(*pair)
        either = self.sum_over(pair[0], None) + self.sum_over(None, pair[1]) - both
        return min(max(both / either, 0.0), 1.0) if either > 0 else 0.0

    def leverage(self, pair: UnionPair) -> tuple[float, float]:
        """Return overlap less expected overlap, and its standard error at these shares."""
        a, b = self.shares(pair)
        weights = [
            [((i in pair[0]) - a) * ((j in pair[1]) - b) for j in range(len(row))]
            for i, row in enumerate(self.rows)
        ]
        middle = math.fsum(
            weight * count
            for line, row in zip(weights, self.rows, strict=True)
            for weight, count in zip(line, row, strict=True)
        )
        square = math.fsum(weight * weight for line in weights for weight in line)
        return middle, math.sqrt(self.variance * square)

    def shares(self, pair: UnionPair) -> tuple[float, float]:
        """Return the shares of the entities that the two unions cover, within [0, 1]."""
        left, right = self.sum_over(pair[0], None), self.sum_over(None, pair[1])
        size = self.size
        return min(max(left / size, 0.0), 1.0), min(max(right / size, 0.0), 1.0)

    def cautious_index(self, pair: UnionPair) -> float:
        """Return (J − E) / (1 − E) with a leverage that is one standard error smaller."""
        a, b = self.shares(pair)
        middle, error = self.leverage(pair)
        overlap = a * b + (middle - error) / self.size
        overlap = min(max(overlap, a + b - 1, 0.0), a, b)
        expected = a * b / (a + b - a * b)
        return (overlap / (a + b - overlap) - expected) / (1 - expected)


@dataclass(frozen=True)
class Demands:
    """What a pair must satisfy; taste is judged at the estimates."""

    max_p_value: float
    min_jaccard: float
    min_support: int
    max_support: float


def candidates(
    cells: Cells,
    unions: tuple[Mapping[Union, Wording], Mapping[Union, Wording]],
    demands: Demands,
    log_p: Callable[[UnionPair], float],
    *,
    critical: float,
    partners: int,
) -> set[UnionPair]:
    """Return the pairs that are among the best partners of one of their unions, and significant.

    log_p:    the logarithm of a pair's largest p-value
    critical: how many standard errors a leverage must be above 0 to be worth a test
    """
    values: dict[UnionPair, float] = {}
    for left, right in itertools.product(*unions):
        pair = left, right
        middle, error = cells.leverage(pair)
        _not_close(middle, critical * error, cells.size)
        surely = middle > critical * error or demands.max_p_value >= 1
        largest = max(cells.sum_over(left, None), cells.sum_over(None, right))
        if (
            surely
            and cells.jaccard(pair) >= demands.min_jaccard
            and cells.sum_over(*pair) >= demands.min_support
            and largest <= demands.max_support * cells.size
        ):
            literals = unions[0][left].literals + unions[1][right].literals
            value = cells.cautious_index(pair) * LITERAL**literals
            if value > 0:
                values[pair] = value
    best: set[UnionPair] = set()
    for side in (0, 1):
        for union in unions[side]:
            mine = sorted((p for p in values if p[side] == union), key=lambda p: -values[p])
            if len(mine) > partners:
                _not_close(values[mine[partners - 1]], values[mine[partners]], 1.0)
            best.update(mine[:partners])
    return {pair for pair in best if log_p(pair) <= math.log(demands.max_p_value)}


def _not_close(one: float, other: float, scale: float) -> None:
    if abs(one - other) < 1e-9 * scale:
        raise CloseError
