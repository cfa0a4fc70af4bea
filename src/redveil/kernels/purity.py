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
    most = int(np.diff(first_bin).max(initial=0))
    before = np.zeros((most + 1, nodes * classes), dtype=np.int64)
    units = np.zeros((nodes, attribute.shape[0]), dtype=np.int64)
    _score(counts, first_bin, low, high, attribute, classes, grid_bits, before, units)
    return units


@kernel
def _score(
    counts: NDArray[np.int64],
    first_bin: NDArray[np.int64],
    low: NDArray[np.int32],
    high: NDArray[np.int32],
    attribute: NDArray[np.int32],
    classes: int,
    grid_bits: int,
    before: NDArray[np.int64],
    units: NDArray[np.int64],
) -> None:
    """Write all scores.

    before: int64[bins of an attribute + 1, groups], scratch: the counts of all bins before each,
            of one attribute at a time, so that they stay in cache. Its first row is 0.
    """
    nodes, splits = units.shape
    summed, bins = -1, 0
    for split in range(splits):
        if attribute[split] != summed:
            summed = attribute[split]
            begin = first_bin[summed]
            bins = first_bin[summed + 1] - begin
            for bin_ in range(bins):
                for group in range(counts.shape[1]):
                    before[bin_ + 1, group] = before[bin_, group] + counts[begin + bin_, group]
        for node in range(nodes):
            inside, inside_squares, outside, outside_squares = 0, 0, 0, 0
            for group in range(node * classes, (node + 1) * classes):
                holds = before[high[split] + 1, group] - before[low[split], group]
                rest = before[bins, group] - holds
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
