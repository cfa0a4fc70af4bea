"""Convert raw columns to the types that the schema declares. Each value is read on its own."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import compute, types

from redveil.data.binning import Codes, bin_codes
from redveil.data.distinct import TRIMMED, Value, distinct, label
from redveil.data.markers import Markers
from redveil.data.numbers import PLAIN, read_number
from redveil.data.raw import RawTable, quietly, shown
from redveil.data.reading import MOST_NAMED, Reading, Readings
from redveil.data.table import (
    MISSING,
    BoolArray,
    ByteArray,
    CodedColumn,
    Column,
    FloatArray,
    NumericColumn,
)
from redveil.kernels.binning import bin_numbers
from redveil.kernels.lookup import look_up
from redveil.schema import Attribute, Kind
from redveil.schema.date_format import DateFormat
from redveil.schema.dates import DateRule, bin_of
from redveil.schema.number_format import NumberFormat

_WHOLE: Final = re.compile(r"(-?[0-9]+)\.0+")

# Codes of values that become missing and are counted.
_UNDECLARED: Final = -1
_UNREADABLE: Final = -2
# Integers that differ by less than this are told apart without hashing.
_CLOSE: Final = 256
# Added to the codes of dates outside their bounds.
_OUTSIDE: Final = 1000

# The code of a value, given the value and its text.
Coder: TypeAlias = Callable[[Value, str], int]


@dataclass(frozen=True, slots=True, eq=False)
class Converted:
    """A converted column of a whole file, and how each value was read.

    A number outside its bounds stays as it is. A category that is not declared, and a value that is
    not of the declared type, are missing.

    >>> sick = CodedColumn(Attribute("sick", Kind.BOOLEAN), np.array([0, 1, 255], np.uint8))
    >>> Converted(sick, Readings(np.zeros(3, np.uint8))).missing.tolist()
    [False, False, True]
    """

    column: Column
    reading: Readings

    def otherwise(self, other: Converted, where: BoolArray) -> Converted:
        """Return this column with the values of another one in some rows, bool[rows].

        >>> sick = Attribute("sick", Kind.BOOLEAN)
        >>> no, yes = (CodedColumn(sick, np.array([x, x], np.uint8)) for x in (0, 1))
        >>> reading = Readings(np.zeros(2, np.uint8))
        >>> where = np.array([False, True])
        >>> Converted(no, reading).otherwise(Converted(yes, reading), where).column.codes.tolist()
        [0, 1]
        """
        column: Column
        match self.column, other.column:
            case NumericColumn(attribute, numbers), NumericColumn(_, others):
                column = NumericColumn(attribute, np.where(where, others, numbers))
            case CodedColumn(attribute, codes), CodedColumn(_, more):
                column = CodedColumn(attribute, np.where(where, more, codes))
            case _:  # pragma: no cover - both are of one attribute
                raise TypeError
        return Converted(column, self.reading.otherwise(other.reading, where))

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
    >>> age.column.values.tolist(), age.reading.times(), age.reading.named
    ([30.0, nan, 200.0, nan], [2, 1, 0, 1], ('200',))
    """
    name = attribute.name
    markers = Markers.of(missing_values)
    convert_kind = _convert_numeric if attribute.kind is Kind.NUMERIC else _convert_coded

    def whole(*, typed: bool) -> Converted:
        return convert_kind(raw.columns[name], attribute, markers, typed=typed)

    def each() -> Converted:
        cells = raw.mixed.get(name)
        if cells is None:
            # A number is no date: it is read by the declared format, like its text.
            return whole(typed=name in (raw.dated if attribute.date else raw.typed))
        if attribute.date:
            cells = raw.dates.get(name, cells)
        return whole(typed=False).otherwise(whole(typed=True), cells)

    return quietly(
        each, f"{raw.place}, column {shown(name)}: cannot be converted; check the values"
    )


def read_bins(
    raw: RawTable, attribute: Attribute, missing_values: Collection[str], dtype: np.dtype[Any]
) -> tuple[Codes, Readings]:
    """Return the bin of each value of a column, dtype[rows], and how it was read.

    The same as binning what `convert` returns, without a number for each value on the way.

    >>> raw = RawTable("a.csv", 4, {"age": pa.chunked_array([["30", "", "200", "old"]])}, list)
    >>> age = Attribute("age", Kind.NUMERIC, minimum=0, maximum=120, cuts=(18.0, 65.0))
    >>> codes, reading = read_bins(raw, age, [""], np.dtype(np.uint8))
    >>> codes.tolist(), reading.times(), reading.named
    ([1, 255, 2, 255], [2, 1, 0, 1], ('200',))
    """
    name = attribute.name
    if attribute.kind is not Kind.NUMERIC or name in raw.mixed:
        converted = convert(raw, attribute, missing_values)
        return bin_codes(converted.column, attribute, dtype), converted.reading
    markers = Markers.of(missing_values)

    def binned() -> tuple[Codes, Readings]:
        numbers, unreadable = _read_numbers(
            raw.columns[name], attribute, markers, typed=name in raw.typed
        )
        codes = np.empty(len(numbers), dtype=dtype)
        reading = np.zeros(len(numbers), dtype=np.uint8)
        cuts = np.asarray(attribute.cuts, dtype=np.float64)
        bin_numbers(numbers, attribute.minimum, attribute.maximum, cuts, codes, reading)
        if unreadable is not None:
            reading[unreadable] = Reading.UNREADABLE
        return codes, Readings.of_numbers(numbers, reading)

    return quietly(
        binned, f"{raw.place}, column {shown(name)}: cannot be converted; check the values"
    )


