"""The Markov chain over trees: replace one split, recount below it, accept or reject."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from redveil.kernels.chain import Ending, accepts, below, ends, propose_split
from redveil.kernels.jit import kernel
from redveil.kernels.subtree import (
    SplitSets,
    copy_rows,
    first_leaf_below,
    keep,
    label_sets,
    purity_of_leaves,
    recount,
    spread,
)


def walk_tree(
    splits: NDArray[np.int32],
    sets: SplitSets,
    all_entities: NDArray[np.uint64],
    target: NDArray[np.int32],
    classes: int,
    words: NDArray[np.uint64],
    rate: float,
    grid_bits: int,
    cost: int,
    ending: Ending,
    trace: NDArray[np.float64],
) -> tuple[int, int]:
    """Walk; return the steps taken and the proposals accepted.

    splits:       int32[inner], the full tree to start from, changed in place; heap order.
    all_entities: uint64[words], the set of all entities.
    target:       int32[N], the class of each entity, -1 for none.
    words:        uint64[walk_steps, 3], uniform: for the node, for its split, and for acceptance.
    rate:         acceptance is min(1, exp(rate · change of the score in grid units)).
    cost:         grid units subtracted for every entity with a class that reaches a leaf.
    trace:        float64[walk_steps], the score before each step, written.
    """
    inner, size = splits.shape[0], all_entities.shape[0]
    members = np.zeros((2 * inner + 1, size), dtype=np.uint64)
    members[0] = all_entities
    counts = np.zeros((2, inner + 1, classes), dtype=np.int64)
    return _walk(
        splits, sets, label_sets(target, classes, size), words, rate, grid_bits, cost, ending,
        members, np.zeros_like(members), counts, trace,
    )  # fmt: skip


@kernel
def _walk(
    splits: NDArray[np.int32],
    sets: SplitSets,
    labels: NDArray[np.uint64],
    words: NDArray[np.uint64],
    rate: float,
    grid_bits: int,
    cost: int,
    ending: Ending,
    members: NDArray[np.uint64],
    fresh: NDArray[np.uint64],
    both: NDArray[np.int64],
    trace: NDArray[np.float64],
) -> tuple[int, int]:
    """Walk.

    labels:         uint64[classes, words], the entities of each class.
    members, fresh: uint64[nodes, words]; the first of `members` is the set of all entities.
    both:           int64[2, leaves, classes], the counts now and as proposed; scratch.
    """
    inner, walk_steps = splits.shape[0], trace.shape[0]
    counts, proposed = both[0], both[1]
    spread(0, splits[0], splits, sets, members, fresh)
    recount(0, inner, fresh, labels, counts.T)
    keep(0, members, fresh)
    score = purity_of_leaves(0, inner, counts, grid_bits, cost)
    accepted = 0
    for step in range(walk_steps):
        trace[step] = score * 2.0**-grid_bits
        if ends(trace, step, ending):
            return step, accepted
        node = below(words[step, 0], inner)
        split = propose_split(words[step, 1], sets.first_split)
        first, last = first_leaf_below(node, inner)
        first, last = first - inner, last - inner
        spread(node, split, splits, sets, members, fresh)
        recount(node, inner, fresh, labels, proposed.T)
        before = purity_of_leaves(first, last, counts, grid_bits, cost)
        change = purity_of_leaves(first, last, proposed, grid_bits, cost) - before
        if accepts(words[step, 2], rate, change):
            accepted += 1
            splits[node] = split
            score += change
            keep(node, members, fresh)
            copy_rows(proposed, counts, first, last + 1)
    return walk_steps, accepted
