"""Neighbouring data sets in which one entity matters as much as possible.

All values are made up. Each pair is a data set and the same with one more entity, which comes last.
Mixed pairs have all kinds of attributes, so that many faults show on them. Sharp pairs have few
splits and no missing values, and the entity moves the scores of two splits apart by nearly as much
as the proof allows, so that a choice leaks nearly all of its ε.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from redveil import Dataset, InputError, Schema
from redveil.seam.neighbours import (
    MISSING,
    CodedColumn,
    Column,
    NumericColumn,
    Table,
    sealed_dataset,
)
from redveil.seam.queries import Attribute, Kind, View

# One value per attribute, None if missing.
Half = tuple[bool | str | float | None, ...]
Row = tuple[Half, Half]

KINDS: Final = ("x", "y", "z")


@dataclass(frozen=True, slots=True)
class Pair:
    """Two neighbouring data sets: some entities, and the same plus one more.

    >>> pair("nobody").others
    ()
    """

    name: str
    schema: Schema
    others: tuple[Row, ...]
    entity: Row

    def table(self) -> Table:
        """Return the table of all rows, the added entity last.

        >>> pair("nobody").table().rows
        1
        """
        return _table(self.schema, (*self.others, self.entity))

    def dataset(self, *, with_entity: bool) -> Dataset:
        """Return one of the two data sets, sealed as a loaded one is.

        >>> pair("nobody").dataset(with_entity=True)
        <Dataset audit: 3 left and 2 right attributes>
        """
        rows = (*self.others, self.entity) if with_entity else self.others
        return sealed_dataset(self.schema, _table(self.schema, rows))


def pairs() -> tuple[Pair, ...]:
    """Return the built-in pairs.

    >>> [one.name for one in pairs()][:4]
    ['an outlier', 'a lone value', 'nobody', 'no values']
    >>> [one.name for one in pairs()][4:]
    ['a stranger', 'a newcomer', 'a broken match', 'a rare couple', 'a torn match']
    """
    return (*_mixed_pairs(), *_sharp_pairs())


def pair(name: str) -> Pair:
    """Return a built-in pair by its name.

    >>> len(pair("an outlier").others)
    20
    """
    found = [one for one in pairs() if one.name == name]
    if not found:
        raise InputError(
            f"no such pair of data sets; use one of {', '.join(p.name for p in pairs())}"
        )
    return found[0]


def _mixed_pairs() -> tuple[Pair, ...]:
    """Return pairs with attributes of all kinds, which may all be missing."""
    left = (
        Attribute("flag", Kind.BOOLEAN),
        Attribute("kind", Kind.CATEGORICAL, categories=KINDS),
        _number("number", 5.0),
    )
    right = (Attribute("sign", Kind.BOOLEAN), _number("amount", 2.5, 5.0, 7.5))
    schema = _schema(left, right)
    plain: Row = ((False, "x", 1.0), (False, 1.0))
    high: Row = ((True, "x", 8.0), (True, 7.0))
    low: Row = ((False, "y", 3.0), (False, 2.0))
    return (
        # All splits are the same for equal entities, until the outlier makes some of them differ.
        Pair("an outlier", schema, (plain,) * 20, ((True, "x", 1.0), (True, 9.0))),
        # Its numbers and its kind occur nowhere else, and it is alone in its cell.
        Pair("a lone value", schema, (high, low) * 12, ((True, "z", 1.0), (False, 5.0))),
        Pair("nobody", schema, (), high),
        Pair("no values", schema, (high, low) * 10, ((None, None, None), (None, None))),
    )


def _sharp_pairs() -> tuple[Pair, ...]:
    """Return pairs on which a score changes by nearly its whole width, one per score."""
    strangers = _schema((_scale("number", 2.0, 4.0, 6.0, 8.0), _flag("flag")), (_flag("sign"),))
    newcomers = _schema(
        (_scale("number", 2.0, 3.0, 5.0, 8.0),), (_scale("amount", 2.0, 3.0, 5.0, 8.0),)
    )
    teams = _schema((_flag("alone"), _flag("team")), (_flag("single"), _flag("side")))
    couples = _schema((_flag("first"), _flag("second")), (_flag("third"), _flag("fourth")))
    no, yes = False, True
    return (
        # Agreement, of twins. With the sign, the splits of the number match a second side: + 1. The
        # flag does not separate the stranger from the others: − ½. There are four splits against
        # one, so if the flag is chosen all the same, that clearly indicates absence.
        Pair("a stranger", strangers, (((1.0, no), (no,)),) * 30, ((9.0, no), (yes,))),
        # Gini, of alternations. Whatever is predicted, the newcomer is a class of its own. A split
        # at 5 isolates it: 0. Others leave it among entities of another class: − 1.94 of − 2. The
        # next tree predicts the leaves of the first, with the same effect.
        Pair("a newcomer", newcomers, (((4.0,), (4.0,)),) * 30, ((6.0,), (6.0,))),
        # Association, of tree pairs, and Gini again. Teams and sides match except for the entity,
        # − 1.25 of − 3/2; only the entity is alone and single, + 1.85 of 2.
        Pair(
            "a broken match",
            teams,
            (((no, no), (no, no)), ((no, yes), (no, yes))) * 6,
            ((yes, no), (yes, yes)),
        ),
        # Leverage, of twins. Few entities have the first and the third, and the added one has both.
        # It is the only one with the second and the fourth, which otherwise never occur together.
        Pair(
            "a rare couple",
            couples,
            (
                *[((no, no), (no, no))] * 300,
                *[((no, yes), (no, no))] * 61,
                *[((no, no), (no, yes))] * 29,
                *[((yes, no), (yes, yes))] * 7,
            ),
            ((yes, yes), (yes, yes)),
        ),
        # Correspondence, of twins. The first and the third are the same for all, and the added
        # entity joins the smaller side: + 2. The second and the fourth are halves that match in
        # three of four cases, and not for the added entity: − 1. The rest is unrelated.
        Pair(
            "a torn match",
            couples,
            (
                *[((yes, yes), (yes, yes))] * 6,
                *[((yes, no), (yes, no))] * 6,
                *[((yes, yes), (yes, no))] * 2,
                *[((yes, no), (yes, yes))] * 2,
                *[((no, yes), (no, yes))] * 17,
                *[((no, no), (no, no))] * 17,
                *[((no, yes), (no, no))] * 5,
                *[((no, no), (no, yes))] * 5,
            ),
            ((yes, yes), (yes, no)),
        ),
    )


def _schema(left: tuple[Attribute, ...], right: tuple[Attribute, ...]) -> Schema:
    views = View("left", "entity", left), View("right", "entity", right)
    return Schema("audit", *views, unit="entity")


def _flag(name: str) -> Attribute:
    # Required: without missing values a leaf table is small and fast.
    return Attribute(name, Kind.BOOLEAN, required=True)


def _scale(name: str, *cuts: float) -> Attribute:
    return replace(_number(name, *cuts), required=True)


def _number(name: str, *cuts: float) -> Attribute:
    return Attribute(name, Kind.NUMERIC, minimum=0, maximum=10, cuts=cuts)


def _table(schema: Schema, rows: Sequence[Row]) -> Table:
    left = _columns(schema.left, [row[0] for row in rows])
    right = _columns(schema.right, [row[1] for row in rows])
    return Table(len(rows), left, right)


def _columns(view: View, rows: Sequence[Half]) -> dict[str, Column]:
    return {
        attribute.name: _column(attribute, [row[place] for row in rows])
        for place, attribute in enumerate(view.attributes)
    }


def _column(attribute: Attribute, values: Sequence[bool | str | float | None]) -> Column:
    if attribute.kind is Kind.NUMERIC:
        numbers = [math.nan if value is None else float(value) for value in values]
        return NumericColumn(attribute, np.array(numbers, np.float64))
    codes = [
        MISSING if value is None else KINDS.index(value) if isinstance(value, str) else int(value)
        for value in values
    ]
    return CodedColumn(attribute, np.array(codes, np.uint8))
