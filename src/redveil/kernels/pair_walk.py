"""The Markov chain over pairs of trees: one split of either tree at a time."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from redveil.kernels.chain import Ending, accepts, below, ends, propose_split
from redveil.kernels.jit import kernel
from redveil.kernels.pair_score import pair_units, twice_association
from redveil.kernels.subtree import (
    SplitSets,
    copy_rows,
    first_leaf_below,
    keep,
    label_sets,
    recount,
    spread,
)


class PairCounts(NamedTuple):
    """The counts from which a pair of trees is scored.

    classes: int64[leaves of the first tree, classes]
    table:   int64[leaves of the second tree, leaves of the first]
    """

    classes: NDArray[np.int64]
    table: NDArray[np.int64]


def walk_pair(
    splits: tuple[NDArray[np.int32], NDArray[np.int32]],
    sets: tuple[SplitSets, SplitSets],
    all_entities: NDArray[np.uint64],
    entities: int,
    target: NDArray[np.int32],
    classes: int,
    words: NDArray[np.uint64],
    rate: float,
    grid_bits: int,
    scale: float,
    ending: Ending,
    trace: NDArray[np.float64],
) -> tuple[int, int]:
    """Walk; return the steps taken and the proposals accepted.

    splits: the two trees, full and of the same depth, changed in place; sets: their views' splits.
    target: int32[N], the classes that the first tree predicts; with classes = 0 there are none, and
            the score is twice the association. scale: the value of a grid unit in `trace`.
    """
    leaves, size = splits[0].shape[0] + 1, all_entities.shape[0]
    members = np.zeros((2, 2 * leaves - 1, size), dtype=np.uint64)
    members[:, 0] = all_entities
    now, tried = (
        PairCounts(
            np.zeros((leaves, classes), dtype=np.int64), np.zeros((leaves, leaves), dtype=np.int64)
        )
        for _ in range(2)
    )
    labels = label_sets(target, classes, size) if classes else np.zeros((0, size), dtype=np.uint64)
    return _walk(
        splits, sets, labels, entities, words, rate, grid_bits, scale, ending, members,
        np.zeros_like(members), now, tried, np.zeros((2, leaves), dtype=np.int64), trace,
    )  # fmt: skip


@kernel
def _walk(
    splits: tuple[NDArray[np.int32], NDArray[np.int32]],
    sets: tuple[SplitSets, SplitSets],
    labels: NDArray[np.uint64],
    entities: int,
    words: NDArray[np.uint64],
    rate: float,
    grid_bits: int,
    scale: float,
    ending: Ending,
    members: NDArray[np.uint64],
    fresh: NDArray[np.uint64],
    now: PairCounts,
    tried: PairCounts,
    scratch: NDArray[np.int64],
    trace: NDArray[np.float64],
) -> tuple[int, int]:
    """Walk.

    labels:         uint64[classes, words], the entities of each class.
    members, fresh: uint64[2, nodes, words]; the first of each tree in `members` is all entities.
    now, tried:     the counts of the trees, and those with the proposed split; scratch.
    scratch:        int64[2, leaves].
    """
    inner, walk_steps = splits[0].shape[0], trace.shape[0]
    for side in range(2):
        spread(0, splits[side][0], splits[side], sets[side], members[side], fresh[side])
        keep(0, members[side], fresh[side])
        recount_pair(0, side, members, fresh[side], labels, tried)
    take(0, 0, tried, now)
    take(0, 1, tried, now)
    score = _score(now, entities, grid_bits, scratch)
    accepted = 0
    for step in range(walk_steps):
        trace[step] = score * scale
        if ends(trace, step, ending):
            return step, accepted
        node = below(words[step, 0], 2 * inner)
        side = 0 if node < inner else 1
        node -= side * inner
        split = propose_split(words[step, 1], sets[side].first_split)
        spread(node, split, splits[side], sets[side], members[side], fresh[side])
        recount_pair(node, side, members, fresh[side], labels, tried)
        proposal = _score(tried, entities, grid_bits, scratch)
        if accepts(words[step, 2], rate, proposal - score):
            accepted += 1
            splits[side][node] = split
            score = proposal
            keep(node, members[side], fresh[side])
            take(node, side, tried, now)
        else:
            take(node, side, now, tried)
    return walk_steps, accepted


@kernel
def recount_pair(
    node: int,
    side: int,
    members: NDArray[np.uint64],
    fresh: NDArray[np.uint64],
    labels: NDArray[np.uint64],
    counts: PairCounts,
) -> None:
    """Write the counts that change with a replacement in one tree.

    members: uint64[2, nodes, words]; fresh: uint64[nodes, words], of the changed tree.
    """
    inner = members.shape[1] // 2
    others = members[1 - side, inner:]
    if side == 1:
        recount(node, inner, fresh, others, counts.table.T)
        return
    recount(node, inner, fresh, others, counts.table)
    if labels.shape[0] > 0:
        recount(node, inner, fresh, labels, counts.classes.T)


@kernel
def take(node: int, side: int, source: PairCounts, goal: PairCounts) -> None:
    """Copy the counts that change with a replacement in one tree."""
    inner = goal.table.shape[0] - 1
    first, last = first_leaf_below(node, inner)
    first, last = first - inner, last - inner + 1
    if side == 1:
        copy_rows(source.table, goal.table, first, last)
        return
    copy_rows(source.table.T, goal.table.T, first, last)
    copy_rows(source.classes, goal.classes, first, last)


@kernel
def _score(counts: PairCounts, entities: int, grid_bits: int, scratch: NDArray[np.int64]) -> int:
    """Return the score of a pair: pair purity, or twice the association without classes."""
    if counts.classes.shape[1] == 0:
        return twice_association(counts.table, grid_bits, scratch)
    return pair_units(counts.classes, counts.table, entities, grid_bits)
