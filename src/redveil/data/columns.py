"""Convert raw columns to the types that the schema declares, and mark changed values."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import compute, types

from redveil.data.distinct import TRIMMED, Value, distinct, label
from redveil.data.raw import RawTable, quietly, shown
from redveil.data.table import MISSING, BoolArray, CodedColumn, Column, FloatArray, NumericColumn
from redveil.errors import LoadError
from redveil.schema import Attribute, Kind

_NUMBER: Final = re.compile(
    r"[+-]?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|inf|infinity|nan)", re.IGNORECASE
)
_WHOLE: Final = re.compile(r"(-?[0-9]+)\.0+")

# Codes of undeclared values, which become missing and are counted, and of invalid ones.
_UNDECLARED: Final = -1
_UNREADABLE: Final = -2


@dataclass(frozen=True, slots=True, eq=False)
class Converted:
    """A converted column of a whole file, and the values that were changed, bool[N].

    A number is changed if it is clamped to a bound, a category if it is not declared.

    >>> sick = CodedColumn(Attribute("sick", Kind.BOOLEAN), np.array([0, 1], np.uint8))
    >>> Converted(sick, np.array([False, False])).changed.any()
    np.False_
    """

    column: Column
    changed: BoolArray


def convert(raw: RawTable, attribute: Attribute, missing_values: Collection[str]) -> Converted:
    """Convert one column to the type of its attribute.

    >>> raw = RawTable("a.csv", 3, {"age": pa.chunked_array([["30", "", "200"]])}, str)
    >>> age = convert(raw, Attribute("age", Kind.NUMERIC, minimum=0, maximum=120), [""])
    >>> age.column.values.tolist(), age.changed.tolist()
    ([30.0, nan, 120.0], [False, False, True])
    """
    markers = frozenset(text.strip(TRIMMED) for text in (*missing_values, *raw.markers))
    convert_kind = _convert_numeric if attribute.kind is Kind.NUMERIC else _convert_coded
    return quietly(
        lambda: convert_kind(raw, attribute, markers),
        f"{raw.place}, column {shown(attribute.name)}: cannot be converted; check the values",
    )


def _convert_numeric(raw: RawTable, attribute: Attribute, markers: frozenset[str]) -> Converted:
    column = raw.columns[attribute.name]
    numbers = _numbers(column, markers)
    if numbers is None:
        values, index = distinct(column)
        parsed = [parse_number(value, markers) for value in values]
        bad = np.array([number is None for number in parsed], dtype=np.bool_)[index]
        if bad.any():
            raise LoadError(
                f"{raw.cell(int(bad.argmax()), attribute.name)}: not a number; correct it, or list "
                "it in missingValues if it means missing"
            )
        numbers = np.array(parsed, dtype=np.float64)[index]
    _check_required(raw, attribute, np.isnan(numbers), "a missing value")
    outside = (numbers < attribute.minimum) | (numbers > attribute.maximum)
    clamped = np.clip(numbers, attribute.minimum, attribute.maximum)
    return Converted(NumericColumn(attribute, clamped), outside)


def _numbers(column: pa.ChunkedArray, markers: frozenset[str]) -> FloatArray | None:
    """Return all values as numbers, float64[N], or None if some cannot be converted at once."""
    if types.is_string(column.type) or types.is_large_string(column.type):
        absent = compute.is_in(column, value_set=pa.array(sorted(markers), column.type))
        present = compute.if_else(absent, pa.scalar(None, column.type), column)
        try:
            return _floats(present)
        except pa.ArrowInvalid:
            return None
    numbers = _floats(column)
    absent_numbers = [n for n in (parse_number(text, ()) for text in markers) if n is not None]
    if absent_numbers:
        numbers[np.isin(numbers, absent_numbers)] = np.nan
    return numbers


def _floats(column: pa.ChunkedArray) -> FloatArray:
    numbers = column.cast(pa.float64(), safe=False).to_numpy()
    # A copy, because Arrow's memory is read-only.
    return np.array(numbers, dtype=np.float64)


def parse_number(value: Value, markers: Collection[str]) -> float | None:
    """Return a value as a number, NaN if it is missing, None if it is not a number.

    >>> parse_number(" +1.5e3 ", ()), parse_number("NA", ("NA",)), parse_number("1,5", ())
    (1500.0, nan, None)
    """
    text = label(value)
    if text is None or text in markers:
        return float("nan")
    if isinstance(value, str):
        return float(text) if _NUMBER.fullmatch(text) else None
    return float(value) if value is not None else float("nan")


def _convert_coded(raw: RawTable, attribute: Attribute, markers: frozenset[str]) -> Converted:
    values, index = distinct(raw.columns[attribute.name])
    code_of = _boolean_coder(attribute) if attribute.kind is Kind.BOOLEAN else _coder(attribute)

    def code(value: Value) -> int:
        text = label(value)
        return MISSING if text is None or text in markers else code_of(value, text)

    codes: NDArray[np.int16] = np.array([code(value) for value in values], dtype=np.int16)[index]
    unreadable = codes == _UNREADABLE
    if unreadable.any():
        raise LoadError(
            f"{raw.cell(int(unreadable.argmax()), attribute.name)}: neither true nor false; "
            "correct it, or list it in trueValues, falseValues or missingValues"
        )
    undeclared = codes == _UNDECLARED
    _check_required(raw, attribute, undeclared, "an undeclared category")
    codes[undeclared] = MISSING
    _check_required(raw, attribute, codes == MISSING, "a missing value")
    return Converted(CodedColumn(attribute, codes.astype(np.uint8)), undeclared)


def _boolean_coder(attribute: Attribute) -> Callable[[Value, str], int]:
    true = {text.strip(TRIMMED) for text in attribute.true_values}
    false = {text.strip(TRIMMED) for text in attribute.false_values}

    def code(value: Value, text: str) -> int:
        if text in true:
            return 1
        if text in false:
            return 0
        # Booleans and the numbers 0 and 1 need not be declared.
        return int(value) if not isinstance(value, str) and value in (0, 1) else _UNREADABLE

    return code


def _coder(attribute: Attribute) -> Callable[[Value, str], int]:
    codes = {text.strip(TRIMMED): i for i, text in enumerate(attribute.categories)}

    def code(_: Value, text: str) -> int:
        if text in codes:
            return codes[text]
        # Some programs write integers as "3.0" in columns with missing values.
        whole = _WHOLE.fullmatch(text)
        return codes.get(whole[1], _UNDECLARED) if whole else _UNDECLARED

    return code


def _check_required(raw: RawTable, attribute: Attribute, fails: BoolArray, what: str) -> None:
    if attribute.required and fails.any():
        raise LoadError(
            f"{raw.cell(int(fails.argmax()), attribute.name)}: {what} in a required attribute; "
            "correct it, or remove required from its constraints"
        )
