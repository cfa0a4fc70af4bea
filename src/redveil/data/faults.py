"""The ways in which rows may not fit a schema, in words, with what happens and the remedy."""

from __future__ import annotations

from typing import Final

from redveil.data.reading import Reading
from redveil.data.report import Slip
from redveil.schema import Attribute, Kind

_MISSING: Final = "counts as missing"
_LEFT_OUT: Final = "left out"

NO_KEY: Final = Slip("no entity key", _LEFT_OUT, "give every row a key", 0)
REPEATED_KEY: Final = Slip(
    "one of several rows of an entity", _LEFT_OUT, "keep one row per entity", 0
)
NOT_THERE: Final = Slip(
    "no value in a required attribute",
    _LEFT_OUT,
    "correct the row, or remove required if values may be missing whatever the rows say",
    0,
)
_OUTSIDE: Final = Slip(
    "outside the bounds",
    "compared as it is",
    "correct it, list it in missingValues if it means missing, or widen the bounds",
    0,
)
_NOT_A_NUMBER: Final = Slip(
    "not a number", _MISSING, "correct it, or list it in missingValues if it means missing", 0
)
_NOT_A_BOOLEAN: Final = Slip(
    "neither true nor false",
    _MISSING,
    "correct it, or list it in trueValues, falseValues or missingValues",
    0,
)
_NOT_A_DATE: Final = Slip(
    "not a date in the declared format",
    _MISSING,
    "correct it, the format, or list it in missingValues if it means missing",
    0,
)
_NOT_A_CATEGORY: Final = Slip(
    "an undeclared category",
    _MISSING,
    "correct it, add it to the categories, or list it in missingValues",
    0,
)


def faults(attribute: Attribute) -> list[tuple[Reading, Slip]]:
    """Return what may be wrong with a value of an attribute.

    >>> [(reading.name, slip.what) for reading, slip in faults(Attribute("sick", Kind.BOOLEAN))]
    [('UNREADABLE', 'neither true nor false')]
    """
    if attribute.kind is Kind.NUMERIC:
        return [(Reading.OUTSIDE, _OUTSIDE), (Reading.UNREADABLE, _NOT_A_NUMBER)]
    if attribute.kind is Kind.BOOLEAN:
        return [(Reading.UNREADABLE, _NOT_A_BOOLEAN)]
    if attribute.date is not None:
        return [(Reading.OUTSIDE, _OUTSIDE), (Reading.UNREADABLE, _NOT_A_DATE)]
    return [(Reading.UNDECLARED, _NOT_A_CATEGORY)]
