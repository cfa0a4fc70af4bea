"""Summaries of columns, for drafts: the distinct values, and how often each occurs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from redveil.data.distinct import Value, distinct
from redveil.data.raw import RawTable
from redveil.data.table import BoolArray


@dataclass(frozen=True, slots=True, eq=False)
class Summary:
    """The distinct values of a column, their frequencies, and which are typed.

    counts: int64[values]
    typed:  bool[values], texts that were written from numbers, Booleans or dates; a text and a
            number that are written alike are two values

    >>> Summary(["f", "m"], np.array([3, 4])).counts.sum()
    np.int64(7)
    """

    values: Sequence[Value]
    counts: NDArray[np.int64]
    typed: BoolArray = field(default_factory=lambda: np.zeros(0, np.bool_))

    def is_text(self, position: int) -> bool:
        """Return whether a value is a text as its author wrote it.

        >>> Summary(["f", 7], np.array([3, 4])).is_text(1)
        False
        """
        typed = position < len(self.typed) and bool(self.typed[position])
        return isinstance(self.values[position], str) and not typed


def summarise(raw: RawTable, name: str) -> Summary:
    """Summarise one column of a table.

    >>> raw = RawTable("a.csv", 3, {"x": pa.chunked_array([["a", "b", "a"]])}, list)
    >>> summarise(raw, "x").counts.tolist()
    [2, 1]
    """
    column, rows = raw.columns[name], raw.rows
    cells = raw.mixed.get(name, np.full(rows, name in raw.typed, dtype=np.bool_))
    values: list[Value] = []
    counts: list[NDArray[np.int64]] = []
    typed: list[BoolArray] = []
    for flag in (False, True):
        if not np.any(cells == flag):
            continue
        found, index = distinct(column.filter(pa.array(cells == flag)))
        values += found
        counts.append(np.bincount(index, minlength=len(found)))
        typed.append(np.full(len(found), flag, dtype=np.bool_))
    return Summary(values, np.concatenate(counts), np.concatenate(typed))
