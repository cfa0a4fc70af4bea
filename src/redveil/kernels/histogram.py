"""Group × value histograms of all columns, in one pass over the data.

A *group* is what an entity is counted under: a (node, class) pair while a tree grows. Groups are
numbered 0 … groups − 1; an entity with group number `groups` is not counted.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from redveil.kernels.bits import bit_position, lowest_bit
from redveil.kernels.jit import kernel


@kernel
def histogram_codes(
    codes: NDArray[np.uint8],
    first: NDArray[np.int64],
    group: NDArray[np.int32],
    counts: NDArray[np.unsignedinteger | np.int64],
) -> None:
    """Add every entity to its bin and group, for columns of codes.

    codes:  uint8 or wider[columns, N]; the largest number of the type means a missing value, which
            is not counted.
    first:  int64[columns], where each column's bins begin in `counts`.
    group:  int32[N] in 0 … groups.
    counts: int64 or unsigned[bins, groups], added to; a count must not exceed its type.
    """
    columns, rows = codes.shape
    groups = counts.shape[1]
    missing = np.iinfo(codes.dtype).max
    for column in range(columns):
        values = codes[column]
        for i in range(rows):
            if values[i] != missing and group[i] < groups:
                counts[first[column] + np.int64(values[i]), group[i]] += 1


def histogram_bits(
    bits: NDArray[np.uint64],
    absent: NDArray[np.uint64],
    absent_row: NDArray[np.int32],
    group: NDArray[np.int32],
    groups: int,
) -> NDArray[np.int64]:
    """Count entities by false and true and by group, for bit-packed Boolean columns.

    bits:       uint64[columns, words], bit i % 64 of word i // 64 is entity i; 0 where missing.
    absent:     uint64[some, words], bits of the entities whose value is missing.
    absent_row: int32[columns], the row of `absent` that belongs to a column, or -1 for none.
    group:      int32[N] in 0 … groups; bits beyond N are 0.
    Returns int64[2 * columns, groups]: for each column its false row, then its true row.
    """
    size = np.bincount(group, minlength=groups + 1)
    counts = np.zeros((2 * bits.shape[0], groups), dtype=np.int64)
    scratch = np.zeros((2, groups + 1), dtype=np.int64)
    _count_bits(bits, absent, absent_row, group, size, scratch, counts)
    return counts


@kernel
def _count_bits(
    bits: NDArray[np.uint64],
    absent: NDArray[np.uint64],
    absent_row: NDArray[np.int32],
    group: NDArray[np.int32],
    size: NDArray[np.int64],
    scratch: NDArray[np.int64],
    counts: NDArray[np.int64],
) -> None:
    """Write the counts of all columns.

    size: int64[groups + 1], the entities of each group; scratch: int64[2, groups + 1].
    """
    true, missing = scratch[0], scratch[1]
    for column in range(bits.shape[0]):
        scratch[:, :] = 0
        _count_set_bits(bits[column], group, true)
        if absent_row[column] >= 0:
            _count_set_bits(absent[absent_row[column]], group, missing)
        for g in range(counts.shape[1]):
            counts[2 * column, g] = size[g] - true[g] - missing[g]
            counts[2 * column + 1, g] = true[g]


@kernel
def _count_set_bits(
    words: NDArray[np.uint64], group: NDArray[np.int32], counts: NDArray[np.int64]
) -> None:
    """Add every set bit to its entity's group; the cost is the number of set bits."""
    for w in range(words.shape[0]):
        word = words[w]
        while word != np.uint64(0):
            bit = lowest_bit(word)
            counts[group[w * 64 + bit_position(bit)]] += 1
            word ^= bit
