"""Values put into bins one at a time, and packed words read bit by bit."""

from __future__ import annotations

import math
from collections.abc import Sequence

from redveil.data.table import CodedColumn, Column, NumericColumn
from redveil.schema import Attribute


def bin_of(value: float, cuts: Sequence[float]) -> int | None:
    """Return the number of the first cut that is at least the value; None for NaN."""
    if math.isnan(value):
        return None
    for j, cut in enumerate(cuts):
        if value <= cut:
            return j
    return len(cuts)


def bins_of(column: Column, attribute: Attribute) -> list[int | None]:
    """Return the bin of every entity's value."""
    if isinstance(column, CodedColumn):
        return [None if code == 255 else code for code in column.codes.tolist()]
    assert isinstance(column, NumericColumn)
    return [bin_of(value, attribute.cuts) for value in column.values.tolist()]


def words(flags: Sequence[bool]) -> list[int]:
    """Return flags as 64-bit words: entity i is bit i % 64 of word i // 64."""
    packed = [0] * math.ceil(len(flags) / 64)
    for i, flag in enumerate(flags):
        if flag:
            packed[i // 64] += 2 ** (i % 64)
    return packed


def flag(packed: Sequence[int], i: int) -> bool:
    """Return entity i's flag."""
    power: int = 2 ** (i % 64)
    return packed[i // 64] // power % 2 == 1