def _convert_numeric(
    column: pa.ChunkedArray, attribute: Attribute, markers: Markers, *, typed: bool
) -> Converted:
    numbers, unreadable = _read_numbers(column, attribute, markers, typed=typed)
    # A copy: Arrow may lend the memory of a frame, which its owner can change.
    numbers = np.array(numbers, dtype=np.float64)
    outside = (numbers < attribute.minimum) | (numbers > attribute.maximum)
    reading = np.zeros(len(numbers), dtype=np.uint8)
    reading[outside] = Reading.OUTSIDE
    if unreadable is not None:
        reading[unreadable] = Reading.UNREADABLE
    readings = Readings.of_numbers(numbers, reading)
    return Converted(NumericColumn(attribute, numbers), readings)


def _read_numbers(
    column: pa.ChunkedArray, attribute: Attribute, markers: Markers, *, typed: bool
) -> tuple[FloatArray, BoolArray | None]:
    """Return all values as numbers, float64 or float32[rows], and which are not, if any is not."""
    declared = NumberFormat(attribute.decimal_char, attribute.group_char)
    # The text of a number depends on no declaration, so it is compared by its value alone.
    texts, written = (markers.without_texts(), PLAIN) if typed else (markers, declared)
    numbers, unreadable = _numbers(column, texts, written)
    absent = markers.numbers_in(declared)
    if absent:
        numbers = np.where(np.isin(numbers.astype(np.float64), list(absent)), np.nan, numbers)
    return numbers, unreadable


def _numbers(
    column: pa.ChunkedArray, markers: Markers, written: NumberFormat = PLAIN
) -> tuple[FloatArray, BoolArray | None]:
    """Return all values as numbers, float64 or float32[rows], and which are not, bool[rows].

    Both are NaN: missing values and those that are not numbers.
    """
    if not (types.is_string(column.type) or types.is_large_string(column.type)):
        return _floats(column), None
    absent = compute.is_in(column, value_set=pa.array(sorted(markers.texts), column.type))
    present = compute.if_else(absent, pa.scalar(None, column.type), column)
    # Faster, if Arrow can read all of them. What Arrow reads, `parse_number` reads as the same
    # number, so a value does not depend on which of the two reads it.
    if written.is_plain:
        with suppress(pa.ArrowInvalid):
            return _floats(present), None
    values, index = distinct(column)
    parsed = [parse_number(value, markers, written) for value in values]
    odd = np.array([number is None for number in parsed], dtype=np.bool_)[index]
    return np.array(parsed, dtype=np.float64)[index], odd


def _floats(column: pa.ChunkedArray) -> FloatArray:
    if not types.is_float32(column.type):
        column = column.cast(pa.float64(), safe=False)
    numbers: FloatArray = column.to_numpy()
    return numbers


def parse_number(value: Value, markers: Markers, written: NumberFormat = PLAIN) -> float | None:
    """Return a value as a number, NaN if it is missing, None if it is not a number.

    >>> markers = Markers.of(["NA"])
    >>> [parse_number(value, markers) for value in (" +1.5e3 ", "NA", 7, "1,5")]
    [1500.0, nan, 7.0, None]
    """
    text = label(value)
    if text is None or text in markers.texts:
        return float("nan")
    return read_number(text, written) if isinstance(value, str) else float(value or 0)


def _convert_coded(
    column: pa.ChunkedArray, attribute: Attribute, markers: Markers, *, typed: bool
) -> Converted:
    values, index = _few_values(column) or distinct(column)
    code_of = _coder_of(attribute, typed=typed)

    def code(value: Value) -> int:
        text = label(value)
        if text is None or text in markers.texts:
            return MISSING
        found = code_of(value, text)
        return MISSING if found < 0 and markers.mark(text) else found

    # With no rows there are no values, but an array of codes all the same.
    codes: NDArray[np.int16] = np.array([*map(code, values), 0], dtype=np.int16)
    reading = np.zeros(len(codes), dtype=np.uint8)
    reading[codes >= _OUTSIDE] = Reading.OUTSIDE
    codes[codes >= _OUTSIDE] -= _OUTSIDE
    reading[codes == _UNDECLARED] = Reading.UNDECLARED
    reading[codes == _UNREADABLE] = Reading.UNREADABLE
    codes[codes < 0] = MISSING
    named = _numbered(attribute, values, index, reading, typed=typed)
    column_of = CodedColumn(attribute, _looked_up(codes.astype(np.uint8), index))
    return Converted(column_of, Readings(_looked_up(reading, index), named))


