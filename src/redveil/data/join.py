"""Join the two views by entity key. The order of rows does not matter."""

from __future__ import annotations

import contextlib
from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import compute, types

from redveil.data.distinct import TRIMMED, distinct, label
from redveil.data.raw import RawTable, quietly, shown
from redveil.errors import LoadError


@dataclass(frozen=True, slots=True, eq=False)
class Join:
    """The row of each common entity in either view, int64[N], in the left view's order.

    >>> Join(np.array([0, 2]), np.array([1, 0]), left_only=1, right_only=0).right_rows.tolist()
    [1, 0]
    """

    left_rows: NDArray[np.int64]
    right_rows: NDArray[np.int64]
    left_only: int
    right_only: int


def join(left: pa.Array, right: pa.Array) -> Join:
    """Match the keys of two views; keys are unique within each view.

    >>> both = join(pa.array(["a", "b", "c"]), pa.array(["c", "a"]))
    >>> both.left_rows.tolist(), both.right_rows.tolist(), both.left_only
    ([0, 2], [1, 0], 1)
    """
    place = compute.index_in(left, value_set=right)
    found = place.is_valid().to_numpy(zero_copy_only=False)
    left_rows = np.flatnonzero(found)
    right_rows = place.fill_null(0).to_numpy().astype(np.int64)[left_rows]
    common = len(left_rows)
    return Join(left_rows, right_rows, len(left) - common, len(right) - common)


def entity_keys(raw: RawTable, key: str, missing_values: Collection[str]) -> pa.Array:
    """Return the key column as text, or raise a LoadError if keys are missing or repeated.

    >>> columns = {"id": pa.chunked_array([["x", "x"]])}
    >>> raw = RawTable("a.csv", 2, columns, lambda row: f"a.csv, line {row + 2}")
    >>> entity_keys(raw, "id", [""])
    Traceback (most recent call last):
    redveil.errors.LoadError: a.csv, line 3, column id: 1 row repeats a key; keep one row per entity
    """
    return quietly(
        lambda: _checked(raw, key, missing_values),
        f"{raw.place}, column {shown(key)}: cannot be used as entity keys; use text or integers",
    )


def _checked(raw: RawTable, key: str, missing_values: Collection[str]) -> pa.Array:
    keys = key_texts(raw.columns[key])
    markers = {"", *(text.strip(TRIMMED) for text in (*missing_values, *raw.markers))}
    absent = compute.or_kleene(
        compute.is_null(keys), compute.is_in(keys, value_set=pa.array(sorted(markers), keys.type))
    ).to_numpy(zero_copy_only=False)
    if absent.any():
        raise LoadError(
            f"{raw.cell(int(absent.argmax()), key)}: no entity key; give every row a key"
        )
    repeats = raw.rows - len(compute.unique(keys))
    if repeats:
        _, first = np.unique(distinct(pa.chunked_array([keys]))[1], return_index=True)
        again = np.ones(raw.rows, dtype=np.bool_)
        again[first] = False
        rows = "1 row repeats a key" if repeats == 1 else f"{repeats} rows repeat keys"
        raise LoadError(f"{raw.cell(int(again.argmax()), key)}: {rows}; keep one row per entity")
    return keys


def key_texts(column: pa.ChunkedArray) -> pa.Array:
    """Return keys as text, so that 7, 7.0 and "7" are the same key.

    >>> key_texts(pa.chunked_array([[7.0, 8.0]])).to_pylist()
    ['7', '8']
    """
    text = pa.large_string()
    if types.is_string(column.type) or types.is_large_string(column.type):
        # Large, because the keys of all chunks together may exceed two gigabytes.
        return compute.ascii_trim_whitespace(column.cast(text).combine_chunks())
    if types.is_floating(column.type):
        with contextlib.suppress(pa.ArrowInvalid):
            column = column.cast(pa.int64())
    if types.is_integer(column.type):
        return column.cast(text).combine_chunks()
    values, index = distinct(column)
    return pa.array([label(value) for value in values], text).take(pa.array(index))
