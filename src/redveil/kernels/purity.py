"""The purity of the two sides of every candidate split, in integer grid units."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from redveil.kernels.jit import kernel


def purity_units(
    counts: NDArray[np.int64],
    first_bin: NDArray[np.int64],
    low: NDArray[np.int32],
    high: NDArray[np.int32],
    attribute: NDArray[np.int32],
    nodes: int,
    classes: int,
    grid_bits: int,
) -> NDArray[np.int64]:
    """Score every candidate split at every node: Σ over both sides of Σ_c n_c² / n.

    counts:    int64[bins, nodes * classes], group number = node * classes + class.
    first_bin: int64[attributes + 1], where each attribute's bins begin in `counts`.
    low, high: int32[splits], the bins (within the attribute) for which the split holds.
    attribute: int32[splits].
    Returns int64[nodes, splits] in units of 2^-grid_bits, each side rounded down. Entities whose
    value is missing are on neither side and add nothing.
    """
    before = np.zeros((counts.shape[0] + 1, nodes * classes), dtype=np.int64)
    np.cumsum(counts, axis=0, out=before[1:])
    units = np.zeros((nodes, attribute.shape[0]), dtype=np.int64)
    _score(before, first_bin, low, high, attribute, classes, grid_bits, units)
    return units


@kernel
def _score(
    before: NDArray[np.int64],
    first_bin: NDArray[np.int64],
    low: NDArray[np.int32],
    high: NDArray[np.int32],
    attribute: NDArray[np.int32],
    classes: int,
    grid_bits: int,
    units: NDArray[np.int64],
) -> None:
    """Write all scores; before: int64[bins + 1, groups], the counts of all bins before each."""
    nodes, splits = units.shape
    for split in range(splits):
        begin, end = first_bin[attribute[split]], first_bin[attribute[split] + 1]
        inside_from, inside_to = begin + low[split], begin + high[split] + 1
        for node in range(nodes):
            inside, inside_squares, outside, outside_squares = 0, 0, 0, 0
            for group in range(node * classes, (node + 1) * classes):
                holds = before[inside_to, group] - before[inside_from, group]
                rest = before[end, group] - before[begin, group] - holds
                inside += holds
                outside += rest
                inside_squares += holds * holds
                outside_squares += rest * rest
            units[node, split] = share(inside_squares, inside, grid_bits) + share(
                outside_squares, outside, grid_bits
            )


@kernel
def share(squares: int, size: int, grid_bits: int) -> int:
    """Return ⌊2^grid_bits · squares / size⌋ without overflow, 0 for an empty side."""
    if size == 0:
        return 0
    whole = squares // size
    return (whole << grid_bits) + ((squares - whole * size) << grid_bits) // size
