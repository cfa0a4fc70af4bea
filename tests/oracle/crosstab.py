"""Pairs of ends counted entity by entity."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence


def count_pairs(
    left: Sequence[int],
    right: Sequence[int],
    left_end: Mapping[int, int],
    right_end: Mapping[int, int],
) -> list[list[int]]:
    """Return how many entities end at each pair of ends; ends are numbered without gaps.

    left, right: the node at which each entity ends; left_end, right_end: the number of an end.
    """
    pairs = Counter((left_end[a], right_end[b]) for a, b in zip(left, right, strict=True))
    return [[pairs[i, j] for j in range(len(right_end))] for i in range(len(left_end))]
