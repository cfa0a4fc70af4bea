"""The Markov chain over pairs of trees: one split of either tree at a time."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from redveil.kernels.bits import bit_position, lowest_bit
from redveil.kernels.chain import Ending, accepts, below, ends, propose_split
from redveil.kernels.jit import kernel
from redveil.kernels.pair_score import association_units, pair_units
from redveil.kernels.subtree import SplitSets, first_leaf_below, keep, spread, tally


@kernel
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
) -> tuple[int, int, int]:
    """Walk; return the steps taken, the proposals accepted, and the moves into and out of leaves.

    splits: the two trees, full and of the same depth, changed in place; sets: their views' splits.
    target: int32[N], the classes that the first tree predicts; with classes = 0 there are none, and
            the score is twice the association. scale: the value of a grid unit in `trace`.
    """
    inner, walk_steps = splits[0].shape[0], trace.shape[0]
    members = np.zeros((2, 2 * inner + 1, all_entities.shape[0]), dtype=np.uint64)
    fresh = np.zeros_like(members)
    leaf_of = np.full((2, all_entities.shape[0] * 64), -1, dtype=np.int32)
    # table[side] has the side's own leaves as rows and the other side's as columns.
    table = np.zeros((2, inner + 1, inner + 1), dtype=np.int64)
    by_class = np.zeros((inner + 1, max(classes, 1)), dtype=np.int64)
    for side in range(2):
        members[side, 0] = all_entities
        spread(0, splits[side][0], splits[side], sets[side], members[side], fresh[side])
        count_moves(0, side, classes, members[side], fresh[side], leaf_of, target, table, by_class)
        settle(0, members[side], fresh[side], leaf_of[side])
    score = _score(by_class, table[1], entities, classes, grid_bits)
    tried, tried_class = table.copy(), by_class.copy()
    accepted, touched = 0, 0
    for step in range(walk_steps):
        trace[step] = score * scale
        if ends(trace, step, ending):
            return step, accepted, touched
        node = below(words[step, 0], 2 * inner)
        side = 0 if node < inner else 1
        node -= side * inner
        split = propose_split(words[step, 1], sets[side].first_split)
        spread(node, split, splits[side], sets[side], members[side], fresh[side])
        touched += count_moves(
            node, side, classes, members[side], fresh[side], leaf_of, target, tried, tried_class
        )
        proposal = _score(tried_class, tried[1], entities, classes, grid_bits)
        if accepts(words[step, 2], rate, proposal - score):
            accepted += 1
            splits[side][node] = split
            score = proposal
            settle(node, members[side], fresh[side], leaf_of[side])
            table[:] = tried
            by_class[:] = tried_class
        else:
            tried[:] = table
            tried_class[:] = by_class
    return walk_steps, accepted, touched


@kernel
def count_moves(
    node: int,
    side: int,
    classes: int,
    members: NDArray[np.uint64],
    fresh: NDArray[np.uint64],
    leaf_of: NDArray[np.int32],
    target: NDArray[np.int32],
    table: NDArray[np.int64],
    by_class: NDArray[np.int64],
) -> int:
    """Update the tables for a replacement in one tree; return the moves, as `tally` does.

    leaf_of: int32[2, N or more], each entity's leaf in both trees, -1 if stuck or not yet known.
    """
    inner = members.shape[0] // 2
    moved = tally(node, inner, members, fresh, leaf_of[1 - side], table[side])
    table[1 - side] = table[side].T
    if side == 0 and classes > 0:
        tally(node, inner, members, fresh, target, by_class)
    return moved


@kernel
def settle(
    node: int, members: NDArray[np.uint64], fresh: NDArray[np.uint64], leaf_of: NDArray[np.int32]
) -> None:
    """Accept a replacement: record the new leaf of every entity that moved, -1 if it is stuck."""
    inner = members.shape[0] // 2
    first, last = first_leaf_below(node, inner)
    for phase in range(2):
        for leaf in range(first, last + 1):
            for w in range(members.shape[1]):
                # First the entities that left, then those that joined: some are both.
                gone, here = members[leaf, w] & ~fresh[leaf, w], fresh[leaf, w] & ~members[leaf, w]
                moved = gone if phase == 0 else here
                while moved != np.uint64(0):
                    bit = lowest_bit(moved)
                    moved ^= bit
                    leaf_of[w * 64 + bit_position(bit)] = -1 if phase == 0 else leaf - inner
    keep(node, members, fresh)


@kernel
def _score(
    by_class: NDArray[np.int64], table: NDArray[np.int64], entities: int, classes: int, bits: int
) -> int:
    """Return the score of a pair: pair purity, or twice the association without classes."""
    if classes == 0:
        return association_units(table, bits)
    return pair_units(by_class, table, entities, bits)
