"""Compressing sets to some of the entities, so that the others cost nothing.

Within a word, bits move to the right in six shifts, of 1, 2, 4 … 32 places: a bit moves in shift i
if the number of unwanted bits to its right has bit i set. Which bits move depends on the mask alone
and is computed once for all sets (see Warren, Hacker's Delight, on the compress operation).
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from redveil.kernels.bits import ones
from redveil.kernels.jit import kernel

SHIFTS: Final = 6


@kernel
def movers(mask: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return which bits of each word move in each shift.

    mask: uint64[words], the wanted bits. Returns uint64[6, words].
    """
    moves = np.zeros((SHIFTS, mask.shape[0]), dtype=np.uint64)
    for w in range(mask.shape[0]):
        wanted = mask[w]
        unwanted = ~wanted << np.uint64(1)
        for step in range(SHIFTS):
            # Bit b becomes the parity of the unwanted bits up to b.
            parity = unwanted
            for shift in (1, 2, 4, 8, 16, 32):
                parity ^= parity << np.uint64(shift)
            moving = parity & wanted
            moves[step, w] = moving
            wanted = (wanted ^ moving) | (moving >> np.uint64(1 << step))
            unwanted &= ~parity
    return moves


@kernel
def compress(
    sets: NDArray[np.uint64], mask: NDArray[np.uint64], moves: NDArray[np.uint64]
) -> NDArray[np.uint64]:
    """Return sets of the wanted entities only, renumbered in the same order.

    sets: uint64[sets, words]; mask: uint64[words]; moves: uint64[6, words], from `movers`.
    Returns uint64[sets, words for the wanted].
    """
    words = mask.shape[0]
    first = np.zeros(words + 1, dtype=np.int64)
    for w in range(words):
        first[w + 1] = first[w] + ones(mask[w])
    # Two more words than needed: empty words and empty overflows are written too.
    room = (first[words] + 63) // 64
    packed = np.zeros((sets.shape[0], room + 2), dtype=np.uint64)
    together = np.zeros(words, dtype=np.uint64)
    for row in range(sets.shape[0]):
        for w in range(words):
            together[w] = sets[row, w] & mask[w]
        for step in range(SHIFTS):
            places = np.uint64(1 << step)
            for w in range(words):
                moving = together[w] & moves[step, w]
                together[w] = (together[w] ^ moving) | (moving >> places)
        for w in range(words):
            goal, offset = first[w] >> 6, np.uint64(first[w] & 63)
            packed[row, goal] |= together[w] << offset
            # Two shifts, because a shift by 64 is undefined.
            packed[row, goal + 1] |= together[w] >> np.uint64(1) >> (np.uint64(63) - offset)
    return packed[:, :room].copy()
