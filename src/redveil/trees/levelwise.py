"""Growing a tree level by level: one private choice per node, one price per level."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from redveil.data.binning import BinnedTable
from redveil.privacy.mechanisms import choose
from redveil.privacy.plan import Purse, StepKey
from redveil.privacy.randomness import Randomness
from redveil.schema import Side
from redveil.sealed import Released, Sealed, combine, within
from redveil.trees.counting import Classes, Integers, Positions, move_down, score_splits, start
from redveil.trees.prepared import PreparedData
from redveil.trees.rules import HARDENED_RULES, Rules
from redveil.trees.splits import Splits
from redveil.trees.tree import Tree


def grow_levelwise(
    data: PreparedData,
    side: Side,
    target: Sealed[Classes],
    classes: int,
    steps: Sequence[StepKey],
    purse: Purse,
    randomness: Randomness,
    rules: Rules = HARDENED_RULES,
) -> tuple[Released[Tree], Sealed[Positions]]:
    """Grow a tree on one view that predicts a target; return it, and where each entity ends in it.

    target: sealed int32[N], classes numbered 0 … classes − 1, -1 for entities without a class.
    steps:  the plan's steps, one for each level. The nodes of a level hold disjoint entities, so
            a level costs its step's price once (privacy/parallel.md).
    """
    grown: Released[Tree] | None = None
    tree, splits = Tree(side, ()), data.splits[side]
    positions = within(start, data.rows)
    for step in steps:
        receipt = purse.pay(step, "choose")
        nodes, base = _open_nodes(tree, splits, rules)
        if nodes.size == 0:
            continue
        units = within(partial(_score, side, splits, nodes, classes), data.table, positions, target)
        chosen = choose(units, rules.split, base, receipt, randomness)
        extend = partial(_extend, tree, splits, nodes.tolist())
        grown = combine(extend, chosen, *([grown] if grown else []))
        tree = grown.value
        positions = within(partial(_move, side, splits, tree), data.table, positions)
    assert grown is not None, "a schema always offers a split at the root"
    return grown, positions


def _score(
    side: Side,
    splits: Splits,
    nodes: Integers,
    classes: int,
    table: BinnedTable,
    positions: Positions,
    target: Classes,
) -> Integers:
    return score_splits(table.view(side), splits, positions, nodes, target, classes)


def _move(
    side: Side, splits: Splits, tree: Tree, table: BinnedTable, positions: Positions
) -> Positions:
    return move_down(table.view(side), splits, tree, positions)


def _open_nodes(tree: Tree, splits: Splits, rules: Rules) -> tuple[Integers, Integers]:
    """Return the leaves of the lowest level that can still be split, and what may be chosen there.

    Public: follows from the released tree and the schema alone.
    """
    lowest = [n for n in tree.leaves if n >= len(tree.splits)]
    everything = np.ones(len(splits), dtype=np.bool_)
    allowed = {
        n: splits.informative(tree.path(n)) if rules.informative_only else everything
        for n in lowest
    }
    nodes = [n for n in lowest if allowed[n].any()]
    base = np.array([allowed[n] for n in nodes], dtype=np.int64).reshape(len(nodes), len(splits))
    return np.array(nodes, dtype=np.int64), base


def _extend(
    tree: Tree, splits: Splits, nodes: list[int], chosen: tuple[int, ...], *_earlier: Tree
) -> Tree:
    """Return the tree with one more level."""
    inner = tree.inner_splits | dict(zip(nodes, chosen, strict=True))
    return Tree.of(tree.side, inner, splits.stops(inner))
