from __future__ import annotations

import numpy as np
import pytest

from oracle.gini_split import impurity, least_impurity
from redveil.query.formula import Literal, evaluate
from redveil.query.text import to_text
from redveil.schema import Side
from redveil_research.baselines.branches import (
    Branch,
    Split,
    features_of,
    grow,
    holds,
    positive,
    query_of,
    whole,
)
from support.mixed import mixed_schema, mixed_table


def random_target(rows: int, classes: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, classes, rows)


@pytest.mark.parametrize("gaps", [0.0, 0.2])
@pytest.mark.parametrize("depth", [1, 2, 4])
@pytest.mark.parametrize("seed", range(5))
def test_queries_are_true_for_the_entities_of_their_leaves(
    seed: int, depth: int, gaps: float
) -> None:
    table = mixed_table(120, seed, gaps)
    target = random_target(120, 2, seed)
    for side in Side:
        features = features_of(table.view(side), table.rows)
        leaves = grow(features, whole(features), target, depth, 3)
        assert len(leaves) > 1
        assert np.sort(np.concatenate([one.members for one in leaves])).tolist() == [*range(120)]
        for chosen in (leaves[:1], leaves[1:], leaves[::2], positive(leaves, target == 1)):
            query = query_of(chosen, mixed_schema().view(side))
            found = evaluate(query, table.view(side)).true
            assert found.tolist() == holds(chosen, 120).tolist()


@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("min_leaf", [1, 6])
@pytest.mark.parametrize("seed", range(8))
def test_a_stump_is_the_best_of_all_splits(seed: int, min_leaf: int, classes: int) -> None:
    table = mixed_table(40, seed, gaps=0.2)
    target = random_target(40, classes, seed)
    for side in Side:
        features = features_of(table.view(side), 40)
        leaves = grow(features, whole(features), target, 1, min_leaf)
        left = impurity(target, [holds([one], 40) for one in leaves])
        assert left == pytest.approx(least_impurity(table.view(side), target, min_leaf))


def test_leaves_grow_on_among_their_own_entities() -> None:
    table = mixed_table(80, seed=3)
    target = random_target(80, 2, 3)
    features = features_of(table.left, 80)
    first, *_ = grow(features, whole(features), target, 1, 5)
    again = grow(features, first, target, 1, 5)
    assert len(again) == 2
    assert all(one.path[:1] == first.path for one in again)
    assert np.union1d(*(one.members for one in again)).tolist() == first.members.tolist()


@pytest.mark.parametrize("target", [np.zeros(80, np.int64), np.ones(80, np.int64)])
def test_what_is_pure_stays_whole(target: np.ndarray) -> None:
    features = features_of(mixed_table(80, seed=3).left, 80)
    assert [one.path for one in grow(features, whole(features), target, 3, 1)] == [()]


def test_both_sides_of_a_split_are_their_node() -> None:
    old, sick = Split(Literal("age", "<=", 65)), Split(Literal("sick", "=", value=True))
    nobody = np.array([], dtype=np.intp)
    paths = [
        ((old, True),),
        ((old, False), (sick, True)),
        ((old, False), (sick, False)),
    ]
    branches = [Branch(path, nobody) for path in paths]
    view = mixed_schema().left
    assert to_text(query_of(branches[1:], view)) == "[age > 65]"
    assert to_text(query_of(branches[:2], view)).count("sick") == 1
