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
from redveil.algorithms.algorithm import Algorithm, size_step
from redveil.algorithms.alternation import Alternation, AltExpM, AltMCMC
from redveil.algorithms.run import run
from redveil.algorithms.tree_pair import TreePair
from redveil.algorithms.tuning import (
    ALTERNATION_DEPTHS,
    ALTERNATIONS,
    FEWEST_DEEP_PAIRS,
    FEWEST_DEEP_PAIRS_IF_STRONG,
    FEWEST_ROOTS,
    LEAST_SCOUT_SHARE,
    MOST_PAIRS,
    REFERENCE_CHOICE,
    RELATED,
    SCOUT_FROM,
    SCOUT_NEEDS,
    STRONGLY_RELATED,
    USUAL,
    Shape,
    affordable,
    fresh_roots,
    needed,
    round_numbers,
    scout_share,
    shape_after_scout,
    strength,
    tuned_case,
    tuned_cases,
)
from redveil.algorithms.twin import Twin, related
from redveil.data.dataset import Dataset
from redveil.data.synthetic import clinic_frames, clinic_schema
from redveil.losses.loss import Price, Rho, total
from redveil.schema import Attribute, Kind, Schema, View
from support.booleans import boolean_schema
from support.seeded import SeededRandomness

some = settings(max_examples=60, deadline=None)
epsilons = st.fractions(Fraction(1, 10**4), Fraction(100), max_denominator=10**4)
sizes = st.floats(-1e4, 1e7)
AUTO = Twin.of()
TUNED = ("depth", "trials")
GIVEN: dict[str, list[object]] = {"depth": [1, 2, 4], "trials": [1, 2, 7]}


@st.composite
def some_given(draw: st.DrawFn) -> dict[str, Any]:
    """Some of the parameters that the rule would set."""
    names = draw(st.sets(st.sampled_from(TUNED)))
    return {name: draw(st.sampled_from(GIVEN[name])) for name in sorted(names)}


def test_everything_is_left_to_the_rule_unless_it_is_given() -> None:
    assert AUTO.auto == TUNED
    assert Twin.of(depth=2).auto == ("trials",)
    assert Twin.of(trials=1).auto == ("depth",)
    assert Twin.of(depth=2, trials=1).auto == ()
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
    # Only a shape that is all the rule's begins with a scout.
    assert changed <= {*TUNED, *(() if given else ("scout", "again"))} - set(given)
    assert tuned.auto == wanted.auto
    worth = max(size, 0) * float(epsilon)
    if set(given) == {"trials"}:
        assert tuned.depth == (2 if worth / tuned.trials >= needed(2, USUAL) else 1)
    if set(given) == {"depth"}:
        need, numbers = needed(tuned.depth, USUAL), range(1, MOST_PAIRS + 1)
        more = [max(n / 5, 1) for n in numbers]
        enough = [n for n, x in zip(numbers, more, strict=True) if worth / n >= need * x]
        assert tuned.trials == max(enough, default=1)
    if not given:
        assert (tuned.scout > 0) is (worth >= SCOUT_FROM)
        assert tuned.scout or (tuned.depth, tuned.trials, tuned.again) == (1, 1, False)


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
        assert (other.scout > 0) >= (here.scout > 0)
        # A deeper pair takes the place of several others.
        assert (other.depth, other.trials) >= (here.depth, here.trials)


def test_thresholds_rise() -> None:
    for thresholds in (ALTERNATION_DEPTHS, ALTERNATIONS):
        assert thresholds[0] == 0
        assert list(thresholds) == sorted(set(thresholds))


# The scout, and what follows it


def test_what_was_tuned_once_can_be_tuned_again() -> None:
    many, few = (AUTO.tuned(None, size, Fraction(1)) for size in (10**5, 100))
    assert many.scout
    assert many.tuned(None, 100, Fraction(1)) == few
    assert few.tuned(None, 10**5, Fraction(1)) == many


