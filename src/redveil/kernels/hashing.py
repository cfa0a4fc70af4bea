"""Hashes of texts, to divide them among places: the same text always goes to the same place."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from redveil.kernels.jit import kernel

_START = np.uint64(0xCBF29CE484222325)
_PRIME = np.uint64(0x100000001B3)


@kernel
def text_places(
    offsets: NDArray[np.int64], text: NDArray[np.uint8], places: int, found: NDArray[np.int32]
) -> None:
    """Write the place of each text: its FNV-1a hash, divided among so many places.

    offsets: int64[texts + 1], where each text begins in `text`, and the last one ends.
    found:   int32[texts], written.
    """
    for i in range(found.shape[0]):
        value = _START
        for j in range(offsets[i], offsets[i + 1]):
            value = (value ^ np.uint64(text[j])) * _PRIME
        # The low bits of this hash depend on few bits of the text.
        value ^= value >> np.uint64(32)
        found[i] = np.int32(value % np.uint64(places))
