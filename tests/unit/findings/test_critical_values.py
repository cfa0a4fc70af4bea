"""Critical values: bounds hold together for everything that can be asked or reported."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from redveil.findings import critical_values as module
from redveil.findings.binomial import binomial_p_values, largest_binomial_p
from redveil.findings.critical_values import (
    is_union,
    question_critical_values,
    report_critical_values,
    union_count,
    unions,
    weighting_critical_values,
)
from redveil.findings.estimate import Moments, TwoPass, estimate
from redveil.findings.leaf_table import LeafTable, Prices
from redveil.findings.leverage import leverage_variance
from redveil.findings.noise import SIMULATIONS, integer_noise, simulated_errors, upper_quantile
from redveil.findings.statistics import CriticalValues, jaccard_bounds, line_variance
from redveil.losses.loss import Price, Rho
from redveil.query.leaves import term_ends
from redveil.schema import Side
from redveil.trees.tree import Tree
from strategies.trees import trees
from support.seeded import SeededRandomness
from support.tiny import tiny_view

# Three leaves and two nodes to be stuck at on the left, two leaves on the right.
LEFT, RIGHT = Tree(Side.LEFT, (0, 1, None), stuck=(0, 1)), Tree(Side.RIGHT, (0,))
TERMS = term_ends(LEFT), term_ends(RIGHT)
HALF = Fraction(1, 2)
TRUTHS = {
    "associated": np.array([[300, 20], [15, 200], [80, 90], [5, 2], [9, 1]]),
    "sparse": np.array([[40, 0], [0, 900], [0, 3], [0, 0], [0, 0]]),
}


def measured(
    truth: np.ndarray,
    noise: SeededRandomness,
    price: Fraction,
    *,
    passes: int = 3,
    cells_share: Fraction = HALF,
) -> LeafTable:
    """Measure cells for a share of a price, and each margin for half of the rest."""
    cells, margin = price * cells_share, price * (1 - cells_share) / 2
    return LeafTable(
        LEFT,
        RIGHT,
        truth + noise.laplace(cells, truth.size).reshape(truth.shape),
        truth.sum(axis=1) + noise.laplace(margin, len(truth)) if passes > 1 else None,
        truth.sum(axis=0) + noise.laplace(margin, 2) if passes == 3 else None,
        Prices(cells, margin if passes > 1 else None, margin if passes == 3 else None),
    )


def all_pairs() -> tuple[np.ndarray, np.ndarray]:
    left, right = (each[each.any(axis=1)] for each in (unions(LEFT), unions(RIGHT)))
    return np.repeat(left, len(right), axis=0), np.tile(right, (len(left), 1))


def holds_for_all(table: LeafTable, truth: np.ndarray, critical: float) -> bool:
    """Whether every interval that anybody can ask for holds the truth."""
    left, right = all_pairs()
    moments = estimate(table).moments(left, right)
    both = np.einsum("pi,ij,pj->p", left, truth, right)
    lefts, rights = left @ truth.sum(axis=1), right @ truth.sum(axis=0)
    either = lefts + rights - both
    jaccard = np.divide(both, either, out=np.zeros(len(both)), where=either > 0)
    _, low, high = jaccard_bounds(moments, critical)
    return bool(
        ((low - 1e-9 <= jaccard) & (jaccard <= high + 1e-9)).all()
        and (np.abs(moments.both - both) <= critical * np.sqrt(moments.both_both)).all()
        and (np.abs(moments.left - lefts) <= critical * np.sqrt(moments.left_left)).all()
        and (np.abs(moments.right - rights) <= critical * np.sqrt(moments.right_right)).all()
    )


@pytest.mark.parametrize("name", TRUTHS)
@pytest.mark.parametrize(
    ("price", "passes"), [(Fraction(1, 10), 3), (Fraction(2), 3), (Fraction(1), 2)]
)
def test_all_intervals_hold_together(name: str, price: Fraction, passes: int) -> None:
    truth, noise, repetitions = TRUTHS[name], SeededRandomness(5), 400
    critical = question_critical_values(measured(truth, noise, price, passes=passes)).intervals
    held = sum(
        holds_for_all(measured(truth, noise, price, passes=passes), truth, critical)
        for _ in range(repetitions)
    )
    # 1.1 % is the simulated quantile's own error, and 1.1 % that of these repetitions.
    assert held / repetitions >= 0.95 - 2 * 0.016


@pytest.mark.parametrize("passes", [2, 3])
def test_critical_values_are_no_larger_than_they_must_be(passes: int) -> None:
    truth, noise = np.zeros((5, 2), np.int64), SeededRandomness(6)
    critical = question_critical_values(
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
            (np.abs(errors.both - j * either) > critical * np.sqrt(line_variance(stated, j))).any()
            for j in np.linspace(0, 1, 21)[:, None]
        ) or bool((np.abs(errors.left) > critical * np.sqrt(stated.left_left)).any())
    assert 0.05 - 3 * 0.016 < broken / len(tables) < 0.05 + 3 * 0.016


@pytest.mark.parametrize("passes", [2, 3])
def test_the_bound_for_large_tables_is_larger_but_not_by_much(
    passes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = measured(TRUTHS["sparse"], SeededRandomness(1), Fraction(1, 3), passes=passes)
    tried = module._largest_tried(LEFT, RIGHT, table.prices, 400)[:, 0]
    bound = module._largest_bound((5, 2), table.prices, 400)
    assert np.quantile(tried, 0.95) < np.quantile(bound, 0.95) < 2 * np.quantile(tried, 0.95)
    monkeypatch.setattr(module, "MOST_TRIED", 0)
    module._for_all_unions.cache_clear()
    bounds = module._largest_bound((5, 2), table.prices, SIMULATIONS)
    larger, confirming = (upper_quantile(bounds, tail) for tail in (0.05, 0.01))
    assert question_critical_values(table) == CriticalValues(larger, larger, larger, confirming)
    module._for_all_unions.cache_clear()


@pytest.mark.parametrize("passes", [2, 3])
def test_the_largest_error_is_found_and_the_bound_is_above_it(passes: int) -> None:
    count = 60
    table = measured(TRUTHS["sparse"], SeededRandomness(2), Fraction(1, 3), passes=passes)
    left, right = all_pairs()
    stated = estimate(table).moments(left, right)
    (errors,) = simulated_errors((5, 2), table.prices, count)
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
    tried, any_sum = module._largest_tried(LEFT, RIGHT, table.prices, count).T
    assert (largest <= tried * (1 + 1e-6)).all()
    assert (tried <= largest * 1.01).all()
    assert (tried <= any_sum * (1 + 1e-9)).all()
    assert (any_sum <= module._largest_bound((5, 2), table.prices, count) * (1 + 1e-9)).all()
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
def test_no_binomial_p_value_is_below_the_true_one(name: str, passes: int) -> None:
    truth, noise, repetitions = TRUTHS[name], SeededRandomness(8), 300
    left, right = all_pairs()
    exact = binomial_p_values(
        np.einsum("pi,ij,pj->p", left, truth, right),
        left @ truth.sum(axis=1),
        right @ truth.sum(axis=0),
        truth.sum(),
    )
    held = 0
    for _ in range(repetitions):
        table = measured(truth, noise, Fraction(1, 2), passes=passes)
        best, critical = estimate(table), question_critical_values(table).counts
        worst = largest_binomial_p(best.moments(left, right), best, critical)
        held += bool((worst >= exact * (1 - 1e-9)).all())
    assert held / repetitions >= 0.95


def test_critical_values_depend_on_shape_and_prices_alone() -> None:
    first, second = (
        measured(truth, SeededRandomness(number), Fraction(1, 2))
        for number, truth in enumerate(TRUTHS.values())
    )
    module._for_all_unions.cache_clear()
    alone = question_critical_values(first)
    module._for_all_unions.cache_clear()
    assert question_critical_values(second) == alone
    dearer = measured(TRUTHS["sparse"], SeededRandomness(1), Fraction(7))
    assert question_critical_values(dearer) != alone


def test_free_questions_need_larger_critical_values_than_pairs_of_leaves() -> None:
    table = measured(TRUTHS["associated"], SeededRandomness(1), Fraction(1, 2))
    leaves = module._for_all_terms(table, *TERMS, tables=1)
    alone, some, many = (question_critical_values(table, tables) for tables in (1, 5, 40))
    assert alone.intervals < some.intervals < many.intervals
    assert leaves < alone.counts < some.counts < many.counts
    assert all(values.intervals < values.counts for values in (alone, some, many))
    assert alone.leverages < some.leverages < many.leverages
    assert alone.confirming < some.confirming < many.confirming
    assert all(values.leverages < values.confirming for values in (alone, some, many))


def is_closed(tree: Tree, chosen: tuple[bool, ...]) -> bool:
    """Whether every covered node to be stuck at has everything below it covered."""
    covered = dict(zip(tree.ends, chosen, strict=True))
    return all(
        covered[end]
        for stuck in tree.stuck
        if covered[stuck]
        for end in tree.ends
        if stuck in [node for node, _ in tree.ancestors(end)]
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
    table = LeafTable(deep, deep, *nothing, Prices(price, price, price))
    assert union_count(deep) == 677**2 + 1
    assert 8 < question_critical_values(table).intervals < 20


@settings(max_examples=40, deadline=None)
@given(trees(tiny_view(2, 2), most_levels=2) | trees(tiny_view(1, 1), most_levels=3))
def test_distinct_unions_are_counted_without_making_them(tree: Tree) -> None:
    assert module._distinct_count(tree) == len(module._distinct(tree))


@pytest.mark.parametrize("stuck", [(), tuple(range(63))])
def test_the_deepest_trees_on_offer_have_critical_values(stuck: tuple[int, ...]) -> None:
    """With 2^64 unions on either side; those of all unions are above those of all terms."""
    deep = Tree(Side.LEFT, (0,) * 63, stuck), Tree(Side.RIGHT, (0,) * 63)
    shape = len(deep[0].ends), len(deep[1].ends)
    table = LeafTable(*deep, np.full(shape, 3), None, None, Prices(Fraction(1, 10)))
    terms = [term_ends(one, inner=True) for one in deep]
    reported = report_critical_values(table, terms[0], terms[1], 20)
    asked = question_critical_values(table, 20)
    assert 5 < reported.intervals < asked.intervals < 30
    assert (reported.leverages, reported.confirming) == (asked.leverages, asked.confirming)
    assert weighting_critical_values(table, 20).intervals >= asked.intervals


@pytest.mark.parametrize(
    ("passes", "cells_share"),
    [
        (1, Fraction(1)),
        *((passes, Fraction(n, 20)) for passes in (2, 3) for n in (1, 19)),
    ],
)
def test_the_value_for_all_terms_is_the_quantile_of_the_largest_error(
    passes: int, cells_share: Fraction
) -> None:
    truth, repetitions = TRUTHS["associated"], 600
    measure = partial(measured, price=HALF, passes=passes, cells_share=cells_share)
    pairs = np.repeat(TERMS[0], len(TERMS[1]), axis=0), np.tile(TERMS[1], (len(TERMS[0]), 1))
    table = measure(truth, SeededRandomness(1))
    critical = module._for_all_terms(table, *TERMS, tables=1)
    stated = estimate(table).moments(*pairs)
    noise, inside = SeededRandomness(2), 0
    for _ in range(repetitions):
        error = estimate(measure(np.zeros_like(truth), noise)).moments(*pairs)
        inside += all(
            (
                np.abs(getattr(error, one)) <= critical * np.sqrt(getattr(stated, f"{one}_{one}"))
            ).all()
            for one in ("both", "left", "right")
        )
    # Four standard errors below 95 %: 0.7 % of the 1000 simulations and 0.9 % of these.
    assert 0.95 - 4 * 0.0115 <= inside / repetitions <= 0.995


def test_the_value_for_all_terms_is_the_same_every_time_and_shrinks_to_nothing() -> None:
    table = measured(TRUTHS["sparse"], SeededRandomness(3), Fraction(1))
    found = {module._for_all_terms(table, *TERMS, tables=1) for _ in range(2)}
    assert len(found) == 1
    assert 2 < found.pop() < 6
    noiseless = measured(TRUTHS["sparse"], SeededRandomness(3), Fraction(160))
    assert module._for_all_terms(noiseless, *TERMS, tables=1) == 0


def test_reports_on_small_trees_have_the_critical_values_of_free_questions() -> None:
    table = measured(TRUTHS["associated"], SeededRandomness(1), HALF)
    for tables in (1, 3):
        found = report_critical_values(table, *TERMS, tables)
        assert found == question_critical_values(table, tables)


def test_reports_on_deep_trees_have_one_critical_value_for_all_terms() -> None:
    deep = Tree(Side.LEFT, (0,) * 7), Tree(Side.RIGHT, (0,) * 7)
    cells = np.full((8, 8), 40)
    table = LeafTable(*deep, cells, None, None, Prices(HALF))
    terms = term_ends(deep[0]), term_ends(deep[1])
    alone, one_of_many = (report_critical_values(table, *terms, tables) for tables in (1, 4))
    assert alone.intervals == alone.counts == module._for_all_terms(table, *terms, tables=1)
    assert alone.intervals < one_of_many.intervals
    everything = question_critical_values(table)
    assert alone.intervals < everything.intervals
    # Leverages are claimed for all unions, not for terms alone.
    assert (alone.leverages, alone.confirming) == (everything.leverages, everything.confirming)


# ——— Leverages ———

quarters = np.linspace(0, np.pi / 2, 721)


def largest_by_search(a: float, b: float, c: float, d: float) -> float:
    """Return the largest |xᵀMy| over unit vectors without negative entries, angle by angle."""
    directions = np.stack([np.cos(quarters), np.sin(quarters)])
    return float(np.abs(directions.T @ np.array([[a, b], [c, d]]) @ directions).max())


@settings(max_examples=150, deadline=None)
@given(st.tuples(*[st.floats(-9, 9)] * 4))
def test_the_largest_form_is_what_a_search_over_all_angles_finds(
    entries: tuple[float, float, float, float],
) -> None:
    found = float(module._largest_form_squared(*(np.array([x]) for x in entries))[0]) ** 0.5
    searched = largest_by_search(*entries)
    # Half a step of the search is a thousandth of a right angle.
    assert searched - 1e-9 <= found <= searched * (1 + 2e-5) + 1e-9


@settings(max_examples=60, deadline=None)
@given(st.floats(-9, 9), st.floats(-9, 9))
def test_the_largest_on_an_arc_is_what_a_search_finds(a: float, b: float) -> None:
    searched = float(np.abs(a * np.cos(quarters) + b * np.sin(quarters)).max())
    found = float(module._largest_on_arc_squared(np.array([a]), np.array([b]))[0]) ** 0.5
    assert searched - 1e-9 <= found <= searched * (1 + 2e-5) + 1e-9


def largest_studentised(error: np.ndarray, trees: tuple[Tree, Tree], steps: int) -> float:
    """Search all unions and a grid of shares for the largest error of a leverage, share or size."""
    height, width = error.shape
    largest = abs(float(error.sum())) / (height * width) ** 0.5
    rows, columns = (
        [covered - share for covered in unions(tree) for share in np.linspace(0, 1, steps)]
        for tree in trees
    )
    rows, columns = ([w for w in weights if w.any()] for weights in (rows, columns))
    for weights, sums, others in (
        (rows, error.sum(axis=1), width),
        (columns, error.sum(axis=0), height),
    ):
        for weight in weights:
            spread = (others * float(weight @ weight)) ** 0.5
            largest = max(largest, abs(float(weight @ sums)) / spread)
    unit_rows, unit_columns = (
        np.array([w / np.linalg.norm(w) for w in weights]) for weights in (rows, columns)
    )
    return float(max(largest, np.abs(unit_rows @ error @ unit_columns.T).max()))


@pytest.mark.parametrize(
    "trees",
    [
        (LEFT, RIGHT),
        (Tree(Side.LEFT, (0, 1, 2)), Tree(Side.RIGHT, (0, 1, None))),
        (Tree(Side.LEFT, (0,), stuck=(0,)), Tree(Side.RIGHT, (0, 1, None), stuck=(1,))),
    ],
    ids=["one side can be stuck", "none can", "both can"],
)
def test_the_largest_error_of_leverages_is_what_a_search_over_all_shares_finds(
    trees: tuple[Tree, Tree],
) -> None:
    shape = len(trees[0].ends), len(trees[1].ends)
    errors = np.random.default_rng(3).laplace(size=(25, *shape))
    found = module._leverages(errors, *map(module._distinct, trees))
    searched = np.array([largest_studentised(error, trees, 81) for error in errors])
    assert (searched <= found * (1 + 1e-9)).all()
    assert (found <= searched * 1.005).all()


@pytest.mark.parametrize("passes", [1, 2, 3])
def test_the_bound_for_all_weightings_is_above_every_leverage(passes: int) -> None:
    """Also where margins were measured, so that every tried share of every union is covered."""
    count = 40
    table = measured(TRUTHS["sparse"], SeededRandomness(2), Fraction(1, 3), passes=passes)
    left, right = all_pairs()
    stated = estimate(table).moments(left, right)
    (errors,) = simulated_errors((5, 2), table.prices, count)
    margin = errors.left_margin if isinstance(errors, TwoPass) else errors.cells.sum(axis=2)
    both = np.einsum("pi,kij,pj->kp", left, errors.cells, right)
    lefts, rights = margin @ left.T, errors.cells.sum(axis=1) @ right.T
    size = margin.sum(axis=1, keepdims=True)
    by_hand = np.abs(size[:, 0]) / float(stated.size_size[0]) ** 0.5
    for a, b in product(np.linspace(0, 1, 11), repeat=2):
        shares = np.full(len(left), a), np.full(len(left), b)
        variance = leverage_variance(stated, *shares)
        # What is all but certain is not studentised.
        real = variance > 1e-6
        leverage = np.abs(both - b * lefts - a * rights + a * b * size)[:, real]
        by_hand = np.maximum(by_hand, (leverage / np.sqrt(variance[real])).max(axis=1))
    bound = module._largest_bound((5, 2), table.prices, count)
    assert (by_hand <= bound * (1 + 1e-9)).all()
    if passes == 1:
        cells = errors.cells / float(stated.both_both[0] / (left[0].sum() * right[0].sum())) ** 0.5
        tried = module._leverages(cells, *map(module._distinct, (LEFT, RIGHT)))
        assert (by_hand <= tried * (1 + 1e-9)).all()
        assert (tried <= bound * (1 + 1e-9)).all()


@pytest.mark.parametrize(
    "price", [Fraction(1, 3), Fraction(1, 400), Fraction(4), Rho(Fraction(1, 9))]
)
def test_the_value_for_leverages_is_exceeded_as_often_as_it_may_be(price: Price) -> None:
    """With noise of its own, drawn anew: 5 % and 1 % of tables have a larger error somewhere."""
    trees, runs = (Tree(Side.LEFT, (0, 1, 2)), Tree(Side.RIGHT, (0, 1, None))), 3000
    table = LeafTable(*trees, np.full((4, 3), 30), None, None, Prices(price))
    critical = question_critical_values(table)
    noise = integer_noise(np.random.default_rng(99), price, (runs, 4, 3))
    errors = noise / float(estimate(table).moments(*pair_of_ends(4, 3)).both_both[0]) ** 0.5
    largest = module._leverages(errors, *map(module._distinct, trees))
    # The simulated quantile is on the safe side; four standard errors of 3000 runs.
    assert np.mean(largest > critical.leverages) <= 0.05 + 4 * 0.004
    assert np.mean(largest > critical.confirming) <= 0.01 + 4 * 0.0018
    if price != 4:
        # At ε = 4 the noise takes so few values that quantiles jump.
        assert np.mean(largest > critical.leverages) >= 0.02
        assert np.mean(largest > critical.confirming) >= 0.001


def pair_of_ends(height: int, width: int) -> tuple[np.ndarray, np.ndarray]:
    return np.eye(height, dtype=np.bool_)[:1], np.eye(width, dtype=np.bool_)[:1]


def test_low_prices_share_their_simulations_and_others_do_not() -> None:
    fine = Prices(module.FINE_PRICE)
    assert module._typical(Prices(Fraction(1, 1000))) == fine
    assert module._typical(Prices(Fraction(1, 2))) == Prices(Fraction(1, 2))
    for own in (Prices(Rho(Fraction(1, 900))), Prices(Fraction(1, 90), Fraction(1, 90))):
        assert module._typical(own) == own


def test_leverages_of_deep_trees_are_bounded_for_all_weightings() -> None:
    deep = Tree(Side.LEFT, (0,) * 7), Tree(Side.RIGHT, (0,) * 7)
    table = LeafTable(*deep, np.full((8, 8), 40), None, None, Prices(HALF))
    bound = upper_quantile(module._largest_bound((8, 8), table.prices, SIMULATIONS), 0.05)
    assert question_critical_values(table).leverages == bound


def test_what_is_no_union_has_critical_values_for_all_weightings() -> None:
    """A query that asks for missing values covers a node where entities are stuck, alone."""
    table = measured(TRUTHS["associated"], SeededRandomness(9), Fraction(1, 2))
    sets = np.array(list(product([False, True], repeat=len(LEFT.ends))))
    known = {one.tobytes() for one in unions(LEFT)}
    assert [is_union(LEFT, one) for one in sets] == [one.tobytes() in known for one in sets]
    plain, any_at_all = question_critical_values(table), weighting_critical_values(table)
    assert any_at_all.intervals >= plain.intervals
    assert any_at_all.confirming > any_at_all.leverages >= plain.leverages
