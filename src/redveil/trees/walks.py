"""Growing trees by walking: a Markov chain over whole trees, or over pairs of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

import numpy as np
from numpy.typing import NDArray

from redveil.data.binning import BinnedTable
from redveil.kernels.chain import WORDS_PER_STEP, Ending
from redveil.kernels.pair_walk import walk_pair
from redveil.kernels.subtree import SplitSets
from redveil.kernels.tree_walk import walk_tree
from redveil.privacy.mechanisms import walk
from redveil.privacy.randomness import Randomness, Words, below
from redveil.schema import Side
from redveil.sealed import Receipt, Released, Sealed, combine, within
from redveil.trees.counting import Classes
from redveil.trees.rules import HARDENED, Rules
from redveil.trees.scores import GRID_BITS
from redveil.trees.split_sets import all_entities, split_sets
from redveil.trees.splits import Splits
from redveil.trees.tree import Tree

Numbers = NDArray[np.int32]
Flag = NDArray[np.uint8]
NO_TARGET: Final = 0


@dataclass(frozen=True, slots=True)
class Ground:
    """What walks walk on, made once a run: sets of entities for every split of either view."""

    splits: dict[Side, Splits]
    sets: dict[Side, Sealed[SplitSets]]
    everybody: Sealed[NDArray[np.uint64]]
    rows: Sealed[int]
    stop: Flag
    rules: Rules

    @property
    def ending(self) -> Ending:
        """When walks end before their last step."""
        return Ending(self.stop, self.rules.window, self.rules.threshold)

    @classmethod
    def of(
        cls,
        data: Sealed[BinnedTable],
        splits: dict[Side, Splits],
        stop: Flag,
        rules: Rules = HARDENED,
        *,
        sets: bool = True,
    ) -> Ground:
        """Prepare both views; the sets only if they will be needed.

        stop: uint8[1], set to 1 from outside to end all walks at once.
        """
        sides = Side if sets else ()
        return cls(
            splits,
            {side: within(partial(_sets, side, splits[side]), data) for side in sides},
            within(lambda table: all_entities(table.rows), data),
            within(lambda table: table.rows, data),
            stop,
            rules,
        )


def walk_to_tree(
    ground: Ground,
    side: Side,
    depth: int,
    target: Sealed[Classes],
    classes: int,
    steps: int,
    receipt: Receipt,
    randomness: Randomness,
) -> Released[Tree]:
    """Return a tree drawn by a walk whose limit favours pure leaves (TREE_GINI)."""
    splits = ground.splits[side]
    start = random_splits(splits, depth, randomness)

    def chain(rate: float, words: Words) -> Sealed[tuple[int, ...]]:
        stay = words.reshape(steps, WORDS_PER_STEP)
        run = partial(run_tree, start, classes, stay, rate, ground)
        ended = within(run, ground.sets[side], ground.everybody, target)
        return within(lambda walked: walked.found[0], ended)

    words = steps * WORDS_PER_STEP
    found = walk(chain, ground.rules.tree, words, receipt, randomness)
    return combine(partial(released_tree, side, splits), found)


def walk_to_pair(
    ground: Ground,
    depth: int,
    target: tuple[Side, Sealed[Classes], int] | None,
    steps: int,
    receipt: Receipt,
    randomness: Randomness,
) -> dict[Side, Released[Tree]]:
    """Return a pair of trees drawn by a walk over pairs.

    target: the side whose tree is to predict it, the classes and their number; or None, and the
    walk climbs the association of the two trees' leaves instead.
    """
    first = target[0] if target else Side.LEFT
    sides = (first, first.other)
    starts = [random_splits(ground.splits[side], depth, randomness) for side in sides]
    classes = within(lambda rows: np.full(rows, -1, dtype=np.int32), ground.rows)
    number = NO_TARGET
    if target:
        _, classes, number = target

    def chain(rate: float, words: Words) -> Sealed[tuple[tuple[int, ...], ...]]:
        stay = words.reshape(steps, WORDS_PER_STEP)
        run = partial(run_pair, starts, number, stay, rate, ground)
        sealed_sets = (ground.sets[side] for side in sides)
        ended = within(run, *sealed_sets, ground.everybody, ground.rows, classes)
        return within(lambda walked: walked.found, ended)

    score = ground.rules.pair if target else ground.rules.association
    found = walk(chain, score, steps * WORDS_PER_STEP, receipt, randomness)
    return {
        side: combine(lambda both, i=i, s=side: released_tree(s, ground.splits[s], both[i]), found)
        for i, side in enumerate(sides)
    }


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
        """Copy the subtree at `source` to node `goal`, skipping splits that divide nobody."""
        if source >= len(chosen):
            return
        split = chosen[source]
        if splits.informative(path)[split]:
            kept[goal] = split
            place(2 * source + 1, 2 * goal + 1, (*path, (split, True)))
            place(2 * source + 2, 2 * goal + 2, (*path, (split, False)))
        else:
            holds = splits.follows(path, split)
            place(2 * source + (1 if holds else 2), goal, path)

    place(0, 0, ())
    inner = tuple(kept.get(node) for node in range(max(kept, default=-1) + 1))
    return Tree(side, inner, splits.stops(kept))


def _sets(side: Side, splits: Splits, table: BinnedTable) -> SplitSets:
    return split_sets(table.view(side), splits)


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
    ground: Ground,
    sets: SplitSets,
    entities: NDArray[np.uint64],
    target: Classes,
) -> Walked:
    """Walk over trees on plain data."""
    splits, trace, bits = start.copy(), np.zeros(len(words)), GRID_BITS
    _, accepted, _ = walk_tree(
        splits, sets, entities, target, classes, words, rate, bits, ground.rules.placed_cost,
        ground.ending, trace,
    )  # fmt: skip
    return Walked((tuple(splits.tolist()),), accepted, trace)


def run_pair(
    starts: Sequence[Numbers],
    classes: int,
    words: Words,
    rate: float,
    ground: Ground,
    first: SplitSets,
    second: SplitSets,
    entities: NDArray[np.uint64],
    rows: int,
    target: Classes,
) -> Walked:
    """Walk over pairs of trees on plain data."""
    both, trace, bits = (starts[0].copy(), starts[1].copy()), np.zeros(len(words)), GRID_BITS
    size = max(rows, 1) if ground.rules.normalised else 1
    _, accepted, _ = walk_pair(
        both, (first, second), entities, rows, target, classes, words, rate / size, bits,
        2.0**-bits / size, ground.ending, trace,
    )  # fmt: skip
    return Walked(tuple(tuple(splits.tolist()) for splits in both), accepted, trace)
