"""Printed queries and counted ends must mean the same entities."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracle.binning import bins_of
from oracle.splits import splits_of
from redveil.counting.columns import route
from redveil.data.binning import bin_view
from redveil.data.table import CodedColumn, Column, NumericColumn
from redveil.query.formula import And, Known, Literal, Not, Or, evaluate, literal_count
from redveil.query.leaves import (
    leaf_query,
    split_literal,
    term_ends,
    term_nodes,
    union_query,
)
from redveil.query.simplify import simplified
from redveil.schema import Attribute, Kind, Side, View
from redveil.trees.splits import Splits
from redveil.trees.tree import Tree
from strategies.arrays import row_counts
from strategies.schemas import view_columns, views
from strategies.trees import trees

few, many = settings(max_examples=25, deadline=None), settings(max_examples=100, deadline=None)


@dataclass(frozen=True, eq=False)
class Case:
    """A tree, and raw columns to send through it."""

    view: View
    columns: Mapping[str, Column]
    tree: Tree
    ends: np.ndarray  # the node at which each entity ends

    @property
    def splits(self) -> Splits:
        return Splits.of(self.view)


def routed(view: View, columns: Mapping[str, Column], rows: int, tree: Tree) -> Case:
    ends = route(bin_view(columns, view, rows), Splits.of(view), tree)
    return Case(view, columns, tree, ends)


@st.composite
def cases(draw: st.DrawFn) -> Case:
    view, rows = draw(views()), draw(row_counts)
    # A grown tree always has a split at its root.
    tree = draw(trees(view).filter(lambda tree: tree.split(0) is not None))
    return routed(view, draw(view_columns(view, rows)), rows, tree)


def above(node: int) -> set[int]:
    """Return the inner nodes that a node hangs from."""
    return set() if node == 0 else {(node - 1) // 2} | above((node - 1) // 2)


def nodes_of(tree: Tree, *, inner: bool) -> list[int]:
    """Return the nodes whose paths are terms: leaves, then all inner nodes but the root."""
    return [*tree.leaves, *(node for node in tree.inner if inner and node != 0)]


def covered(case: Case, terms: list[int], *, inner: bool = False) -> list[bool]:
    """Say of every entity whether one of the terms holds, by where it ended."""
    nodes = nodes_of(case.tree, inner=inner)

    def holds(term: int, end: int) -> bool:
        node = nodes[term % len(nodes)]
        reaches = end == node or node in above(end)
        # An entity stuck above the node might have reached it.
        return reaches if term < len(nodes) else not reaches and end not in above(node)

    return [any(holds(term, end) for term in terms) for end in case.ends.tolist()]


@few
@given(cases(), st.booleans())
def test_terms_are_leaves_or_every_branch_but_the_whole_tree(
    case: Case,
    inner: bool,  # noqa: FBT001
) -> None:
    found = term_nodes(case.tree, inner=inner)
    assert list(found) == nodes_of(case.tree, inner=inner)
    assert found[: len(case.tree.leaves)] == case.tree.leaves


@few
@given(cases())
def test_literals_say_what_splits_do(case: Case) -> None:
    for number, split in enumerate(splits_of(case.view)):
        attribute = case.view.attributes[split.attribute]
        bins = bins_of(case.columns[attribute.name], attribute)
        for held in (True, False):
            literal = split_literal(case.splits, number, held=held)
            truth = evaluate(literal, case.columns)
            assert truth.true.tolist() == [
                b is not None and (b in split.holds) == held for b in bins
            ]
            assert truth.unknown.tolist() == [b is None for b in bins]


@few
@given(cases())
def test_a_node_s_query_is_true_false_or_unknown_as_the_tree_is(case: Case) -> None:
    ends = case.ends.tolist()
    for node in term_nodes(case.tree, inner=True):
        truth = evaluate(leaf_query(case.tree, case.splits, node), case.columns)
        assert truth.true.tolist() == [end == node or node in above(end) for end in ends]
        assert truth.unknown.tolist() == [end in above(node) for end in ends]


@few
@given(cases(), st.booleans())
def test_terms_are_true_at_the_ends_of_the_entities_they_are_true_for(
    case: Case,
    inner: bool,  # noqa: FBT001
) -> None:
    ends, terms = case.tree.ends, term_ends(case.tree, inner=inner)
    assert terms.shape == (2 * len(nodes_of(case.tree, inner=inner)), len(ends))
    assert terms.dtype == np.bool_
    for number in range(len(terms)):
        inside = {end for end, holds in zip(ends, terms[number], strict=True) if holds}
        expected = covered(case, [number], inner=inner)
        assert [end in inside for end in case.ends.tolist()] == expected


@many
@given(st.data(), cases(), st.booleans())
def test_unions_are_true_at_the_ends_that_are_counted(
    data: st.DataObject,
    case: Case,
    inner: bool,  # noqa: FBT001
) -> None:
    terms = term_ends(case.tree, inner=inner)
    place_of = {node: number for number, node in enumerate(case.tree.ends)}
    places = [place_of[end] for end in case.ends.tolist()]
    unions = st.lists(st.integers(0, len(terms) - 1), min_size=1, max_size=5)
    for chosen in data.draw(st.lists(unions, min_size=1, max_size=4)):
        counted = np.logical_or.reduce(terms[chosen])[places].tolist()
        assert counted == covered(case, chosen, inner=inner)
        query = union_query(case.tree, case.splits, chosen, inner=inner)
        short = simplified(query)
        assert evaluate(query, case.columns).true.tolist() == counted
        assert evaluate(short, case.columns).true.tolist() == counted
        assert literal_count(short) <= literal_count(query)
        # As mining words it.
        required = frozenset(one.name for one in case.view.attributes if one.required)
        shortest = simplified(query, required, case.view.orders)
        assert evaluate(shortest, case.columns).true.tolist() == counted
        assert literal_count(shortest) <= literal_count(query)


def gappy(seed: int, rows: int = 60) -> Case:
    """A deep tree that comes back to its two or three attributes, of which a third is missing."""
    rng = np.random.default_rng(seed)
    cuts = tuple(float(k) for k in range(1, 8))
    attributes = (
        Attribute("a", Kind.NUMERIC, maximum=8, cuts=cuts),
        Attribute("b", Kind.ORDINAL, categories=tuple("pqrst")),
        Attribute("c", Kind.CATEGORICAL, categories=("x", "y", "z")),
    )[: 2 + seed % 2]
    columns: dict[str, Column] = {}
    for attribute in attributes:
        codes = rng.integers(0, attribute.bins, rows).astype(np.uint8)
        gone = rng.random(rows) < 1 / 3
        columns[attribute.name] = (
            NumericColumn(attribute, np.where(gone, np.nan, codes + 0.5))
            if attribute.kind is Kind.NUMERIC
            else CodedColumn(attribute, np.where(gone, 255, codes).astype(np.uint8))
        )
    view = View("gappy", "id", attributes)
    splits, chosen = Splits.of(view), list[int | None]()
    for node in range(15):
        path = Tree(Side.LEFT, tuple(chosen)).path(node)
        hangs = node == 0 or chosen[(node - 1) // 2] is not None
        useful = np.flatnonzero(splits.informative(path)) if hangs else np.zeros(0, np.int64)
        chosen.append(int(rng.choice(useful)) if useful.size else None)
    inner = {node: split for node, split in enumerate(chosen) if split is not None}
    return routed(view, columns, rows, Tree(Side.LEFT, tuple(chosen), splits.stops(inner)))


@pytest.mark.uncovered
@pytest.mark.parametrize("inner", [True, False])
@pytest.mark.parametrize("seed", range(24))
def test_deep_trees_with_gaps_are_put_into_the_right_words(
    seed: int,
    inner: bool,  # noqa: FBT001
) -> None:
    case, rng = gappy(seed), np.random.default_rng(seed)
    assert set(case.ends.tolist()) <= set(case.tree.ends), "stuck where no entity can be"
    terms = 2 * len(nodes_of(case.tree, inner=inner))
    single = [[term] for term in range(terms)]
    unions = [rng.integers(0, terms, rng.integers(2, 6)).tolist() for _ in range(20)]
    for chosen in single + unions:
        query = union_query(case.tree, case.splits, chosen, inner=inner)
        expected = covered(case, chosen, inner=inner)
        assert evaluate(query, case.columns).true.tolist() == expected
        assert evaluate(simplified(query), case.columns).true.tolist() == expected
        ordered = simplified(query, order=case.view.orders)
        assert evaluate(ordered, case.columns).true.tolist() == expected


@few
@given(st.data(), cases())
def test_the_wording_does_not_depend_on_repeats(data: st.DataObject, case: Case) -> None:
    leaves = len(case.tree.leaves)
    chosen = data.draw(st.lists(st.integers(0, leaves - 1), min_size=1, max_size=5, unique=True))
    once = union_query(case.tree, case.splits, chosen)
    assert union_query(case.tree, case.splits, [*chosen, *chosen]) == once


@few
@given(st.data(), cases())
def test_leaves_that_make_up_a_node_become_that_node(data: st.DataObject, case: Case) -> None:
    tree = case.tree
    nodes = [
        node for node in range(1, 2 * len(tree.splits) + 1) if node in {*tree.inner, *tree.leaves}
    ]
    node = data.draw(st.sampled_from(nodes))
    below = [n for n, leaf in enumerate(tree.leaves) if leaf == node or node in above(leaf)]
    query = union_query(tree, case.splits, data.draw(st.permutations(below)))
    stuck_below = {n for n in tree.stuck if n == node or node in above(n)}
    if not stuck_below:
        assert query == leaf_query(tree, case.splits, node)
    elif node in tree.stuck:
        # An entity stuck at the node is in none of its leaves, but satisfies the node's query.
        assert query != leaf_query(tree, case.splits, node)


def patients() -> Case:
    """Five entities and a tree in which two of them are stuck."""
    view = View(
        "patients",
        "id",
        (
            Attribute("sick", Kind.BOOLEAN),
            Attribute("age", Kind.NUMERIC, required=True, minimum=0, maximum=99, cuts=(18.0, 65.0)),
            Attribute("blood", Kind.CATEGORICAL, categories=("0", "A", "B")),
        ),
    )
    sick, age, blood = view.attributes
    columns: dict[str, Column] = {
        "sick": CodedColumn(sick, np.array([1, 1, 1, 0, 255], np.uint8)),
        "age": NumericColumn(age, np.array([18.0, 18.5, 70.0, 30.0, 5.0])),
        "blood": CodedColumn(blood, np.array([0, 1, 255, 1, 1], np.uint8)),
    }
    # sick? yes: age <= 65? no: blood A? no: blood 0?
    tree = Tree(Side.LEFT, (0, 2, 4, None, 3, None, None), stuck=(0, 4, 2))
    return routed(view, columns, 5, tree)


def test_a_small_tree_in_words() -> None:
    case = patients()
    assert case.tree.leaves == (3, 5, 6, 9, 10)
    assert case.ends.tolist() == [3, 3, 4, 5, 0]
    sick, old = Literal("sick", "=", value=True), Literal("age", ">", 65.0)
    assert leaf_query(case.tree, case.splits, 10) == And((sick, old, Literal("blood", "!=", "0")))
    young = And((sick, Literal("age", "<=", 65.0)))
    assert union_query(case.tree, case.splits, [0]) == young
    assert union_query(case.tree, case.splits, [5]) == Not(young)
    well = And((Literal("sick", "=", value=False), Literal("blood", "=", "A")))
    assert union_query(case.tree, case.splits, [1, 5]) == Or((well, Not(young)))


def test_a_negation_excludes_entities_stuck_on_the_path() -> None:
    case = patients()
    # Entity 2 is stuck below "older than 65": known not to be in leaf 3, not known for leaf 9.
    for term, expected in (
        (5, [False, False, True, True, False]),
        (6, [True, True, True, False, False]),
        (8, [True, True, False, True, False]),
    ):
        query = union_query(case.tree, case.splits, [term])
        assert evaluate(query, case.columns).true.tolist() == expected
        assert evaluate(simplified(query), case.columns).true.tolist() == expected
        held = dict(zip(case.tree.ends, term_ends(case.tree)[term].tolist(), strict=True))
        assert [held[end] for end in case.ends.tolist()] == expected


@pytest.mark.parametrize("required", [True, False])
def test_siblings_merge_only_where_no_entity_is_stuck(required: bool) -> None:  # noqa: FBT001
    view = View(
        "v", "id", tuple(Attribute(name, Kind.BOOLEAN, required) for name in ("a", "b", "c"))
    )
    stuck = () if required else (0, 1, 2)
    tree, splits = Tree(Side.LEFT, (0, 1, 2), stuck), Splits.of(view)
    a = Literal("a", "=", value=True)
    whole = union_query(tree, splits, [1, 0])
    assert (whole == a) is required
    assert simplified(whole) == (a if required else And((a, Known("b"))))


def test_siblings_that_ask_again_merge_although_the_value_may_be_missing() -> None:
    age = Attribute("age", Kind.NUMERIC, maximum=99, cuts=(18.0, 65.0))
    splits = Splits.of(View("v", "id", (age,)))
    # An entity known not to be a minor has an age, so none is stuck at the second split.
    tree = Tree(Side.LEFT, (0, None, 1), splits.stops({0: 0, 2: 1}))
    assert tree.stuck == (0,)
    assert union_query(tree, splits, [1, 2]) == Literal("age", ">", 18.0)


def test_a_branch_in_words() -> None:
    case = patients()
    nodes = term_nodes(case.tree, inner=True)
    assert nodes == (3, 5, 6, 9, 10, 1, 2, 4)
    sick = Literal("sick", "=", value=True)
    old = And((sick, Literal("age", ">", 65.0)))
    assert union_query(case.tree, case.splits, [5], inner=True) == sick
    assert union_query(case.tree, case.splits, [7 + 8], inner=True) == Not(old)
    # Entity 2 is stuck at node 4: inside its branches, and known not to be outside of them.
    for term, expected in (
        (5, [True, True, True, False, False]),
        (7, [False, False, True, False, False]),
        (7 + 8, [True, True, False, True, False]),
        (6 + 8, [True, True, True, False, False]),
    ):
        held = term_ends(case.tree, inner=True)[term].tolist()
        by_end = dict(zip(case.tree.ends, held, strict=True))
        assert [by_end[end] for end in case.ends.tolist()] == expected
        query = union_query(case.tree, case.splits, [term], inner=True)
        assert evaluate(query, case.columns).true.tolist() == expected