def _numbered(
    attribute: Attribute,
    values: Sequence[Value],
    index: NDArray[Any],
    reading: ByteArray,
    *,
    typed: bool,
) -> tuple[str, ...]:
    """Return the numbers and dates that were not read as declared, and number them in place.

    reading: uint8[values + 1], where the number of a value is added to how it was read
    """
    odd = np.flatnonzero(reading)
    if len(odd) > MOST_NAMED:
        times = np.bincount(index, minlength=len(reading))
        odd = odd[np.argsort(-times[odd], kind="stable")]
    names: dict[str, int] = {}
    for place in odd[:MOST_NAMED].tolist():
        name = _name(attribute, values[place], typed=typed)
        if name is not None:
            number = names.setdefault(name, len(names) + 1)
            reading[place] = Readings.numbered(Reading(reading[place]), number)
    return tuple(names)


def _name(attribute: Attribute, value: Value, *, typed: bool) -> str | None:
    """Return a date or number as text, however it is written; None for another text."""
    text = label(value) or ""
    if attribute.date is not None:
        written = DateFormat() if typed else attribute.date.lexical
        day = written.read(text)
        if day is not None:
            return day.isoformat()
    number = read_number(text)
    return None if number is None else label(number)


def _looked_up(table: ByteArray, index: NDArray[Any]) -> ByteArray:
    """Return the entry of a table for each index."""
    if not table.any():
        return np.zeros(len(index), dtype=np.uint8)
    found: ByteArray = np.empty(len(index), dtype=np.uint8)
    if index.dtype == np.uint8:
        look_up(table, index, found)
    else:
        found[:] = table[index]
    return found


def _few_values(column: pa.ChunkedArray) -> tuple[list[Value], NDArray[Any]] | None:
    """Return all values that a column may have, and their indices, uint8[rows].

    For Booleans, for integers close together and for texts of one character each, if none is
    missing; None for other columns. Unlike `distinct`, it hashes nothing and may return values that
    do not occur.
    """
    if column.null_count or not len(column):
        return None
    if types.is_string(column.type):
        return _characters(column)
    if types.is_boolean(column.type):
        return [False, True], column.to_numpy().view(np.uint8)
    if not types.is_integer(column.type):
        return None
    numbers = column.to_numpy()
    least, most = int(numbers.min()), int(numbers.max())
    if most - least >= _CLOSE:
        return None
    offsets = np.subtract(numbers, numbers.dtype.type(least))
    return list(range(least, most + 1)), offsets.astype(np.uint8, copy=False)


def _characters(column: pa.ChunkedArray) -> tuple[list[Value], NDArray[Any]] | None:
    """Return the characters that texts may consist of, and the index of each, uint8[rows].

    None if a text does not consist of one ASCII character.
    """
    found: list[ByteArray] = []
    for chunk in column.chunks:
        if not len(chunk):
            continue
        _, offsets, content = chunk.buffers()
        offset = np.frombuffer(offsets, dtype=np.int32)[chunk.offset :][: len(chunk) + 1]
        if offset[-1] - offset[0] != len(chunk) or (np.diff(offset) != 1).any():
            return None
        found.append(np.frombuffer(content, dtype=np.uint8)[offset[0] : offset[-1]])
    bytes_ = found[0] if len(found) == 1 else np.concatenate(found)
    least, most = int(bytes_.min()), int(bytes_.max())
    return [chr(byte) for byte in range(least, most + 1)], bytes_ - np.uint8(least)


def _coder_of(attribute: Attribute, *, typed: bool) -> Coder:
    if attribute.kind is Kind.BOOLEAN:
        return _boolean_coder(attribute, typed=typed)
    if attribute.date is not None:
        return _date_coder(attribute.date, attribute.categories, typed=typed)
    return _coder(attribute)


def _boolean_coder(attribute: Attribute, *, typed: bool) -> Coder:
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


def _date_coder(rule: DateRule, categories: Sequence[str], *, typed: bool) -> Coder:
    written = DateFormat() if typed else rule.lexical

    def code(_: Value, text: str) -> int:
        day = written.read(text)
        if day is None:
            return _UNREADABLE
        return bin_of(day, categories) + (0 if rule.is_within(day) else _OUTSIDE)

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
