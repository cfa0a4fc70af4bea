"""Counting and routing over a whole view against doing it entity by entity."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial
from itertools import permutations
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracle.binning import bins_of
from oracle.crosstab import count_pairs
from oracle.histogram import count_codes
from oracle.purity import units
from oracle.route import walk
from oracle.splits import splits_of
from redveil.counting.columns import count_at_nodes, count_bins, cross_tabulate, route, score_splits
from redveil.data.binning import bin_view
from redveil.data.table import CodedColumn, Column, NumericColumn
from redveil.schema import Attribute, Kind, Schema, Side, View
from redveil.trees.scores import SPLIT_GINI
from redveil.trees.splits import Splits
from redveil.trees.tree import Tree
from strategies.arrays import row_counts, spread
from strategies.schemas import KEY, schemas, tables, view_columns, views
from strategies.trees import trees

few = settings(max_examples=50, deadline=None)
Case = tuple[View, Mapping[str, Column], int]


@st.composite
def filled(draw: st.DrawFn) -> Case:
    """A view, its columns and the number of rows."""
    all_kinds, others = tuple(Kind), (Kind.NUMERIC, Kind.CATEGORICAL, Kind.ORDINAL)
    kinds = draw(st.sampled_from([all_kinds, all_kinds, others, all_kinds, (Kind.BOOLEAN,)]))
    view, rows = draw(views(kinds=kinds)), draw(row_counts)
    return view, draw(view_columns(view, rows)), rows


def binned_values(view: View, columns: Mapping[str, Column]) -> list[list[int | None]]:
    return [bins_of(columns[a.name], a) for a in view.attributes]


def route_by_hand(view: View, columns: Mapping[str, Column], rows: int, tree: Tree) -> list[int]:
    """Send every entity through the tree, testing whether its bin is in the split's set."""
    splits, values = splits_of(view), binned_values(view, columns)

    def answer(entity: int, split: int) -> bool | None:
        value = values[splits[split].attribute][entity]
        return None if value is None else value in splits[split].holds

    return [walk(tree.splits, partial(answer, entity)) for entity in range(rows)]


def literal(view: View, columns: Mapping[str, Column], split: int) -> tuple[list[bool], list[bool]]:
    """Evaluate a split on the raw column: where it holds, where it is known."""
    one = splits_of(view)[split]
    attribute = view.attributes[one.attribute]
    column, last = columns[attribute.name], max(one.holds)
    if attribute.kind is Kind.BOOLEAN:
        holds, known = column.test("=", value=True)
    elif attribute.kind is Kind.NUMERIC:
        holds, known = column.test("<=", attribute.cuts[last])
    else:
        operator = "<=" if attribute.kind is Kind.ORDINAL else "="
        holds, known = column.test(operator, attribute.categories[last])
    return holds.tolist(), known.tolist()


def check_counts(case: Case, group: list[int], groups: int) -> None:
    view, columns, rows = case
    counts = count_bins(
        bin_view(columns, view, rows), Splits.of(view), np.array(group, np.int32), groups
    )
    bins = [a.bins for a in view.attributes]
    assert counts.dtype == np.uint16
    assert counts.tolist() == count_codes(binned_values(view, columns), bins, group, groups)


def check_route(case: Case, tree: Tree) -> None:
    view, columns, rows = case
    ends = route(bin_view(columns, view, rows), Splits.of(view), tree)
    assert ends.dtype == np.int16
    assert ends.tolist() == route_by_hand(view, columns, rows, tree)
    assert set(ends.tolist()) <= set(tree.ends)


def declared(kind: Kind, name: str) -> Attribute:
    """An attribute of one kind; the kinds differ in how many bins they have."""
    if kind is Kind.NUMERIC:
        return Attribute(name, kind, cuts=(0.2, 0.3, 0.5))
    letters = "abc" if kind is Kind.ORDINAL else "abcde"
    return Attribute(name, kind, categories=() if kind is Kind.BOOLEAN else tuple(letters))


@few
@given(st.data(), filled())
def test_bins_are_counted_in_the_view_s_order(data: st.DataObject, case: Case) -> None:
    _, _, rows = case
    groups = data.draw(st.integers(1, 4))
    check_counts(case, data.draw(spread(st.integers(0, groups), rows)), groups)


