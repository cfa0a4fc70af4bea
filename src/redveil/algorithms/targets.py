"""What a tree is grown to predict: an attribute at first, then the leaves of the other tree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from redveil.counting.labels import AttributeLabels, Labels, LeafLabels
from redveil.counting.prepared import PreparedData
from redveil.privacy.randomness import Randomness, below
from redveil.schema import Attribute, Schema, Side
from redveil.trees.tree import Tree

# A numeric attribute's bins are merged into at most this many classes of neighbouring bins.
MOST_ORDERED_CLASSES: Final = 6


def class_count(attribute: Attribute) -> int:
    """Return how many classes an attribute makes as a target.

    >>> from redveil.schema import Kind
    >>> class_count(Attribute("sick", Kind.BOOLEAN))
    2
    """
    if attribute.kind.is_ordered:
        return min(attribute.bins, MOST_ORDERED_CLASSES)
    return attribute.bins


@dataclass(frozen=True, slots=True)
class Target:
    """What to predict: classes 0 … number − 1, and what tells that of each entity."""

    labels: Labels
    number: int


def attribute_target(data: PreparedData, side: Side, number: int) -> Target:
    """Return an attribute as a target; entities without a value have no class."""
    classes = class_count(data.schema.view(side).attributes[number])
    return Target(AttributeLabels(side, number, classes), classes)


def random_attribute(schema: Schema, randomness: Randomness) -> tuple[Side, int]:
    """Return a uniformly random attribute of either view, as its side and number there. Public."""
    lefts, rights = len(schema.left.attributes), len(schema.right.attributes)
    number = below(randomness, lefts + rights)
    return (Side.LEFT, number) if number < lefts else (Side.RIGHT, number - lefts)


def leaf_target(tree: Tree) -> Target:
    """Return the leaves of a released tree as a target; stuck entities have no class."""
    return Target(LeafLabels(tree), len(tree.leaves))
