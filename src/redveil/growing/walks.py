"""Growing trees by walking: a Markov chain over whole trees, or over pairs of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from redveil.counting.columns import Classes
from redveil.growing.rules import HARDENED_RULES, Rules
from redveil.kernels.chain import WORDS_PER_STEP, Ending
from redveil.kernels.pair_walk import walk_pair
from redveil.kernels.subtree import SplitSets
from redveil.kernels.tree_walk import walk_tree
from redveil.privacy.mechanisms import walk
from redveil.privacy.randomness import Randomness, Words, below
from redveil.schema import Side
from redveil.sealed import Receipt, Released, Sealed, combine, within
from redveil.trees.scores import GRID_BITS
from redveil.trees.splits import Splits
from redveil.trees.tree import Tree

if TYPE_CHECKING:
    from redveil.counting.labels import Labels
    from redveil.counting.prepared import Flag, PreparedData

Numbers = NDArray[np.int32]
NO_TARGET: Final = 0


def walk_to_tree(
    data: PreparedData,
    side: Side,
    depth: int,
    target: Labels,
    classes: int,
    walk_steps: int,
    receipt: Receipt,
    randomness: Randomness,
    rules: Rules = HARDENED_RULES,
) -> Released[Tree]:
    """Return a tree drawn by a walk whose limit favours pure leaves (TREE_GINI)."""
    splits, predicted = data.splits[side], data.classes(target)
    start = random_splits(splits, depth, randomness)

    def chain(rate: float, words: Words) -> Sealed[tuple[int, ...]]:
        moves = words.reshape(walk_steps, WORDS_PER_STEP)
        run = partial(run_tree, start, classes, moves, rate, rules, data.stop)
        ended = within(run, data.sets(side), data.here.entities, predicted)
        return within(lambda walked: walked.found[0], ended)

    found = walk(chain, rules.tree, walk_steps * WORDS_PER_STEP, receipt, randomness)
    return combine(partial(released_tree, side, splits), found)


def walk_to_pair(
    data: PreparedData,
    depth: int,
    target: tuple[Side, Labels, int] | None,
    walk_steps: int,
    receipt: Receipt,
    randomness: Randomness,
    rules: Rules = HARDENED_RULES,
) -> dict[Side, Released[Tree]]:
    """Return a pair of trees drawn by a walk over pairs.

    target: the side whose tree is to predict it, the classes and their number; with None, the walk
            is scored by the association of the two trees' leaves instead.
    """
    first = target[0] if target else Side.LEFT
    sides = (first, first.other)
    starts = [random_splits(data.splits[side], depth, randomness) for side in sides]
    if target:
        _, labels, number = target
        classes = data.classes(labels)
    else:
        classes, number = within(_no_classes, data.here.rows), NO_TARGET

    def chain(rate: float, words: Words) -> Sealed[tuple[tuple[int, ...], ...]]:
        moves = words.reshape(walk_steps, WORDS_PER_STEP)
        run = partial(run_pair, starts, number, moves, rate, rules, data.stop)
        sealed_sets = (data.sets(side) for side in sides)
        ended = within(run, *sealed_sets, data.here.entities, classes)
        return within(lambda walked: walked.found, ended)

    score = rules.pair if target else rules.association
    found = walk(chain, score, walk_steps * WORDS_PER_STEP, receipt, randomness)
    return {
        side: combine(lambda both, i=i, s=side: released_tree(s, data.splits[s], both[i]), found)
        for i, side in enumerate(sides)
    }


def _no_classes(rows: int) -> Classes:
    return np.full(rows, -1, dtype=np.int32)


def random_splits(splits: Splits, depth: int, randomness: Randomness) -> Numbers:
    """Return a random full tree: at each inner node a uniform split of a uniform attribute."""
    counts = np.bincount(splits.attribute)
    first = np.concatenate([[0], np.cumsum(counts)])
    attributes = [below(randomness, counts.size) for _ in range(2**depth - 1)]
    chosen = [int(first[a]) + below(randomness, int(counts[a])) for a in attributes]
    return np.array(chosen, dtype=np.int32)


def released_tree(side: Side, splits: Splits, chosen: Sequence[int]) -> Tree:
    """Return a full tree without the splits whose answer follows from the path. Public."""
    kept: dict[int, int] = {}

    def place(source: int, goal: int, path: tuple[tuple[int, bool], ...]) -> None:
        """Copy the subtree at `source` to node `goal`, skipping splits that divide no entities."""
        if source >= len(chosen):
            return
        split = chosen[source]
        holds = splits.answer(path, split)
        if holds is None:
            kept[goal] = split
            place(2 * source + 1, 2 * goal + 1, (*path, (split, True)))
            place(2 * source + 2, 2 * goal + 2, (*path, (split, False)))
        else:
            place(2 * source + (1 if holds else 2), goal, path)

    place(0, 0, ())
    return Tree.of(side, kept, splits.stops(kept))


@dataclass(frozen=True, slots=True, eq=False)
class Walked:
    """Where a walk ended and how it went. Private until a mechanism releases `found`."""

    found: tuple[tuple[int, ...], ...]
    accepted: int
    trace: NDArray[np.float64]


def run_tree(
    start: Numbers,
    classes: int,
    words: Words,
    rate: float,
    rules: Rules,
    stop: Flag,
    sets: SplitSets,
    entities: NDArray[np.uint64],
    target: Classes,
) -> Walked:
    """Walk over trees on plain data."""
    splits, trace, bits = start.copy(), np.zeros(len(words)), GRID_BITS
    _, accepted = walk_tree(
        splits, sets, entities, target, classes, words, rate, bits, rules.placed_cost,
        _ending(rules, stop, span=target.size), trace,
    )  # fmt: skip
    return Walked((tuple(splits.tolist()),), accepted, trace)


def run_pair(
    starts: Sequence[Numbers],
    classes: int,
    words: Words,
    rate: float,
    rules: Rules,
    stop: Flag,
    first: SplitSets,
    second: SplitSets,
    entities: NDArray[np.uint64],
    target: Classes,
) -> Walked:
    """Walk over pairs of trees on plain data."""
    rows = target.size
    both, trace, bits = (starts[0].copy(), starts[1].copy()), np.zeros(len(words)), GRID_BITS
    size = max(rows, 1) if rules.normalised else 1
    _, accepted = walk_pair(
        both, (first, second), entities, rows, target, classes, words, rate / size, bits,
        2.0**-bits / size, _ending(rules, stop, span=1), trace,
    )  # fmt: skip
    return Walked(tuple(tuple(splits.tolist()) for splits in both), accepted, trace)


def _ending(rules: Rules, stop: Flag, span: int) -> Ending:
    """Return when a walk ends before its last step; span: the length of its scores' range."""
    return Ending(stop, rules.window, rules.threshold * max(span, 1))
