"""The list of a result, arranged so that it can be measured again with as few counts as possible.

All that matters of an entity is which of the listed queries are true for it. The queries that were
read from one leaf table are unions of ends of its trees, so that few combinations of them can
occur. A new pair of trees asks for the queries themselves, and divides the entities into just these
combinations: one table for each old table, with fewer cells, instead of one for each redescription.
Everything here is public.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from redveil.findings.confirmation import Retested, confirmation, difference, read_off
from redveil.findings.redescription import Redescription
from redveil.findings.released_table import ReleasedTable
from redveil.findings.statistics import Interval
from redveil.query.coverage import ReleasedTree, coverage
from redveil.query.formula import Query
from redveil.query.json_form import from_json
from redveil.report.build import with_list
from redveil.report.document import (
    BeforePart,
    IntervalPart,
    PendingPart,
    QueryPart,
    RedescriptionPart,
    ResultDocument,
    SourcePart,
    must_be_listed,
)
from redveil.report.released import must_be_consistent, released_tables
from redveil.schema import Side
from redveil.trees.tree import Tree

# Redescriptions that share a table. More would make trees deep, and tables large.
MOST_TOGETHER: Final = 8

# The ends of an old tree that some queries cover, by the number of the query.
Covered = Mapping[int, frozenset[int]]


@dataclass(frozen=True, slots=True)
class Retest:
    """What is measured again: the queries to ask for, the trees that do, and where to read.

    queries: the different queries of the list, by side; a tree's splits are numbers of these
    pairs:   the pairs of trees, left and right, one for each table
    listed:  where to read each redescription of the list, in its order
    """

    queries: Mapping[Side, tuple[Query, ...]]
    pairs: tuple[tuple[Tree, Tree], ...]
    listed: tuple[Retested, ...]


def retest(document: ResultDocument) -> Retest:
    """Arrange the list of a result.

    >>> import redveil
    >>> from redveil.data.synthetic import clinic_frames, clinic_schema
    >>> clinic = redveil.load(*clinic_frames(2000), clinic_schema())
    >>> result = redveil.mine(clinic, epsilon=10, trials=1)
    >>> arranged = retest(result.document)
    >>> len(arranged.listed) == len(result), len(arranged.pairs) <= len(result)
    (True, True)
    """
    tables = released_tables(document)
    must_be_listed(document)
    list_of = document.redescriptions
    queries = {side: tuple(dict.fromkeys(_query(one, side) for one in list_of)) for side in Side}
    pairs: list[tuple[Tree, Tree]] = []
    listed: dict[int, Retested] = {}
    for group, table in _groups(list_of, tables):
        number = len(pairs)
        trees = {side: _collapsed(side, group, table, list_of, queries[side]) for side in Side}
        pairs.append((trees[Side.LEFT][0], trees[Side.RIGHT][0]))
        for place in group:
            asked = [queries[side].index(_query(list_of[place], side)) for side in Side]
            ends = [trees[side][1][split] for side, split in zip(Side, asked, strict=True)]
            listed[place] = Retested(number, (asked[0], asked[1]), (ends[0], ends[1]))
    return Retest(queries, tuple(pairs), tuple(listed[place] for place in range(len(list_of))))


def said_before(document: ResultDocument) -> tuple[Interval, ...]:
    """Return the Jaccard indices of an old list, with intervals that leave room for new ones."""
    must_be_consistent(document)
    said = read_off(
        [table.counts for table in released_tables(document)],
        [
            Retested(one.source.tree_pair, (0, 0), (one.source.left_ends, one.source.right_ends))
            for one in document.redescriptions
        ],
    )
    return tuple(one.jaccard for one in said)


def compared(new: ResultDocument, before: Sequence[Interval]) -> ResultDocument:
    """Return a confirmation with what the old result said of each redescription."""
    listed = tuple(
        one.model_copy(update={"before": _before(one, said)})
        for one, said in zip(new.redescriptions, before, strict=True)
    )
    return new.model_copy(update={"redescriptions": listed})


def awaiting(
    new: ResultDocument,
    meanings: Mapping[Side, Sequence[Query]],
    list_of: Sequence[tuple[Retested, Interval]],
) -> ResultDocument:
    """Return an unfinished confirmation that knows its list, so that it can be made later.

    meanings: the queries that were asked for, by side
    list_of:  where to read each redescription, and what the old result said of it
    """
    pending = tuple(
        PendingPart(
            left=QueryPart.of(meanings[Side.LEFT][one.queries[0]]),
            right=QueryPart.of(meanings[Side.RIGHT][one.queries[1]]),
            source=SourcePart(tree_pair=one.table, left_ends=one.ends[0], right_ends=one.ends[1]),
            before=_part(old),
        )
        for one, old in list_of
    )
    return new.model_copy(update={"pending": pending})


def confirmed_list(document: ResultDocument) -> ResultDocument:
    """Return an unfinished confirmation with its list, read off its tables."""
    pending = document.pending
    places = [
        Retested(one.source.tree_pair, (0, 0), (one.source.left_ends, one.source.right_ends))
        for one in pending
    ]
    said = read_off([table.counts for table in released_tables(document)], places)
    found, discovery = confirmation(
        [
            Redescription(
                from_json(one.left.tree),
                from_json(one.right.tree),
                statistics,
                place.table,
                *place.ends,
            )
            for one, place, statistics in zip(pending, places, said, strict=True)
        ]
    )
    made = with_list(document, found, discovery, None)
    ended = made.model_copy(update={"unfinished": False, "pending": ()})
    before = [Interval(one.before.estimate, one.before.low, one.before.high) for one in pending]
    return compared(ended, before)


def _before(one: RedescriptionPart, old: Interval) -> BeforePart:
    new = Interval(one.jaccard.estimate, one.jaccard.low, one.jaccard.high)
    return BeforePart(jaccard=_part(old), difference=_part(difference(new, old)))


def _part(one: Interval) -> IntervalPart:
    return IntervalPart(estimate=one.estimate, low=one.low, high=one.high)


def _query(one: RedescriptionPart, side: Side) -> Query:
    return from_json((one.left if side is Side.LEFT else one.right).tree)


def _groups(
    list_of: Sequence[RedescriptionPart], tables: Sequence[ReleasedTable]
) -> list[tuple[list[int], ReleasedTable | None]]:
    """Return the places of redescriptions that can share a table, with the old table if any."""
    shared: dict[int, list[int]] = {}
    alone: list[tuple[list[int], ReleasedTable | None]] = []
    for place, one in enumerate(list_of):
        number = one.source.tree_pair
        known = 0 <= number < len(tables) and all(
            _is_divided(tables[number].tree(side), _query(one, side)) for side in Side
        )
        if known:
            shared.setdefault(number, []).append(place)
        else:
            alone.append(([place], None))
    chunks = [
        (places[start : start + MOST_TOGETHER], tables[number])
        for number, places in shared.items()
        for start in range(0, len(places), MOST_TOGETHER)
    ]
    return [*chunks, *alone]


def _is_divided(tree: ReleasedTree, query: Query) -> bool:
    """Return whether a query covers some ends of an old tree, and not others.

    One that covers all or none is in a file that was changed, as by a contradiction. Such queries
    would share a tree without a split.
    """
    found = coverage(query, tree)
    return found.is_released and bool(found.covered.any() and not found.covered.all())


def _collapsed(
    side: Side,
    group: Sequence[int],
    table: ReleasedTable | None,
    list_of: Sequence[RedescriptionPart],
    queries: Sequence[Query],
) -> tuple[Tree, dict[int, tuple[int, ...]]]:
    """Return a tree that tells some queries apart, and the places of the ends each covers."""
    splits = dict.fromkeys(queries.index(_query(list_of[place], side)) for place in group)
    if table is None or len(splits) == 1:
        split = next(iter(splits))
        return Tree.of(side, {0: split}), {split: (0,)}
    tree = table.tree(side)
    covered = {
        split: frozenset(
            end
            for end, held in zip(
                tree.tree.ends, coverage(queries[split], tree).covered, strict=True
            )
            if held
        )
        for split in splits
    }
    inner: dict[int, int] = {}
    leaves: dict[int, frozenset[int]] = {}
    _divide(0, frozenset(tree.tree.ends), covered, inner, leaves)
    new = Tree.of(side, inner)
    found = {
        split: tuple(place for place, end in enumerate(new.ends) if leaves[end] <= ends)
        for split, ends in covered.items()
    }
    return new, found


def _divide(
    node: int,
    ends: frozenset[int],
    covered: Covered,
    inner: dict[int, int],
    leaves: dict[int, frozenset[int]],
) -> None:
    """Divide old ends by the query that divides them most evenly, as long as there is one."""

    def smaller(split: int) -> int:
        inside = len(ends & covered[split])
        return min(inside, len(ends) - inside)

    best = max(covered, key=smaller)
    if smaller(best) == 0:
        leaves[node] = ends
        return
    inner[node] = best
    _divide(2 * node + 1, ends & covered[best], covered, inner, leaves)
    _divide(2 * node + 2, ends - covered[best], covered, inner, leaves)
