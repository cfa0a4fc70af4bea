"""Replacing one split of a tree: which entities move, and which counts change.

Only the subtree below the replaced node is touched. Trees are full, in heap order, with `inner`
inner nodes. `members` holds, for each node, the set of entities that reach it, as bits; `fresh` is
the same after a replacement, valid only at the replaced node and below it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from redveil.kernels.bits import bit_position, lowest_bit
from redveil.kernels.jit import kernel
from redveil.kernels.purity import share


class SplitSets(NamedTuple):
    """The candidate splits of a view as sets of entities.

    holds:       uint64[splits, words], the entities for which each split holds
    known:       uint64[some, words], sets of entities whose value is known
    known_row:   int32[splits], which of these sets belongs to a split's attribute
    first_split: int32[attributes + 1], attribute a has the splits first_split[a] … [a + 1] − 1
    """

    holds: NDArray[np.uint64]
    known: NDArray[np.uint64]
    known_row: NDArray[np.int32]
    first_split: NDArray[np.int32]


@kernel
def spread(
    node: int,
    split: int,
    splits: NDArray[np.int32],
    sets: SplitSets,
    members: NDArray[np.uint64],
    fresh: NDArray[np.uint64],
) -> None:
    """Send a node's entities down again, as if `split` were the split of the node.

    splits: int32[inner], the current splits.
    fresh:  uint64[nodes, words], written for the node and everything below it. Entities with a
            missing value are stuck: they reach the node and neither child.
    """
    holds, known, known_row = sets.holds, sets.known, sets.known_row
    inner, words = splits.shape[0], members.shape[1]
    fresh[node] = members[node]
    first, last = node, node
    while first < inner:
        for n in range(first, last + 1):
            asked = split if n == node else splits[n]
            row = known_row[asked]
            for w in range(words):
                here, yes = fresh[n, w], holds[asked, w]
                fresh[2 * n + 1, w] = here & yes
                fresh[2 * n + 2, w] = here & ~yes & known[row, w]
        first, last = 2 * first + 1, 2 * last + 2


@kernel
def first_leaf_below(node: int, inner: int) -> tuple[int, int]:
    """Return the first and the last leaf below a node, as node numbers."""
    first, last = node, node
    while first < inner:
        first, last = 2 * first + 1, 2 * last + 2
    return first, last


@kernel
def tally(
    node: int,
    inner: int,
    members: NDArray[np.uint64],
    fresh: NDArray[np.uint64],
    label: NDArray[np.int32],
    counts: NDArray[np.int64],
) -> int:
    """Move counts from the leaves that entities left to those they joined; return the moves.

    label:  int32[N], what each entity is counted under, -1 if it is not counted.
    counts: int64[leaves, labels], changed for the leaves below the node; leaf 0 is node `inner`.
    An entity that changes leaves makes two moves: one for leaving, one for joining.
    """
    first, last = first_leaf_below(node, inner)
    moved = 0
    for leaf in range(first, last + 1):
        for w in range(members.shape[1]):
            changed = members[leaf, w] ^ fresh[leaf, w]
            joined = fresh[leaf, w]
            while changed != np.uint64(0):
                bit = lowest_bit(changed)
                changed ^= bit
                under = label[w * 64 + bit_position(bit)]
                moved += 1
                if under >= 0:
                    counts[leaf - inner, under] += 1 if joined & bit != np.uint64(0) else -1
    return moved


@kernel
def keep(node: int, members: NDArray[np.uint64], fresh: NDArray[np.uint64]) -> None:
    """Accept a replacement: copy its sets to the tree."""
    first, last = node, node
    while first < members.shape[0]:
        members[first : last + 1] = fresh[first : last + 1]
        first, last = 2 * first + 1, 2 * last + 2


@kernel
def purity_of_leaves(
    first: int, last: int, counts: NDArray[np.int64], grid_bits: int, cost: int
) -> int:
    """Return Σ over leaves first … last of Σ_c n_c² / n − cost · n, each rounded down to the grid.

    counts: int64[leaves, classes]; cost: grid units subtracted for each entity.
    """
    score = 0
    for leaf in range(first, last + 1):
        size, squares = 0, 0
        for c in range(counts.shape[1]):
            size += counts[leaf, c]
            squares += counts[leaf, c] * counts[leaf, c]
        score += share(squares, size, grid_bits) - cost * size
    return score
