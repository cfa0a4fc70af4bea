"""What algorithms ask a backend for: counts of entities that add up over blocks.

A question consists of public and released values only, so it can be sent anywhere. Its answer for a
data set is the sum of the answers for its blocks, in integers, so it does not depend on how the
entities are divided.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from redveil.counting.block import Block, members
from redveil.counting.columns import Counts, count_at_nodes, cross_tabulate
from redveil.counting.joint import count_jointly
from redveil.counting.labels import Labels
from redveil.data.table import pack
from redveil.kernels.joint import JointCounts
from redveil.schema import Side
from redveil.trees.tree import Tree

Integers = NDArray[np.int64]
NodePair = tuple[int, int]
A = TypeVar("A")


class Question(Protocol[A]):
    """A question about all entities.

    >>> question: Question[Integers] = Size()
    """

    def of(self, block: Block) -> A:
        """Return the answer for one block."""

    def add(self, one: A, other: A) -> A:
        """Return the answer for two blocks together."""


class _Sum:
    """Answers that are arrays of counts, which may be as short as a block allows."""

    def add(self, one: Counts, other: Counts) -> Integers:
        """Return the sum."""
        total: Integers = np.add(one, other, dtype=np.int64)
        return total


class _JointSums:
    """Answers that are joint counts, one or several."""

    def add(self, one: list[JointCounts], other: list[JointCounts]) -> list[JointCounts]:
        """Return the sums; which known set belongs to which split is the same in all blocks."""
        return [
            mine._replace(
                both=mine.both + theirs.both,
                left_known=mine.left_known + theirs.left_known,
                right_known=mine.right_known + theirs.right_known,
                known=mine.known + theirs.known,
            )
            for mine, theirs in zip(one, other, strict=True)
        ]


@dataclass(frozen=True, slots=True)
class Size(_Sum):
    """How many entities there are, int64[1]."""

    def of(self, block: Block) -> Integers:
        """Return the number of a block's entities."""
        return np.array([block.rows], dtype=np.int64)


@dataclass(frozen=True, slots=True)
class Ends(_Sum):
    """How many entities end where in two trees, int64[left ends, right ends]."""

    left: Tree
    right: Tree

    def of(self, block: Block) -> Integers:
        """Cross-tabulate a block's entities."""
        at_left, at_right = block.positions(self.left), block.positions(self.right)
        return cross_tabulate(self.left, self.right, at_left, at_right)


@dataclass(frozen=True, slots=True)
class Bins(_Sum):
    """How many entities of each class have a value in each bin, at some nodes of a tree.

    The answer is int64 or unsigned[bins of all attributes, nodes · classes].
    """

    tree: Tree
    nodes: tuple[int, ...]
    labels: Labels
    classes: int

    def of(self, block: Block) -> Counts:
        """Count a block's entities."""
        side = self.tree.side
        return count_at_nodes(
            block.table.view(side),
            block.splits[side],
            block.positions(self.tree),
            np.array(self.nodes, dtype=np.int64),
            self.labels.of(block),
            self.classes,
        )


@dataclass(frozen=True, slots=True)
class Joint(_JointSums):
    """How the splits of both views fall together at pairs of nodes of two trees.

    The answer has joint counts for each pair of nodes.
    """

    left: Tree
    right: Tree
    matches: tuple[NodePair, ...]

    def of(self, block: Block) -> list[JointCounts]:
        """Count a block's entities."""
        left, right = block.planes(Side.LEFT), block.planes(Side.RIGHT)
        if not self.left.splits and not self.right.splits:
            return [count_jointly(left.sets(), right.sets(), threads=block.threads)]
        at_left, at_right = block.positions(self.left), block.positions(self.right)
        inside = [pack(members(at_left, at_right, match)) for match in self.matches]
        return [
            count_jointly(left.among(both).sets(), right.among(both).sets(), threads=block.threads)
            for both in inside
        ]


@dataclass(frozen=True, slots=True)
class Quadrants(_JointSums):
    """How the splits of one view fall together among the entities of each class.

    The answer has joint counts of the view's splits with themselves, for each class.
    """

    side: Side
    labels: Labels
    classes: int

    def of(self, block: Block) -> list[JointCounts]:
        """Count a block's entities."""
        planes, labels = block.planes(self.side), self.labels.of(block)
        inside: Sequence[NDArray[np.uint64]] = [pack(labels == c) for c in range(self.classes)]
        classed = (planes.among(those).sets() for those in inside)
        return [count_jointly(those, those, threads=block.threads) for those in classed]
