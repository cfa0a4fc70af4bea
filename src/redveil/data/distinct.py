"""The distinct values of a column, so that Python code handles each of them once."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Final, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import compute

Value: TypeAlias = str | bool | int | float | Decimal | None

# ASCII whitespace; other spaces may be part of a value.
TRIMMED: Final = " \t\n\v\f\r"


def distinct(column: pa.ChunkedArray) -> tuple[list[Value], NDArray[np.int64]]:
    """Return the distinct values and, for each row, the index of its value, int64[N].

    >>> values, index = distinct(pa.chunked_array([["a", "b"], ["a", None]]))
    >>> values, index.tolist()
    (['a', 'b', None], [0, 1, 0, 2])
    """
    encoded = compute.dictionary_encode(column, null_encoding="encode").combine_chunks()
    return encoded.dictionary.to_pylist(), encoded.indices.to_numpy().astype(np.int64)


def label(value: Value) -> str | None:
    """Return a value as trimmed text, integers without a decimal point; None if missing.

    >>> label(3.0), label(" x "), label(True), label(float("nan"))
    ('3', 'x', 'true', None)
    """
    if value is None:
        return None
    if isinstance(value, str):
        return value.strip(TRIMMED)
    if isinstance(value, bool):
        return "true" if value else "false"
    if math.isnan(value):
        return None
    if math.isfinite(value) and value == int(value):
        return str(int(value))
    return str(value)
