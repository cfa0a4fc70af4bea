"""Looking up bytes in a table, against doing it one at a time."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from oracle.lookup import look_up as one_by_one
from redveil.kernels.lookup import look_up

bytes_ = st.integers(0, 255)


@settings(max_examples=60, deadline=None)
@given(st.data(), st.lists(bytes_, min_size=1, max_size=256))
def test_every_index_gets_its_entry(data: st.DataObject, table: list[int]) -> None:
    index = data.draw(st.lists(st.integers(0, len(table) - 1), max_size=100))
    found = np.empty(len(index), np.uint8)
    look_up(np.array(table, np.uint8), np.array(index, np.uint8), found)
    assert found.tolist() == one_by_one(table, index)
