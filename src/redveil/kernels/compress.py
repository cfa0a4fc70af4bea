"""Compressing sets to some of the entities, so that the others cost nothing.

Within a word, bits move to the right in six shifts, of 1, 2, 4 … 32 places: a bit moves in shift i
if the number of unwanted bits to its right has bit i set. Which bits move depends on the mask alone
and is computed once for all sets (see Warren, Hacker's Delight, on the compress operation).
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from redveil.kernels.jit import kernel

SHIFTS: Final = 6


def movers(mask: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return which bits of each word move in each shift.

    mask: uint64[words], the wanted bits. Returns uint64[6, words].
    """
    moves = np.zeros((SHIFTS, mask.shape[0]), dtype=np.uint64)
    _find_movers(mask, moves)
    return moves


@kernel
def _find_movers(mask: NDArray[np.uint64], moves: NDArray[np.uint64]) -> None:
    """Write which bits of each word move in each shift."""
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


def compress(
    sets: NDArray[np.uint64], mask: NDArray[np.uint64], moves: NDArray[np.uint64]
) -> NDArray[np.uint64]:
    """Return sets of the wanted entities only, renumbered in the same order.

    sets: uint64[sets, words]; mask: uint64[words]; moves: uint64[6, words], from `movers`.
    Returns uint64[sets, words for the wanted].
    """
    first = np.zeros(mask.shape[0] + 1, dtype=np.int64)
    np.cumsum(np.bitwise_count(mask), dtype=np.int64, out=first[1:])
    # Two more words than needed: empty words and empty overflows are written too.
    room = (int(first[-1]) + 63) // 64
    packed = np.zeros((sets.shape[0], room + 2), dtype=np.uint64)
    _pack(sets, mask, moves, first, np.empty_like(mask), packed)
    return packed[:, :room].copy()


@kernel
def _pack(
    sets: NDArray[np.uint64],
    mask: NDArray[np.uint64],
    moves: NDArray[np.uint64],
    first: NDArray[np.int64],
    together: NDArray[np.uint64],
    packed: NDArray[np.uint64],
) -> None:
    """Write the compressed sets.

    first:    int64[words + 1], how many wanted entities come before each word.
    together: uint64[words], scratch: a set with the wanted bits of each word moved together.
    packed:   uint64[sets, words for the wanted + 2], all 0.
    """
    words = mask.shape[0]
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
