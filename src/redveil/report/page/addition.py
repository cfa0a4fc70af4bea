"""What a condition adds: what is special in the part that the other conditions leave.

A detail has conditions of its story, or the opposites of these, and further ones. The first say
which part it is about; whether the further ones go together there is read off the released counts.
Of other findings with several conditions, the last one is compared with its opposite.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from redveil.errors import QueryError
from redveil.findings.released_table import ReleasedTable
from redveil.query.coverage import coverage
from redveil.query.formula import And, Literal, Query, negate
from redveil.query.json_form import from_json
from redveil.report.document import QueryPart, RedescriptionPart, ResultDocument
from redveil.schema import Side

# How much larger the share has to be among those who satisfy the new left conditions.
LEAST_DIFFERENCE: Final = 0.1


@dataclass(frozen=True, slots=True)
class Addition:
    """What goes together in a part of the entities.

    about:  which part: queries of one side or of both
    new:    what goes together there
    first:  the side whose new query is given
    share:  the share of those who satisfy the other new query, among those of the part who satisfy
            the first
    others: the same among the others of the part
    """

    about: Mapping[Side, Query]
    new: Mapping[Side, Query]
    first: Side
    share: float
    others: float


def addition_of(
    document: ResultDocument, tables: Sequence[ReleasedTable], one: RedescriptionPart
) -> Addition | None:
    """Return what a detail adds; None if it is no detail, or if that cannot be said so simply.

    tables: those of the document
    """
    listed = document.redescriptions
    # A file that somebody has edited may name a story that is not there.
    if one.detail is None or not 0 < one.detail <= len(listed):
        return None
    story = listed[one.detail - 1]
    left, right = _divided(one.left, story.left), _divided(one.right, story.right)
    if left is None or right is None or left.outside != right.outside:
        return None
    return _compared(
        document,
        tables,
        one,
        {Side.LEFT: left.known, Side.RIGHT: right.known},
        {Side.LEFT: left.new, Side.RIGHT: right.new},
        Side.LEFT,
    )


def contributions(
    document: ResultDocument, tables: Sequence[ReleasedTable], one: RedescriptionPart
) -> Iterator[Addition]:
    """Yield what the last condition of each query contributes, if it has several.

    tables: those of the document
    """
    whole = {Side.LEFT: from_json(one.left.tree), Side.RIGHT: from_json(one.right.tree)}
    for side in Side:
        conditions = _conditions(whole[side])
        # Trees can tell only of conditions that they asked one after the other.
        for last in reversed(conditions if len(conditions) > 1 else ()):
            rest = _joined([each for each in conditions if each is not last])
            found = _compared(document, tables, one, {side: rest}, {**whole, side: last}, side)
            if found is not None:
                yield found
                break


def _compared(
    document: ResultDocument,
    tables: Sequence[ReleasedTable],
    one: RedescriptionPart,
    about: Mapping[Side, Query],
    new: Mapping[Side, Query],
    first: Side,
) -> Addition | None:
    """Return whether new conditions go together in a part of the entities; None if hardly."""
    number = one.source.tree_pair
    shares = _shares(document, number, tables[number], about, new, first)
    if shares is None or shares[0] < shares[1] + LEAST_DIFFERENCE:
        return None
    return Addition(about, new, first, *shares)


def _shares(
    document: ResultDocument,
    number: int,
    table: ReleasedTable,
    about: Mapping[Side, Query],
    new: Mapping[Side, Query],
    first: Side,
) -> tuple[float, float] | None:
    """Return both shares of an addition, estimated; None if the trees cannot tell."""
    # A negative count is noise: no entity is there.
    cells = np.maximum(np.array(document.tree_pairs[number].leaf_table.fitted), 0.0)
    part, narrower = {}, {}
    for side in Side:
        try:
            # In other parts of the tree, the new conditions may not be asked.
            known = _conditions(about[side]) if side in about else ()
            both = _joined((*known, *_conditions(new[side])))
            queries = (about[side], both) if side in about else (both,)
            found = [coverage(query, table.tree(side)) for query in queries]
        except QueryError:  # too complex to decide
            return None
        if any(one.undetermined.any() for one in found):
            return None
        narrower[side] = found[-1].covered
        part[side] = found[0].covered if side in about else np.ones_like(narrower[side])
    second = first.other
    cells = cells if first is Side.LEFT else cells.T
    those = cells[narrower[first]]
    others = cells[part[first] & ~narrower[first]]
    sizes = [float(rows[:, part[second]].sum()) for rows in (those, others)]
    if min(sizes) < 1:
        return None
    share, compared = (
        float(rows[:, narrower[second]].sum()) / size
        for rows, size in zip((those, others), sizes, strict=True)
    )
    return share, compared


@dataclass(frozen=True, slots=True)
class _Divided:
    """A query of a detail: which part of the story's it is about, and what is new there."""

    known: Query
    new: Query
    outside: bool


def _divided(detail: QueryPart, story: QueryPart) -> _Divided | None:
    """Return a query as a part of its story's, or of the opposite; None if it is neither.

    Known conditions are the story's own (inside), or opposites of them (outside). One that only has
    another cut point than the story's narrows it: the story's is known, and it is new.
    """
    told = _conditions(from_json(story.tree))
    opposites = tuple(negate(one) for one in told)
    mine = _conditions(from_json(detail.tree))
    for earlier, outside in ((told, False), (opposites, True)):
        known = [wider for one in mine for wider in earlier if _implies(one, wider)]
        new = [one for one in mine if one not in earlier]
        if known and new and not (outside and any(one in told for one in new)):
            return _Divided(_joined(known), _joined(new), outside)
    return None


def _implies(one: Query, other: Query) -> bool:
    """Return whether a condition is the same as another, or the same with a narrower cut.

    >>> cool, cold = Literal("t", "<=", 15.0), Literal("t", "<=", 5.0)
    >>> _implies(cold, cool), _implies(cool, cold), _implies(cool, cool)
    (True, False, True)
    """
    if one == other:
        return True
    if not (isinstance(one, Literal) and isinstance(other, Literal)):
        return False
    if (one.attribute, one.op) != (other.attribute, other.op):
        return False
    if not (isinstance(one.value, float) and isinstance(other.value, float)):
        return False
    return (one.op == "<=" and one.value < other.value) or (
        one.op == ">" and one.value > other.value
    )


def _conditions(query: Query) -> tuple[Query, ...]:
    return query.operands if isinstance(query, And) else (query,)


def _joined(conditions: Sequence[Query]) -> Query:
    return conditions[0] if len(conditions) == 1 else And(tuple(conditions))
