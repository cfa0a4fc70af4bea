"""A released tree against walking it."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from oracle.route import walk
from oracle.splits import splits_of
from redveil.schema import Side, View
from redveil.trees.splits import Splits
from redveil.trees.tree import Tree
from strategies.schemas import views
from strategies.trees import trees

few = settings(max_examples=60, deadline=None)


@st.composite
def grown(draw: st.DrawFn) -> tuple[View, Tree]:
    view = draw(views(most=3))
    return view, draw(trees(view))


def follow(tree: Tree, answers: Iterable[bool]) -> tuple[int, list[int]]:
    """Answer one level after the other, then nothing; return the end and the splits asked."""
    asked: list[int] = []
    script = iter(answers)

    def answer(split: int) -> bool | None:
        asked.append(split)
        return next(script, None)

    return walk(tree.splits, answer), asked


def depth_of(node: int) -> int:
    return (node + 1).bit_length() - 1


@few
@given(grown())
def test_the_leaves_are_where_walks_end(case: tuple[View, Tree]) -> None:
    _, tree = case
    ends = {follow(tree, answers)[0] for answers in product((True, False), repeat=4)}
    assert tree.leaves == tuple(sorted(ends))


@few
@given(grown())
def test_inner_nodes_split_and_leaves_do_not(case: tuple[View, Tree]) -> None:
    _, tree = case
    assert tree.inner == tuple(n for n, s in enumerate(tree.splits) if s is not None)
    for node in range(2 * len(tree.splits) + 3):
        listed = tree.splits[node] if node < len(tree.splits) else None
        assert tree.split(node) == listed
    assert len(tree.leaves) == len(tree.inner) + 1


@few
@given(grown())
def test_cells_are_the_leaves_then_the_nodes_that_can_hold_somebody(
    case: tuple[View, Tree],
) -> None:
    view, drawn = case
    inner = {node: split for node, split in enumerate(drawn.splits) if split is not None}
    tree = Tree(drawn.side, drawn.splits, Splits.of(view).stops(inner))
    listed = splits_of(view)
    ends = set[int]()
    optional = [a for a, attribute in enumerate(view.attributes) if not attribute.required]
    # Every entity has at most one missing value; with more it would only stop sooner.
    for lacking in (None, *optional):
        for answers in product((True, False), repeat=4):
            known = iter(answers)

            def answer(split: int, gone: int | None = lacking, rest: Any = known) -> bool | None:
                return None if listed[split].attribute == gone else bool(next(rest))

            ends.add(walk(tree.splits, answer))
    assert len(tree.ends) == len(set(tree.ends))
    assert set(tree.ends) == ends
    assert tree.ends[: len(tree.leaves)] == tree.leaves


@few
@given(grown())
def test_answering_as_the_path_says_leads_to_the_node(case: tuple[View, Tree]) -> None:
    _, tree = case
    for node in (*tree.leaves, *tree.inner):
        path = tree.path(node)
        assert len(path) == depth_of(node)
        end, asked = follow(tree, [held for _, held in path])
        assert end == node
        assert asked[: len(path)] == [split for split, _ in path]


@few
@given(grown())
def test_ancestors_are_the_inner_nodes_on_the_path(case: tuple[View, Tree]) -> None:
    _, tree = case
    for node in (*tree.leaves, *tree.inner):
        ancestors = list(tree.ancestors(node))
        way = [n for n, _ in ancestors] + [node]
        for (parent, held), child in zip(ancestors, way[1:], strict=True):
            assert child == 2 * parent + (1 if held else 2)
        assert way[0] == 0
        assert tree.path(node) == tuple((tree.splits[n], held) for n, held in ancestors)


def test_a_tree_without_splits_is_one_leaf() -> None:
    for splits in ((), (None,)):
        tree = Tree(Side.RIGHT, splits)
        assert (tree.leaves, tree.inner, tree.ends, tree.path(0)) == ((0,), (), (0,), ())


def test_a_branch_may_end_early() -> None:
    tree = Tree(Side.LEFT, (5, None, 6, None, None, 7, None), stuck=(0, 5))
    assert tree.leaves == (1, 6, 11, 12)
    assert tree.inner == (0, 2, 5)
    assert tree.ends == (1, 6, 11, 12, 0, 5)
    assert tree.path(12) == ((5, False), (6, True), (7, False))
