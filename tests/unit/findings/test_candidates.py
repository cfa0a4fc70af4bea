"""Unions of ends against all disjunctions, one by one."""

from __future__ import annotations

import numpy as np
import pytest

from oracle.unions import all_unions
from redveil.findings import candidates as module
from redveil.findings.candidates import Unions, mentioned, negated_groups
from redveil.findings.critical_values import unions
from redveil.query.coverage import ReleasedTree, coverage
from redveil.query.formula import Literal, evaluate, literal_count
from redveil.query.text import parse_text
from redveil.schema import Attribute, Kind, Side
from redveil.trees.tree import Tree
from support.scene import scene


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("most", [1, 2, 3])
def test_unions_are_what_disjunctions_cover(seed: int, most: int) -> None:
    released = scene(seed).released()
    for tree in (released.left, released.right):
        shape = tree.tree
        expected = all_unions(shape.ends, shape.leaves, shape.inner, most)
        found = Unions(tree, most)
        covered = [frozenset(np.flatnonzero(row).tolist()) for row in found.covered]
        assert len(found) == len(covered) == len(set(covered))
        assert set(covered) == set(expected)
        for union, length in zip(covered, found.lengths.tolist(), strict=True):
            assert length == expected[union].literals


@pytest.mark.parametrize("seed", range(6, 10))
def test_a_union_is_worded_as_a_query_that_holds_in_its_ends(seed: int) -> None:
    here = scene(seed)
    released = here.released()
    for side, (tree, columns) in enumerate(
        ((released.left, here.table.left), (released.right, here.table.right))
    ):
        shape, found = tree.tree, Unions(tree, 2)
        plainest = all_unions(shape.ends, shape.leaves, shape.inner, 2)
        for number, row in enumerate(found.covered):
            query = found.query(number)
            nodes = {shape.ends[place] for place in np.flatnonzero(row)}
            inside = [end in nodes for end in here.ends[side]]
            assert evaluate(query, columns).true.tolist() == inside
            best = plainest[frozenset(np.flatnonzero(row).tolist())]
            assert negated_groups(query) <= best.groups
            assert literal_count(query) <= best.literals
            assert mentioned(query) <= set(tree.attributes)


@pytest.mark.parametrize("seed", range(3))
def test_enough_disjuncts_cover_every_union_that_a_query_can(seed: int) -> None:
    released = scene(seed).released()
    for tree in (released.left, released.right):
        leaves = len(tree.tree.leaves)
        can = unions(tree.tree)
        can = can[can.any(axis=1) & ~can[:, :leaves].all(axis=1)]
        found = Unions(tree, 4)
        assert {row.tobytes() for row in found.covered} <= {row.tobytes() for row in can}
        if not tree.tree.stuck:
            assert {row.tobytes() for row in found.covered} == {row.tobytes() for row in can}


def full_tree(depth: int) -> ReleasedTree:
    """A tree of Boolean splits, each of an attribute of its own."""
    splits = tuple(Literal(f"a{i}", "=", value=True) for i in range(2**depth - 1))
    attributes = {s.attribute: Attribute(s.attribute, Kind.BOOLEAN, required=True) for s in splits}
    return ReleasedTree(Tree(Side.LEFT, tuple(range(len(splits)))), splits, attributes)


def test_deep_trees_have_fewer_disjuncts_rather_than_too_many_disjunctions() -> None:
    tree = full_tree(4)
    # 30 nodes below the root, and their negations: 60 terms, 1 770 pairs, 34 220 triples.
    assert 60 + 1770 < module.MOST_DISJUNCTIONS < 34_220
    covered = Unions(tree, 3).covered
    assert len(covered) == len(all_unions(tree.tree.ends, tree.tree.leaves, tree.tree.inner, 2))
    # Single terms are always there.
    assert len(Unions(full_tree(7), 3)) >= 2 * 2**7


def test_a_plain_query_is_preferred_to_a_negated_group() -> None:
    tree = full_tree(2)
    found = Unions(tree, 2)
    worded = {
        frozenset(np.flatnonzero(row).tolist()): found.query(number)
        for number, row in enumerate(found.covered)
    }
    # Everything but the first leaf: the other branch, or the second leaf.
    query = worded[frozenset({1, 2, 3})]
    assert negated_groups(query) == 0
    assert coverage(query, tree).covered.tolist() == [False, True, True, True]


@pytest.mark.parametrize(
    ("text", "groups"),
    [
        ("[a]", 0),
        ("![a] & [b]", 0),
        ("!([a] & [b])", 1),
        ("!([a] | !([b] & [c])) | ![d]", 2),
    ],
)
def test_groups_are_negated_if_they_hold_more_than_a_literal(text: str, groups: int) -> None:
    query = parse_text(text)
    assert negated_groups(query) == groups
    assert mentioned(query) == {name for name in "abcd" if f"[{name}]" in text}
