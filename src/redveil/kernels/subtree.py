"""Replacing one split of a tree: which entities move, and which counts change.

Only the subtree below the replaced node is touched. Trees are full, in heap order, with `inner`
inner nodes. `members` holds, for each node, the set of entities that reach it, as bits; `fresh` is
the same after a replacement, valid only at the replaced node and below it.
"""

from __future__ import annotations

from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from redveil.kernels.jit import kernel
from redveil.kernels.joint import joint_counts
from redveil.kernels.purity import share

Rows = TypeVar("Rows", NDArray[np.uint64], NDArray[np.int64])


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
    copy_rows(members, fresh, node, node + 1)
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
def copy_rows(source: Rows, goal: Rows, first: int, end: int) -> None:
    """Copy the rows first … end − 1; to assign a slice, Numba would allocate."""
    for row in range(first, end):
        for column in range(source.shape[1]):
            goal[row, column] = source[row, column]


@kernel
def first_leaf_below(node: int, inner: int) -> tuple[int, int]:
    """Return the first and the last leaf below a node, as node numbers."""
    first, last = node, node
    while first < inner:
        first, last = 2 * first + 1, 2 * last + 2
    return first, last


@kernel
def recount(
    node: int,
    inner: int,
    fresh: NDArray[np.uint64],
    labels: NDArray[np.uint64],
    counts: NDArray[np.int64],
) -> None:
    """Count the entities of every label at the leaves below a node.

    labels: uint64[labels, words], the entities of each label.
    counts: int64[labels, leaves], written for the leaves below the node; leaf 0 is node `inner`.
    """
    first, last = first_leaf_below(node, inner)
    joint_counts(labels, fresh[first : last + 1], counts[:, first - inner : last - inner + 1])


def label_sets(label: NDArray[np.int32], labels: int, words: int) -> NDArray[np.uint64]:
    """Return the entities of each label, uint64[labels, words]; label: int32[N], -1 for none.

    >>> label_sets(np.array([0, 1, -1, 0], np.int32), 2, 1).tolist()
    [[9], [2]]
    """
    sets = np.zeros((labels, words), dtype=np.uint64)
    _add_labelled(label, sets)
    return sets


@kernel
def _add_labelled(label: NDArray[np.int32], sets: NDArray[np.uint64]) -> None:
    """Add every entity to the set of its label."""
    for i in range(label.shape[0]):
        if label[i] >= 0:
            sets[label[i], i >> 6] |= np.uint64(1) << np.uint64(i & 63)


@kernel
def keep(node: int, members: NDArray[np.uint64], fresh: NDArray[np.uint64]) -> None:
    """Accept a replacement: copy its sets to the tree."""
    first, last = node, node
    while first < members.shape[0]:
        copy_rows(fresh, members, first, last + 1)
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
