"""Sets of entities as bits against sets of entities."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from redveil.kernels.bits import bit_position, lowest_bit, ones


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
