"""False discoveries: how many of the reported redescriptions can be coincidences."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Final

from redveil.findings.critical_values import union_count
from redveil.findings.leaf_table import LeafTable
from redveil.findings.redescription import Redescription
from redveil.findings.released_table import SplitCounts
from redveil.findings.statistics import CONFIRMING_CONFIDENCE
from redveil.query.formula import And, Known, Literal, Not, Or, Query
from redveil.schema import Side
from redveil.trees.tree import Tree

# The chance that any pair of unrelated queries, of all that could be compared, is confirmed.
FAMILY_WISE_ERROR: Final = 0.01


@dataclass(frozen=True, slots=True)
class Discovery:
    """What is known of false discoveries.

    comparable: the decimal logarithm of the largest number of pairs that a reported redescription
                is compared with
    confirmed:  how many reported p-values stay below 1 % when multiplied by that number
    bound:      the largest expected share of false ones among the reported

    >>> Discovery(comparable=18.5, confirmed=3, bound=0.02).confirmed
    3
    """

    comparable: float
    confirmed: int
    bound: float


def is_confirmed(
    one: Redescription,
    tables: Sequence[LeafTable],
    splits: SplitCounts,
    choices: float = 0.0,
) -> bool:
    """Return whether a pair's p-value, multiplied by the number of comparable pairs, is small.

    choices: as for `false_discoveries`
    """
    shapes = math.log10(max(len(tables), 1)) + choices
    return survives(one.left, one.right, _log_p(one), tables[one.table], splits, shapes)


def survives(
    left: Query,
    right: Query,
    log_p: float,
    table: LeafTable,
    splits: SplitCounts,
    shapes: float,
) -> bool:
    """Return whether a p-value stays below 1 % when multiplied by the number of comparable pairs.

    log_p:  its decimal logarithm
    shapes: the decimal logarithm of the number of tables, and of what their roots were chosen from
            before
    """
    return log_p + _comparable(left, right, table, splits, shapes) <= math.log10(FAMILY_WISE_ERROR)


def with_confirmation(
    found: Sequence[Redescription],
    tables: Sequence[LeafTable],
    splits: SplitCounts,
    choices: float = 0.0,
) -> tuple[Redescription, ...]:
    """Return redescriptions that know whether they are confirmed, those that are first.

    A pair is compared with all pairs of its length, or with all that trees of its shape could have
    yielded, whichever are fewer. It is confirmed if its p-value, multiplied by their number, is
    still at most 1 %.

    choices: as for `false_discoveries`
    """
    marked = [replace(one, confirmed=is_confirmed(one, tables, splits, choices)) for one in found]
    return tuple(sorted(marked, key=lambda one: not one.confirmed))


def given_choices(given: Mapping[Side, Query], splits: SplitCounts) -> float:
    """Return log10 of how many pairs of queries as long as the given ones there are.

    given: the queries with which trees begin, by side

    >>> from redveil.query.formula import Literal
    >>> round(given_choices({Side.LEFT: Literal("gout", "=", True)}, {Side.LEFT: 37}), 2)
    2.17
    """
    return sum(_as_long(query, max(splits[side], 1)) for side, query in given.items())


def false_discoveries(
    found: Sequence[Redescription],
    tables: Sequence[LeafTable],
    splits: SplitCounts,
    choices: float = 0.0,
) -> Discovery | None:
    """Bound the share of reported redescriptions whose two queries are unrelated.

    Two things can go wrong. The noise: the p-values that confirm hold together with probability
    99 %. The search: of all pairs of queries, some look related by coincidence. Multiplied by the
    number of comparable pairs, no true p-value of an unrelated pair is below 1 %, with probability
    99 %. So in 98 % of all runs no confirmed pair is false; the others are counted as if they were.

    choices: log10 of how many pairs an earlier search of the same rows chose from, if the trees
             begin with its choice
    """
    if not found:
        return None
    shapes = math.log10(len(tables)) + choices
    confirmed = sum(bool(one.confirmed) for one in found)
    error = 1 - CONFIRMING_CONFIDENCE + FAMILY_WISE_ERROR
    return Discovery(
        comparable=max(
            _comparable(one.left, one.right, tables[one.table], splits, shapes) for one in found
        ),
        confirmed=confirmed,
        bound=min(1.0, 1 - confirmed / len(found) + error),
    )


def _log_p(one: Redescription) -> float:
    """Return the decimal logarithm of the p-value that confirms, or fails to."""
    p_value = one.statistics.p_value_confirming
    return math.log10(p_value) if p_value > 0 else -math.inf


def _comparable(
    left: Query, right: Query, table: LeafTable, splits: SplitCounts, shapes: float
) -> float:
    """Return the decimal logarithm of the number of comparable pairs.

    Both ways of counting share the 1 %. Each table has a shape of its own.

    shapes: the decimal logarithm of the number of shapes, and of what their roots were chosen from
            before. Counting by length, the words of the roots are among those that are counted
    """
    sides = (left, table.left, Side.LEFT), (right, table.right, Side.RIGHT)
    by_length = sum(_alike(query, tree, max(splits[side], 1)) for query, tree, side in sides)
    by_shape = sum(_shaped_like(tree, max(splits[side], 1)) for _, tree, side in sides)
    # Logarithms: there are more pairs than a float can count.
    return min(by_length, by_shape + shapes) + math.log10(2)


def _alike(query: Query, tree: Tree, splits: int) -> float:
    """Count the queries of this length; if there is one split, those that its tree offers.

    A query that a person gives is the only split of its side, however many words it has.
    """
    return _as_long(query, splits) if splits > 1 else _shaped_like(tree, splits)


def _as_long(query: Query, splits: int) -> float:
    """Count the queries of this length: the ways to join k literals, times the literals.

    There are twice as many literals as splits. Another 2^k lets all lengths share one error.
    """
    length = _comparisons(query)
    if length is None:
        return math.inf
    return _of_length(length, splits)


def _of_length(length: int, splits: int) -> float:
    return math.log10(joints(length)) + length * math.log10(4 * splits)


def comparable_comparisons(splits: SplitCounts) -> float:
    """Return the decimal logarithm of the number of pairs that one with two comparisons has.

    >>> round(10 ** comparable_comparisons({Side.LEFT: 30, Side.RIGHT: 10}))
    9600
    """
    sides = (Side.LEFT, Side.RIGHT)
    return sum(_of_length(1, max(splits[side], 1)) for side in sides) + math.log10(2)


def _comparisons(query: Query, *, negated: bool = False) -> int | None:
    """Return how many comparisons it takes to say what a query says.

    That a value is known takes two: one, or its complement. Under a negation, where it can make a
    query true because a value is missing, no comparisons say the same. Then there is no number, and
    the query is counted by the shape of its tree alone.
    """
    match query:
        case Literal():
            return 1
        case Known():
            return None if negated else 2
        case Not(operand):
            return _comparisons(operand, negated=True)
        case And(operands) | Or(operands):
            parts = [_comparisons(operand, negated=negated) for operand in operands]
            return None if None in parts else sum(part or 0 for part in parts)


# Every candidate of a list asks again.
@cache
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
