"""Replacing bytes by the entries of a table."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from redveil.kernels.jit import kernel


@kernel
def look_up(table: NDArray[np.uint8], index: NDArray[np.uint8], found: NDArray[np.uint8]) -> None:
    """Write the entry of a table for each index, found[i] = table[index[i]].

    The same as NumPy's `table[index]`, which makes a 64-bit integer of every index.

    table: uint8[entries]; index: uint8[N], below the number of entries; found: uint8[N], written.
    """
    for i in range(index.shape[0]):
        found[i] = table[index[i]]
