from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings

from redveil.findings import critical_values as module
from redveil.findings.critical_values import Reach, question_critical_values, union_count, unions
from redveil.findings.estimate import Moments, TwoPass, estimate
from redveil.findings.leaf_table import LeafTable
from redveil.findings.statistics import (
    SIMULATIONS,
    jaccard_bounds,
    line_variance,
    p_values,
    pessimistic_p_values,
    simultaneous_reach,
    upper_quantile,
)
from redveil.query.leaves import term_ends
from redveil.schema import Side
from redveil.trees.tree import Tree
from strategies.trees import trees
from support.seeded import SeededRandomness
from support.tiny import tiny_view

# Three leaves and two places to be stuck at on the left, two leaves on the right.
LEFT, RIGHT = Tree(Side.LEFT, (0, 1, None), stuck=(0, 1)), Tree(Side.RIGHT, (0,))
TRUTHS = {
    "associated": np.array([[300, 20], [15, 200], [80, 90], [5, 2], [9, 1]]),
    "sparse": np.array([[40, 0], [0, 900], [0, 3], [0, 0], [0, 0]]),
}


def measured(
    truth: np.ndarray, noise: SeededRandomness, price: Fraction, *, passes: int = 3
) -> LeafTable:
    return LeafTable(
        LEFT,
        RIGHT,
        truth + noise.laplace(price / 2, truth.size).reshape(truth.shape),
        truth.sum(axis=1) + noise.laplace(price / 4, len(truth)),
        truth.sum(axis=0) + noise.laplace(price / 4, 2) if passes == 3 else None,
        price / 2,
        price / 4,
        price / 4 if passes == 3 else None,
    )


def all_pairs() -> tuple[np.ndarray, np.ndarray]:
    left, right = (each[each.any(axis=1)] for each in (unions(LEFT), unions(RIGHT)))
    return np.repeat(left, len(right), axis=0), np.tile(right, (len(left), 1))


def holds_for_all(table: LeafTable, truth: np.ndarray, reach: float) -> bool:
    """Whether every interval that anybody can ask for holds the truth."""
    left, right = all_pairs()
    moments = estimate(table).moments(left, right)
    both = np.einsum("pi,ij,pj->p", left, truth, right)
    lefts, rights = left @ truth.sum(axis=1), right @ truth.sum(axis=0)
    either = lefts + rights - both
    jaccard = np.divide(both, either, out=np.zeros(len(both)), where=either > 0)
    _, low, high = jaccard_bounds(moments, reach)
    return bool(
        ((low - 1e-9 <= jaccard) & (jaccard <= high + 1e-9)).all()
        and (np.abs(moments.both - both) <= reach * np.sqrt(moments.both_both)).all()
        and (np.abs(moments.left - lefts) <= reach * np.sqrt(moments.left_left)).all()
        and (np.abs(moments.right - rights) <= reach * np.sqrt(moments.right_right)).all()
    )


@pytest.mark.parametrize("name", TRUTHS)
@pytest.mark.parametrize(
    ("price", "passes"), [(Fraction(1, 10), 3), (Fraction(2), 3), (Fraction(1), 2)]
)
def test_all_intervals_hold_together(name: str, price: Fraction, passes: int) -> None:
    truth, noise, repetitions = TRUTHS[name], SeededRandomness(5), 400
    reach = question_critical_values(measured(truth, noise, price, passes=passes)).intervals
    held = sum(
        holds_for_all(measured(truth, noise, price, passes=passes), truth, reach)
        for _ in range(repetitions)
    )
    # 1.1 % is the simulated quantile's own error, and 1.1 % that of these repetitions.
    assert held / repetitions >= 0.95 - 2 * 0.016


@pytest.mark.parametrize("passes", [2, 3])
def test_the_reach_is_no_longer_than_it_must_be(passes: int) -> None:
    truth, noise = np.zeros((5, 2), np.int64), SeededRandomness(6)
    reach = question_critical_values(
        measured(truth, noise, Fraction(1, 5), passes=passes)
    ).intervals
    tables = [measured(truth, noise, Fraction(1, 5), passes=passes) for _ in range(400)]
    left, right = all_pairs()
    stated = estimate(tables[0]).moments(left, right)
    broken = 0
    for table in tables:
        errors = estimate(table).moments(left, right)
        either = errors.left + errors.right - errors.both
        # Over a grid of J the largest error is nearly the one that is bounded.
        broken += any(
            (np.abs(errors.both - j * either) > reach * np.sqrt(line_variance(stated, j))).any()
            for j in np.linspace(0, 1, 21)[:, None]
        ) or bool((np.abs(errors.left) > reach * np.sqrt(stated.left_left)).any())
    assert 0.05 - 3 * 0.016 < broken / len(tables) < 0.05 + 3 * 0.016


