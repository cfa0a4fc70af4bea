"""What a tree is grown to predict: an attribute at first, then the leaves of the other tree."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Final

import numpy as np

from redveil.data.binning import BinnedTable
from redveil.privacy.randomness import Randomness, below
from redveil.schema import Attribute, Kind, Schema, Side
from redveil.sealed import Sealed, within
from redveil.trees.counting import Classes, Positions
from redveil.trees.prepared import PreparedData
from redveil.trees.tree import Tree

# A numeric attribute's bins are merged into at most this many classes of neighbouring bins.
MOST_ORDERED_CLASSES: Final = 6


def class_count(attribute: Attribute) -> int:
    """Return how many classes an attribute makes as a target.

    >>> class_count(Attribute("sick", Kind.BOOLEAN))
    2
    """
    if attribute.kind.is_ordered:
        return min(attribute.bins, MOST_ORDERED_CLASSES)
    return attribute.bins


@dataclass(frozen=True, slots=True)
class Target:
    """What to predict: sealed int32[N], classes 0 … number − 1, -1 for entities without one."""

    classes: Sealed[Classes]
    number: int


def attribute_target(data: PreparedData, side: Side, number: int) -> Target:
    """Return an attribute as a target; entities without a value have no class."""
    attribute = data.schema.view(side).attributes[number]
    classes = within(partial(_attribute_classes, attribute, side, number), data.table)
    return Target(classes, class_count(attribute))


def random_attribute(schema: Schema, randomness: Randomness) -> tuple[Side, int]:
    """Return a uniformly random attribute of either view, as its side and number there. Public."""
    lefts, rights = len(schema.left.attributes), len(schema.right.attributes)
    number = below(randomness, lefts + rights)
    return (Side.LEFT, number) if number < lefts else (Side.RIGHT, number - lefts)


def leaf_target(tree: Tree, positions: Sealed[Positions]) -> Target:
    """Return the leaves of a released tree as a target; stuck entities have no class."""
    return Target(within(partial(_leaf_classes, tree), positions), len(tree.leaves))


def _attribute_classes(
    attribute: Attribute, side: Side, number: int, table: BinnedTable
) -> Classes:
    view = table.view(side)
    row = int(view.row[number])
    if attribute.kind is Kind.BOOLEAN:
        classes = _unpack(view.bits[row], table.rows).astype(np.int32)
        if view.absent_row[row] >= 0:
            classes[_unpack(view.absent[view.absent_row[row]], table.rows)] = -1
        return classes
    codes = view.codes[row].astype(np.int64)
    merged = codes * class_count(attribute) // attribute.bins
    missing = view.codes[row] == np.iinfo(view.codes.dtype).max
    return np.where(missing, -1, merged).astype(np.int32)


def _leaf_classes(tree: Tree, positions: Positions) -> Classes:
    number = np.full(max(tree.ends) + 1, -1, dtype=np.int32)
    number[list(tree.leaves)] = np.arange(len(tree.leaves), dtype=np.int32)
    return number[positions]


def _unpack(words: np.ndarray, rows: int) -> np.ndarray:
    """Return packed bits as flags, bool[N]."""
    flat = words.astype("<u8").view(np.uint8)
    return np.unpackbits(flat, count=rows, bitorder="little").astype(np.bool_)