@some
@given(st.floats(0, 1e9))
def test_a_scout_gets_enough_to_tell_and_no_more(worth: float) -> None:
    share, in_rho = scout_share(worth, Fraction(1)), scout_share(worth, Rho(Fraction(1)))
    if worth < SCOUT_FROM:
        assert share == in_rho == 0
        return
    needed = max(SCOUT_NEEDS, float(LEAST_SCOUT_SHARE) * worth)
    # Shares are rounded up to a thousandth.
    assert needed - 1e-9 <= float(share) * worth <= needed + worth / 1000 + 1e-9
    assert 0 < share < 1
    # A choice for ρ is as sharp as one for an ε that grows with its square root.
    assert float(share) ** 2 <= float(in_rho) + 1e-9
    assert float(in_rho) <= float(share) ** 2 + 1 / 1000


related_views = st.floats(-0.5, 0.25)


@some
@given(related_views, st.floats(0, 0.2))
def test_stronger_relations_need_no_more_and_depth_needs_more(x: float, more: float) -> None:
    for depth in (1, 2, 3, 4):
        assert needed(depth, x + more) <= needed(depth, x)
        assert needed(depth, x) < needed(depth + 1, x)


def test_nothing_needs_endlessly_much() -> None:
    assert [needed(depth, -1) for depth in (1, 2, 3, 4)] == [1000, 2200, 8800, 35200]
    assert [needed(depth, 0.25) for depth in (1, 2, 3)] == [120, 350, 1400]


@some
@given(related_views, st.floats(0, 1e6), st.integers(1, 40))
def test_a_shape_is_as_deep_as_enough_pairs_can_be(x: float, entities: float, roots: int) -> None:
    shape = shape_after_scout(x, lambda _, pairs: entities / pairs, roots)
    assert shape.pairs <= MOST_PAIRS
    assert shape.pairs <= max(roots, 1)
    enough = entities / shape.pairs >= needed(shape.depth, x)
    # If not even one pair has enough, the rest is spent on the same choice again.
    assert enough is not shape.again
    if shape.again:
        assert shape == Shape(1, 1, again=True)
    if shape.depth > 1:
        strong = x >= STRONGLY_RELATED
        fewest = FEWEST_DEEP_PAIRS_IF_STRONG if strong else FEWEST_DEEP_PAIRS
        # Few attributes allow no more pairs than there are.
        assert shape.pairs >= min(fewest, max(roots, FEWEST_ROOTS))
    assert affordable(shape.depth, x, lambda _, pairs: entities / pairs, roots) >= shape.pairs * (
        not shape.again
    )


@some
@given(sizes, epsilons | epsilons.map(Rho), related_views)
def test_whatever_a_scout_finds_the_plan_costs_the_price(
    size: float, price: Price, x: float
) -> None:
    schema = boolean_schema(4, 9)
    tuned = AUTO.tuned(schema, size, price)
    if not tuned.scout:
        return
    shaped = tuned.shaped(schema, size, price, x)
    plan = shaped.plan(price)
    assert total(step.price for step in plan.steps) == price
    early = [size_step(price), *tuned.scout_steps(tuned.after_size(price))]
    # What is paid for before the shape is known does not depend on it.
    assert list(plan.steps[: len(early)]) == early
    assert shaped.scout == tuned.scout


@pytest.mark.parametrize("size", [0.0, -1.0, -1e9])
def test_nobody_or_fewer_get_the_least_run(size: float) -> None:
    tuned = AUTO.tuned(boolean_schema(3, 3), size, Fraction(100))
    assert (tuned.depth, tuned.trials) == (1, 1)
    assert not tuned.scout


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
    if tuned.scout:
        tuned = tuned.shaped(clinic.schema, 400 + noise, epsilon, related(ran.tables[0]))
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
    ran = run(clinic, Twin.of(trials=3), Fraction(20), Sources(2))
    assert ran.algorithm.auto == ("depth",)
    assert len(ran.tables) == 3
    assert all(max(table.left.leaves) >= 3 for table in ran.tables)
    roots = [table.left.splits[0] for table in ran.tables]
    assert len(set(roots)) == 3


