"""Scores of a pair of trees from the table of their leaves, in integer grid units."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from redveil.kernels.jit import kernel
from redveil.kernels.purity import share
from redveil.kernels.subtree import purity_of_leaves


def association_units(table: NDArray[np.int64], grid_bits: int) -> int:
    """Return twice the association of two partitions (Goodman and Kruskal, both directions).

    table: int64[rows, columns] of counts n_ij with row sums r_i, column sums c_j and total n:
    Σ_ij n_ij² / r_i + Σ_ij n_ij² / c_j − (Σ_i r_i² + Σ_j c_j²) / n, in units of 2^-grid_bits.
    Each row, each column and the last term are rounded down separately.
    """
    return twice_association(table, grid_bits, np.empty((2, table.shape[1]), dtype=np.int64))


@kernel
def twice_association(table: NDArray[np.int64], grid_bits: int, scratch: NDArray[np.int64]) -> int:
    """Return what `association_units` does; scratch: int64[2, columns]."""
    rows, columns = table.shape
    down, down_squares = scratch[0], scratch[1]
    scratch[:, :] = 0
    score, total, sum_squares = 0, 0, 0
    for i in range(rows):
        across, squares = 0, 0
        for j in range(columns):
            cell = table[i, j]
            across += cell
            squares += cell * cell
            down[j] += cell
            down_squares[j] += cell * cell
        score += share(squares, across, grid_bits)
        total += across
        sum_squares += across * across
    for j in range(columns):
        score += share(down_squares[j], down[j], grid_bits)
        sum_squares += down[j] * down[j]
    return score - share(sum_squares, total, grid_bits)


@kernel
def pair_units(
    classes: NDArray[np.int64], table: NDArray[np.int64], entities: int, grid_bits: int
) -> int:
    """Return N times the published score of a tree pair, g_1 · (1 + g_2) / 2.

    classes: int64[leaves of the first tree, classes]; table: int64[leaves of the second tree,
    leaves of the first]; entities: N. With G = N·g, each g the mean of Σ_c (n_c / n)² over leaves,
    this is G_1 · (N + G_2) / (2N), rounded to the nearest unit of 2^-grid_bits.
    """
    if entities == 0:
        return 0
    first = purity_of_leaves(0, classes.shape[0] - 1, classes, grid_bits, 0)
    second = purity_of_leaves(0, table.shape[0] - 1, table, grid_bits, 0)
    whole = np.float64(entities) * 2.0**grid_bits
    return int(np.int64(np.rint(first * (0.5 + second / (2.0 * whole)))))
