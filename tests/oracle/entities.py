"""A few entities with values in two views, sent through trees one entity at a time.

An entity is (left values, right values), each value a bin, or None if it is missing. A tree is the
list of its nodes' splits in heap order, None for a leaf; the list ends with its last split.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from oracle.route import walk
from oracle.splits import follows, informative, splits_of
from oracle.two_level import all_trees, tree_weight
from oracle.walk import Candidates, candidates
from redveil.schema import View

Value = int | None
Entity = tuple[tuple[Value, ...], tuple[Value, ...]]
Shape = tuple[int | None, ...]
Path = tuple[tuple[int, bool], ...]
Target = Callable[[Entity], int | None]  # an entity's class, None if it has none

LEFT, RIGHT = 0, 1
BOTH = (LEFT, RIGHT)


@dataclass(frozen=True, eq=False)
class Views:
    """Two views: everything public. Repeated computations are cached."""

    left: View
    right: View
    _splits: dict[tuple[int, int], tuple[int, frozenset[int]]] = field(default_factory=dict)
    _offered: dict[tuple[int, Path], list[int]] = field(default_factory=dict)
    _trees: dict[tuple[int, int], dict[Shape, float]] = field(default_factory=dict)
    _ends: dict[tuple[int, Shape, Entity], int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for side in BOTH:
            for number, split in enumerate(splits_of(self.view(side))):
                self._splits[side, number] = split.attribute, split.holds

    def view(self, side: int) -> View:
        """Return the view on one side."""
        return self.right if side else self.left

    def attribute(self, side: int, split: int) -> int:
        """Return the attribute that a split tests."""
        return self._splits[side, split][0]

    def answer(self, side: int, split: int, entity: Entity) -> bool | None:
        """Return whether a split holds for an entity, None if its value is missing."""
        attribute, holds = self._splits[side, split]
        value = entity[side][attribute]
        return None if value is None else value in holds

    def end(self, side: int, tree: Shape, entity: Entity) -> int:
        """Return the node at which an entity ends."""
        key = side, tree, entity
        if key not in self._ends:
            self._ends[key] = walk(tree, lambda split: self.answer(side, split, entity))
        return self._ends[key]

    def offered(self, side: int, path: Path) -> list[int]:
        """Return the splits whose answer does not follow from a path."""
        if (side, path) not in self._offered:
            may = informative(self.view(side), path)
            self._offered[side, path] = [split for split, can in enumerate(may) if can]
        return self._offered[side, path]

    def trees(self, side: int, depth: int) -> dict[Shape, float]:
        """Return all trees of informative splits, each with its base measure."""
        if (side, depth) not in self._trees:
            view = self.view(side)
            self._trees[side, depth] = {
                trimmed(tree): float(tree_weight(tree, view)) for tree in all_trees(view, depth)
            }
        return self._trees[side, depth]

    def simplified(self, side: int, full: tuple[int, ...]) -> Shape:
        """Return a full tree without the splits whose answer follows from the path."""
        kept: dict[int, int] = {}

        def place(source: int, goal: int, path: Path) -> None:
            if source >= len(full):
                return
            split = full[source]
            if split in self.offered(side, path):
                kept[goal] = split
                for number, held in enumerate((True, False), 1):
                    place(2 * source + number, 2 * goal + number, (*path, (split, held)))
            else:
                number = 1 if follows(self.view(side), path, split) else 2
                place(2 * source + number, goal, path)

        place(0, 0, ())
        return tuple(kept.get(node) for node in range(max(kept) + 1))


@dataclass(frozen=True, eq=False)
class Entities:
    """Some entities, and the views that declare their values."""

    views: Views
    members: tuple[Entity, ...]

    def at(self, side: int, tree: Shape, node: int) -> list[Entity]:
        """Return the entities that end at a node."""
        return [one for one in self.members if self.views.end(side, tree, one) == node]

    def cells(self, left: Shape, right: Shape) -> Counter[tuple[int, int]]:
        """Return how many entities end at each pair of nodes of two trees."""
        end = self.views.end
        return Counter((end(LEFT, left, one), end(RIGHT, right, one)) for one in self.members)

    def candidates(self, side: int) -> Candidates:
        """Return the splits of one side in the form that walks take."""
        view = self.views.view(side)
        values = [[one[side][a] for one in self.members] for a in range(len(view.attributes))]
        runs = [(one.attribute, min(one.holds), max(one.holds)) for one in splits_of(view)]
        return candidates(values, runs)


def attribute_target(side: int, number: int) -> Target:
    """Return the target whose classes are the values of an attribute."""
    return lambda entity: entity[side][number]


def leaf_target(views: Views, side: int, tree: Shape) -> Target:
    """Return the target whose classes are the leaves of a tree; stuck entities have none."""

    def leaf(entity: Entity) -> int | None:
        node = views.end(side, tree, entity)
        return node if split_at(tree, node) is None else None

    return leaf


def split_at(tree: Shape, node: int) -> int | None:
    """Return the split at a node, None if it is a leaf."""
    return tree[node] if node < len(tree) else None


def trimmed(splits: Iterable[int | None]) -> Shape:
    """Return a tree without the leaves after its last split."""
    kept = list(splits)
    while kept and kept[-1] is None:
        kept.pop()
    return tuple(kept)


def grafted(tree: Shape, new: dict[int, int | None]) -> Shape:
    """Return a tree with new splits at some of its leaves."""
    known = dict(enumerate(tree)) | new
    return trimmed(known.get(node) for node in range(max(known, default=-1) + 1))


def path_to(tree: Shape, node: int) -> Path | None:
    """Return the path to a node, None if the tree has no such node."""
    path: list[tuple[int, bool]] = []
    while node:
        parent = (node - 1) // 2
        split = split_at(tree, parent)
        if split is None:
            return None
        path.append((split, node == 2 * parent + 1))
        node = parent
    return tuple(reversed(path))
