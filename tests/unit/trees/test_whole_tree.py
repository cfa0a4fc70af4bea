"""Trees drawn as a whole: what may be drawn, with which base measure, and what is refused."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracle.splits import informative
from oracle.two_level import Shape, all_trees, tree_units, tree_weight
from redveil.errors import PlanError
from redveil.growing.whole_tree import draw_tree, split_weights, stump_base, tree_base, tree_of
from redveil.privacy.selection import LARGEST_BASE
from redveil.schema import Attribute, Kind, Side, View
from redveil.sealed import Receipt, Released
from redveil.trees.scores import GRID_BITS
from redveil.trees.splits import Splits
from redveil.trees.tree import Tree
from strategies.schemas import views
from support.prepared import SOME_STEP, given_target, prepared
from support.seeded import SeededRandomness
from support.tiny import Tiny, tiny_entities, tiny_view

few = settings(max_examples=40, deadline=None)
ENTITIES = tiny_entities(40, 2, 3, 1)
TARGET = [-1 if i % 13 == 5 else int(i > 14) for i in range(40)]


def draw(tiny: Tiny, target: list[int], depth: int, epsilon: int, seed: int) -> Released[Tree]:
    data = prepared(tiny, tiny)
    receipt = Receipt(SOME_STEP, "choose", Fraction(epsilon))
    labels = given_target(data, target)
    return draw_tree(data, Side.LEFT, depth, labels, 2, receipt, SeededRandomness(seed))


def shape(tree: Tree, depth: int) -> Shape:
    return tuple(tree.split(node) for node in range(2**depth - 1))


@few
@given(views())
def test_only_splits_that_can_divide_are_open_below_a_root(view: View) -> None:
    base = tree_base(Splits.of(view))
    assert (base.root > 0).tolist() == informative(view, ())
    for root in range(view.split_count):
        for side, held in enumerate((True, False)):
            may = informative(view, ((root, held),))
            assert base.open[root, side].tolist() == [*may, not any(may)]


@few
@given(views())
def test_the_base_measure_is_a_uniform_split_of_a_uniform_attribute(view: View) -> None:
    splits = Splits.of(view)
    base, (_, whole) = tree_base(splits), split_weights(splits)
    for tree in all_trees(view, 2):
        _, a, b = (-1 if split is None else split for split in tree)
        weight = int(base.root[tree[0]]) * int(base.below[a]) * int(base.below[b])
        assert base.open[tree[0], 0, a]
        assert base.open[tree[0], 1, b]
        assert Fraction(weight, whole**3) == tree_weight(tree, view)
    stumps = [Fraction(int(weight), whole) for weight in stump_base(splits)[0]]
    assert stumps == [tree_weight(tree, view) for tree in all_trees(view, 1)]


def numbers(*split_counts: int) -> View:
    return View(
        "view",
        "id",
        tuple(
            Attribute(
                f"number {i}",
                Kind.NUMERIC,
                minimum=0,
                maximum=count + 1,
                cuts=tuple(float(c) for c in range(1, count + 1)),
            )
            for i, count in enumerate(split_counts)
        ),
    )


def test_attributes_of_up_to_forty_splits_weigh_the_same() -> None:
    splits = Splits.of(numbers(*range(1, 41)))
    weights, whole = split_weights(splits)
    assert whole < LARGEST_BASE
    assert {int(weights[splits.attribute == a].sum()) for a in range(40)} == {whole}


def test_where_no_whole_numbers_do_splits_weigh_the_same() -> None:
    splits = Splits.of(numbers(*range(1, 42)))
    weights, whole = split_weights(splits)
    assert (set(weights.tolist()), whole) == ({1}, 1)
    assert set(tree_base(Splits.of(numbers(101, 103, 107, 109, 113, 127, 131, 137))).below) == {1}


@pytest.mark.parametrize("depth", [1, 2])
def test_with_a_large_budget_the_best_tree_is_drawn(depth: int) -> None:
    def units(tree: Shape) -> int:
        return tree_units(tree, ENTITIES.candidates, TARGET, GRID_BITS)

    trees = all_trees(ENTITIES.view, depth)
    best = max(map(units, trees))
    drawn = {draw(ENTITIES, TARGET, depth, 10**5, seed).value for seed in range(20)}
    assert {units(shape(tree, depth)) for tree in drawn} == {best}
    assert any(units(tree) < best for tree in trees)


@few
@given(st.integers(0, 99), st.sampled_from((1, 2)))
def test_drawn_trees_are_listed_trees_and_say_where_entities_can_be_stuck(
    seed: int, depth: int
) -> None:
    drawn = draw(ENTITIES, TARGET, depth, 1, seed)
    assert shape(drawn.value, depth) in all_trees(ENTITIES.view, depth)
    assert drawn.value.side is Side.LEFT
    asked = {
        node: ENTITIES.splits.attribute[drawn.value.splits[node]] for node in drawn.value.inner
    }
    # Every value may be missing, but a value that was known above is known below.
    first = tuple(node for node in asked if node == 0 or asked[node] != asked[0])
    assert drawn.value.stuck == first
    assert [receipt.step for receipt in drawn.receipts] == [SOME_STEP]


def test_a_view_of_one_flag_gives_a_stump() -> None:
    one = Tiny(View("view", "id", (Attribute("flag", Kind.BOOLEAN, required=True),)), [[0, 1, 1]])
    assert draw(one, [0, 1, 1], 2, 1, 0).value == Tree(Side.LEFT, (0,))


def test_where_nothing_divides_a_leaf_stays() -> None:
    # One number with three bins: below "at most the first", only the other side can be divided.
    one = Tiny(tiny_view(0, 2), [[0, 1, 2, None, 1]])
    drawn = {draw(one, [0, 1, 0, 1, 1], 2, 1, seed).value.splits for seed in range(40)}
    assert drawn == {(0, None, 1), (1, 0)}


def test_no_entities_at_all_is_no_problem() -> None:
    no_entities = Tiny(tiny_view(1, 2), [[], []])
    assert shape(draw(no_entities, [], 2, 1, 5).value, 2) in all_trees(no_entities.view, 2)


def test_leaves_are_numbered_as_in_a_heap() -> None:
    splits = ENTITIES.splits
    # Splits 0 and 1 ask for flags, 2 to 4 for the number.
    assert tree_of(Side.RIGHT, splits, (4, 5, 3)) == Tree(Side.RIGHT, (4, None, 3), (0,))
    assert tree_of(Side.RIGHT, splits, (4, 3, 5)) == Tree(Side.RIGHT, (4, 3), (0,))
    assert tree_of(Side.RIGHT, splits, (4, 5, 1)) == Tree(Side.RIGHT, (4, None, 1), (0, 2))
    assert tree_of(Side.RIGHT, splits, (4, 0, 3)) == Tree(Side.RIGHT, (4, 0, 3), (0, 1))
    assert tree_of(Side.RIGHT, splits, (4,)) == Tree(Side.RIGHT, (4,), (0,))


@pytest.mark.parametrize("depth", [0, 3])
def test_other_depths_are_refused(depth: int) -> None:
    with pytest.raises(PlanError, match=f"depth 1 or 2, not {depth}; walk"):
        draw(ENTITIES, TARGET, depth, 1, 0)
