"""Complements: the redescription of everything that a redescription leaves out.

With missing values, negation means "known not": an end is in the complement if no entity there
could be in the support, whatever the values are that are missing. Everything is read off released
tables, so it costs nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

import numpy as np

from redveil.findings.candidates import negated_groups
from redveil.findings.critical_values import report_critical_values
from redveil.findings.discovery import is_confirmed
from redveil.findings.estimate import estimate
from redveil.findings.redescription import Redescription
from redveil.findings.released_table import ReleasedTable, SplitCounts
from redveil.findings.statistics import SignificanceTest, Statistics, statistics_of
from redveil.query.coverage import ReleasedTree, coverage
from redveil.query.formula import Query, literal_count, negate
from redveil.query.leaves import term_ends, term_nodes, terms_query
from redveil.query.simplify import simplified
from redveil.query.text import to_text
from redveil.trees.tree import Tree

Ends = tuple[int, ...]


def complements(
    found: Iterable[Redescription],
    tables: Sequence[ReleasedTable],
    splits: SplitCounts,
    test: SignificanceTest,
    choices: float = 0.0,
) -> list[Redescription]:
    """Return the complement of every redescription, in the same order.

    choices: log10 of how many pairs an earlier search chose the roots from

    Where no value can be missing, a pair is unrelated if and only if its complements are, so the
    complement of a confirmed redescription is confirmed. Elsewhere it is judged by itself.
    """
    # Deep trees have critical values that take a while.
    read: dict[int, _Reader] = {}
    made = []
    for one in found:
        if one.table not in read:
            read[one.table] = _Reader(tables[one.table], test, len(tables))
        made.append(_complement(one, tables, splits, read[one.table], choices))
    return made


def complement_ends(tree: Tree, ends: Collection[int]) -> Ends:
    """Return the ends, by their place, at which no entity can be in the support.

    A leaf is, if it is not covered. An inner node at which entities are stuck is, if nothing below
    it is covered: their missing value could have led them there.

    >>> from redveil.schema import Side
    >>> tree = Tree(Side.LEFT, (4, None, 7), stuck=(0, 2))
    >>> tree.ends
    (1, 5, 6, 0, 2)
    >>> complement_ends(tree, {0}), complement_ends(tree, {0, 1})
    ((1, 2, 4), (2,))
    """
    covered = {tree.ends[place] for place in ends}
    reachable = {above for end in covered for above, _ in tree.ancestors(end)} | covered
    return tuple(place for place, end in enumerate(tree.ends) if end not in reachable)


def complement_query(tree: ReleasedTree, query: Query, ends: Collection[int]) -> Query:
    """Return the query that covers the complement of some ends, in the plainest words.

    query: one that covers `ends`
    """
    wanted = complement_ends(tree.tree, ends)
    plain = simplified(_union(tree, wanted), tree.always_known, tree.orders)
    negated = simplified(negate(query), tree.always_known, tree.orders)
    known = coverage(negated, tree)
    # A query says where it is true; where it is false, another wording of it may be unknown.
    same = known.is_released and tuple(np.flatnonzero(known.covered).tolist()) == wanted
    return min([plain, negated] if same else [plain], key=_reading)


def _complement(
    one: Redescription,
    tables: Sequence[ReleasedTable],
    splits: SplitCounts,
    reader: _Reader,
    choices: float,
) -> Redescription:
    table = tables[one.table]
    left = complement_ends(table.left.tree, one.left_ends)
    right = complement_ends(table.right.tree, one.right_ends)
    made = Redescription(
        complement_query(table.left, one.left, one.left_ends),
        complement_query(table.right, one.right, one.right_ends),
        reader.statistics(left, right),
        one.table,
        left,
        right,
        detail=one.detail,
    )
    if one.confirmed is None:
        return made
    rest = (table.left, one.left_ends, left), (table.right, one.right_ends, right)
    everything = all(len(a) + len(b) == len(tree.tree.ends) for tree, a, b in rest)
    sure = (everything and one.confirmed) or is_confirmed(
        made, [t.counts for t in tables], splits, choices
    )
    return replace(made, confirmed=sure)


class _Reader:
    """Reads statistics off a table, with the intervals of a list.

    tables: how many tables there are
    """

    def __init__(self, table: ReleasedTable, test: SignificanceTest, tables: int) -> None:
        self._test = test
        self._fitted = estimate(table.counts)
        noise_aware = test is SignificanceTest.FISHER
        left, right = (term_ends(one.tree, inner=noise_aware) for one in (table.left, table.right))
        # The paper makes no claims about all tables together.
        together = tables if noise_aware else 1
        self._critical = report_critical_values(table.counts, left, right, together)

    def statistics(self, left: Ends, right: Ends) -> Statistics:
        """Return what the table says about two unions of ends."""
        covered = (
            np.isin(np.arange(count), ends)[None]
            for count, ends in zip(self._fitted.cells.shape, (left, right), strict=True)
        )
        moments = self._fitted.moments(*covered)
        return statistics_of(moments, self._fitted, self._critical, self._test)


def _union(tree: ReleasedTree, ends: Collection[int]) -> Query:
    """Return the disjunction of the highest nodes below which every end is covered."""
    nodes = term_nodes(tree.tree, inner=True)
    below = term_ends(tree.tree, inner=True)[: len(nodes)]
    covered = np.isin(np.arange(len(tree.tree.ends)), list(ends))
    whole = {node: i for i, node in enumerate(nodes) if (below[i] <= covered).all()}
    highest = [
        i
        for node, i in whole.items()
        if not any(above in whole for above, _ in tree.tree.ancestors(node))
    ]
    return terms_query(tree, highest, inner=True)


def _reading(query: Query) -> tuple[int, int, int]:
    """Return how hard a query is to read; smaller is easier."""
    return negated_groups(query), literal_count(query), len(to_text(query))
