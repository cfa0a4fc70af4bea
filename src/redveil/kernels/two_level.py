"""The purity of the leaves of all trees with two levels: every split below every split.

Two splits divide the entities with known values for both into four quadrants. The classes there are
counted once per pair of splits and used twice, with either split above the other.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from redveil.kernels.bits import bit_position, lowest_bit, ones
from redveil.kernels.jit import kernel
from redveil.kernels.purity import share
from redveil.kernels.subtree import SplitSets

# Pairs of splits are counted in square tiles of this size, so that their sets stay in cache.
TILE_SIZE = 16


@kernel
def two_level_units(
    sets: SplitSets, target: NDArray[np.int32], classes: int, grid_bits: int
) -> NDArray[np.int64]:
    """Score every split below every split: Σ over its two sides of Σ_c n_c² / n.

    target: int32[N], the class of each entity, -1 for none (it is then not counted).
    Returns int64[splits, 2, splits + 1] in units of 2^-grid_bits, each side rounded down:
    [root, 0, below] counts the entities for which the root's split holds, [root, 1, below] those
    for which it does not; the last number of each is their score as one leaf. Entities with a
    missing value are on neither side of a split and add nothing below it.
    """
    place, first_word = places_by_class(target, classes)
    holds = moved(sets.holds, place, first_word[-1])
    known = moved(sets.known, place, first_word[-1])
    splits = holds.shape[0]
    units = np.zeros((splits, 2, splits + 1), dtype=np.int64)
    units[:, :, splits] = _leaf_units(holds, known, sets.known_row, first_word, grid_bits)
    size = np.zeros((TILE_SIZE, TILE_SIZE, 4), dtype=np.int64)
    squares = np.zeros_like(size)
    for top in range(0, splits, TILE_SIZE):
        for left in range(top, splits, TILE_SIZE):
            _count_quadrants(holds, known, sets.known_row, first_word, top, left, size, squares)
            _score_quadrants(top, left, size, squares, grid_bits, units)
    return units


@kernel
def leaf_units(
    sets: SplitSets, target: NDArray[np.int32], classes: int, grid_bits: int
) -> NDArray[np.int64]:
    """Score the two sides of every split as leaves: Σ_c n_c² / n, int64[splits, 2].

    target: int32[N], the class of each entity, -1 for none (it is then not counted).
    [split, 0] counts the entities for which the split holds, [split, 1] those for which it does
    not, each rounded down to units of 2^-grid_bits.
    """
    place, first_word = places_by_class(target, classes)
    holds = moved(sets.holds, place, first_word[-1])
    known = moved(sets.known, place, first_word[-1])
    return _leaf_units(holds, known, sets.known_row, first_word, grid_bits)


@kernel
def places_by_class(
    target: NDArray[np.int32], classes: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Arrange entities class by class, each class starting at a new word.

    Returns int64[N], the place of each entity, -1 for those without a class, and
    int64[classes + 1], the first word of each class.

    >>> place, first_word = places_by_class(np.array([1, 0, -1, 1], np.int32), 2)
    >>> place.tolist(), first_word.tolist()
    ([64, 0, -1, 65], [0, 1, 2])
    """
    rows = target.shape[0]
    size = np.zeros(classes, dtype=np.int64)
    for i in range(rows):
        if target[i] >= 0:
            size[target[i]] += 1
    first_word = np.zeros(classes + 1, dtype=np.int64)
    for c in range(classes):
        first_word[c + 1] = first_word[c] + (size[c] + 63) // 64
    following = first_word[:classes] * 64
    place = np.full(rows, -1, dtype=np.int64)
    for i in range(rows):
        if target[i] >= 0:
            place[i] = following[target[i]]
            following[target[i]] += 1
    return place, first_word


