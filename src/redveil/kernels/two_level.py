"""The purity of the leaves of all trees with two levels: every split below every split.

Two splits divide the entities with known values for both into four quadrants. The classes there are
counted once per pair of splits and used twice, with either split above the other.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from redveil.kernels.jit import kernel
from redveil.kernels.joint import JointCounts
from redveil.kernels.purity import share


def two_level_units(counts: JointCounts, grid_bits: int) -> NDArray[np.int64]:
    """Score every split below every split: Σ over its two sides of Σ_c n_c² / n.

    counts: joint counts of a view's splits with themselves among the entities of each class: every
            array of counts has one more axis, the classes, before the others.
    Returns int64[splits, 2, splits + 1] in units of 2^-grid_bits, each side rounded down:
    [root, 0, below] counts the entities for which the root's split holds, [root, 1, below] those
    for which it does not; the last number of each is their score as one leaf. Entities with a
    missing value are on neither side of a split and add nothing below it.
    """
    splits = counts.both.shape[1]
    units = np.zeros((splits, 2, splits + 1), dtype=np.int64)
    size, squares = np.zeros(4, dtype=np.int64), np.zeros(4, dtype=np.int64)
    _score_quadrants(
        counts.both,
        counts.left_known,
        counts.known,
        counts.left_row,
        grid_bits,
        size,
        squares,
        units,
    )
    return units


@kernel
def _score_quadrants(
    counted_both: NDArray[np.int64],
    left_known: NDArray[np.int64],
    known: NDArray[np.int64],
    row: NDArray[np.int32],
    grid_bits: int,
    size: NDArray[np.int64],
    squares: NDArray[np.int64],
    units: NDArray[np.int64],
) -> None:
    """Write the scores of all pairs of splits; size, squares: int64[4], one for each quadrant."""
    classes, splits, _ = counted_both.shape
    for i in range(splits):
        for j in range(i, splits):
            size[:] = 0
            squares[:] = 0
            for c in range(classes):
                both = counted_both[c, i, j]
                first = left_known[c, i, row[j]] - both
                second = left_known[c, j, row[i]] - both
                neither = known[c, row[i], row[j]] - both - first - second
                _tally(0, both, size, squares)
                _tally(1, first, size, squares)
                _tally(2, second, size, squares)
                _tally(3, neither, size, squares)
            one = share(squares[1], size[1], grid_bits)
            other = share(squares[2], size[2], grid_bits)
            held = share(squares[0], size[0], grid_bits)
            rest = share(squares[3], size[3], grid_bits)
            units[i, 0, j] = held + one
            units[i, 1, j] = other + rest
            units[j, 0, i] = held + other
            units[j, 1, i] = one + rest
        # A split below itself divides nothing: its sides are the root's as leaves.
        units[i, 0, splits] = units[i, 0, i]
        units[i, 1, splits] = units[i, 1, i]


@kernel
def _tally(
    quadrant: int, members: int, size: NDArray[np.int64], squares: NDArray[np.int64]
) -> None:
    """Add the entities of one class to a quadrant."""
    size[quadrant] += members
    squares[quadrant] += members * members
