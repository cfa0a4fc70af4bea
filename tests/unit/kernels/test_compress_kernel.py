"""Compressed sets contain the same entities, renumbered."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from redveil.data.table import pack
from redveil.kernels.compress import compress, movers

some = settings(max_examples=40, deadline=None)


def flags_of(words: np.ndarray, count: int) -> np.ndarray:
    """Unpack bit by bit, the slow way."""
    return np.array(
        [[bool(int(row[i // 64]) >> (i % 64) & 1) for i in range(count)] for row in words],
        dtype=np.bool_,
    ).reshape(len(words), count)


@some
@given(st.data(), st.integers(1, 200))
def test_the_wanted_entities_stay_in_order_and_no_others_remain(
    data: st.DataObject, entities: int
) -> None:
    wanted = data.draw(arrays(np.bool_, entities))
    sets = data.draw(arrays(np.bool_, (3, entities)))
    mask = pack(wanted)
    packed = np.array([pack(row) for row in sets])
    found = compress(packed, mask, movers(mask))
    assert found.shape == (3, -(-int(wanted.sum()) // 64))
    np.testing.assert_array_equal(flags_of(found, int(wanted.sum())), sets[:, wanted])
    # Nothing beyond the last entity: stray bits would be counted.
    ends = flags_of(found, found.shape[1] * 64)[:, int(wanted.sum()) :]
    assert not ends.any()


@pytest.mark.parametrize("word", [0, 1, 2**63, 2**64 - 1, 0x5555555555555555, 0xF0F0F0F0F0F0F0F0])
def test_every_pattern_of_a_mask_is_moved(word: int) -> None:
    mask = np.array([word, word, 2**64 - 1], dtype=np.uint64)
    everything = np.full((1, 3), 2**64 - 1, dtype=np.uint64)
    found = compress(everything, mask, movers(mask))
    members = 2 * word.bit_count() + 64
    assert sum(int(value).bit_count() for value in found[0]) == members
    assert flags_of(found, members).all()