@kernel
def moved(sets: NDArray[np.uint64], place: NDArray[np.int64], words: int) -> NDArray[np.uint64]:
    """Return the sets with every entity at its new place; entities without one are left out.

    sets: uint64[some, words before]; place: int64[N], -1 for none. Returns uint64[some, words].

    >>> moved(np.array([[5]], np.uint64), np.array([3, -1, 0]), 1).tolist()
    [[9]]
    """
    found = np.zeros((sets.shape[0], words), dtype=np.uint64)
    for one in range(sets.shape[0]):
        for w in range(sets.shape[1]):
            word = sets[one, w]
            while word != np.uint64(0):
                bit = lowest_bit(word)
                word ^= bit
                to = place[w * 64 + bit_position(bit)]
                if to >= 0:
                    found[one, to // 64] |= np.uint64(1) << np.uint64(to % 64)
    return found


@kernel
def common(one: NDArray[np.uint64], other: NDArray[np.uint64]) -> int:
    """Return how many entities two sets share.

    >>> int(common(np.array([7, 1], np.uint64), np.array([5, 3], np.uint64)))
    3
    """
    count = 0
    for w in range(one.shape[0]):
        count += ones(one[w] & other[w])
    return count


@kernel
def _count_quadrants(
    holds: NDArray[np.uint64],
    known: NDArray[np.uint64],
    known_row: NDArray[np.int32],
    first_word: NDArray[np.int64],
    top: int,
    left: int,
    size: NDArray[np.int64],
    squares: NDArray[np.int64],
) -> None:
    """Count the four quadrants of a tile of pairs of splits: their sizes, and Σ_c n_c².

    size, squares: int64[TILE_SIZE, TILE_SIZE, 4], written:
                   [first split − top, second split − left, quadrant].
    Quadrants: both hold, only the first, only the second, neither.
    """
    size[:] = 0
    squares[:] = 0
    bottom, right = (
        min(top + TILE_SIZE, holds.shape[0]),
        min(left + TILE_SIZE, holds.shape[0]),
    )
    second_holds = np.zeros(TILE_SIZE, dtype=np.int64)
    both_known = np.zeros(TILE_SIZE, dtype=np.int64)
    for c in range(first_word.shape[0] - 1):
        begin, end = first_word[c], first_word[c + 1]
        for i in range(top, bottom):
            first, asked = holds[i, begin:end], known[known_row[i], begin:end]
            # Adjacent splits mostly share the set of entities whose value is known.
            new_row = i == top or known_row[i] != known_row[i - 1]
            first_holds = 0
            for j in range(left, right):
                second, answered = holds[j, begin:end], known[known_row[j], begin:end]
                new_column = j == left or known_row[j] != known_row[j - 1]
                if new_column:
                    first_holds = common(first, answered)
                if new_row:
                    second_holds[j - left] = common(asked, second)
                    both_known[j - left] = (
                        common(asked, answered) if new_column else both_known[j - left - 1]
                    )
                both = common(first, second)
                quadrants = (
                    both,
                    first_holds - both,
                    second_holds[j - left] - both,
                    both_known[j - left] - first_holds - second_holds[j - left] + both,
                )
                for quadrant in range(4):
                    members = quadrants[quadrant]
                    size[i - top, j - left, quadrant] += members
                    squares[i - top, j - left, quadrant] += members * members


@kernel
def _score_quadrants(
    top: int,
    left: int,
    size: NDArray[np.int64],
    squares: NDArray[np.int64],
    grid_bits: int,
    units: NDArray[np.int64],
) -> None:
    """Write the scores of a tile of pairs, with either split above the other."""
    splits = units.shape[0]
    for i in range(top, min(top + TILE_SIZE, splits)):
        for j in range(left, min(left + TILE_SIZE, splits)):
            n, s = size[i - top, j - left], squares[i - top, j - left]
            both, neither = share(s[0], n[0], grid_bits), share(s[3], n[3], grid_bits)
            first, second = share(s[1], n[1], grid_bits), share(s[2], n[2], grid_bits)
            units[i, 0, j] = both + first
            units[i, 1, j] = second + neither
            units[j, 0, i] = both + second
            units[j, 1, i] = first + neither


@kernel
def _leaf_units(
    holds: NDArray[np.uint64],
    known: NDArray[np.uint64],
    known_row: NDArray[np.int32],
    first_word: NDArray[np.int64],
    grid_bits: int,
) -> NDArray[np.int64]:
    """Score the two sides of every split, for sets arranged class by class, int64[splits, 2]."""
    units = np.zeros((holds.shape[0], 2), dtype=np.int64)
    for i in range(holds.shape[0]):
        inside, inside_squares, outside, outside_squares = 0, 0, 0, 0
        for c in range(first_word.shape[0] - 1):
            begin, end = first_word[c], first_word[c + 1]
            here, asked = holds[i, begin:end], known[known_row[i], begin:end]
            held = common(here, here)
            rest = common(asked, asked) - held
            inside += held
            outside += rest
            inside_squares += held * held
            outside_squares += rest * rest
        units[i, 0] = share(inside_squares, inside, grid_bits)
        units[i, 1] = share(outside_squares, outside, grid_bits)
    return units
