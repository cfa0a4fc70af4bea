"""Neighbouring data sets, made up so that one entity matters as much as it can.

Nobody's data: every value is written here. Each pair is a data set and the same with one entity
more, which is the last.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from redveil.data.dataset import Dataset
from redveil.data.report import LoadReport
from redveil.data.table import MISSING, CodedColumn, Column, NumericColumn, Table
from redveil.errors import InputError
from redveil.schema import Attribute, Kind, Schema, View
from redveil.sealed import Sealed

# One value an attribute, None where it is missing.
Half = tuple[bool | str | float | None, ...]
Row = tuple[Half, Half]

KINDS: Final = ("x", "y", "z")
SCHEMA: Final = Schema(
    "audit",
    View(
        "left",
        "entity",
        (
            Attribute("flag", Kind.BOOLEAN),
            Attribute("kind", Kind.CATEGORICAL, categories=KINDS),
            Attribute("number", Kind.NUMERIC, minimum=0, maximum=10, cuts=(5.0,)),
        ),
    ),
    View(
        "right",
        "entity",
        (
            Attribute("sign", Kind.BOOLEAN),
            Attribute("amount", Kind.NUMERIC, minimum=0, maximum=10, cuts=(2.5, 5.0, 7.5)),
        ),
    ),
    unit="entity",
)


@dataclass(frozen=True, slots=True)
class Pair:
    """Two neighbouring data sets: some entities, and the same with one more.

    >>> pair("nobody").others
    ()
    """

    name: str
    others: tuple[Row, ...]
    entity: Row

    def table(self) -> Table:
        """Return all rows as columns, the entity's last.

        >>> pair("nobody").table().rows
        1
        """
        return _table((*self.others, self.entity))

    def dataset(self, *, with_entity: bool) -> Dataset:
        """Return one of the two data sets, sealed as if it had been loaded.

        >>> pair("nobody").dataset(with_entity=True)
        <Dataset audit: 3 left and 2 right attributes>
        """
        table = _table((*self.others, self.entity) if with_entity else self.others)
        return Dataset(SCHEMA, Sealed(table), Sealed(LoadReport(table.rows)))


def pairs() -> tuple[Pair, ...]:
    """Return the built-in pairs.

    >>> [one.name for one in pairs()]
    ['an outlier', 'a lone value', 'a tipped split', 'nobody', 'no values']
    """
    plain: Row = ((False, "x", 1.0), (False, 1.0))
    high: Row = ((True, "x", 8.0), (True, 7.0))
    low: Row = ((False, "y", 3.0), (False, 2.0))
    mixed: Row = ((True, "y", 3.0), (False, 7.0))
    crossed: Row = ((False, "x", 8.0), (True, 2.0))
    return (
        # All splits are alike to a crowd of equals. The entity sets one left split apart, and makes
        # the others worse, as far as the widths of margin and Gini go.
        Pair("an outlier", (plain,) * 40, ((True, "x", 1.0), (True, 9.0))),
        # Its numbers and its kind occur nowhere else, and no cell holds it with anybody else.
        Pair("a lone value", (high, low) * 12, ((True, "z", 1.0), (False, 5.0))),
        # Every two splits are independent, until the entity makes some of them go together.
        Pair("a tipped split", (high, low, mixed, crossed) * 3, high),
        Pair("nobody", (), high),
        Pair("no values", (high, low) * 10, ((None, None, None), (None, None))),
    )


def pair(name: str) -> Pair:
    """Return a built-in pair by its name.

    >>> len(pair("an outlier").others)
    40
    """
    found = [one for one in pairs() if one.name == name]
    if not found:
        raise InputError(
            f"no such pair of data sets; use one of {', '.join(p.name for p in pairs())}"
        )
    return found[0]


def _table(rows: Sequence[Row]) -> Table:
    left = _columns(SCHEMA.left, [row[0] for row in rows])
    right = _columns(SCHEMA.right, [row[1] for row in rows])
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
