"""The purity of the two sides of every candidate split, in integer grid units."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from redveil.kernels.jit import kernel

# The score of a node whose entities have moved since it was computed; no score is negative.
STALE: Final = -1


def purity_units(
    counts: NDArray[np.unsignedinteger | np.int64],
    first_bin: NDArray[np.int64],
    low: NDArray[np.int32],
    high: NDArray[np.int32],
    attribute: NDArray[np.int32],
    nodes: int,
    classes: int,
    grid_bits: int,
) -> NDArray[np.int64]:
    """Score every candidate split at every node: Σ over both sides of Σ_c n_c² / n.

    counts:    int64 or unsigned[bins, nodes * classes], group number = node * classes + class.
    first_bin: int64[attributes + 1], where each attribute's bins begin in `counts`.
    low, high: int32[splits], the bins (within the attribute) for which the split holds.
    attribute: int32[splits].
    Returns int64[nodes, splits] in units of 2^-grid_bits, each side rounded down. Entities whose
    value is missing are on neither side and add nothing.
    """
    units = np.zeros((nodes, attribute.shape[0]), dtype=np.int64)
    of_groups = np.zeros((3, nodes * classes), dtype=np.int64)
    of_nodes = np.zeros((5, nodes), dtype=np.int64)
    _score(counts, first_bin, low, high, attribute, classes, grid_bits, of_groups, of_nodes, units)
    return units


@kernel
def _score(
    counts: NDArray[np.unsignedinteger | np.int64],
    first_bin: NDArray[np.int64],
    low: NDArray[np.int32],
    high: NDArray[np.int32],
    attribute: NDArray[np.int32],
    classes: int,
    grid_bits: int,
    of_groups: NDArray[np.int64],
    of_nodes: NDArray[np.int64],
    units: NDArray[np.int64],
) -> None:
    """Write all scores.

    The splits of a number hold up to one cut after the other. So the side for which a split holds
    grows from one split to the next, bin by bin, and only nodes with entities in the new bins are
    scored again. That is most of the work where there is a cut between any two values.

    of_groups: int64[3, groups], scratch: all entities of an attribute, those inside, the others.
    of_nodes:  int64[5, nodes], scratch: the sums of the last two, of their squares, and the score.
    """
    everybody, score = of_groups[0], of_nodes[4]
    here, first, taken = -1, 0, 0
    for split in range(units.shape[1]):
        begin = first_bin[attribute[split]]
        fresh = attribute[split] != here
        if fresh:
            here = attribute[split]
            everybody[:] = 0
            for bin_ in range(begin, first_bin[here + 1]):
                for group in range(everybody.shape[0]):
                    everybody[group] += np.int64(counts[bin_, group])
        if fresh or low[split] != first or high[split] + 1 < taken:
            first = taken = low[split]
            _begin_outside(classes, of_groups, of_nodes)
        for bin_ in range(begin + taken, begin + high[split] + 1):
            _move_inside(counts[bin_], classes, of_groups, of_nodes)
        taken = high[split] + 1
        for node in range(units.shape[0]):
            if score[node] == STALE:
                score[node] = share(of_nodes[1, node], of_nodes[0, node], grid_bits) + share(
                    of_nodes[3, node], of_nodes[2, node], grid_bits
                )
            units[node, split] = score[node]


@kernel
def _begin_outside(classes: int, of_groups: NDArray[np.int64], of_nodes: NDArray[np.int64]) -> None:
    """Move all entities outside."""
    everybody, inside, outside = of_groups[0], of_groups[1], of_groups[2]
    rest, rest_squares, score = of_nodes[2], of_nodes[3], of_nodes[4]
    of_nodes[:, :] = 0
    for node in range(score.shape[0]):
        score[node] = STALE
        for group in range(node * classes, (node + 1) * classes):
            inside[group], outside[group] = 0, everybody[group]
            rest[node] += outside[group]
            rest_squares[node] += outside[group] * outside[group]


@kernel
def _move_inside(
    counts: NDArray[np.unsignedinteger | np.int64],
    classes: int,
    of_groups: NDArray[np.int64],
    of_nodes: NDArray[np.int64],
) -> None:
    """Move the entities of a bin inside; counts: int64 or unsigned[groups]."""
    inside, outside = of_groups[1], of_groups[2]
    size, squares, rest, rest_squares = of_nodes[0], of_nodes[1], of_nodes[2], of_nodes[3]
    score = of_nodes[4]
    for node in range(score.shape[0]):
        moved = np.int64(0)
        for group in range(node * classes, (node + 1) * classes):
            moved += np.int64(counts[group])
        if moved == 0:
            continue
        size[node] += moved
        rest[node] -= moved
        score[node] = STALE
        for group in range(node * classes, (node + 1) * classes):
            count = np.int64(counts[group])
            squares[node] += count * (2 * inside[group] + count)
            rest_squares[node] -= count * (2 * outside[group] - count)
            inside[group] += count
            outside[group] -= count


@kernel
def share(squares: int, size: int, grid_bits: int) -> int:
    """Return ⌊2^grid_bits · squares / size⌋ without overflow, 0 for an empty side."""
    if size == 0:
        return 0
    whole = squares // size
    return (whole << grid_bits) + ((squares - whole * size) << grid_bits) // size
