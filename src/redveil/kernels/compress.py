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
    room = (int(first[-1]) + 63) // 64
    # All words are written, and one more: a set may begin to fill the first word of the next one.
    packed = np.empty(sets.shape[0] * room + 1, dtype=np.uint64)
    _pack(sets, mask, moves, first, np.empty_like(mask), packed)
    return packed[:-1].reshape(sets.shape[0], room)


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
    packed:   uint64[sets · words for the wanted + 1], written: one set after the other.
    """
    words = mask.shape[0]
    room = (first[words] + 63) >> 6
    # Spelled out, and with rows of their own, so that the compiler takes several words at a time.
    m0, m1, m2, m3, m4, m5 = moves[0], moves[1], moves[2], moves[3], moves[4], moves[5]
    for row in range(sets.shape[0]):
        one, goals = sets[row], packed[row * room :]
        for w in range(words):
            bits = one[w] & mask[w]
            moving = bits & m0[w]
            bits = (bits ^ moving) | (moving >> np.uint64(1))
            moving = bits & m1[w]
            bits = (bits ^ moving) | (moving >> np.uint64(2))
            moving = bits & m2[w]
            bits = (bits ^ moving) | (moving >> np.uint64(4))
            moving = bits & m3[w]
            bits = (bits ^ moving) | (moving >> np.uint64(8))
            moving = bits & m4[w]
            bits = (bits ^ moving) | (moving >> np.uint64(16))
            moving = bits & m5[w]
            together[w] = (bits ^ moving) | (moving >> np.uint64(32))
        # The word that is being filled stays in a register, and is written each time.
        filling = np.uint64(0)
        for w in range(words):
            begin, end = np.uint64(first[w]), np.uint64(first[w + 1])
            goal, offset = begin >> np.uint64(6), begin & np.uint64(63)
            filling |= together[w] << offset
            goals[goal] = filling
            # Two shifts, because a shift by 64 is undefined.
            rest = together[w] >> np.uint64(1) >> (np.uint64(63) - offset)
            filling = rest if end >> np.uint64(6) != goal else filling
        # The last word, if no word of the mask came after it.
        goals[first[words] >> 6] = filling