@pytest.mark.parametrize("passes", [2, 3])
def test_the_bound_for_large_tables_is_longer_but_not_by_much(
    passes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = measured(TRUTHS["sparse"], SeededRandomness(1), Fraction(1, 3), passes=passes)
    tried = module._largest_tried(table, 400)[:, 0]
    bound = module._largest_bound(table, 400)
    assert np.quantile(tried, 0.95) < np.quantile(bound, 0.95) < 2 * np.quantile(tried, 0.95)
    monkeypatch.setattr(module, "MOST_TRIED", 0)
    module._reach.cache_clear()
    longer = upper_quantile(module._largest_bound(table, SIMULATIONS), 0.05)
    assert question_critical_values(table) == Reach(longer, longer)
    module._reach.cache_clear()


@pytest.mark.parametrize("passes", [2, 3])
def test_the_largest_error_is_found_and_the_bound_is_above_it(passes: int) -> None:
    count = 60
    table = measured(TRUTHS["sparse"], SeededRandomness(2), Fraction(1, 3), passes=passes)
    left, right = all_pairs()
    stated = estimate(table).moments(left, right)
    (errors,) = module._simulated(table, count, count)
    cells = errors.cells
    margin = errors.left_margin if isinstance(errors, TwoPass) else cells.sum(axis=2)
    both = np.einsum("pi,kij,pj->kp", left, cells, right)
    lefts, rights = margin @ left.T, cells.sum(axis=1) @ right.T
    by_hand = [np.abs(lefts) / np.sqrt(stated.left_left)]
    by_hand += [np.abs(rights) / np.sqrt(stated.right_right)]
    for j in np.linspace(0, 1, 101):
        line = both - j * (lefts + rights - both)
        by_hand.append(np.abs(line) / np.sqrt(line_variance(stated, np.array([j]))))
    largest = np.max(by_hand, axis=0).max(axis=1)
    tried, any_sum = module._largest_tried(table, count).T
    assert (largest <= tried * (1 + 1e-6)).all()
    assert (tried <= largest * 1.01).all()
    assert (tried <= any_sum * (1 + 1e-9)).all()
    assert (any_sum <= module._largest_bound(table, count) * (1 + 1e-9)).all()
    # The length of four errors is what the inverse of their covariances says.
    four = np.stack([both, lefts, rights, np.broadcast_to(margin.sum(axis=1)[:, None], both.shape)])
    lengths = [
        [one @ np.linalg.pinv(covariances(stated, k), rcond=1e-9) @ one for one in four[:, :, k].T]
        for k in range(len(left))
    ]
    np.testing.assert_allclose(any_sum, np.sqrt(np.max(lengths, axis=0)), rtol=1e-6)


def covariances(moments: Moments, pair: int) -> np.ndarray:
    names = ("both", "left", "right", "size")
    found = np.zeros((4, 4))
    for i, j in product(range(4), repeat=2):
        found[i, j] = getattr(moments, f"{names[min(i, j)]}_{names[max(i, j)]}")[pair]
    return found


@pytest.mark.parametrize("name", TRUTHS)
@pytest.mark.parametrize("passes", [2, 3])
def test_no_p_value_is_below_the_true_one(name: str, passes: int) -> None:
    truth, noise, repetitions = TRUTHS[name], SeededRandomness(8), 300
    left, right = all_pairs()
    exact = p_values(
        np.einsum("pi,ij,pj->p", left, truth, right),
        left @ truth.sum(axis=1),
        right @ truth.sum(axis=0),
        truth.sum(),
    )
    held = 0
    for _ in range(repetitions):
        table = measured(truth, noise, Fraction(1, 2), passes=passes)
        best, reach = estimate(table), question_critical_values(table).counts
        worst = pessimistic_p_values(best.moments(left, right), best, reach)
        held += bool((worst >= exact * (1 - 1e-9)).all())
    assert held / repetitions >= 0.95


def test_the_reach_depends_on_shape_and_prices_alone() -> None:
    first, second = (
        measured(truth, SeededRandomness(number), Fraction(1, 2))
        for number, truth in enumerate(TRUTHS.values())
    )
    module._reach.cache_clear()
    alone = question_critical_values(first)
    module._reach.cache_clear()
    assert question_critical_values(second) == alone
    dearer = measured(TRUTHS["sparse"], SeededRandomness(1), Fraction(7))
    assert question_critical_values(dearer) != alone


def test_free_questions_reach_farther_than_pairs_of_leaves() -> None:
    table = measured(TRUTHS["associated"], SeededRandomness(1), Fraction(1, 2))
    leaves = simultaneous_reach(table, term_ends(LEFT), term_ends(RIGHT))
    alone, some, many = (question_critical_values(table, tables) for tables in (1, 5, 40))
    assert alone.intervals < some.intervals < many.intervals
    assert leaves < alone.counts < some.counts < many.counts
    assert all(reach.intervals < reach.counts for reach in (alone, some, many))


def is_closed(tree: Tree, chosen: tuple[bool, ...]) -> bool:
    """Whether every covered place to be stuck at has everything below it covered."""
    covered = dict(zip(tree.ends, chosen, strict=True))
    return all(
        covered[cell]
        for stuck in tree.stuck
        if covered[stuck]
        for cell in tree.ends
        if stuck in [node for node, _ in tree.ancestors(cell)]
    )


@settings(max_examples=40, deadline=None)
@given(trees(tiny_view(2, 2), most_levels=2) | trees(tiny_view(1, 1), most_levels=3))
def test_the_unions_are_those_that_keep_what_is_below(tree: Tree) -> None:
    found = unions(tree)
    assert len(found) == union_count(tree)
    if len(tree.ends) <= 10:
        closed = {
            chosen
            for chosen in product((False, True), repeat=len(tree.ends))
            if is_closed(tree, chosen)
        }
        assert {tuple(row) for row in found.tolist()} == closed
    assert len(np.unique(found, axis=0)) == len(found)


def test_deep_trees_have_more_unions_than_can_be_tried() -> None:
    deep = Tree(Side.LEFT, (0,) * 15, stuck=tuple(range(15)))
    shape = (len(deep.ends), len(deep.ends))
    price = Fraction(1, 3)
    nothing = np.zeros(shape), np.zeros(shape[0]), np.zeros(shape[1])
    table = LeafTable(deep, deep, *nothing, price, price, price)
    assert union_count(deep) == 677**2 + 1
    assert 8 < question_critical_values(table).intervals < 20
