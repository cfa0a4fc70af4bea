"""Schemas of Boolean attributes, and tables of cells that were written down."""

from __future__ import annotations

import numpy as np

from redveil.findings.leaf_table import LeafTable
from redveil.findings.released_table import ReleasedTable
from redveil.schema import Attribute, Kind, Schema, Side, View
from redveil.trees.tree import Tree
from support.scene import measured


def booleans(name: str) -> View:
    names = (f"{name}{number}" for number in range(3))
    return View(name, "id", tuple(Attribute(n, Kind.BOOLEAN, required=True) for n in names))


PLAIN = Schema("plain", booleans("left"), booleans("right"))
STUMPS = Tree(Side.LEFT, (0,)), Tree(Side.RIGHT, (0,))


def stumps(table: LeafTable) -> ReleasedTable:
    """Return a table of stumps, or of deeper trees of plain flags, in words."""
    return ReleasedTable.of(table, PLAIN)


def gappy_branches() -> ReleasedTable:
    """Left: a? yes: b?, no: c?, which can be missing. Right: one flag, true wherever a is."""
    flags = (
        Attribute("a", Kind.BOOLEAN, required=True),
        Attribute("b", Kind.BOOLEAN),
        Attribute("c", Kind.BOOLEAN),
    )
    schema = Schema("gappy", View("left", "id", flags), booleans("right"))
    trees = Tree(Side.LEFT, (0, 1, 2), stuck=(1, 2)), Tree(Side.RIGHT, (0,))
    assert trees[0].ends == (3, 4, 5, 6, 1, 2)
    cells = np.array([[300, 0], [200, 0], [0, 400], [0, 600], [400, 0], [0, 100]])
    return ReleasedTable.of(measured(trees, cells), schema)


WITH_A = (0, 1, 4), (0,)
