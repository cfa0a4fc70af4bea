"""Pairs of cells counted entity by entity."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence


def count_pairs(
    left: Sequence[int],
    right: Sequence[int],
    left_cell: Mapping[int, int],
    right_cell: Mapping[int, int],
) -> list[list[int]]:
    """Return how many entities stand in each pair of cells; cells are numbered without gaps.

    left, right: the node at which each entity stands; left_cell, right_cell: the node's cell.
    """
    pairs = Counter((left_cell[a], right_cell[b]) for a, b in zip(left, right, strict=True))
    return [[pairs[i, j] for j in range(len(right_cell))] for i in range(len(left_cell))]
