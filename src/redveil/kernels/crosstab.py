"""How many entities stand where in two trees at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from redveil.kernels.jit import kernel


@kernel
def crosstab(
    left: NDArray[np.int16],
    right: NDArray[np.int16],
    left_cell: NDArray[np.int16],
    right_cell: NDArray[np.int16],
    left_ends: int,
    right_ends: int,
) -> NDArray[np.int64]:
    """Count entities per pair of cells.

    left, right: int16[N], node numbers in either tree (leaves, or where a missing value stopped).
    left_cell, right_cell: int16[nodes], the cell of each node at which an entity can stand.
    Returns int64[left_ends, right_ends].
    """
    counts = np.zeros((left_ends, right_ends), dtype=np.int64)
    for i in range(left.shape[0]):
        counts[left_cell[left[i]], right_cell[right[i]]] += 1
    return counts
