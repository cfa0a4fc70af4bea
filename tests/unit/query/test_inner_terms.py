"""Whole branches as terms: inner nodes hold where anything below them does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from redveil.counting.columns import route
from redveil.data.binning import bin_view
from redveil.data.table import Column
from redveil.query.formula import evaluate, literal_count
from redveil.query.leaves import leaf_query, term_ends, term_nodes, union_query
from redveil.query.simplify import simplified
from redveil.schema import Attribute, Kind, Side, View
from redveil.trees.splits import Splits
from redveil.trees.tree import Tree
from strategies.arrays import row_counts
from strategies.schemas import view_columns, views
from strategies.trees import trees

many = settings(max_examples=60, deadline=None)


@dataclass(frozen=True, eq=False)
class Case:
    """A tree, columns sent through it, and the node at which each entity ends."""

    splits: Splits
    columns: Mapping[str, Column]
    tree: Tree
    ends: list[int]


@st.composite
def cases(draw: st.DrawFn) -> Case:
    view: View = draw(views())
    rows = draw(row_counts)
    tree = draw(trees(view).filter(lambda tree: tree.split(0) is not None))
    columns, splits = draw(view_columns(view, rows)), Splits.of(view)
    return Case(splits, columns, tree, route(bin_view(columns, view, rows), splits, tree).tolist())


def lineage(node: int) -> set[int]:
    """Return a node and everything that it hangs from."""
    return {node} if node == 0 else {node} | lineage((node - 1) // 2)


def holds(node: int, end: int, *, negated: bool) -> bool:
    """Say whether somebody who ended at a node is known to have come by another, or known not."""
    came_by, may_have = node in lineage(end), end in lineage(node)
    return (not came_by and not may_have) if negated else came_by


def covered(case: Case, terms: Sequence[int]) -> list[bool]:
    nodes = term_nodes(case.tree, inner=True)
    wanted = [(nodes[term % len(nodes)], term >= len(nodes)) for term in terms]
    return [any(holds(n, end, negated=negated) for n, negated in wanted) for end in case.ends]


@many
@given(cases())
def test_terms_are_the_leaves_and_then_all_inner_nodes_but_the_root(case: Case) -> None:
    tree, nodes = case.tree, term_nodes(case.tree, inner=True)
    assert term_nodes(tree) == tree.leaves == nodes[: len(tree.leaves)]
    assert set(nodes) == {*tree.leaves, *tree.inner} - {0}
    assert len(nodes) == len(set(nodes))


@many
@given(cases())
def test_the_query_of_an_inner_node_is_true_of_entities_that_reach_it(case: Case) -> None:
    for node in term_nodes(case.tree, inner=True):
        truth = evaluate(leaf_query(case.tree, case.splits, node), case.columns)
        assert truth.true.tolist() == [node in lineage(end) for end in case.ends]
        stuck_above = [end != node and end in lineage(node) for end in case.ends]
        assert truth.unknown.tolist() == stuck_above


@many
@given(cases())
def test_terms_are_true_at_the_ends_of_the_entities_they_are_true_for(case: Case) -> None:
    ends, terms = case.tree.ends, term_ends(case.tree, inner=True)
    nodes = term_nodes(case.tree, inner=True)
    assert terms.shape == (2 * len(nodes), len(ends))
    for number in range(len(terms)):
        inside = {end for end, held in zip(ends, terms[number], strict=True) if held}
        assert [end in inside for end in case.ends] == covered(case, [number])
    leaves = len(case.tree.leaves)
    plain = term_ends(case.tree)
    assert terms[:leaves].tolist() == plain[:leaves].tolist()
    assert terms[len(nodes) :][:leaves].tolist() == plain[leaves:].tolist()


@many
@given(st.data(), cases())
def test_unions_are_true_at_the_ends_that_are_counted(data: st.DataObject, case: Case) -> None:
    terms = term_ends(case.tree, inner=True)
    place_of = {node: number for number, node in enumerate(case.tree.ends)}
    places = [place_of[end] for end in case.ends]
    unions = st.lists(st.integers(0, len(terms) - 1), min_size=1, max_size=5)
    for chosen in data.draw(st.lists(unions, min_size=1, max_size=4)):
        counted = np.logical_or.reduce(terms[chosen])[places].tolist()
        assert counted == covered(case, chosen)
        query = union_query(case.tree, case.splits, chosen, inner=True)
        short = simplified(query)
        assert evaluate(query, case.columns).true.tolist() == counted
        assert evaluate(short, case.columns).true.tolist() == counted
        assert literal_count(short) <= literal_count(query)


def test_siblings_and_their_parent_are_said_once() -> None:
    names = ("a", "b", "c")
    view = View("v", "id", tuple(Attribute(n, Kind.BOOLEAN, required=True) for n in names))
    tree, splits = Tree(Side.LEFT, (0, 1, 2)), Splits.of(view)
    nodes = term_nodes(tree, inner=True)
    assert nodes == (3, 4, 5, 6, 1, 2)
    merged = union_query(tree, splits, [0, 1], inner=True)
    assert merged == union_query(tree, splits, [4], inner=True) == leaf_query(tree, splits, 1)
    assert simplified(union_query(tree, splits, [0, 1, 4], inner=True)) == merged
