"""Bit planes, and the sets made of them, against sets of entities."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from oracle.walk import Run, holding
from redveil.kernels.planes import BLOCK_WORDS, bit_planes, range_sets
from strategies.arrays import Codes, code_columns, row_counts
from strategies.walks import packed_sets

few = settings(max_examples=60, deadline=None)
Numbers = NDArray[np.int32]


def made(values: NDArray[Any], attribute: Numbers, low: Numbers, high: Numbers) -> NDArray[Any]:
    """Return the sets of splits, made of the planes of all columns."""
    bins = [
        1 + int(column[column < np.iinfo(column.dtype).max].max(initial=0)) for column in values
    ]
    for split, last in zip(attribute, high, strict=True):
        bins[split] = max(bins[split], 1 + int(last))
    count = np.array([one.bit_length() for one in bins], np.int32)
    planes = bit_planes(values, np.arange(len(values), dtype=np.int32), count)
    first = (np.cumsum(count) - count).astype(np.int32)
    return range_sets(planes, first[attribute], count[attribute], low, high)


@st.composite
def split_columns(draw: st.DrawFn, rows: int) -> tuple[list[Codes], list[Run]]:
    """Columns, and runs of bins of any of them."""
    bins = draw(st.lists(st.integers(1, 9), min_size=1, max_size=3))
    runs = [
        (a, low, high) for a, b in enumerate(bins) for low in range(b) for high in range(low, b)
    ]
    return draw(code_columns(rows, bins)), draw(st.lists(st.sampled_from(runs), max_size=6))


def as_array(columns: list[Codes], rows: int, dtype: Any) -> np.ndarray[Any, Any]:
    """Return columns with the type's largest number where a value is missing."""
    array = np.full((len(columns), rows), np.iinfo(dtype).max, dtype)
    for i, column in enumerate(columns):
        for entity, value in enumerate(column):
            if value is not None:
                array[i, entity] = value
    return array


@few
@given(st.data(), row_counts, st.sampled_from((np.uint8, np.uint16, np.uint32)))
def test_a_split_holds_within_its_run_of_bins(data: st.DataObject, rows: int, dtype: Any) -> None:
    columns, runs = data.draw(split_columns(rows))
    attribute, low, high = (np.array([run[i] for run in runs], np.int32) for i in range(3))
    bits = made(as_array(columns, rows, dtype), attribute, low, high)
    assert bits.dtype == np.uint64
    assert bits.tolist() == packed_sets([holding(columns, run) for run in runs], rows).tolist()


def test_the_largest_bins_are_told_from_missing() -> None:
    values = np.array([[253, 254, 255]], np.uint8)
    zero, last = np.zeros(1, np.int32), np.array([254], np.int32)
    assert made(values, zero, zero, last).tolist() == [[0b011]]
    assert made(values, zero, last, last).tolist() == [[0b010]]


@pytest.mark.parametrize("rows", [64 * BLOCK_WORDS, 64 * BLOCK_WORDS + 1, 130 * BLOCK_WORDS])
def test_columns_longer_than_a_block_are_read_to_their_end(rows: int) -> None:
    source = np.random.default_rng(1)
    values = source.integers(0, 5, (2, rows)).astype(np.uint8)
    runs = [(0, 0, 0), (0, 0, 1), (0, 0, 3), (1, 2, 2), (1, 2, 4), (1, 3, 3), (0, 1, 2)]
    attribute, low, high = np.array(runs, np.int32).T.copy()
    bits = made(values, attribute, low, high)
    for row, (column, least, most) in zip(bits, runs, strict=True):
        inside = (least <= values[column]) & (values[column] <= most)
        assert np.unpackbits(row.view(np.uint8), bitorder="little")[:rows].tolist() == (
            inside.astype(int).tolist()
        )


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.uint32])
@pytest.mark.parametrize("rows", [1, 64, 100, 64 * BLOCK_WORDS + 3])
def test_a_plane_contains_who_lacks_a_digit(dtype: Any, rows: int) -> None:
    most = min(int(np.iinfo(dtype).max), 70_000)
    values = np.random.default_rng(2).integers(0, most, (1, rows)).astype(dtype)
    values[0, ::7] = np.iinfo(dtype).max
    count = most.bit_length()
    planes = bit_planes(values, np.zeros(1, np.int32), np.array([count], np.int32))
    for digit, plane in enumerate(planes):
        bits = np.unpackbits(plane.view(np.uint8), bitorder="little")
        assert bits[:rows].tolist() == [1 - (int(value) >> digit & 1) for value in values[0]]
        assert not bits[rows:].any()


def test_columns_without_rows_have_empty_planes() -> None:
    planes = bit_planes(np.zeros((1, 0), np.uint8), np.zeros(1, np.int32), np.ones(1, np.int32))
    assert planes.shape == (1, 0)
