"""Sets of entities as bits against sets of entities."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracle.walk import Run, holding
from redveil.kernels.bits import BLOCK_WORDS, bit_position, lowest_bit, ones, range_bits
from strategies.arrays import Codes, code_columns, row_counts
from strategies.walks import packed_sets

few = settings(max_examples=60, deadline=None)


@pytest.mark.parametrize("bit", range(64))
def test_the_only_bit_is_found(bit: int) -> None:
    assert int(bit_position(np.uint64(2**bit))) == bit


@given(st.integers(1, 2**64 - 1))
def test_the_lowest_bit_is_the_largest_power_that_divides(word: int) -> None:
    lowest = int(lowest_bit(np.uint64(word)))
    assert word % lowest == 0
    assert word % (2 * lowest) != 0
    assert lowest.bit_count() == 1


@pytest.mark.parametrize("bit", range(64))
def test_bits_above_the_lowest_do_not_matter(bit: int) -> None:
    assert int(lowest_bit(np.uint64(2**64 - 2**bit))) == 2**bit


@pytest.mark.parametrize("bit", range(64))
def test_every_bit_counts_as_one(bit: int) -> None:
    assert int(ones(np.uint64(2**bit))) == 1
    assert int(ones(np.uint64(2**64 - 2**bit))) == 64 - bit


@given(st.integers(0, 2**64 - 1))
def test_set_bits_are_counted(word: int) -> None:
    assert int(ones(np.uint64(word))) == word.bit_count()


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
    bits = range_bits(as_array(columns, rows, dtype), attribute, low, high)
    assert bits.dtype == np.uint64
    assert bits.tolist() == packed_sets([holding(columns, run) for run in runs], rows).tolist()


def test_the_largest_bins_are_told_from_missing() -> None:
    values = np.array([[253, 254, 255]], np.uint8)
    zero, last = np.zeros(1, np.int32), np.array([254], np.int32)
    assert range_bits(values, zero, zero, last).tolist() == [[0b011]]
    assert range_bits(values, zero, last, last).tolist() == [[0b010]]


@pytest.mark.parametrize("rows", [64 * BLOCK_WORDS, 64 * BLOCK_WORDS + 1, 130 * BLOCK_WORDS])
def test_columns_longer_than_a_block_are_read_to_their_end(rows: int) -> None:
    source = np.random.default_rng(1)
    values = source.integers(0, 5, (2, rows)).astype(np.uint8)
    runs = [(0, 0, 0), (0, 0, 1), (0, 0, 3), (1, 2, 2), (1, 2, 4), (1, 3, 3), (0, 1, 2)]
    attribute, low, high = np.array(runs, np.int32).T.copy()
    bits = range_bits(values, attribute, low, high)
    for row, (column, least, most) in zip(bits, runs, strict=True):
        inside = (least <= values[column]) & (values[column] <= most)
        assert np.unpackbits(row.view(np.uint8), bitorder="little")[:rows].tolist() == (
            inside.astype(int).tolist()
        )
