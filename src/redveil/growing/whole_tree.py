"""Drawing a whole tree at once, exactly: the exponential mechanism over all trees of a view.

No Markov chain: trees of one or two levels are few enough for the law over all of them to be summed
up (privacy/choose_tree.md), so the promise holds as it stands and not only in the limit.

**The base measure** is that of the walk in `trees.walks`: at every node a uniform attribute, then a
uniform split of it. A split of an attribute with v splits weighs L / v, a whole number, with L the
least common multiple of all v. Splits whose answer follows from the path are left out, so the law
is the walk's limit on condition that every split can divide. Where none can, which takes a view of
one attribute, a leaf stays; it weighs L, as much as all splits there together do in the walk. A
view whose L is not below 2^53, the largest base measure (some attribute has more than 40 splits
then), weighs all splits alike instead. All of this is public.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from functools import partial
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from redveil.counting.columns import score_splits
from redveil.errors import PlanError
from redveil.kernels.joint import JointCounts
from redveil.kernels.two_level import two_level_units
from redveil.privacy.mechanisms import choose, choose_tree
from redveil.privacy.randomness import Randomness
from redveil.privacy.selection import LARGEST_BASE
from redveil.privacy.two_level_selection import TwoLevelBase
from redveil.schema import Side
from redveil.sealed import Receipt, Released, combine, within
from redveil.trees.scores import GRID_BITS, TREE_GINI
from redveil.trees.splits import Splits
from redveil.trees.tree import Tree

if TYPE_CHECKING:
    from redveil.counting.labels import Labels
    from redveil.counting.prepared import PreparedData

Integers = NDArray[np.int64]
DEEPEST: Final = 2


def draw_tree(
    data: PreparedData,
    side: Side,
    depth: int,
    target: Labels,
    classes: int,
    receipt: Receipt,
    randomness: Randomness,
    avoid: Collection[int] = (),
) -> Released[Tree]:
    """Return a tree drawn from the exponential mechanism's law over all trees (TREE_GINI).

    depth:  1 or 2.
    target: what tells the class of each entity, 0 … classes − 1, or that it has none.
    avoid:  attributes that the root leaves alone, as long as others are left. Public.
    """
    if not 1 <= depth <= DEEPEST:
        raise PlanError(
            f"trees are drawn exactly at depth 1 or 2, not {depth}; walk to deeper ones"
        )
    splits = data.splits[side]
    if depth == 1:
        counts = data.bins(Tree(side, ()), (0,), target, classes)
        stumps = within(partial(score_splits, splits=splits, nodes=1, classes=classes), counts)
        root = choose(stumps, TREE_GINI, stump_base(splits, avoid), receipt, randomness)
        return combine(partial(tree_of, side, splits), root)
    units = within(_two_level_units, data.quadrants(side, target, classes))
    chosen = choose_tree(units, TREE_GINI, tree_base(splits, avoid), receipt, randomness)
    return combine(partial(tree_of, side, splits), chosen)


def split_weights(splits: Splits) -> tuple[Integers, int]:
    """Return each split's share of its attribute, and an attribute's whole, as whole numbers.

    >>> from redveil.schema import Attribute, Kind, View
    >>> age = Attribute("age", Kind.NUMERIC, minimum=0, maximum=9, cuts=(2.0, 5.0))
    >>> splits = Splits.of(View("patients", "id", (Attribute("sick", Kind.BOOLEAN), age)))
    >>> weights, whole = split_weights(splits)
    >>> weights.tolist(), whole
    ([2, 1, 1], 2)
    """
    offered = np.bincount(splits.attribute)[splits.attribute]
    whole = math.lcm(*offered.tolist())
    if whole >= LARGEST_BASE:
        return np.ones(len(splits), dtype=np.int64), 1
    return whole // offered, whole


def stump_base(splits: Splits, avoid: Collection[int] = ()) -> Integers:
    """Return the base measure of trees of one level, int64[1, splits]. Public."""
    weights, _ = split_weights(splits)
    informative = splits.informative(())
    others = informative & ~np.isin(splits.attribute, list(avoid))
    return np.where(others if others.any() else informative, weights, 0)[np.newaxis]


def tree_base(splits: Splits, avoid: Collection[int] = ()) -> TwoLevelBase:
    """Return the base measure of trees of two levels; the last choice is to stay a leaf. Public."""
    weights, whole = split_weights(splits)
    may = np.zeros((len(splits), 2, len(splits) + 1), dtype=np.bool_)
    for root in range(len(splits)):
        for number, held in enumerate((True, False)):
            may[root, number, :-1] = splits.informative(((root, held),))
    may[:, :, -1] = ~may.any(axis=2)
    return TwoLevelBase(stump_base(splits, avoid)[0], np.append(weights, whole), may)


def tree_of(side: Side, splits: Splits, chosen: tuple[int, ...]) -> Tree:
    """Return the tree with the chosen splits, in heap order; one past the last split is a leaf.

    >>> from redveil.schema import Attribute, Kind, View
    >>> splits = Splits.of(View("patients", "id", (Attribute("sick", Kind.BOOLEAN),)))
    >>> tree_of(Side.LEFT, splits, (0, 1, 1))
    Tree(side=<Side.LEFT: 'left'>, splits=(0,), stuck=(0,))
    """
    kept = {node: split for node, split in enumerate(chosen) if split < len(splits)}
    return Tree.of(side, kept, splits.stops(kept))


def by_class(counted: list[JointCounts]) -> JointCounts:
    """Return the joint counts of all classes as one: the first axis of every count is the class."""
    return JointCounts(
        both=np.array([one.both for one in counted]),
        left_known=np.array([one.left_known for one in counted]),
        right_known=np.array([one.right_known for one in counted]),
        known=np.array([one.known for one in counted]),
        left_row=counted[0].left_row,
        right_row=counted[0].right_row,
    )


def _two_level_units(counted: list[JointCounts]) -> Integers:
    return two_level_units(by_class(counted), GRID_BITS)
