"""Convert raw columns to the types that the schema declares. Each value is read on its own."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass
from enum import IntEnum
from typing import Final, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import compute, types

from redveil.data.distinct import TRIMMED, Value, distinct, label
from redveil.data.markers import Markers
from redveil.data.numbers import read_number
from redveil.data.raw import RawTable, quietly, shown
from redveil.data.table import (
    MISSING,
    BoolArray,
    ByteArray,
    CodedColumn,
    Column,
    FloatArray,
    NumericColumn,
)
from redveil.schema import Attribute, Kind

_WHOLE: Final = re.compile(r"(-?[0-9]+)\.0+")

# Codes of values that become missing and are counted.
_UNDECLARED: Final = -1
_UNREADABLE: Final = -2

# The code of a value, given the value and its text.
Coder: TypeAlias = Callable[[Value, str], int]


class Reading(IntEnum):
    """How a value was read.

    >>> Reading(0)
    <Reading.AS_DECLARED: 0>
    """

    AS_DECLARED = 0
    CLAMPED = 1
    UNDECLARED = 2
    UNREADABLE = 3


@dataclass(frozen=True, slots=True, eq=False)
class Converted:
    """A converted column of a whole file, and how each value was read, uint8[rows].

    A number may be clamped to a bound. A category that is not declared, and a value that is not of
    the declared type, are missing.

    >>> sick = CodedColumn(Attribute("sick", Kind.BOOLEAN), np.array([0, 1, 255], np.uint8))
    >>> Converted(sick, np.zeros(3, np.uint8)).missing.tolist()
    [False, False, True]
    """

    column: Column
    reading: ByteArray

    @property
    def missing(self) -> BoolArray:
        """Where there is no value, bool[rows]."""
        if isinstance(self.column, NumericColumn):
            return np.isnan(self.column.values)
        return np.equal(self.column.codes, MISSING)


def convert(raw: RawTable, attribute: Attribute, missing_values: Collection[str]) -> Converted:
    """Convert one column to the type of its attribute.

    >>> raw = RawTable("a.csv", 4, {"age": pa.chunked_array([["30", "", "200", "old"]])}, list)
    >>> age = convert(raw, Attribute("age", Kind.NUMERIC, minimum=0, maximum=120), [""])
    >>> age.column.values.tolist(), age.reading.tolist()
    ([30.0, nan, 120.0, nan], [0, 0, 1, 3])
    """
    markers = Markers.of((*missing_values, *raw.markers))
    convert_kind = _convert_numeric if attribute.kind is Kind.NUMERIC else _convert_coded
    return quietly(
        lambda: convert_kind(raw, attribute, markers),
        f"{raw.place}, column {shown(attribute.name)}: cannot be converted; check the values",
    )


def _convert_numeric(raw: RawTable, attribute: Attribute, markers: Markers) -> Converted:
    numbers, unreadable = _numbers(raw.columns[attribute.name], markers)
    if markers.numbers:
        numbers[np.isin(numbers, list(markers.numbers))] = np.nan
    outside = (numbers < attribute.minimum) | (numbers > attribute.maximum)
    reading = np.zeros(len(numbers), dtype=np.uint8)
    reading[outside] = Reading.CLAMPED
    reading[unreadable] = Reading.UNREADABLE
    clamped = np.clip(numbers, attribute.minimum, attribute.maximum)
    return Converted(NumericColumn(attribute, clamped), reading)


def _numbers(column: pa.ChunkedArray, markers: Markers) -> tuple[FloatArray, BoolArray]:
    """Return all values as numbers, float64[rows], and which are not numbers, bool[rows].

    Both are NaN: missing values and those that are not numbers.
    """
    readable = np.zeros(len(column), dtype=np.bool_)
    if not (types.is_string(column.type) or types.is_large_string(column.type)):
        return _floats(column), readable
    absent = compute.is_in(column, value_set=pa.array(sorted(markers.texts), column.type))
    present = compute.if_else(absent, pa.scalar(None, column.type), column)
    # Faster, if Arrow can read all of them. What Arrow reads, `parse_number` reads as the same
    # number, so a value does not depend on which of the two reads it.
    try:
        return _floats(present), readable
    except pa.ArrowInvalid:
        values, index = distinct(column)
    parsed = [parse_number(value, markers) for value in values]
    odd = np.array([number is None for number in parsed], dtype=np.bool_)[index]
    return np.array(parsed, dtype=np.float64)[index], odd


def _floats(column: pa.ChunkedArray) -> FloatArray:
    numbers = column.cast(pa.float64(), safe=False).to_numpy()
    # A copy, because Arrow's memory is read-only.
    return np.array(numbers, dtype=np.float64)


def parse_number(value: Value, markers: Markers) -> float | None:
    """Return a value as a number, NaN if it is missing, None if it is not a number.

    >>> markers = Markers.of(["NA"])
    >>> [parse_number(value, markers) for value in (" +1.5e3 ", "NA", 7, "1,5")]
    [1500.0, nan, 7.0, None]
    """
    text = label(value)
    if text is None or text in markers.texts:
        return float("nan")
    return read_number(text) if isinstance(value, str) else float(value or 0)


def _convert_coded(raw: RawTable, attribute: Attribute, markers: Markers) -> Converted:
    values, index = distinct(raw.columns[attribute.name])
    typed = attribute.name in raw.typed
    code_of = (
        _boolean_coder(attribute, typed) if attribute.kind is Kind.BOOLEAN else _coder(attribute)
    )

    def code(value: Value) -> int:
        text = label(value)
        if text is None or text in markers.texts:
            return MISSING
        found = code_of(value, text)
        return MISSING if found < 0 and markers.mark(text) else found

    # With no rows there are no values, but an array of codes all the same.
    codes: NDArray[np.int16] = np.array([*map(code, values), 0], dtype=np.int16)[index]
    reading = np.zeros(len(codes), dtype=np.uint8)
    reading[codes == _UNDECLARED] = Reading.UNDECLARED
    reading[codes == _UNREADABLE] = Reading.UNREADABLE
    codes[codes < 0] = MISSING
    return Converted(CodedColumn(attribute, codes.astype(np.uint8)), reading)


def _boolean_coder(attribute: Attribute, typed: bool) -> Coder:  # noqa: FBT001 - private
    true = {text.strip(TRIMMED) for text in attribute.true_values}
    false = {text.strip(TRIMMED) for text in attribute.false_values}

    def code(value: Value, text: str) -> int:
        if text in true:
            return 1
        if text in false:
            return 0
        # Booleans and the numbers 0 and 1 need not be declared.
        if typed or not isinstance(value, str):
            return {"1": 1, "true": 1, "0": 0, "false": 0}.get(text, _UNREADABLE)
        return _UNREADABLE

    return code


def _coder(attribute: Attribute) -> Coder:
    codes = {text.strip(TRIMMED): i for i, text in enumerate(attribute.categories)}

    def code(_: Value, text: str) -> int:
        if text in codes:
            return codes[text]
        # Some programs write integers as "3.0" in columns with missing values.
        whole = _WHOLE.fullmatch(text)
        return codes.get(whole[1], _UNDECLARED) if whole else _UNDECLARED

    return code
