"""Classes against values read one by one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracle.binning import bins_of
from redveil.algorithms.targets import (
    attribute_target,
    class_count,
    leaf_target,
    random_attribute,
)
from redveil.counting.columns import route
from redveil.counting.labels import leaf_classes
from redveil.counting.prepared import PreparedData
from redveil.data.binning import bin_table
from redveil.data.table import NumericColumn, Table
from redveil.schema import Attribute, Kind, Schema, Side, View
from redveil.sealed import Sealed, open_for_owner
from redveil.trees.splits import Splits
from redveil.trees.tree import Tree
from strategies.arrays import row_counts
from strategies.schemas import schemas, tables
from strategies.trees import trees
from support.booleans import boolean_schema
from support.seeded import ScriptedRandomness

few = settings(max_examples=20, deadline=None)


@pytest.mark.parametrize(
    ("attribute", "classes"),
    [
        (Attribute("a", Kind.BOOLEAN), 2),
        (Attribute("a", Kind.CATEGORICAL, categories=("x", "y")), 2),
        (Attribute("a", Kind.CATEGORICAL, categories=tuple("abcdefghij")), 10),
        (Attribute("a", Kind.ORDINAL, categories=("x", "y", "z")), 3),
        (Attribute("a", Kind.ORDINAL, categories=tuple("abcdefghij")), 6),
        (Attribute("a", Kind.NUMERIC, cuts=(0.5,)), 2),
        (Attribute("a", Kind.NUMERIC, cuts=(0.1, 0.2, 0.3, 0.4, 0.5)), 6),
        (Attribute("a", Kind.NUMERIC, cuts=tuple(k / 300 for k in range(1, 255))), 6),
    ],
)
def test_ordered_bins_make_at_most_six_classes(attribute: Attribute, classes: int) -> None:
    assert class_count(attribute) == classes


@few
@given(st.data(), schemas(), row_counts)
def test_classes_follow_the_values_and_missing_has_none(
    data: st.DataObject, schema: Schema, rows: int
) -> None:
    table = data.draw(tables(schema, rows))
    prepared = PreparedData.of(schema, Sealed(bin_table(table, schema)))
    for side in Side:
        for number, attribute in enumerate(schema.view(side).attributes):
            target = attribute_target(prepared, side, number)
            classes = open_for_owner(prepared.classes(target.labels))
            bins = bins_of(table.view(side)[attribute.name], attribute)
            assert classes.dtype == np.int32
            assert classes.shape == (rows,)
            assert target.number == attribute.bins
            # No attribute here has more than six bins, so that every bin is a class.
            assert classes.tolist() == [-1 if b is None else b for b in bins]


@pytest.mark.parametrize("bins", [2, 5, 6, 7, 11, 12, 13, 100, 255, 256, 1000])
def test_many_bins_become_runs_of_neighbours_of_nearly_one_length(bins: int) -> None:
    cuts = tuple(float(k) for k in range(1, bins))
    attribute = Attribute("a", Kind.NUMERIC, minimum=0, maximum=bins, cuts=cuts)
    schema = Schema("s", View("l", "id", (attribute,)), View("r", "id", (attribute,)))
    values = np.array([*(k + 0.5 for k in range(bins)), np.nan])
    columns = {"a": NumericColumn(attribute, values)}
    table = Sealed(bin_table(Table(bins + 1, columns, columns), schema))
    prepared = PreparedData.of(schema, table)
    target = attribute_target(prepared, Side.RIGHT, 0)
    *classes, missing = open_for_owner(prepared.classes(target.labels)).tolist()
    assert target.number == min(bins, 6)
    assert missing == -1
    assert classes == sorted(classes)
    assert set(classes) == set(range(min(bins, 6)))
    lengths = [classes.count(c) for c in set(classes)]
    assert max(lengths) - min(lengths) <= 1


@few
@given(st.data(), schemas(), row_counts)
def test_leaves_are_classes_and_the_stuck_have_none(
    data: st.DataObject, schema: Schema, rows: int
) -> None:
    table = data.draw(tables(schema, rows))
    tree = data.draw(trees(schema.right, Side.RIGHT))
    ends = route(bin_table(table, schema).right, Splits.of(schema.right), tree)
    target = leaf_target(tree)
    prepared = PreparedData.of(schema, Sealed(bin_table(table, schema)))
    classes = open_for_owner(prepared.classes(target.labels))
    assert target.number == len(tree.leaves)
    number = {leaf: n for n, leaf in enumerate(tree.leaves)}
    assert classes.dtype == np.int32
    assert classes.tolist() == [number.get(end, -1) for end in ends.tolist()]


def test_the_stuck_of_a_small_tree_have_no_class() -> None:
    tree = Tree(Side.LEFT, (4, None, 7), stuck=(0, 2))
    ends = np.array([1, 5, 6, 0, 2], np.int16)
    assert leaf_target(tree).number == 3
    assert leaf_classes(tree, ends).tolist() == [0, 1, 2, -1, -1]


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        (0, (Side.LEFT, 0)),
        (1, (Side.LEFT, 1)),
        (2, (Side.RIGHT, 0)),
        (4, (Side.RIGHT, 2)),
        (5, (Side.LEFT, 0)),
    ],
)
def test_a_random_attribute_is_any_of_both_views(word: int, expected: tuple[Side, int]) -> None:
    assert random_attribute(boolean_schema(2, 3), ScriptedRandomness(word)) == expected
