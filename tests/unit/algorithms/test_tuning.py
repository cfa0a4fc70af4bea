"""The tuning rule: what it sets, what it leaves alone, and what a tuned run costs."""

from __future__ import annotations

from dataclasses import fields, replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import redveil
from redveil.algorithms.algorithm import size_step
from redveil.algorithms.alternation import Alternation, AltExpM, AltMCMC
from redveil.algorithms.run import run
from redveil.algorithms.tree_pair import TreePair
from redveil.algorithms.tuning import (
    ALTERNATION_DEPTHS,
    ALTERNATIONS,
    LEVERAGE_FROM,
    REFERENCE_CHOICE,
    TWIN_DEPTHS,
    TWIN_TRIALS,
    fresh_roots,
    strength,
    tuned_cases,
)
from redveil.algorithms.twin import RootScore, Twin
from redveil.data.dataset import Dataset
from redveil.data.synthetic import clinic_frames, clinic_schema
from redveil.privacy.loss import Price, Rho, total
from redveil.schema import Attribute, Kind, Schema, View
from support.booleans import boolean_schema
from support.seeded import SeededRandomness

some = settings(max_examples=60, deadline=None)
epsilons = st.fractions(Fraction(1, 10**4), Fraction(100), max_denominator=10**4)
sizes = st.floats(-1e4, 1e7)
AUTO = Twin.of()
TUNED = ("depth", "trials", "root_score")
GIVEN: dict[str, list[object]] = {
    "depth": [1, 2, 4],
    "trials": [1, 2, 7],
    "root_score": list(RootScore),
}


@st.composite
def some_given(draw: st.DrawFn) -> dict[str, Any]:
    """Some of the parameters that the rule would set."""
    names = draw(st.sets(st.sampled_from(TUNED)))
    return {name: draw(st.sampled_from(GIVEN[name])) for name in sorted(names)}


def test_everything_is_left_to_the_rule_unless_it_is_given() -> None:
    assert AUTO.auto == TUNED
    assert Twin.of(depth=2).auto == ("trials", "root_score")
    assert Twin.of(depth=2, trials=1, root_score="agreement").auto == ()
    assert TreePair.of().auto == ()


@some
@given(some_given(), sizes, epsilons)
def test_what_is_given_stays_and_the_rest_is_set_by_the_thresholds(
    given: dict[str, Any], size: float, epsilon: Fraction
) -> None:
    wanted = Twin.of(**given)
    tuned = wanted.tuned(None, size, epsilon)
    for name, value in given.items():
        assert getattr(tuned, name) == value
    names = [one.name for one in fields(Twin)]
    changed = {name for name in names if getattr(tuned, name) != getattr(wanted, name)}
    assert changed <= set(TUNED) - set(given)
    assert tuned.auto == wanted.auto
    worth = max(size, 0) * float(epsilon)
    if "trials" not in given:
        assert tuned.trials == max(n for n, least in enumerate(TWIN_TRIALS, 1) if worth >= least)
    share = worth / tuned.trials
    if "depth" not in given:
        assert tuned.depth == max(n for n, least in enumerate(TWIN_DEPTHS, 1) if share >= least)
    if "root_score" not in given:
        leverage = tuned.root_score is RootScore.LEVERAGE
        assert leverage is (share >= LEVERAGE_FROM)


@some
@given(st.sampled_from([AltExpM, AltMCMC]), sizes, epsilons)
def test_alternations_are_set_by_their_thresholds(
    kind: type[Alternation], size: float, epsilon: Fraction
) -> None:
    wanted = kind.of()
    tuned = wanted.tuned(None, size, epsilon)
    worth = max(size, 0) * float(epsilon)
    assert tuned.depth == (2 if worth >= ALTERNATION_DEPTHS[1] else 1)
    assert tuned.alternations == sum(worth >= least for least in ALTERNATIONS[1:])
    assert (tuned.root_score is RootScore.LEVERAGE) is (worth >= LEVERAGE_FROM)
    assert tuned.trials == wanted.trials
    shallow = kind.of(depth=1).tuned(None, size, epsilon)
    assert (shallow.depth, shallow.alternations) == (1, tuned.alternations)
    deep = kind.of(depth=2).tuned(None, size, epsilon)
    assert (deep.depth, deep.alternations) == (2, max(tuned.alternations, 1))
    # What was tuned once can be tuned again, whichever way.
    assert wanted.tuned(None, 1e7, epsilon).tuned(None, size, epsilon) == tuned
    assert wanted.tuned(None, 0, epsilon).tuned(None, size, epsilon) == tuned
    plan = tuned.plan(epsilon)
    assert plan.steps[0] == size_step(epsilon)
    assert total(step.price for step in plan.steps) == epsilon


