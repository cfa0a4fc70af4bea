"""False discoveries: how many of the reported redescriptions can be coincidences."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from redveil.findings.critical_values import union_count
from redveil.findings.leaf_table import LeafTable
from redveil.findings.redescription import Redescription
from redveil.findings.statistics import CONFIDENCE
from redveil.query.condition import Condition
from redveil.query.formula import Query, literal_count
from redveil.schema import Schema
from redveil.trees.tree import Tree

# The chance that any pair of unrelated queries, of all that could be compared, is confirmed.
FAMILY_WISE_ERROR: Final = 0.01


@dataclass(frozen=True, slots=True)
class Discovery:
    """What is known of false discoveries.

    comparable:  the decimal logarithm of the largest number of pairs that a reported redescription
                 is compared with
    confirmed:   how many reported p-values stay below 1 % when multiplied by that number
    bound:       the largest expected share of false ones among the reported
    unconfirmed: the places of those that are not confirmed, counted from 0

    >>> Discovery(comparable=18.5, confirmed=3, bound=0.06).confirmed
    3
    """

    comparable: float
    confirmed: int
    bound: float
    unconfirmed: tuple[int, ...] = ()


def given_choices(given: Iterable[Condition], schema: Schema) -> float:
    """Return log10 of how many pairs of queries as long as the given ones there are.

    >>> from redveil.data.synthetic import clinic_schema
    >>> from redveil.query.condition import read_condition
    >>> round(given_choices([read_condition("[gout]", clinic_schema(), "")], clinic_schema()), 2)
    2.17
    """
    return sum(_as_long(one.query, max(schema.view(one.side).split_count, 1)) for one in given)


def false_discoveries(
    found: Sequence[Redescription],
    tables: Sequence[LeafTable],
    schema: Schema,
    choices: float = 0.0,
) -> Discovery | None:
    """Bound the share of reported redescriptions whose two queries are unrelated.

    Two things can go wrong. The noise: all pessimistic p-values hold together with probability
    95 % (for trees of three levels or more that is measured, not proved). The search: of all pairs
    of queries, some look related by coincidence. A pair is compared with all pairs of its length,
    or with all that trees of its shape could have yielded, whichever are fewer. Multiplied by their
    number, no true p-value of an unrelated pair is below 1 %, with probability 99 %. So in 94 % of
    all runs no confirmed pair is false; the others are counted as if they were.

    choices: log10 of how many pairs an earlier search of the same rows chose from, if the trees
             begin with its choice
    """
    if not found:
        return None
    log_tables = math.log10(len(tables))
    comparable = [
        choices + _comparable(one, tables[one.table], schema, log_tables) for one in found
    ]
    # Logarithms: there are more pairs than a float can count.
    unconfirmed = tuple(
        place
        for place, (one, pairs) in enumerate(zip(found, comparable, strict=True))
        if one.statistics.p_value > 0
        and math.log10(one.statistics.p_value) + pairs > math.log10(FAMILY_WISE_ERROR)
    )
    share = len(unconfirmed) / len(found)
    error = 1 - CONFIDENCE + FAMILY_WISE_ERROR
    return Discovery(
        comparable=max(comparable),
        confirmed=len(found) - len(unconfirmed),
        bound=min(1.0, share + error),
        unconfirmed=unconfirmed,
    )


def _comparable(one: Redescription, table: LeafTable, schema: Schema, log_tables: float) -> float:
    """Return the decimal logarithm of the number of comparable pairs.

    Both ways of counting share the 1 %. Each table has a shape of its own.
    """
    left, right = (max(view.split_count, 1) for view in (schema.left, schema.right))
    by_length = _as_long(one.left, left) + _as_long(one.right, right)
    by_shape = _shaped_like(table.left, left) + _shaped_like(table.right, right)
    return min(by_length, by_shape + log_tables) + math.log10(2)


def _as_long(query: Query, splits: int) -> float:
    """Count the queries of this length: the ways to join k literals, times the literals.

    There are twice as many literals as splits. Another 2^k lets all lengths share one error.
    """
    length = literal_count(query)
    return math.log10(joints(length)) + length * math.log10(4 * splits)


def joints(length: int) -> int:
    """Return in how many ways literals, in a given order, can be joined to a query.

    Two or more parts are joined by "and" or by "or", negated or not; each part is a literal or a
    joined query itself.

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
