"""The histogram kernels against counting by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracle.histogram import count_codes, count_flags
from redveil.kernels.histogram import histogram_bits, histogram_codes
from strategies.arrays import (
    Codes,
    Flags,
    bits_arrays,
    code_columns,
    codes_array,
    flag_columns,
    row_counts,
    spread,
)

few = settings(max_examples=60, deadline=None)


@st.composite
def grouped(draw: st.DrawFn, rows: int) -> tuple[list[int], int]:
    """Group numbers, `groups` (nowhere) among them, and how many groups there are."""
    groups = draw(st.integers(1, 6))
    return draw(spread(st.integers(0, groups), rows)), groups


def check_codes(columns: list[Codes], bins: list[int], group: list[int], groups: int) -> None:
    first = np.cumsum([0, *bins], dtype=np.int64)[:-1]
    counts = np.ones((sum(bins), groups), np.int64)
    histogram_codes(codes_array(columns, len(group)), first, np.array(group, np.int32), counts)
    assert (counts - 1).tolist() == count_codes(columns, bins, group, groups)


def check_bits(columns: list[Flags], group: list[int], groups: int) -> None:
    result = histogram_bits(*bits_arrays(columns, len(group)), np.array(group, np.int32), groups)
    assert result.dtype == np.int64
    assert result.shape == (2 * len(columns), groups)
    assert result.tolist() == count_flags(columns, group, groups)


@few
@given(st.data(), row_counts, st.lists(st.integers(1, 7) | st.just(255), max_size=3))
def test_codes_are_counted_as_by_hand(data: st.DataObject, rows: int, bins: list[int]) -> None:
    columns = data.draw(code_columns(rows, bins))
    check_codes(columns, bins, *data.draw(grouped(rows)))


@few
@given(st.data(), row_counts)
def test_bits_are_counted_as_by_hand(data: st.DataObject, rows: int) -> None:
    columns = data.draw(flag_columns(rows))
    check_bits(columns, *data.draw(grouped(rows)))


@pytest.mark.parametrize("bins", [254, 255])
def test_the_last_of_many_bins_is_not_taken_for_missing(bins: int) -> None:
    column: Codes = [*range(bins), None, bins - 1]
    check_codes([column], [bins], [0] * (bins + 2), 1)


def test_a_column_does_not_spill_into_the_next() -> None:
    check_codes([[0, 1, None], [2, 2, 0], [0, 0, 0]], [2, 3, 1], [0, 1, 0], 2)


@pytest.mark.parametrize("rows", [0, 1, 63, 64, 65, 192, 5000])
def test_group_groups_is_not_counted(rows: int) -> None:
    group = [3] * rows
    check_codes([[0] * rows], [2], group, 3)
    check_bits([[True] * rows, [False] * rows, [None] * rows], group, 3)


def test_empty_groups_stay_at_zero() -> None:
    group = [4, 4, 1]
    check_codes([[1, 0, 1]], [2], group, 5)
    check_bits([[True, False, None]], group, 5)


def test_every_entity_may_be_in_a_group_of_its_own() -> None:
    rows = 129
    group = list(range(rows))
    check_codes([[i % 3 for i in range(rows)]], [3], group, rows)
    check_bits([[i % 3 == 0 for i in range(rows)]], group, rows)


def test_many_rows_are_counted_across_every_word() -> None:
    rows = 4099
    group = [i % 5 for i in range(rows)]
    flags: Flags = [None if i % 11 == 0 else i % 7 < 3 for i in range(rows)]
    codes: Codes = [None if i % 13 == 0 else i % 9 for i in range(rows)]
    check_codes([codes, [0] * rows], [9, 1], group, 4)
    check_bits([flags, [True] * rows], group, 4)


def test_the_highest_bit_of_a_word_is_an_entity() -> None:
    flags: Flags = [*[False] * 63, True]
    absent: Flags = [*[True] * 63, None]
    check_bits([flags, absent], [0] * 64, 1)