@some
@given(sizes, st.floats(0, 1e7), epsilons, st.fractions(1, 50, max_denominator=50))
def test_more_entities_and_more_budget_never_tune_a_run_down(
    size: float, more: float, epsilon: Fraction, factor: Fraction
) -> None:
    here = AUTO.tuned(None, size, epsilon)
    for other in (
        AUTO.tuned(None, size + more, epsilon),
        AUTO.tuned(None, size, epsilon * factor),
    ):
        assert other.depth >= here.depth
        assert other.trials >= here.trials
        assert (here.root_score is RootScore.AGREEMENT) or (other.root_score is RootScore.LEVERAGE)


def test_thresholds_rise() -> None:
    for thresholds in (TWIN_DEPTHS, TWIN_TRIALS, ALTERNATION_DEPTHS, ALTERNATIONS):
        assert thresholds[0] == 0
        assert list(thresholds) == sorted(set(thresholds))
    # A new trial does not cost the others a level.
    assert all(
        AUTO.tuned(None, worth, Fraction(1)).depth == len(TWIN_DEPTHS) for worth in TWIN_TRIALS[1:]
    )


@pytest.mark.parametrize("size", [0.0, -1.0, -1e9])
def test_nobody_or_fewer_get_the_least_run(size: float) -> None:
    tuned = AUTO.tuned(boolean_schema(3, 3), size, Fraction(100))
    assert (tuned.depth, tuned.trials, tuned.root_score) == (1, 1, RootScore.AGREEMENT)


@given(st.integers(1, 30), st.integers(1, 30), st.floats(0, 1e6), epsilons)
def test_fewer_splits_to_choose_from_are_worth_more_entities(
    left: int, right: int, size: float, epsilon: Fraction
) -> None:
    few, many = boolean_schema(left, right), boolean_schema(left + 1, 2 * right)
    assert strength(few, size) >= strength(many, size)
    assert strength(few, -size) == 0


def test_the_reference_choice_changes_nothing() -> None:
    # 2 · 285² candidates are nearly e^12.
    assert strength(boolean_schema(285, 285), 1000) == pytest.approx(1000, rel=1e-3)
    assert strength(None, 1000) == 1000
    # With two candidates, ln 2 is taken as 1.
    assert strength(boolean_schema(1, 1), 1000) == pytest.approx(1000 * REFERENCE_CHOICE)


@some
@given(some_given(), sizes, epsilons)
def test_a_tuned_plan_costs_epsilon_exactly(
    given: dict[str, Any], size: float, epsilon: Fraction
) -> None:
    tuned = Twin.of(**given).tuned(None, size, epsilon)
    plan = tuned.plan(epsilon)
    assert plan.price == total(step.price for step in plan.steps) == epsilon
    shape = replace(tuned, auto=())
    if len(given) == len(TUNED):
        assert plan == shape.plan(epsilon)
        return
    assert plan.steps[0] == size_step(epsilon)
    assert plan.steps[0].price == epsilon / 100
    assert plan.steps[1:] == shape.plan(epsilon * Fraction(99, 100)).steps


@pytest.fixture(scope="module")
def clinic() -> Dataset:
    return redveil.load(*clinic_frames(400), clinic_schema())


class Sources:
    """Seeded streams, one a trial; the noise of the size can be set."""

    def __init__(self, seed: int, noise: int | None = None) -> None:
        self._seed, self._noise = seed, noise
        self.prices: list[Fraction] = []
        self.asked: list[int] = []

    def __call__(self, number: int) -> SeededRandomness:
        self.asked.append(number)
        noise = self._noise if number == 0 else None
        return _Recorded(1000 * self._seed + number, self.prices, noise)


