"""Joint counts of all pairs of splits, bit-parallel, and the scores of twin trees."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from redveil.kernels.bits import ones
from redveil.kernels.jit import kernel

# Sets are counted in tiles of four left and four right sets: every word that is read is used for
# several counts, which stay in registers. (`_count_tile` spells a tile out.)
TILE_LEFTS: Final = 4
TILE_RIGHTS: Final = 4
# Tiles are counted in blocks of so many words and right sets, so that a block of them stays in
# cache.
BLOCK_WORDS: Final = 512
BLOCK_RIGHTS: Final = 64


class JointCounts(NamedTuple):
    """The joint counts of the splits of two views, among some entities.

    both:        int64[left, right], the entities for which both splits hold
    left_known:  int64[left, right known sets], a left split holds and a right value is known
    right_known: int64[left known sets, right], the reverse
    known:       int64[left known sets, right known sets]; both first sets are all entities
    left_row:    int32[left], the known set of each left split; right_row likewise
    """

    both: NDArray[np.int64]
    left_known: NDArray[np.int64]
    right_known: NDArray[np.int64]
    known: NDArray[np.int64]
    left_row: NDArray[np.int32]
    right_row: NDArray[np.int32]


@kernel
def joint_counts(
    left: NDArray[np.uint64], right: NDArray[np.uint64], counts: NDArray[np.int64]
) -> None:
    """Count the entities that each left set shares with each right set.

    left:   uint64[lefts, words]; right: uint64[rights, words].
    counts: int64[lefts, rights], written.
    """
    lefts, words = left.shape
    rights = right.shape[0]
    tiled_lefts, tiled_rights = lefts - lefts % TILE_LEFTS, rights - rights % TILE_RIGHTS
    counts[:, :] = 0
    for begin in range(0, words, BLOCK_WORDS):
        end = min(begin + BLOCK_WORDS, words)
        for first in range(0, tiled_rights, BLOCK_RIGHTS):
            last = min(first + BLOCK_RIGHTS, tiled_rights)
            for i in range(0, tiled_lefts, TILE_LEFTS):
                for j in range(first, last, TILE_RIGHTS):
                    _count_tile(left, right, counts, i, j, begin, end)
        for i in range(lefts):
            # What no tile covers: the last few sets on either side.
            for j in range(tiled_rights if i < tiled_lefts else 0, rights):
                counts[i, j] += _shared(left[i, begin:end], right[j, begin:end])


@kernel
def _count_tile(
    left: NDArray[np.uint64],
    right: NDArray[np.uint64],
    counts: NDArray[np.int64],
    i: int,
    j: int,
    begin: int,
    end: int,
) -> None:
    """Count what four left sets share with four right sets, within a block of words."""
    l0, l1 = left[i, begin:end], left[i + 1, begin:end]
    l2, l3 = left[i + 2, begin:end], left[i + 3, begin:end]
    r0, r1 = right[j, begin:end], right[j + 1, begin:end]
    r2, r3 = right[j + 2, begin:end], right[j + 3, begin:end]
    n00 = n10 = n20 = n30 = 0
    n01 = n11 = n21 = n31 = 0
    n02 = n12 = n22 = n32 = 0
    n03 = n13 = n23 = n33 = 0
    for w in range(end - begin):
        p, q, r, s = l0[w], l1[w], l2[w], l3[w]
        x = r0[w]
        n00 += ones(p & x)
        n10 += ones(q & x)
        n20 += ones(r & x)
        n30 += ones(s & x)
        x = r1[w]
        n01 += ones(p & x)
        n11 += ones(q & x)
        n21 += ones(r & x)
        n31 += ones(s & x)
        x = r2[w]
        n02 += ones(p & x)
        n12 += ones(q & x)
        n22 += ones(r & x)
        n32 += ones(s & x)
        x = r3[w]
        n03 += ones(p & x)
        n13 += ones(q & x)
        n23 += ones(r & x)
        n33 += ones(s & x)
    counts[i, j] += n00
    counts[i + 1, j] += n10
    counts[i + 2, j] += n20
    counts[i + 3, j] += n30
    counts[i, j + 1] += n01
    counts[i + 1, j + 1] += n11
    counts[i + 2, j + 1] += n21
    counts[i + 3, j + 1] += n31
    counts[i, j + 2] += n02
    counts[i + 1, j + 2] += n12
    counts[i + 2, j + 2] += n22
    counts[i + 3, j + 2] += n32
    counts[i, j + 3] += n03
    counts[i + 1, j + 3] += n13
    counts[i + 2, j + 3] += n23
    counts[i + 3, j + 3] += n33


@kernel
def _shared(left: NDArray[np.uint64], right: NDArray[np.uint64]) -> int:
    """Count what two sets share."""
    shared = 0
    for w in range(left.shape[0]):
        shared += ones(left[w] & right[w])
    return shared


def leverage_units(counts: JointCounts, bits: int) -> NDArray[np.int64]:
    """Score all pairs of splits by their leverage.

    Returns int64[2, left, right] in units of 2^-bits, rounded down. The first layer matches the
    sides on which both splits hold; the second matches the side on which the left split holds with
    the side on which the right split does not.
    """
    units = np.zeros((2, *counts.both.shape), dtype=np.int64)
    _leverage(counts, bits, units)
    return units


@kernel
def _leverage(counts: JointCounts, bits: int, units: NDArray[np.int64]) -> None:
    """Write the scores of all pairs of splits."""
    lefts, rights = counts.both.shape
    size = counts.known[0, 0]
    if size == 0:
        return
    scale = np.int64(1) << bits
    for i in range(lefts):
        held = counts.left_known[i, 0]
        for j in range(rights):
            row = counts.right_row[j]
            same, right = counts.both[i, j], counts.right_known[0, j]
            opposite, other = counts.left_known[i, row] - same, counts.known[0, row] - right
            units[0, i, j] = _scaled_share(same * size - held * right, size, scale)
            units[1, i, j] = _scaled_share(opposite * size - held * other, size, scale)


@kernel
def _scaled_share(surplus: np.int64, size: np.int64, scale: np.int64) -> np.int64:
    """Return ⌊scale · surplus / size⌋; the integer part goes first, to avoid overflow."""
    whole = surplus // size
    return scale * whole + scale * (surplus - whole * size) // size


def agreement_units(counts: JointCounts, halves: int) -> NDArray[np.int64]:
    """Score all pairs of splits by their agreement.

    halves: the penalty for each unmatched entity, in halves.
    Returns int64[2, left, right] in halves of an entity, not rounded; layers as in
    `leverage_units`.
    """
    units = np.zeros((2, *counts.both.shape), dtype=np.int64)
    _agreement(counts, halves, units)
    return units


@kernel
def _agreement(counts: JointCounts, halves: int, units: NDArray[np.int64]) -> None:
    """Write the scores of all pairs of splits."""
    lefts, rights = counts.both.shape
    size = counts.known[0, 0]
    for i in range(lefts):
        left_row = counts.left_row[i]
        for j in range(rights):
            row = counts.right_row[j]
            held = counts.both[i, j]
            only_left = counts.left_known[i, row] - held
            only_right = counts.right_known[left_row, j] - held
            neither = counts.known[left_row, row] - held - only_left - only_right
            units[0, i, j] = 2 * min(held, neither) - halves * (size - held - neither)
            units[1, i, j] = 2 * min(only_left, only_right) - halves * (
                size - only_left - only_right
            )


def correspondence_units(counts: JointCounts, pieces: NDArray[np.int64]) -> NDArray[np.int64]:
    """Score all pairs of splits by their correspondence.

    pieces: int64[shares, 3], what an entity on the first, on the second and on no pair of
            corresponding sides adds; the score is the smallest sum.
    Returns int64[2, left, right] in the units of `pieces`, not rounded; layers as in
    `leverage_units`.
    """
    units = np.full((2, *counts.both.shape), np.iinfo(np.int64).max)
    _correspondence(counts, pieces, np.empty((4, counts.both.shape[1]), dtype=np.int64), units)
    return units


@kernel
def _correspondence(
    counts: JointCounts,
    pieces: NDArray[np.int64],
    sides: NDArray[np.int64],
    units: NDArray[np.int64],
) -> None:
    """Write the scores of all pairs of splits.

    sides: int64[4, right], scratch: how many entities are on the first and on the second pair of
           corresponding sides, for either layer; the others are unmatched.
    units: int64[2, left, right], written; larger than any score.
    """
    lefts, rights = counts.both.shape
    size = counts.known[0, 0]
    for i in range(lefts):
        left_row = counts.left_row[i]
        for j in range(rights):
            row = counts.right_row[j]
            held = counts.both[i, j]
            only_left = counts.left_known[i, row] - held
            only_right = counts.right_known[left_row, j] - held
            sides[0, j], sides[2, j], sides[3, j] = held, only_left, only_right
            sides[1, j] = counts.known[left_row, row] - held - only_left - only_right
        for layer in range(2):
            _lower(sides[2 * layer], sides[2 * layer + 1], size, pieces, units[layer, i])


@kernel
def _lower(
    first: NDArray[np.int64],
    second: NDArray[np.int64],
    size: np.int64,
    pieces: NDArray[np.int64],
    smallest: NDArray[np.int64],
) -> None:
    """Lower numbers to the smallest of all sums; one sum after the other, for vector instructions.

    What an unmatched entity adds is added for every entity, and taken off the matched ones again.
    """
    for k in range(pieces.shape[0]):
        rest = pieces[k, 2]
        here, there, all_entities = pieces[k, 0] - rest, pieces[k, 1] - rest, rest * size
        for j in range(first.shape[0]):
            total = here * first[j] + there * second[j] + all_entities
            smallest[j] = min(smallest[j], total)