def test_a_seed_settles_a_tuned_run(clinic: Dataset) -> None:
    first, again = (run(clinic, AUTO, Fraction(20), Sources(5)) for _ in range(2))
    assert first.algorithm == again.algorithm
    assert [t.cells.tolist() for t in first.tables] == [t.cells.tolist() for t in again.tables]


@some
@given(
    st.sampled_from([Twin.of(depth=1), Twin.of(trials=2), AltExpM.of()]),
    st.lists(st.integers(0, 10**6), min_size=1, max_size=12),
    epsilons | epsilons.map(Rho),
)
def test_cases_are_the_plans_that_sizes_lead_to(
    wanted: Algorithm, listed: list[int], price: Price
) -> None:
    schema = boolean_schema(4, 9)
    found = tuned_cases(wanted, schema, price, max(listed))
    sizes = [one.size for one in found]
    assert sizes == sorted(set(sizes))
    assert sizes[0] == 0
    for size in {*listed, *sizes, *(size - 1 for size in sizes[1:])}:
        expected = wanted.tuned(schema, size, price)
        last = max((one for one in found if one.size <= size), key=lambda one: one.size)
        assert last.algorithm == expected
        assert last.plan == expected.plan(price)
        assert not last.by_related
    assert len({one.algorithm for one in found}) == len(found)


@some
@given(st.integers(0, 10**7), epsilons | epsilons.map(Rho))
def test_where_a_scout_decides_cases_are_shapes_at_round_numbers(most: int, price: Price) -> None:
    schema = boolean_schema(4, 9)
    found = tuned_cases(AUTO, schema, price, most)
    assert [one.size for one in found] == sorted({one.size for one in found})
    assert found[0].size == 0
    assert not found[0].by_related
    for one in found[1:]:
        tuned = AUTO.tuned(schema, one.size, price)
        assert (one.algorithm, one.plan) == (tuned, tuned.plan(price))
        assert list(one.by_related) == ["weakly", "usually", "strongly"]
        assert one.by_related["usually"] == tuned
        for word, shaped in one.by_related.items():
            assert shaped == tuned.shaped(schema, one.size, price, RELATED[word])
        # The first is where scouts begin.
        assert one is found[1] or one.size in round_numbers(most)
    if len(found) > 1:
        assert not AUTO.tuned(schema, found[1].size - 1, price).adapts
        last = tuned_case(AUTO, schema, price, max(round_numbers(most)))
        # Nothing is left out at the end but what repeats.
        for word, shaped in found[-1].by_related.items():
            if last.size > found[-1].size:
                other = last.by_related[word]
                assert (other.depth, other.trials) == (shaped.depth, shaped.trials)


@pytest.mark.parametrize(("left", "right", "most"), [(1, 9, 1), (3, 2, 2), (9, 9, 9)])
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
    assert Twin.of(depth=2).tuned(schema, 10**6, Fraction(1)).trials == most
    for x in RELATED.values():
        tuned = AUTO.tuned(schema, 10**6, Fraction(1)).shaped(schema, 10**6, Fraction(1), x)
        # The scout and the pair that deepens it begin with the same attributes.
        # Fewer than three pairs of roots are not worth deeper trees.
        deep = most >= FEWEST_ROOTS
        assert (tuned.depth, tuned.trials) == ((2, most + 1) if deep else (1, 2))


@pytest.mark.parametrize("depth", [1, 2])
@pytest.mark.parametrize(("times", "pairs"), [(5, 5), (7.1, 5), (7.3, 6), (9.9, 7), (29, 12)])
def test_many_pairs_need_more_each(depth: int, times: float, pairs: int) -> None:
    strength = times * needed(depth, 0.2)
    assert affordable(depth, 0.2, lambda _, number: strength / number, 20) == pairs