@pytest.mark.parametrize("order", list(permutations(Kind)))
def test_kinds_may_stand_in_any_order(order: tuple[Kind, ...]) -> None:
    view, rows = View("v", KEY, tuple(declared(kind, kind.value) for kind in order)), 130
    random = Random(1)
    columns: dict[str, Column] = {}
    for a in view.attributes:
        if a.kind is Kind.NUMERIC:
            values = random.choices([0.0, 0.2, 0.3, 0.5, 1.0, math.nan], k=rows)
            columns[a.name] = NumericColumn(a, np.array(values))
        else:
            codes = random.choices([*range(a.bins), 255], k=rows)
            columns[a.name] = CodedColumn(a, np.array(codes, np.uint8))
    check_counts((view, columns, rows), random.choices(range(4), k=rows), 3)
    for _ in range(3):
        chosen = random.choices(range(view.split_count), k=7)
        check_route((view, columns, rows), Tree(Side.LEFT, tuple(chosen), tuple(range(7))))


@few
@given(st.data(), filled())
def test_splits_are_scored_as_by_hand(data: st.DataObject, case: Case) -> None:
    view, columns, rows = case
    classes = data.draw(st.integers(1, 3))
    target = data.draw(spread(st.integers(-1, classes - 1), rows))
    positions = data.draw(spread(st.integers(0, 6), rows))
    nodes = data.draw(st.lists(st.integers(0, 6), min_size=1, max_size=4, unique=True).map(sorted))
    counts = count_at_nodes(
        bin_view(columns, view, rows),
        Splits.of(view),
        np.array(positions, np.int16),
        np.array(nodes, np.int64),
        np.array(target, np.int32),
        classes,
    )
    scores = score_splits(counts, Splits.of(view), len(nodes), classes)
    splits, values = splits_of(view), binned_values(view, columns)
    assert scores.shape == (len(nodes), len(splits))
    for n, node in enumerate(nodes):
        here = [i for i in range(rows) if positions[i] == node and target[i] >= 0]
        for s, split in enumerate(splits):
            table = [[0] * classes for _ in range(view.attributes[split.attribute].bins)]
            for i in here:
                value = values[split.attribute][i]
                if value is not None:
                    table[value][target[i]] += 1
            low, high = min(split.holds), max(split.holds)
            assert int(scores[n, s]) == units(table, low, high, SPLIT_GINI.grid_bits)


@few
@given(st.data(), filled())
def test_everybody_ends_where_walking_ends(data: st.DataObject, case: Case) -> None:
    check_route(case, data.draw(trees(case[0])))


@few
@given(st.data(), filled())
def test_cells_are_what_their_path_says_of_the_raw_values(data: st.DataObject, case: Case) -> None:
    view, columns, rows = case
    tree = data.draw(trees(view))
    ends = route(bin_view(columns, view, rows), Splits.of(view), tree)
    for cell in tree.ends:
        there = [True] * rows
        for split, held in tree.path(cell):
            holds, known = literal(view, columns, split)
            answers = zip(there, holds, known, strict=True)
            there = [so_far and k and h == held for so_far, h, k in answers]
        own = tree.split(cell)
        if own is not None:
            _, known = literal(view, columns, own)
            there = [so_far and not k for so_far, k in zip(there, known, strict=True)]
        assert (ends == cell).tolist() == there


@few
@given(st.data(), schemas(), row_counts)
def test_pairs_of_cells_partition_everybody(data: st.DataObject, schema: Schema, rows: int) -> None:
    table = data.draw(tables(schema, rows))
    grown = {side: data.draw(trees(schema.view(side), side, 3)) for side in Side}
    ends = {
        side: route(
            bin_view(table.view(side), schema.view(side), rows),
            Splits.of(schema.view(side)),
            grown[side],
        )
        for side in Side
    }
    counts = cross_tabulate(grown[Side.LEFT], grown[Side.RIGHT], ends[Side.LEFT], ends[Side.RIGHT])
    cells = [{node: i for i, node in enumerate(grown[side].ends)} for side in Side]
    assert counts.dtype == np.int64
    assert counts.tolist() == count_pairs(
        ends[Side.LEFT].tolist(), ends[Side.RIGHT].tolist(), cells[0], cells[1]
    )
    assert int(counts.sum()) == rows
