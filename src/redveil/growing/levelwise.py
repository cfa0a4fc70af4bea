"""Growing a tree level by level: one private choice per node, one price per level."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from redveil.counting.columns import score_splits
from redveil.growing.rules import HARDENED_RULES, Rules
from redveil.losses.plan import StepKey
from redveil.privacy.mechanisms import choose
from redveil.privacy.purse import Purse
from redveil.privacy.randomness import Randomness
from redveil.schema import Side
from redveil.sealed import Released, combine, within
from redveil.trees.splits import Splits
from redveil.trees.tree import Tree

if TYPE_CHECKING:
    from redveil.counting.labels import Labels
    from redveil.counting.prepared import PreparedData

Integers = NDArray[np.int64]


def grow_levelwise(
    data: PreparedData,
    side: Side,
    target: Labels,
    classes: int,
    steps: Sequence[StepKey],
    purse: Purse,
    randomness: Randomness,
    rules: Rules = HARDENED_RULES,
) -> Released[Tree]:
    """Grow a tree on one view that predicts a target.

    target: what tells the class of each entity, 0 … classes − 1, or that it has none.
    steps:  the plan's steps, one for each level. The nodes of a level hold disjoint entities, so
            a level costs its step's price once (privacy/parallel.md).
    """
    grown: Released[Tree] | None = None
    tree, splits = Tree(side, ()), data.splits[side]
    for step in steps:
        receipt = purse.pay(step, "choose")
        nodes, base = _open_nodes(tree, splits)
        if not nodes:
            continue
        counts = data.bins(tree, nodes, target, classes)
        score = partial(score_splits, splits=splits, nodes=len(nodes), classes=classes)
        units = within(score, counts)
        chosen = choose(units, rules.split, base, receipt, randomness)
        extend = partial(_extend, tree, splits, nodes)
        grown = combine(extend, chosen, *([grown] if grown else []))
        tree = grown.value
    assert grown is not None, "a schema always offers a split at the root"
    return grown


def _open_nodes(tree: Tree, splits: Splits) -> tuple[list[int], Integers]:
    """Return the leaves of the lowest level that can still be split, and what may be chosen there.

    Public: follows from the released tree and the schema alone.
    """
    lowest = [n for n in tree.leaves if n >= len(tree.splits)]
    allowed = {n: splits.informative(tree.path(n)) for n in lowest}
    nodes = [n for n in lowest if allowed[n].any()]
    base = np.array([allowed[n] for n in nodes], dtype=np.int64).reshape(len(nodes), len(splits))
    return nodes, base


def _extend(
    tree: Tree, splits: Splits, nodes: list[int], chosen: tuple[int, ...], *_earlier: Tree
) -> Tree:
    """Return the tree with one more level."""
    inner = tree.inner_splits | dict(zip(nodes, chosen, strict=True))
    return Tree.of(tree.side, inner, splits.stops(inner))
