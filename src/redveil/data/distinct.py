"""The distinct values of a column, so that Python code handles each of them once."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Final, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import compute, types

Value: TypeAlias = str | bool | int | float | Decimal | None

# ASCII whitespace; other spaces may be part of a value.
TRIMMED: Final = " \t\n\v\f\r"

# Far beyond every double. Python refuses to write integers of more than some thousand digits, and
# the zeros of a tiny decimal may not fit in memory.
_HUGE: Final = 10**400
_TINY: Final = Decimal((0, (1,), -400))


def distinct(column: pa.ChunkedArray) -> tuple[list[Value], NDArray[np.int64]]:
    """Return the distinct values and, for each row, the index of its value, int64[N].

    >>> values, index = distinct(pa.chunked_array([["a", "b"], ["a", None]]))
    >>> values, index.tolist()
    (['a', 'b', None], [0, 1, 0, 2])
    """
    if len(column) == 0:
        # Arrow 21 has no empty dictionary of large texts.
        return [], np.zeros(0, dtype=np.int64)
    if types.is_string(column.type):
        # All different texts together may exceed two gigabytes.
        column = column.cast(pa.large_string())
    if types.is_floating(column.type):
        # NaN differs from itself, so that Arrow takes the dictionaries of two chunks for different.
        missing = pa.scalar(None, column.type)
        column = compute.if_else(compute.is_nan(column), missing, column)
    encoded = compute.dictionary_encode(column, null_encoding="encode").combine_chunks()
    return encoded.dictionary.to_pylist(), encoded.indices.to_numpy().astype(np.int64)


def is_nan(value: float | Decimal) -> bool:
    """Return whether a number is not a number.

    >>> is_nan(float("nan")), is_nan(Decimal("sNaN")), is_nan(10**400)
    (True, True, False)
    """
    if isinstance(value, Decimal):
        return value.is_nan()
    return isinstance(value, float) and math.isnan(value)


def label(value: Value) -> str | None:
    """Return a value as trimmed text, integers without a decimal point; None if missing.

    The text depends on the value alone: decimals of one column have the same number of decimal
    places, so trailing zeros are removed.

    >>> label(3.0), label(" x "), label(True), label(Decimal("1.50")), label(float("nan"))
    ('3', 'x', 'true', '1.5', None)
    >>> label(Decimal("-10E-999999"))
    '-1E-999998'
    """
    if value is None or (not isinstance(value, str) and is_nan(value)):
        return None
    if isinstance(value, str):
        return value.strip(TRIMMED)
    if isinstance(value, bool):
        return "true" if value else "false"
    if not -_HUGE < value < _HUGE:
        return "inf" if value > 0 else "-inf"
    if value == int(value):
        return str(int(value))
    # Of a float, the shortest text that gives the same number.
    return _decimal_text(value) if isinstance(value, Decimal) else str(value)


def _decimal_text(value: Decimal) -> str:
    """Return a decimal as text: without an exponent, unless it is tiny."""
    if not -_TINY < value < _TINY:
        return f"{value:f}".rstrip("0")
    sign, digits, exponent = value.as_tuple()
    whole = "".join(map(str, digits))
    short = whole.rstrip("0")
    return f"{'-' * sign}{short}E{int(exponent) + len(whole) - len(short)}"
