"""Leaf tables in words: the same table, whatever the numbers of its splits."""

from __future__ import annotations

import numpy as np
import pytest

from redveil.data.synthetic import clinic_schema
from redveil.findings.released_table import ReleasedTable, split_counts
from redveil.query.formula import evaluate
from redveil.query.leaves import leaf_query, node_query
from redveil.schema import Side
from redveil.trees.splits import Splits
from support.scene import measured, scene


@pytest.mark.parametrize("seed", range(3))
def test_trees_in_words_keep_their_shape_and_say_the_same(seed: int) -> None:
    here = scene(seed)
    counts = measured(here.trees, here.cells)
    released = ReleasedTable.of(counts, here.schema)
    np.testing.assert_array_equal(released.counts.cells, counts.cells)
    assert released.counts.prices == counts.prices
    for side, tree, ends in zip(Side, here.trees, here.ends, strict=True):
        mine, columns = released.tree(side), here.table.left if side is Side.LEFT else None
        assert mine.tree is (released.counts.left if side is Side.LEFT else released.counts.right)
        assert (mine.tree.ends, mine.tree.stuck) == (tree.ends, tree.stuck)
        # Numbered by node, as a tree that is read from a file.
        assert mine.tree.splits == tuple(
            None if split is None else node for node, split in enumerate(tree.splits)
        )
        view = here.schema.view(side)
        assert mine.always_known == {a.name for a in view.attributes if a.required}
        assert mine.orders == view.orders
        for leaf in tree.leaves:
            query = node_query(mine, leaf)
            assert query == leaf_query(tree, Splits.of(view), leaf)
            true = evaluate(query, columns or here.table.right).true.tolist()
            assert true == [end == leaf for end in ends]


def test_splits_are_counted_view_by_view() -> None:
    schema = clinic_schema()
    assert split_counts(schema) == {
        side: sum(attribute.splits for attribute in schema.view(side).attributes) for side in Side
    }
