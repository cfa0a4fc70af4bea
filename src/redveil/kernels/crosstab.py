"""Counting entities by where they end in two trees."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from redveil.kernels.jit import kernel


def crosstab(
    left: NDArray[np.int16],
    right: NDArray[np.int16],
    left_end: NDArray[np.int16],
    right_end: NDArray[np.int16],
    left_ends: int,
    right_ends: int,
) -> NDArray[np.int64]:
    """Count entities per pair of ends.

    left, right: int16[N], the node at which each entity ends in either tree.
    left_end, right_end: int16[nodes], the number of each node among the ends of its tree.
    Returns int64[left_ends, right_ends].
    """
    counts = np.zeros((left_ends, right_ends), dtype=np.int64)
    _count(left, right, left_end, right_end, counts)
    return counts


@kernel
def _count(
    left: NDArray[np.int16],
    right: NDArray[np.int16],
    left_end: NDArray[np.int16],
    right_end: NDArray[np.int16],
    counts: NDArray[np.int64],
) -> None:
    """Add every entity to its pair of ends."""
    for i in range(left.shape[0]):
        counts[left_end[left[i]], right_end[right[i]]] += 1
