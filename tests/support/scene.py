"""Small made-up tables with a tree on either side, to extract redescriptions from."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from oracle.extraction import Entities, Pair, term_coverages
from redveil.counting.columns import route
from redveil.data.binning import bin_table
from redveil.data.table import CodedColumn, Column, NumericColumn, Table
from redveil.findings.extraction import Candidate, Extractor
from redveil.findings.leaf_table import LeafTable, Prices
from redveil.findings.redescription import Redescription
from redveil.findings.released_table import ReleasedTable
from redveil.findings.reporting import Constraints
from redveil.schema import Attribute, Kind, Schema, Side, View
from redveil.trees.splits import Splits
from redveil.trees.tree import Tree
from support.seeded import SeededRandomness

Generator = np.random.Generator
NOISELESS = Fraction(40)


@dataclass(frozen=True, eq=False)
class Scene:
    """A small table of weighted entities, a tree on either side, and the cells counted in them."""

    schema: Schema
    table: Table
    trees: tuple[Tree, Tree]
    ends: tuple[list[int], list[int]]  # the node at which each entity ends
    weights: list[int]
    cells: np.ndarray

    def entities(self) -> Entities:
        """Return the entities, and the terms that the paper makes queries of: leaves."""
        terms = [
            term_coverages(tree.leaves, ends)
            for tree, ends in zip(self.trees, self.ends, strict=True)
        ]
        known = [
            frozenset(e for e, end in enumerate(ends) if end in tree.leaves)
            for tree, ends in zip(self.trees, self.ends, strict=True)
        ]
        return Entities(self.weights, terms[0], terms[1], (known[0], known[1]))

    def coverages(self, one: Redescription | Candidate) -> Pair:
        """Return the entities in the ends that a redescription covers."""
        return self._at_ends(0, one.left_ends), self._at_ends(1, one.right_ends)

    def _at_ends(self, side: int, covered: tuple[int, ...]) -> frozenset[int]:
        nodes = {self.trees[side].ends[place] for place in covered}
        return frozenset(e for e, end in enumerate(self.ends[side]) if end in nodes)

    def released(self, table: LeafTable | None = None) -> ReleasedTable:
        """Return a table with its trees in words; by default the cells without noise."""
        return ReleasedTable.of(table or measured(self.trees, self.cells), self.schema)

    def extractor(self, wanted: Constraints) -> Extractor:
        """Return an extractor for the cells without noise."""
        return Extractor(self.released(), wanted)


def measured(
    trees: tuple[Tree, Tree],
    cells: np.ndarray,
    price: Fraction = NOISELESS,
    noise: SeededRandomness | None = None,
    *,
    passes: int = 1,
) -> LeafTable:
    """Measure cells and one margin, both or none, each at the same price."""
    source = noise or SeededRandomness(0)
    flat = source.laplace(price, cells.size)
    return LeafTable(
        *trees,
        cells + flat.reshape(cells.shape),
        cells.sum(axis=1) + source.laplace(price, len(cells)) if passes > 1 else None,
        cells.sum(axis=0) + source.laplace(price, cells.shape[1]) if passes == 3 else None,
        Prices(price, price if passes > 1 else None, price if passes == 3 else None),
    )


def where_they_end(schema: Schema, table: Table, tree: Tree) -> list[int]:
    """Return the node at which each entity ends."""
    packed = bin_table(table, schema).view(tree.side)
    return [int(node) for node in route(packed, Splits.of(schema.view(tree.side)), tree)]


def scene(seed: int, *, entities: int = 70, heaviest: int = 10**6) -> Scene:
    """Make up a scene in which some entity ends in every end of either tree."""
    rng = np.random.default_rng(seed)
    kind = rng.integers(0, 4, entities)
    left, left_columns = _view("left", rng, kind)
    right, right_columns = _view("right", rng, kind)
    schema, table = Schema("scene", left, right), Table(entities, left_columns, right_columns)
    trees = _tree(rng, schema, table, Side.LEFT), _tree(rng, schema, table, Side.RIGHT)
    ends = where_they_end(schema, table, trees[0]), where_they_end(schema, table, trees[1])
    weights = rng.integers(1, heaviest, entities, endpoint=True)
    cells = np.zeros([len(tree.ends) for tree in trees], np.int64)
    for a, b, weight in zip(*ends, weights, strict=True):
        cells[trees[0].ends.index(a), trees[1].ends.index(b)] += weight
    return Scene(schema, table, trees, ends, weights.tolist(), cells)


def _view(name: str, rng: Generator, kind: np.ndarray) -> tuple[View, dict[str, Column]]:
    """Four attributes that follow the entities' kind four times out of five, some with gaps."""
    attributes = (
        Attribute("a", Kind.BOOLEAN, bool(rng.random() < 0.5)),
        Attribute("b", Kind.NUMERIC, bool(rng.random() < 0.5), maximum=3, cuts=(0.5, 1.5, 2.5)),
        Attribute("c", Kind.CATEGORICAL, bool(rng.random() < 0.5), categories=("x", "y", "z")),
        Attribute("d", Kind.ORDINAL, bool(rng.random() < 0.5), categories=("low", "mid", "high")),
    )
    columns: dict[str, Column] = {}
    for attribute in attributes:
        values = np.where(rng.random(kind.size) < 0.8, kind, rng.integers(0, 4, kind.size))
        values = rng.permutation(attribute.bins if attribute.bins == 4 else 4)[values]
        gone = (rng.random(kind.size) < 0.15) & (not attribute.required)
        if attribute.kind is Kind.NUMERIC:
            columns[attribute.name] = NumericColumn(attribute, np.where(gone, np.nan, values))
        else:
            codes = np.where(gone, 255, values % attribute.bins).astype(np.uint8)
            columns[attribute.name] = CodedColumn(attribute, codes)
    return View(name, "id", attributes), columns


def _tree(rng: Generator, schema: Schema, table: Table, side: Side) -> Tree:
    """Draw trees until some entity is in every end; the lower level may end early."""
    splits = Splits.of(schema.view(side))
    while True:
        chosen: list[int | None] = [int(rng.integers(len(splits)))]
        for node in (1, 2):
            path = Tree(side, tuple(chosen[:1])).path(node)
            useful = np.flatnonzero(splits.informative(path))
            chosen.append(int(rng.choice(useful)) if rng.random() < 0.8 else None)
        inner = {node: split for node, split in enumerate(chosen) if split is not None}
        tree = Tree(side, tuple(chosen), splits.stops(inner))
        if set(where_they_end(schema, table, tree)) == set(tree.ends):
            return tree
