"""A released tree: its splits and shape, without counts or anything else that is private."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from redveil.schema import Side


@dataclass(frozen=True, slots=True)
class Tree:
    """A binary tree over one view. Nodes are numbered in heap order; None marks a leaf or no node.

    `splits[n]` is the number of the split at inner node n in the view's public list. Its children
    are 2n + 1 (the split holds) and 2n + 2 (it does not). `stuck` lists the inner nodes at which a
    missing value can stop an entity; this follows from the schema, not from the data.

    >>> tree = Tree(Side.LEFT, (4, None, 7), stuck=(2,))
    >>> tree.leaves
    (1, 5, 6)
    >>> tree.ends
    (1, 5, 6, 2)
    >>> tree.path(6)
    ((4, False), (7, False))
    """

    side: Side
    splits: tuple[int | None, ...]
    stuck: tuple[int, ...] = ()

    @classmethod
    def of(cls, side: Side, inner: Mapping[int, int], stuck: tuple[int, ...] = ()) -> Tree:
        """Return the tree with some inner nodes, given as their numbers and splits.

        >>> Tree.of(Side.LEFT, {0: 4, 2: 7}).splits
        (4, None, 7)
        """
        return cls(side, tuple(inner.get(n) for n in range(max(inner, default=-1) + 1)), stuck)

    def split(self, node: int) -> int | None:
        """Return the split at a node, None if it is not an inner node."""
        return self.splits[node] if node < len(self.splits) else None

    @property
    def leaves(self) -> tuple[int, ...]:
        """The node numbers of the leaves, from top to bottom and left to right."""
        if self.split(0) is None:
            return (0,)
        return tuple(
            sorted(child for n in self.inner for child in _children(n) if self.split(child) is None)
        )

    @property
    def shape(self) -> Tree:
        """A tree of the same shape; what its splits are does not matter.

        >>> Tree(Side.LEFT, (4, None, 7)).shape.splits
        (0, None, 0)
        """
        return Tree(self.side, tuple(None if s is None else 0 for s in self.splits), self.stuck)

    @property
    def inner(self) -> tuple[int, ...]:
        """The node numbers of the inner nodes."""
        return tuple(self.inner_splits)

    @property
    def inner_splits(self) -> dict[int, int]:
        """The splits of the inner nodes, by node number."""
        return {node: split for node, split in enumerate(self.splits) if split is not None}

    @property
    def ends(self) -> tuple[int, ...]:
        """The nodes at which an entity's path can end: the leaves, then where it can be stuck."""
        return self.leaves + self.stuck

    def path(self, node: int) -> tuple[tuple[int, bool], ...]:
        """Return the splits from the root to a node, each with whether it held."""
        return tuple(
            (split, held)
            for at, held in self.ancestors(node)
            if (split := self.split(at)) is not None
        )

    def ancestors(self, node: int) -> Iterator[tuple[int, bool]]:
        """Yield (ancestor, whether its split held on the way to the node), root first."""
        steps: list[tuple[int, bool]] = []
        while node > 0:
            parent = (node - 1) // 2
            steps.append((parent, node == 2 * parent + 1))
            node = parent
        return reversed(steps)


def _children(node: int) -> tuple[int, int]:
    return 2 * node + 1, 2 * node + 2
