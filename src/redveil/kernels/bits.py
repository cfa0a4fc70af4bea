"""Sets of entities as bits: bit i % 64 of word i // 64 is entity i."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from redveil.kernels.jit import kernel

# Columns are turned into sets in blocks of this many words, so that the sets of all bins stay in
# cache.
BLOCK_WORDS: Final = 64


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


def range_bits(
    values: NDArray[np.uint8],
    attribute: NDArray[np.int32],
    low: NDArray[np.int32],
    high: NDArray[np.int32],
) -> NDArray[np.uint64]:
    """Return for every split the set of entities for which it holds.

    values: uint8 or wider[attributes, N], bins; the bin of a missing value is in no split's range.
    attribute, low, high: int32[splits]; a split holds if low <= value <= high.
    Returns uint64[splits, words].
    """
    bits = np.zeros((attribute.shape[0], (values.shape[1] + 63) // 64), dtype=np.uint64)
    inside = np.empty((int(high.max(initial=-1)) + 1, BLOCK_WORDS), dtype=np.uint64)
    _range_bits(values, attribute, low, high, inside, bits)
    return bits


@kernel
def _range_bits(
    values: NDArray[np.uint8],
    attribute: NDArray[np.int32],
    low: NDArray[np.int32],
    high: NDArray[np.int32],
    inside: NDArray[np.uint64],
    bits: NDArray[np.uint64],
) -> None:
    """Write the sets of all splits; inside: uint64[bins, BLOCK_WORDS], scratch."""
    splits = attribute.shape[0]
    begin = 0
    while begin < splits:
        end = begin + 1
        bins = np.int64(high[begin]) + 1
        while end < splits and attribute[end] == attribute[begin]:
            bins = max(bins, np.int64(high[end]) + 1)
            end += 1
        column = values[attribute[begin]]
        _column_bits(column, low[begin:end], high[begin:end], inside[:bins], bits[begin:end])
        begin = end


@kernel
def _column_bits(
    column: NDArray[np.uint8],
    low: NDArray[np.int32],
    high: NDArray[np.int32],
    inside: NDArray[np.uint64],
    bits: NDArray[np.uint64],
) -> None:
    """Write the sets of some splits of one column: each entity is looked at once.

    inside: uint64[bins, BLOCK_WORDS], scratch; bits: uint64[splits, words], all 0.
    """
    rows, (splits, words), bins = column.shape[0], bits.shape, inside.shape[0]
    for first in range(0, words, BLOCK_WORDS):
        last = min(first + BLOCK_WORDS, words)
        inside[:, :] = 0
        for i in range(first * 64, min(last * 64, rows)):
            if column[i] < bins:
                inside[column[i], (i >> 6) - first] |= np.uint64(1) << np.uint64(i & 63)
        for split in range(splits):
            bin_ = low[split]
            # Most splits hold for the bins of the one before, and for more.
            if split > 0 and low[split - 1] == bin_ and high[split - 1] <= high[split]:
                for w in range(first, last):
                    bits[split, w] = bits[split - 1, w]
                bin_ = high[split - 1] + 1
            for each in range(bin_, high[split] + 1):
                for w in range(last - first):
                    bits[split, first + w] |= inside[each, w]
