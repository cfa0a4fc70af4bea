"""Sets of entities as bits: bit i % 64 of word i // 64 is entity i."""

from __future__ import annotations

import numpy as np

from redveil.kernels.jit import kernel


@kernel
def bit_position(power: np.uint64) -> int:
    """Return the position of the only set bit of a word.

    The compiler turns this loop into a single instruction.

    >>> int(bit_position(np.uint64(2**63)))
    63
    """
    position = -1
    while power != np.uint64(0):
        power >>= np.uint64(1)
        position += 1
    return position


@kernel
def lowest_bit(word: np.uint64) -> np.uint64:
    """Return the lowest set bit of a word that is not 0.

    >>> int(lowest_bit(np.uint64(12)))
    4
    """
    return np.uint64(word & (~word + np.uint64(1)))


@kernel
def ones(word: np.uint64) -> int:
    """Return how many bits of a word are set.

    The compiler turns this loop into a single instruction, and a sum of it over words into vector
    instructions. It does not recognise a sum by shifts and masks, which is half as fast.

    >>> int(ones(np.uint64(2**63 + 6)))
    3
    """
    count = 0
    while word != np.uint64(0):
        word &= word - np.uint64(1)
        count += 1
    return count
