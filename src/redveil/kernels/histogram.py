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
    codes: NDArray[np.uint8], bins: NDArray[np.int64], group: NDArray[np.int32], groups: int
) -> NDArray[np.int64]:
    """Count entities per bin and group, for columns of codes.

    codes: uint8 or wider[columns, N]; the largest number of the type means a missing value, which
           is not counted.
    bins:  int64[columns], the number of bins of each column; all other codes are below it.
    group: int32[N] in 0 … groups.
    Returns int64[sum of bins, groups], the columns' bins one after the other.
    """
    columns, rows = codes.shape
    missing = np.iinfo(codes.dtype).max
    total = 0
    for column in range(columns):
        total += bins[column]
    # One more group for the entities that are not counted, which saves a branch.
    counts = np.zeros((total, groups + 1), dtype=np.int64)
    first = 0
    for column in range(columns):
        values = codes[column]
        for i in range(rows):
            if values[i] != missing:
                counts[first + np.int64(values[i]), group[i]] += 1
        first += bins[column]
    return counts[:, :groups].copy()


@kernel
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
    columns = bits.shape[0]
    rows = group.shape[0]
    size = np.zeros(groups + 1, dtype=np.int64)
    for i in range(rows):
        size[group[i]] += 1
    counts = np.zeros((2 * columns, groups), dtype=np.int64)
    true = np.zeros(groups + 1, dtype=np.int64)
    missing = np.zeros(groups + 1, dtype=np.int64)
    for column in range(columns):
        true[:] = 0
        missing[:] = 0
        _count_set_bits(bits[column], group, true)
        if absent_row[column] >= 0:
            _count_set_bits(absent[absent_row[column]], group, missing)
        for g in range(groups):
            counts[2 * column, g] = size[g] - true[g] - missing[g]
            counts[2 * column + 1, g] = true[g]
    return counts


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
