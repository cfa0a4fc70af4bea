"""A leaf table whose trees are in words: all that findings and free questions need."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from redveil.findings.leaf_table import LeafTable
from redveil.query.coverage import ReleasedTree
from redveil.query.leaves import released_tree
from redveil.query.meaning import Wording
from redveil.schema import Schema, Side
from redveil.trees.splits import Splits
from redveil.trees.tree import Tree

# How many splits each view has to choose from.
SplitCounts = Mapping[Side, int]


@dataclass(frozen=True, slots=True, eq=False)
class ReleasedTable:
    """A leaf table that can be asked: its counts, and its trees in words."""

    counts: LeafTable
    left: ReleasedTree
    right: ReleasedTree

    @classmethod
    def of(cls, counts: LeafTable, schema: Schema, wording: Wording | None = None) -> ReleasedTable:
        """Put the trees of a table into words.

        schema:  the one whose splits they have
        wording: how its derived attributes read, if it has any
        """
        left, right = (
            _in_words(released_tree(tree, Splits.of(schema.view(tree.side))), wording)
            for tree in (counts.left, counts.right)
        )
        return cls(replace(counts, left=left.tree, right=right.tree), left, right)

    def tree(self, side: Side) -> ReleasedTree:
        """Return the tree on one side."""
        return self.left if side is Side.LEFT else self.right


def split_counts(schema: Schema) -> dict[Side, int]:
    """Return how many splits each view of a schema has."""
    return {side: schema.view(side).split_count for side in Side}


def _in_words(released: ReleasedTree, wording: Wording | None) -> ReleasedTree:
    """Return a tree whose splits are numbered by their nodes, as those read from a file are."""
    splits = released.tree.splits
    numbers = tuple(None if split is None else node for node, split in enumerate(splits))
    numbered = replace(released, tree=Tree(released.tree.side, numbers, released.tree.stuck))
    return numbered if wording is None else wording.tree(numbered)
