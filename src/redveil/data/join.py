"""Join the two views by entity key. The order of rows does not matter."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import compute, types

from redveil.data.distinct import distinct, label
from redveil.data.markers import Markers
from redveil.data.raw import RawTable, quietly, shown
from redveil.data.table import BoolArray
from redveil.errors import LoadError

# An integer of any size that may fit into 64 bits, as integers are written.
_WHOLE: Final = re.compile("0|-?[1-9][0-9]{0,18}")


@dataclass(frozen=True, slots=True, eq=False)
class Keys:
    """The entity key of each row of a view, as text; as integers, if the column has integers.

    absent:   bool[rows], rows without a key
    repeated: bool[rows], rows whose key other rows have too

    >>> columns = {"id": pa.chunked_array([["x", "y", "x", ""]])}
    >>> keys = read_keys(RawTable("a.csv", 4, columns, list), "id", [""])
    >>> keys.absent.tolist(), keys.repeated.tolist()
    ([False, False, False, True], [True, False, True, False])
    """

    texts: pa.Array
    absent: BoolArray
    repeated: BoolArray

    def as_text(self) -> Keys:
        """Return the same keys as text: 7 and "7" are the same key."""
        return replace(self, texts=self.texts.cast(pa.large_string()))

    @property
    def alone(self) -> BoolArray:
        """The rows that are the only one of their entity, bool[rows]."""
        return ~(self.absent | self.repeated)

    @property
    def repeated_entities(self) -> int:
        """The number of entities with several rows."""
        return len(compute.unique(self.texts.filter(pa.array(self.repeated))))


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


def join(left: Keys, right: Keys) -> Join:
    """Match the entities that have one row in each view.

    >>> def keys(*texts):
    ...     raw = RawTable("a.csv", len(texts), {"id": pa.chunked_array([texts])}, list)
    ...     return read_keys(raw, "id", [""])
    >>> both = join(keys("a", "b", "c"), keys("c", "a", "d", "d"))
    >>> both.left_rows.tolist(), both.right_rows.tolist(), both.left_only, both.right_only
    ([0, 2], [1, 0], 1, 0)
    """
    if left.texts.type != right.texts.type:
        left, right = left.as_text(), right.as_text()
    left_alone, right_alone = np.flatnonzero(left.alone), np.flatnonzero(right.alone)
    if len(left_alone) == len(left.texts) and left.texts.equals(right.texts):
        # The same entities in the same order, which is common and needs no search.
        return Join(left_alone, right_alone, left_only=0, right_only=0)
    left_texts, right_texts = (
        keys.texts.take(pa.array(rows)) for keys, rows in ((left, left_alone), (right, right_alone))
    )
    place = compute.index_in(left_texts, value_set=right_texts)
    found = place.is_valid().to_numpy(zero_copy_only=False)
    right_rows = right_alone[place.fill_null(0).to_numpy()[found]]
    return Join(
        left_alone[found],
        right_rows,
        left_only=_outside(left_texts, right.texts),
        right_only=_outside(right_texts, left.texts),
    )


def _outside(texts: pa.Array, other: pa.Array) -> int:
    """Return how many texts do not occur in another array."""
    inside = compute.is_in(texts, value_set=other).to_numpy(zero_copy_only=False)
    return len(texts) - int(np.count_nonzero(inside))


def read_keys(raw: RawTable, key: str, missing_values: Collection[str]) -> Keys:
    """Read the key column. Rows without a key and repeated keys are marked.

    A key means missing if it is the text of a marker, or the number that a marker is.
    """
    return quietly(
        lambda: _read(raw, key, missing_values),
        f"{raw.place}, column {shown(key)}: cannot be used as entity keys; use text or integers",
    )


def _read(raw: RawTable, key: str, missing_values: Collection[str]) -> Keys:
    integers = _integers(raw.columns[key])
    texts = key_texts(raw.columns[key]) if integers is None else integers
    missing = sorted(Markers.of(missing_values).keys)
    if types.is_integer(texts.type):
        # The text of an integer is a marker if it is written as integers are.
        missing = [one for one in missing if _WHOLE.fullmatch(one) and _fits(int(one))]
    markers = pa.array(missing, pa.large_string()).cast(texts.type)
    absent = compute.or_kleene(
        compute.is_null(texts), compute.is_in(texts, value_set=markers)
    ).to_numpy(zero_copy_only=False)
    return keys_of(texts, absent)


def keys_of(texts: pa.Array, absent: BoolArray) -> Keys:
    """Mark the keys that several rows have."""
    if not len(texts):
        return Keys(texts, absent, absent)
    index = compute.dictionary_encode(texts, null_encoding="encode").indices.to_numpy()
    times = np.bincount(index, minlength=1)
    return Keys(texts, absent, (times[index] > 1) & ~absent)


def _fits(number: int) -> bool:
    return -(2**63) <= number < 2**63


def _integers(column: pa.ChunkedArray) -> pa.Array | None:
    """Return keys as 64-bit integers, if the column has no others; None otherwise."""
    if not types.is_integer(column.type):
        return None
    with contextlib.suppress(pa.ArrowInvalid):
        return column.cast(pa.int64()).combine_chunks()
    return None


def check_keys(raw: RawTable, key: str, missing_values: Collection[str]) -> None:
    """Raise a LoadError that names the first row without a key, or with a repeated one.

    >>> columns = {"id": pa.chunked_array([["x", "x"]])}
    >>> raw = RawTable("a.csv", 2, columns, lambda rows: [f"a.csv, line {row + 2}" for row in rows])
    >>> check_keys(raw, "id", [""])
    Traceback (most recent call last):
    redveil.errors.LoadError: a.csv, line 3, column id: 1 row repeats a key; keep one row per entity
    """
    keys = read_keys(raw, key, missing_values)
    if keys.absent.any():
        place = raw.cell(int(keys.absent.argmax()), key)
        raise LoadError(f"{place}: no entity key; give every row a key")
    repeats = int(np.count_nonzero(keys.repeated)) - keys.repeated_entities
    if repeats:
        _, first = np.unique(distinct(pa.chunked_array([keys.texts]))[1], return_index=True)
        again = np.ones(raw.rows, dtype=np.bool_)
        again[first] = False
        rows = "1 row repeats a key" if repeats == 1 else f"{repeats} rows repeat keys"
        raise LoadError(f"{raw.cell(int(again.argmax()), key)}: {rows}; keep one row per entity")


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
