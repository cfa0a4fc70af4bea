"""How many of the reported redescriptions can be chance, given all that could have been."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from redveil.findings.critical_values import union_count
from redveil.findings.leaf_table import LeafTable
from redveil.findings.redescription import Redescription
from redveil.findings.statistics import CONFIDENCE
from redveil.query.formula import Query, literal_count
from redveil.schema import Schema, View
from redveil.trees.tree import Tree

# The chance that any pair of unrelated queries, of all that there are, passes the correction.
FAMILY: Final = 0.01


@dataclass(frozen=True, slots=True)
class Discovery:
    """What is known of false discoveries.

    searched:  the decimal logarithm of the largest number of rivals of a reported redescription
    surviving: how many reported p-values stay below 1 % when multiplied by their rivals
    bound:     the largest expected share of false ones among the reported
    doubtful:  the places of those that do not survive, from 0

    >>> Discovery(searched=18.5, surviving=3, bound=0.06).surviving
    3
    """

    searched: float
    surviving: int
    bound: float
    doubtful: tuple[int, ...] = ()


def false_discoveries(
    found: Sequence[Redescription], tables: Sequence[LeafTable], schema: Schema
) -> Discovery | None:
    """Bound the share of reported redescriptions whose two queries have nothing to do with it.

    Two things can go wrong. The noise: all pessimistic p-values hold together with probability
    95 % (for trees of three levels or more that is measured, not proved). The search: of all pairs
    of queries, some look related by chance. The rivals of a pair are all pairs of its length, or
    all that trees of its shape could have yielded, whichever are fewer.
    Multiplied by them, no true p-value of an unrelated pair is below 1 %, with probability 99 %.
    So in 94 % of all runs nobody who survives both is false; the others are counted as false.
    """
    if not found:
        return None
    every = math.log10(len(tables))
    rivals = [_rivals(one, tables[one.table], schema, every) for one in found]
    # Logarithms: there are more rivals than a float has room for.
    doubtful = tuple(
        place
        for place, (one, many) in enumerate(zip(found, rivals, strict=True))
        if one.p_value > 0 and math.log10(one.p_value) + many > math.log10(FAMILY)
    )
    share = len(doubtful) / len(found)
    luck = 1 - CONFIDENCE + FAMILY
    return Discovery(max(rivals), len(found) - len(doubtful), min(1.0, share + luck), doubtful)


def _rivals(one: Redescription, table: LeafTable, schema: Schema, every: float) -> float:
    """Return the decimal logarithm of the number of rivals; both ways of counting share the 1 %.

    every: that of the number of tables, each of which has a shape of its own.
    """
    left, right = _splits(schema.left), _splits(schema.right)
    by_length = _as_long(one.left, left) + _as_long(one.right, right)
    by_shape = _shaped_like(table.left, left) + _shaped_like(table.right, right)
    return min(by_length, by_shape + every) + math.log10(2)


def _as_long(query: Query, splits: int) -> float:
    """Count the queries as long as this one: so many ways to join k literals, any literals.

    There are twice as many literals as splits. Another 2^k lets all lengths share one error.
    """
    length = literal_count(query)
    return math.log10(joints(length)) + length * math.log10(4 * splits)


def joints(length: int) -> int:
    """Return in how many ways literals, in their order, can be joined to a query.

    Two parts or more are joined by "and" or by "or", negated or not; each part is a literal or is
    joined itself.

    >>> [joints(length) for length in (1, 2, 3, 4)]
    [1, 4, 36, 404]
    """
    # A row of queries with so many literals in all: one query, or several.
    single, several = [0, 1], [0, 0]
    for n in range(2, length + 1):
        rows = sum(
            single[first] * (single[n - first] + several[n - first]) for first in range(1, n)
        )
        several.append(rows)
        single.append(4 * rows)
    return single[length]


def _shaped_like(tree: Tree, splits: int) -> float:
    """Count the queries that trees of one shape offer."""
    return len(tree.inner) * math.log10(splits) + math.log10(union_count(tree))


def _splits(view: View) -> int:
    return max(sum(attribute.splits for attribute in view.attributes), 1)
