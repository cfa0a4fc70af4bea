"""Small columns as plain lists, and the arrays that kernels take them in."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import TypeVar

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from oracle.binning import words

T = TypeVar("T")

Flags = list[bool | None]
Codes = list[int | None]

# Words hold 64 entities: the edges are where packing goes wrong.
# (Hypothesis draws the first of a list most often, so the telling cases come first.)
row_counts = st.sampled_from((5, 64, 65, 63, 130, 128, 127, 12, 3, 2, 1, 0))


@st.composite
def spread(draw: st.DrawFn, values: st.SearchStrategy[T], rows: int) -> list[T]:
    """Draw a few values and scatter them over the rows; drawing every row would be slow."""
    few = draw(st.lists(values, min_size=1, max_size=5))
    return Random(draw(st.integers(0, 999))).choices(few, k=rows)


def flag_columns(rows: int, most: int = 3) -> st.SearchStrategy[list[Flags]]:
    """Columns of Booleans, None where missing; some miss nothing, some everything."""
    flag: st.SearchStrategy[bool | None] = st.booleans()
    anything = spread(flag | st.none(), rows)
    nothing: Flags = [None] * rows
    return st.lists(st.one_of(anything, spread(flag, rows), st.just(nothing)), max_size=most)


def code_columns(rows: int, bins: Sequence[int]) -> st.SearchStrategy[list[Codes]]:
    """One column of codes for each number of bins, None where missing."""
    return st.tuples(*(spread(st.none() | st.integers(0, b - 1), rows) for b in bins)).map(list)


def codes_array(columns: Sequence[Codes], rows: int) -> NDArray[np.uint8]:
    """Return columns as uint8[columns, rows], 255 where missing."""
    array = np.empty((len(columns), rows), np.uint8)
    for i, column in enumerate(columns):
        array[i] = [255 if value is None else value for value in column]
    return array


def bits_arrays(
    columns: Sequence[Flags], rows: int
) -> tuple[NDArray[np.uint64], NDArray[np.uint64], NDArray[np.int32]]:
    """Return bits, absent and absent_row; rows of `absent` stand in reverse order of columns."""
    width = len(words([False] * rows))
    bits = np.empty((len(columns), width), np.uint64)
    absent_row = np.full(len(columns), -1, np.int32)
    missing: list[list[int]] = []
    for i in reversed(range(len(columns))):
        bits[i] = words([value is True for value in columns[i]])
        if None in columns[i]:
            absent_row[i] = len(missing)
            missing.append(words([value is None for value in columns[i]]))
    absent = np.empty((len(missing), width), np.uint64)
    for i, row in enumerate(missing):
        absent[i] = row
    return bits, absent, absent_row
