"""Plans: they cost what was asked, to the last fraction."""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from redveil.mining.parameters import Algorithm, Counts, Parameters
from redveil.mining.schedule import (
    make_plan,
    pair_step,
    stages,
    table_shares,
    table_step,
    tree_steps,
)

some = settings(max_examples=30, deadline=None)
epsilons = st.fractions(Fraction(1, 10**6), Fraction(100), max_denominator=10**6)


def parameters(*algorithms: Algorithm) -> st.SearchStrategy[Parameters]:
    return st.builds(
        Parameters,
        algorithm=st.sampled_from(algorithms),
        depth=st.integers(1, 6),
        trials=st.integers(1, 8),
        alternations=st.integers(1, 8),
        tree_share=st.fractions(Fraction(1, 100), Fraction(99, 100), max_denominator=1000),
        counts=st.sampled_from(Counts),
    )


@some
@given(parameters(*Algorithm), epsilons)
def test_steps_cost_epsilon_exactly_and_have_their_own_names(
    wanted: Parameters, epsilon: Fraction
) -> None:
    plan = make_plan(wanted, epsilon)
    assert plan.epsilon == epsilon
    assert sum(step.epsilon for step in plan.steps) == epsilon
    assert all(step.epsilon > 0 for step in plan.steps)
    names = [step.name for step in plan.steps]
    assert len(set(names)) == len(names)
    assert make_plan(wanted, epsilon) == plan


@some
@given(parameters(*Algorithm), epsilons)
def test_a_stage_is_a_tree_a_pair_or_a_table(wanted: Parameters, epsilon: Fraction) -> None:
    cost: dict[str, Fraction] = defaultdict(Fraction)
    for step in make_plan(wanted, epsilon).steps:
        stage, _, part = step.name.rpartition(", ")
        mechanism = part.split(maxsplit=1)[0].replace("level", "choose")
        assert step.mechanism == (mechanism if mechanism in ("choose", "walk") else "count")
        cost[stage] += step.epsilon
    assert len(cost) == stages(wanted)
    if wanted.algorithm is Algorithm.TREE_PAIR:
        share = epsilon / wanted.trials
        assert set(cost.values()) == {share * wanted.tree_share, share * (1 - wanted.tree_share)}
    else:
        assert set(cost.values()) == {epsilon / len(cost)}


@some
@given(parameters(Algorithm.ALT_EXPM, Algorithm.ALT_MCMC), epsilons)
def test_trees_and_tables_of_alternations_cost_the_same(
    wanted: Parameters, epsilon: Fraction
) -> None:
    price = {step.name: step.epsilon for step in make_plan(wanted, epsilon).steps}
    share = epsilon / (wanted.trials * (2 * wanted.alternations + 1))
    levels = 1 if wanted.algorithm is Algorithm.ALT_MCMC else wanted.depth
    for trial in range(1, wanted.trials + 1):
        for tree in range(1, wanted.alternations + 2):
            names = tree_steps(wanted, trial, tree)
            assert [price.pop(name) for name in names] == [share / levels] * levels
        for pair in range(1, wanted.alternations + 1):
            pop_table(price, wanted, (trial, pair), share)
    assert not price


@some
@given(parameters(Algorithm.TREE_PAIR), epsilons)
def test_a_walk_over_pairs_costs_its_share(wanted: Parameters, epsilon: Fraction) -> None:
    price = {step.name: step.epsilon for step in make_plan(wanted, epsilon).steps}
    share = epsilon / wanted.trials
    for trial in range(1, wanted.trials + 1):
        assert price.pop(pair_step(trial)) == share * wanted.tree_share
        pop_table(price, wanted, (trial, 1), share * (1 - wanted.tree_share))
    assert not price


def pop_table(
    price: dict[str, Fraction], wanted: Parameters, table: tuple[int, int], share: Fraction
) -> None:
    """Cells cost half, the margins that are measured the other half."""
    margins = (
        ["left margin"] if wanted.counts is Counts.TWO_PASS else ["left margin", "right margin"]
    )
    assert list(table_shares(wanted)) == ["cells", *margins]
    assert price.pop(table_step(*table, "cells")) == share / 2
    for margin in margins:
        assert price.pop(table_step(*table, margin)) == share / 2 / len(margins)


def test_steps_stand_in_the_order_in_which_they_are_taken() -> None:
    plan = make_plan(Parameters(depth=1, trials=2, alternations=2), Fraction(1))
    table = ["cells", "left margin", "right margin"]
    expected = [
        step
        for trial in ("trial 1", "trial 2")
        for step in (
            f"{trial}, tree 1, level 1",
            f"{trial}, tree 2, level 1",
            *(f"{trial}, leaf table 1, {part}" for part in table),
            f"{trial}, tree 3, level 1",
            *(f"{trial}, leaf table 2, {part}" for part in table),
        )
    ]
    assert [step.name for step in plan.steps] == expected


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        (Parameters(trials=3, alternations=4), 27),
        (Parameters(Algorithm.ALT_MCMC, trials=3, alternations=4, depth=5), 27),
        (Parameters(Algorithm.TREE_PAIR, trials=3, alternations=4), 6),
    ],
)
def test_progress_has_as_many_stages_as_there_are_trees_and_tables(
    wanted: Parameters, expected: int
) -> None:
    assert stages(wanted) == expected
