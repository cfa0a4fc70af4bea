"""Candidates: the unions of ends that short queries cover, and their best wordings."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from functools import lru_cache
from itertools import combinations
from math import comb
from typing import Final

import numpy as np
from numpy.typing import NDArray

from redveil.findings.taste import ANY_TASTE, Taste, said_plainly
from redveil.query.coverage import ReleasedTree
from redveil.query.formula import (
    And,
    Known,
    Literal,
    Not,
    Or,
    Query,
    attributes,
    literal_count,
    literals,
)
from redveil.query.leaves import term_ends, term_nodes, terms_query
from redveil.query.simplify import simplified
from redveil.query.text import to_text
from redveil.schema.naming import without_years
from redveil.trees.tree import Tree

Flags = NDArray[np.bool_]
Integers = NDArray[np.int64]

# The largest number of disjunctions that are tried on one side.
MOST_DISJUNCTIONS: Final = 2**13
# How many wordings of a union are simplified to find the best.
WORDINGS_COMPARED: Final = 2


class Unions:
    """The unions of ends that a query of a few disjuncts can cover, on one side of a leaf table.

    A disjunct is the path to a node, or its negation. Empty unions, and those of all leaves, say
    nothing and are left out.

    covered: bool[unions, ends]
    lengths: int64[unions], the number of literals before anything is simplified
    """

    def __init__(self, tree: ReleasedTree, max_disjuncts: int, taste: Taste = ANY_TASTE) -> None:
        self._tree = tree
        self._known, self._orders = tree.always_known, tree.orders
        # Only attributes that have an "other category" are said in another way.
        self._twofold = [one for one in tree.attributes.values() if len(one.categories) == 2]
        found = _shortest(tree.tree.shape, max_disjuncts)
        self.covered: Flags = np.array(
            [np.frombuffer(key, np.bool_) for key in found], np.bool_
        ).reshape(len(found), len(tree.tree.ends))
        self.lengths: Integers = np.array([best[0][1] for best in found.values()], np.int64)
        self._wordings = [[terms for *_, terms in best] for best in found.values()]
        self._queries: dict[int, Query] = {}
        if not taste.allows_all:
            self._keep([u for u in range(len(self)) if self._is_allowed(u, taste)])

    def _is_allowed(self, union: int, taste: Taste) -> bool:
        """Return whether a union can be said as the user wants, and keep only such wordings."""
        side = self._tree.tree.side
        allowed = [one for one in self._wordings[union] if taste.allows_on(side, self._worded(one))]
        self._wordings[union] = allowed
        return bool(allowed)

    def _keep(self, unions: list[int]) -> None:
        self.covered, self.lengths = self.covered[unions], self.lengths[unions]
        self._wordings = [self._wordings[union] for union in unions]

    def __len__(self) -> int:
        return len(self.covered)

    def query(self, union: int) -> Query:
        """Return the best wording of a union."""
        if union not in self._queries:
            self._queries[union] = min(map(self._worded, self._wordings[union]), key=_reading)
        return self._queries[union]

    def _worded(self, terms: tuple[int, ...]) -> Query:
        union = terms_query(self._tree, terms, inner=True)
        return said_plainly(simplified(union, self._known, self._orders), self._twofold)


# The trees of a run mostly have few shapes.
@lru_cache(maxsize=64)
def _shortest(
    tree: Tree, max_disjuncts: int
) -> dict[bytes, list[tuple[int, int, tuple[int, ...]]]]:
    """Return the shortest wordings of each union: negated groups, literals and terms."""
    terms_of, leaves = term_ends(tree, inner=True), len(tree.leaves)
    nodes = term_nodes(tree, inner=True)
    depths = np.array([(node + 1).bit_length() - 1 for node in nodes])
    literals_of = np.concatenate([depths, depths])
    # A negated conjunction is harder to read than a longer query without one.
    groups_of = np.concatenate([np.zeros(len(nodes)), depths > 1]).astype(np.int64)
    found: dict[bytes, list[tuple[int, int, tuple[int, ...]]]] = {}
    for terms in _disjunctions(len(terms_of), max_disjuncts):
        covered: Flags = np.logical_or.reduce(terms_of[terms], axis=1)
        groups, literals = groups_of[terms].sum(axis=1), literals_of[terms].sum(axis=1)
        says = covered.any(axis=1) & ~covered[:, :leaves].all(axis=1)
        for i in np.flatnonzero(says).tolist():
            wording = int(groups[i]), int(literals[i]), tuple(terms[i].tolist())
            best = found.setdefault(covered[i].tobytes(), [])
            best.append(wording)
            best.sort()
            del best[WORDINGS_COMPARED:]
    return found


def _disjunctions(count: int, max_disjuncts: int) -> Iterator[Integers]:
    """Yield the ways to take up to so many terms, int64[ways, terms], while they are few."""
    tried = 0
    for taken in range(1, min(max_disjuncts, count) + 1):
        tried += comb(count, taken)
        if taken > 1 and tried > MOST_DISJUNCTIONS:
            return
        yield np.array(list(combinations(range(count), taken)), np.int64)


def negated_groups(query: Query) -> int:
    """Return how many times a query negates more than a literal.

    >>> old, ill = Literal("age", ">", 65), Literal("ill", "=", True)
    >>> negated_groups(Or((Not(And((old, ill))), Not(old))))
    1
    """
    match query:
        case Literal() | Known():
            return 0
        case Not(operand):
            return (not isinstance(operand, Literal | Known)) + negated_groups(operand)
        case And(operands) | Or(operands):
            return sum(negated_groups(operand) for operand in operands)


def knowns(query: Query) -> int:
    """Return how many times a query asks whether a value is known.

    >>> knowns(And((Literal("age", ">", 65), Known("weight"))))
    1
    """
    return sum(isinstance(one, Known) for one in literals(query))


def disjunctions(query: Query) -> int:
    """Return how many times a query says "or".

    >>> old, ill = Literal("age", ">", 65), Literal("ill", "=", True)
    >>> disjunctions(Or((And((old, ill)), Not(old), ill)))
    2
    """
    match query:
        case Literal() | Known():
            return 0
        case Not(operand):
            return disjunctions(operand)
        case And(operands):
            return sum(map(disjunctions, operands))
        case Or(operands):
            return len(operands) - 1 + sum(map(disjunctions, operands))


def mentioned(query: Query) -> frozenset[str]:
    """Return the attributes whose values a query is about, without the years in their names.

    What is measured every year is one thing to say.

    >>> sorted(mentioned(And((Literal("age", ">", 65), Known("weight")))))
    ['age']
    >>> sorted(mentioned(And((Literal("cost 2008", ">", 65), Literal("cost 2009", ">", 65)))))
    ['cost ']
    """
    about = {one.attribute for one in literals(query) if not isinstance(one, Known)}
    return frozenset(map(without_years, about or attributes(query)))


def outline(query: Query) -> Hashable:
    """Return a query without its cut points and years: queries that share it tell one fact.

    >>> young, younger, old = (Literal("age", *one) for one in (("<=", 40), ("<=", 30), (">", 40)))
    >>> outline(young) == outline(younger), outline(young) == outline(old)
    (True, False)
    """
    if isinstance(query, And | Or):
        return type(query), frozenset(map(outline, query.operands))
    if isinstance(query, Not):
        return Not, outline(query.operand)
    name = without_years(query.attribute)
    if isinstance(query, Known):
        return Known, name
    return name, query.op, None if query.op in ("<=", ">") else query.value


def _reading(query: Query) -> tuple[int, int, int, int]:
    """Return how hard a query is to read; smaller is easier."""
    return negated_groups(query), knowns(query), literal_count(query), len(to_text(query))
