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


@kernel
def two_level_units(counts: JointCounts, grid_bits: int) -> NDArray[np.int64]:
    """Score every split below every split: Σ over its two sides of Σ_c n_c² / n.

    counts: joint counts of a view's splits with themselves among the entities of each class: every
            array of counts has one more axis, the classes, before the others.
    Returns int64[splits, 2, splits + 1] in units of 2^-grid_bits, each side rounded down:
    [root, 0, below] counts the entities for which the root's split holds, [root, 1, below] those
    for which it does not; the last number of each is their score as one leaf. Entities with a
    missing value are on neither side of a split and add nothing below it.
    """
    classes, splits, _ = counts.both.shape
    row = counts.left_row
    units = np.zeros((splits, 2, splits + 1), dtype=np.int64)
    size = np.zeros(4, dtype=np.int64)
    squares = np.zeros(4, dtype=np.int64)
    for i in range(splits):
        for j in range(i, splits):
            size[:] = 0
            squares[:] = 0
            for c in range(classes):
                both = counts.both[c, i, j]
                first = counts.left_known[c, i, row[j]] - both
                second = counts.left_known[c, j, row[i]] - both
                neither = counts.known[c, row[i], row[j]] - both - first - second
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
    return units


@kernel
def _tally(
    quadrant: int, members: int, size: NDArray[np.int64], squares: NDArray[np.int64]
) -> None:
    """Add the entities of one class to a quadrant."""
    size[quadrant] += members
    squares[quadrant] += members * members
