"""The class of each entity, as a released or public description of it.

A description can be sent anywhere; the classes themselves are private and stay with the entities.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from redveil.counting.block import Block
from redveil.counting.columns import Classes
from redveil.data.table import unpack
from redveil.schema import Kind, Side
from redveil.trees.tree import Tree


class Labels(Protocol):
    """What tells the class of each entity of a block.

    >>> labels: Labels = LeafLabels(Tree(Side.LEFT, (0,)))
    """

    def of(self, block: Block) -> Classes:
        """Return the classes of a block's entities, int32[rows], -1 for those without one."""


@dataclass(frozen=True, slots=True)
class AttributeLabels:
    """The bins of an attribute, merged into so many classes of neighbours."""

    side: Side
    number: int
    classes: int

    def of(self, block: Block) -> Classes:
        """Return the classes; who lacks the value has none."""
        attribute = block.splits[self.side].view.attributes[self.number]
        view = block.table.view(self.side)
        row = int(view.row[self.number])
        if attribute.kind is Kind.BOOLEAN:
            flags = unpack(view.bits[row], block.rows).astype(np.int32)
            if view.absent_row[row] >= 0:
                flags[unpack(view.absent[view.absent_row[row]], block.rows)] = -1
            return flags
        codes = view.codes[row].astype(np.int64)
        merged = codes * self.classes // attribute.bins
        missing = view.codes[row] == np.iinfo(view.codes.dtype).max
        return np.where(missing, -1, merged).astype(np.int32)


@dataclass(frozen=True, slots=True)
class LeafLabels:
    """The leaves of a released tree; stuck entities have no class."""

    tree: Tree

    def of(self, block: Block) -> Classes:
        """Return the number of the leaf in which each entity ends."""
        return leaf_classes(self.tree, block.positions(self.tree))


@dataclass(frozen=True, slots=True)
class GivenLabels:
    """Classes that a backend on this machine was given (`LocalCounts.give`)."""

    number: int

    def of(self, block: Block) -> Classes:
        """Return the classes."""
        return block.given(self.number)


def leaf_classes(tree: Tree, positions: NDArray[np.int16]) -> Classes:
    """Return the number of the leaf at each position, int32[N], -1 for inner nodes.

    >>> leaf_classes(Tree(Side.LEFT, (0,), stuck=(0,)), np.array([2, 0, 1], np.int16)).tolist()
    [1, -1, 0]
    """
    number = np.full(max(tree.ends) + 1, -1, dtype=np.int32)
    number[list(tree.leaves)] = np.arange(len(tree.leaves), dtype=np.int32)
    return number[positions]
