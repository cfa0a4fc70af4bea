"""Bins as bit planes, and sets of entities made of them.

A column of bins becomes a few sets of entities, one for each binary digit: plane k contains the
entities whose bin does *not* have digit k. Whoever is below a cut follows from the planes by a few
operations on whole words, so planes are made, kept and compressed instead of a set for every split.

A missing value is in no plane, like the bits behind the last entity. So the number of planes P must
leave room: 2^P is greater than the number of bins.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from redveil.kernels.jit import kernel

# Columns and sets are worked on in blocks of this many words, so that they stay in cache.
BLOCK_WORDS: Final = 256
# A product of eight bytes, each 0 or 1, with this has their bits in its highest byte, in order.
_GATHER: Final = np.uint64(0x0102040810204080)
_LOWEST_OF_EIGHT: Final = np.uint64(0x0101010101010101)


def bit_planes(
    values: NDArray[np.uint8], row: NDArray[np.int32], count: NDArray[np.int32]
) -> NDArray[np.uint64]:
    """Return the bit planes of some columns.

    values: uint8 or wider[columns, N], bins; the type's largest number where a value is missing.
    row:    int32[some], the columns.
    count:  int32[some], how many planes each gets.
    Returns uint64[sum of count, words], column after column, the lowest digit first.
    """
    planes = np.empty((int(count.sum()), (values.shape[1] + 63) // 64), dtype=np.uint64)
    digits = np.empty(64 * BLOCK_WORDS, dtype=np.uint8)
    _bit_planes(values, row, count, digits, digits.view(np.uint64), planes)
    return planes


@kernel
def _bit_planes(
    values: NDArray[np.uint8],
    row: NDArray[np.int32],
    count: NDArray[np.int32],
    digits: NDArray[np.uint8],
    eights: NDArray[np.uint64],
    planes: NDArray[np.uint64],
) -> None:
    """Write the planes of all columns.

    digits: uint8[64 · BLOCK_WORDS], scratch; eights: the same memory, eight bytes a number.
    planes: uint64[planes, words], written.
    """
    begin = 0
    for number in range(row.shape[0]):
        end = begin + count[number]
        # Eight digits of a bin at a time: all, where a bin is a byte.
        for low in range(0, count[number], 8):
            some = planes[begin + low : min(begin + low + 8, end)]
            _eight_planes(values[row[number]], low, digits, eights, some)
        begin = end


@kernel
def _eight_planes(
    column: NDArray[np.uint8],
    low: int,
    digits: NDArray[np.uint8],
    eights: NDArray[np.uint64],
    planes: NDArray[np.uint64],
) -> None:
    """Write up to eight planes of a column, from digit `low` on."""
    words = planes.shape[1]
    for first in range(0, words, BLOCK_WORDS):
        here = min(words - first, BLOCK_WORDS)
        some = column[64 * first : 64 * (first + here)]
        if low == 0:
            for i in range(some.shape[0]):
                digits[i] = np.uint8(~some[i] & 255)
        else:
            for i in range(some.shape[0]):
                digits[i] = np.uint8(~(some[i] >> low) & 255)
        for i in range(some.shape[0], 64 * here):
            digits[i] = 0
        for k in range(planes.shape[0]):
            plane = planes[k, first : first + here]
            for w in range(here):
                word = np.uint64(0)
                for g in range(8):
                    bits = (eights[8 * w + g] >> np.uint64(k)) & _LOWEST_OF_EIGHT
                    word |= ((bits * _GATHER) >> np.uint64(56)) << np.uint64(8 * g)
                plane[w] = word


def range_sets(
    planes: NDArray[np.uint64],
    first: NDArray[np.int32],
    count: NDArray[np.int32],
    low: NDArray[np.int32],
    high: NDArray[np.int32],
) -> NDArray[np.uint64]:
    """Return for every split the set of entities for which it holds, uint64[splits, words].

    planes:      uint64[planes, words].
    first, count: int32[splits], where the planes of a split's column begin, and how many it has.
    low, high:   int32[splits], the first and the last bin for which it holds.
    """
    sets = np.empty((low.shape[0], planes.shape[1]), dtype=np.uint64)
    _range_sets(planes, first, count, low, high, np.empty(BLOCK_WORDS, dtype=np.uint64), sets)
    return sets


@kernel
def _range_sets(
    planes: NDArray[np.uint64],
    first: NDArray[np.int32],
    count: NDArray[np.int32],
    low: NDArray[np.int32],
    high: NDArray[np.int32],
    below: NDArray[np.uint64],
    sets: NDArray[np.uint64],
) -> None:
    """Write the sets of all splits; below: uint64[BLOCK_WORDS], scratch."""
    words = planes.shape[1]
    for begin in range(0, words, BLOCK_WORDS):
        end = min(begin + BLOCK_WORDS, words)
        for split in range(sets.shape[0]):
            column = planes[first[split] : first[split] + count[split], begin:end]
            inside = sets[split, begin:end]
            _at_most(column, high[split], inside)
            if low[split] > 0:
                _at_most(column, low[split] - 1, below)
                for w in range(end - begin):
                    inside[w] &= ~below[w]


@kernel
def _at_most(planes: NDArray[np.uint64], last: int, inside: NDArray[np.uint64]) -> None:
    """Write the entities whose bin is at most `last`, which is less than 2^planes − 1.

    From the lowest digit on: of two numbers the one that lacks a digit that the other one has is
    the smaller one, whatever the lower digits are; if both or neither have it, these decide.
    """
    words = planes.shape[1]
    # Up to the first digit that `last` lacks, its digits are the greatest possible.
    digit = 0
    while (last >> digit) & 1:
        digit += 1
    lacks = planes[digit]
    for w in range(words):
        inside[w] = lacks[w]
    for higher in range(digit + 1, planes.shape[0]):
        lacks = planes[higher]
        if (last >> higher) & 1:
            for w in range(words):
                inside[w] |= lacks[w]
        else:
            for w in range(words):
                inside[w] &= lacks[w]
