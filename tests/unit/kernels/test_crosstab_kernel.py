"""The cross table against counting pairs."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from oracle.crosstab import count_pairs
from redveil.kernels.crosstab import crosstab
from strategies.arrays import row_counts, spread


def end_array(cell: dict[int, int]) -> np.ndarray[tuple[int], np.dtype[np.int16]]:
    """Return the number of each end by node, 0 … highest; other nodes have none."""
    array = np.full(max(cell) + 1, -1, np.int16)
    for node, number in cell.items():
        array[node] = number
    return array


def check(left: list[int], right: list[int], cells: tuple[dict[int, int], dict[int, int]]) -> None:
    table = crosstab(
        np.array(left, np.int16),
        np.array(right, np.int16),
        end_array(cells[0]),
        end_array(cells[1]),
        len(cells[0]),
        len(cells[1]),
    )
    assert table.dtype == np.int64
    assert table.tolist() == count_pairs(left, right, *cells)
    assert int(table.sum()) == len(left)


# The ends of a tree, in the order of their numbers.
standing = st.lists(st.integers(0, 30), min_size=1, max_size=8, unique=True)


@settings(max_examples=60, deadline=None)
@given(st.data(), row_counts, standing, standing)
def test_pairs_are_counted_as_by_hand(
    data: st.DataObject, rows: int, left: list[int], right: list[int]
) -> None:
    cells = ({n: i for i, n in enumerate(left)}, {n: i for i, n in enumerate(right)})
    at_left = data.draw(spread(st.sampled_from(left), rows))
    at_right = data.draw(spread(st.sampled_from(right), rows))
    check(at_left, at_right, cells)


def test_left_ends_are_rows_and_right_ends_columns() -> None:
    check([1, 1, 2], [0, 0, 0], ({1: 0, 2: 1, 0: 2}, {0: 0}))


def test_no_entities_make_an_empty_table() -> None:
    check([], [], ({0: 0}, {1: 0, 2: 1}))