class _Recorded(SeededRandomness):
    def __init__(self, seed: int, prices: list[Fraction], noise: int | None) -> None:
        super().__init__(seed)
        self._prices, self._noise = prices, noise

    def laplace(self, epsilon: Fraction, count: int) -> NDArray[np.int64]:
        self._prices.append(epsilon)
        if self._noise is not None:
            return np.full(count, self._noise, dtype=np.int64)
        return super().laplace(epsilon, count)


@pytest.mark.parametrize("noise", [-(10**6), -400, 0, 10**6])
def test_a_run_is_tuned_by_the_noisy_size_and_spends_its_plan(clinic: Dataset, noise: int) -> None:
    epsilon, sources = Fraction(3), Sources(1, noise)
    ran = run(clinic, AUTO, epsilon, sources)
    tuned = AUTO.tuned(clinic.schema, 400 + noise, epsilon)
    assert ran.algorithm == tuned
    assert ran.plan == tuned.plan(epsilon)
    assert total(step.price for step in ran.plan.steps) == epsilon
    assert len(ran.tables) == tuned.trials
    # The size is the first thing that is paid for; then every table is counted once.
    counted = [step.price for step in ran.plan.steps if step.mechanism == "count"]
    assert sources.prices == counted
    assert sources.prices[0] == Fraction(3, 100)
    if noise < 0:
        assert (tuned.depth, tuned.trials) == (1, 1)


def test_a_run_with_everything_given_does_not_ask_for_the_size(clinic: Dataset) -> None:
    wanted, sources = replace(Twin(), depth=1), Sources(1)
    assert wanted.auto == ()
    ran = run(clinic, wanted, Fraction(3), sources)
    assert ran.algorithm is wanted
    assert ran.plan == wanted.plan(Fraction(3))
    assert 0 not in sources.asked


def test_what_is_given_reaches_the_trees_of_a_tuned_run(clinic: Dataset) -> None:
    ran = run(clinic, Twin.of(trials=3, depth=2), Fraction(2), Sources(2))
    assert ran.algorithm.auto == ("root_score",)
    assert len(ran.tables) == 3
    assert all(max(table.left.leaves) >= 3 for table in ran.tables)
    roots = [table.left.splits[0] for table in ran.tables]
    assert len(set(roots)) == 3


def test_a_seed_settles_a_tuned_run(clinic: Dataset) -> None:
    first, again = (run(clinic, AUTO, Fraction(20), Sources(5)) for _ in range(2))
    assert first.algorithm == again.algorithm
    assert [t.cells.tolist() for t in first.tables] == [t.cells.tolist() for t in again.tables]


@some
@given(st.lists(st.integers(0, 10**6), min_size=1, max_size=12), epsilons | epsilons.map(Rho))
def test_cases_are_the_plans_that_sizes_lead_to(listed: list[int], price: Price) -> None:
    schema = boolean_schema(4, 9)
    found = tuned_cases(AUTO, schema, price, max(listed))
    sizes = [one.size for one in found]
    assert sizes == sorted(set(sizes))
    assert sizes[0] == 0
    for size in {*listed, *sizes, *(size - 1 for size in sizes[1:])}:
        expected = AUTO.tuned(schema, size, price)
        last = max((one for one in found if one.size <= size), key=lambda one: one.size)
        assert last.algorithm == expected
        assert last.plan == expected.plan(price)
    assert len({one.algorithm for one in found}) == len(found)


@pytest.mark.parametrize(("left", "right", "most"), [(1, 9, 1), (3, 2, 2), (9, 9, 4)])
def test_no_more_pairs_are_bought_than_there_are_fresh_attributes(
    left: int, right: int, most: int
) -> None:
    def flags(name: str, many: int) -> View:
        # One more that cannot be split.
        alike = Attribute("alike", Kind.NUMERIC, minimum=0, maximum=1)
        some = (Attribute(f"{name} {i}", Kind.BOOLEAN) for i in range(many))
        return View(name, "id", (alike, *some))

    schema = Schema("flags", flags("left", left), flags("right", right))
    assert fresh_roots(schema) == min(left, right)
    assert AUTO.tuned(schema, 10**6, Fraction(1)).trials == most
