"""Plans: they cost what was asked, to the last fraction."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from redveil.algorithms.parameters import Algorithm, Counts, Parameters, Sampler, Start
from redveil.algorithms.schedule import (
    make_plan,
    pair_step,
    stages,
    start_step,
    table_shares,
    table_step,
    tree_steps,
    twin_steps,
)
from redveil.privacy.loss import amount, total

some = settings(max_examples=30, deadline=None)
epsilons = st.fractions(Fraction(1, 10**6), Fraction(100), max_denominator=10**6)


@st.composite
def parameters(draw: st.DrawFn, *algorithms: Algorithm) -> Parameters:
    algorithm, depth = draw(st.sampled_from(algorithms)), draw(st.integers(1, 6))
    # Deep trees cannot be drawn exactly.
    deep = algorithm is Algorithm.ALT_MCMC and depth > 2
    made = Parameters(
        algorithm,
        depth=depth,
        trials=draw(st.integers(1, 8)),
        alternations=draw(st.integers(1, 8)),
        tree_share=draw(st.fractions(Fraction(1, 100), Fraction(99, 100), max_denominator=1000)),
        counts=draw(st.sampled_from(Counts)),
        sampler=Sampler.WALK if deep else draw(st.sampled_from(Sampler)),
        start=draw(st.sampled_from(Start)),
    )
    alone = depth == 1 and made.starts_privately and not made.walks and draw(st.booleans())
    return replace(made, alternations=0) if alone else made


@some
@given(parameters(*Algorithm), epsilons)
def test_steps_cost_epsilon_exactly_and_have_their_own_names(
    wanted: Parameters, epsilon: Fraction
) -> None:
    plan = make_plan(wanted, epsilon)
    assert plan.price == epsilon
    assert total(step.price for step in plan.steps) == epsilon
    assert all(amount(step.price) > 0 for step in plan.steps)
    names = [step.name for step in plan.steps]
    assert len(set(names)) == len(names)
    assert make_plan(wanted, epsilon) == plan


@some
@given(parameters(*Algorithm), epsilons)
def test_a_stage_is_a_tree_a_pair_or_a_table(wanted: Parameters, epsilon: Fraction) -> None:
    cost: dict[str, Fraction] = defaultdict(Fraction)
    for step in make_plan(wanted, epsilon).steps:
        trial, stage, *_ = step.name.split(", ")
        grows = stage.startswith(("tree", "twins", "start"))
        walked = wanted.walks and stage != "start"
        assert step.mechanism == (("walk" if walked else "choose") if grows else "count")
        cost[f"{trial}, {stage}"] += amount(step.price)
    starts = wanted.trials * wanted.starts_privately
    assert sum("start" in stage for stage in cost) == starts
    # A start is paid for, but is over too soon to be told of, unless it is all there is.
    untold = starts if wanted.alternations else 0
    assert len(cost) == stages(wanted) + untold
    if wanted.algorithm.alternates:
        assert set(cost.values()) == {epsilon / len(cost)}
    else:
        share = epsilon / wanted.trials
        assert set(cost.values()) == {share * wanted.tree_share, share * (1 - wanted.tree_share)}


@some
@given(parameters(Algorithm.ALT_EXPM, Algorithm.ALT_MCMC), epsilons)
def test_starts_trees_and_tables_of_alternations_cost_the_same(
    wanted: Parameters, epsilon: Fraction
) -> None:
    price = {step.name: amount(step.price) for step in make_plan(wanted, epsilon).steps}
    private = wanted.start is Start.PRIVATE
    parts = 2 * wanted.alternations + 1 + private if wanted.alternations else 2
    share = epsilon / (wanted.trials * parts)
    levels = 1 if wanted.algorithm is Algorithm.ALT_MCMC else wanted.depth
    for trial in range(1, wanted.trials + 1):
        assert price.pop(start_step(trial), None) == (share if private else None)
        for tree in range(1, wanted.alternations + 2) if wanted.alternations else ():
            names = tree_steps(wanted, trial, tree)
            assert [price.pop(name) for name in names] == [share / levels] * levels
        for pair in range(1, max(wanted.alternations, 1) + 1):
            pop_table(price, wanted, (trial, pair), share)
    assert not price


@some
@given(parameters(Algorithm.TREE_PAIR, Algorithm.TWIN), epsilons)
def test_a_pair_of_trees_costs_its_share(wanted: Parameters, epsilon: Fraction) -> None:
    price = {step.name: amount(step.price) for step in make_plan(wanted, epsilon).steps}
    share = epsilon / wanted.trials
    for trial in range(1, wanted.trials + 1):
        twins = wanted.algorithm is Algorithm.TWIN
        names = twin_steps(wanted.depth, trial) if twins else (pair_step(trial),)
        for name in names:
            assert price.pop(name) == share * wanted.tree_share / len(names)
        pop_table(price, wanted, (trial, 1), share * (1 - wanted.tree_share))
    assert not price


PARTS = {
    Counts.CELLS: {"cells": Fraction(1)},
    Counts.TWO_PASS: {"cells": Fraction(1, 2), "left margin": Fraction(1, 2)},
    Counts.LEAST_SQUARES: {
        "cells": Fraction(1, 2),
        "left margin": Fraction(1, 4),
        "right margin": Fraction(1, 4),
    },
}


def pop_table(
    price: dict[str, Fraction], wanted: Parameters, table: tuple[int, int], share: Fraction
) -> None:
    """Cells cost everything, or half and the margins that are measured the other half."""
    parts = PARTS[wanted.counts]
    assert list(table_shares(wanted)) == list(parts)
    for part, part_share in parts.items():
        assert price.pop(table_step(*table, part)) == share * part_share


def names_and_mechanisms(wanted: Parameters) -> list[tuple[str, str]]:
    return [(step.name, step.mechanism) for step in make_plan(wanted, Fraction(1)).steps]


@pytest.mark.parametrize(
    ("wanted", "trial"),
    [
        (
            Parameters(Algorithm.ALT_EXPM, depth=1, trials=2, counts=Counts.LEAST_SQUARES),
            [
                ("start", "choose"),
                ("tree 1, level 1", "choose"),
                ("tree 2, level 1", "choose"),
                *((f"leaf table 1, {part}", "count") for part in PARTS[Counts.LEAST_SQUARES]),
                ("tree 3, level 1", "choose"),
                *((f"leaf table 2, {part}", "count") for part in PARTS[Counts.LEAST_SQUARES]),
            ],
        ),
        (
            Parameters(Algorithm.ALT_MCMC, depth=2, trials=2, alternations=1),
            [
                ("start", "choose"),
                ("tree 1", "choose"),
                ("tree 2", "choose"),
                ("leaf table 1, cells", "count"),
            ],
        ),
        (
            Parameters(
                Algorithm.ALT_MCMC,
                trials=2,
                alternations=1,
                sampler=Sampler.WALK,
                start=Start.RANDOM,
                counts=Counts.TWO_PASS,
            ),
            [
                ("tree 1, walk", "walk"),
                ("tree 2, walk", "walk"),
                ("leaf table 1, cells", "count"),
                ("leaf table 1, left margin", "count"),
            ],
        ),
        (
            Parameters(Algorithm.TREE_PAIR, trials=2),
            [("tree pair, walk", "walk"), ("leaf table 1, cells", "count")],
        ),
        (
            Parameters(depth=3, trials=2),
            [
                *((f"twins, level {level}", "choose") for level in (1, 2, 3)),
                ("leaf table 1, cells", "count"),
            ],
        ),
    ],
)
def test_steps_stand_in_the_order_in_which_they_are_taken(
    wanted: Parameters, trial: list[tuple[str, str]]
) -> None:
    assert names_and_mechanisms(wanted) == [
        (f"trial {number}, {name}", mechanism) for number in (1, 2) for name, mechanism in trial
    ]


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        (Parameters(trials=3, depth=4), 6),
        (Parameters(Algorithm.ALT_EXPM, trials=3, alternations=4), 27),
        (Parameters(Algorithm.ALT_EXPM, trials=3, alternations=4, start=Start.RANDOM), 27),
        (Parameters(Algorithm.ALT_MCMC, trials=3, alternations=4), 27),
        (Parameters(Algorithm.ALT_MCMC, trials=3, depth=5, sampler=Sampler.WALK), 15),
        (Parameters(Algorithm.TREE_PAIR, trials=3, alternations=4), 6),
    ],
)
def test_progress_has_as_many_stages_as_there_are_trees_and_tables(
    wanted: Parameters, expected: int
) -> None:
    assert stages(wanted) == expected
