"""Runs: from a sealed data set to leaf tables, by streams of randomness and one purse."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import redveil
import redveil.algorithms.run as running
from redveil.algorithms.algorithm import SIZE_SHARE, Algorithm, Work, size_step
from redveil.algorithms.alternation import AltExpM, AltMCMC, Sampler, Start
from redveil.algorithms.leaf_counts import Counts
from redveil.algorithms.published import PUBLISHED
from redveil.algorithms.run import Run, private_size, run
from redveil.algorithms.tree_pair import TreePair
from redveil.algorithms.trial import Trial
from redveil.algorithms.twin import Twin, related
from redveil.data.dataset import Dataset
from redveil.data.synthetic import clinic_frames, clinic_schema, wide_dataset
from redveil.data.table import Column, NumericColumn, Table
from redveil.errors import PlanError
from redveil.losses.loss import Price, Rho, total
from redveil.losses.plan import Mechanism, Plan, Step, StepKey, StepKind
from redveil.privacy.purse import Purse
from redveil.privacy.randomness import Randomness
from redveil.sealed import Receipt, Sealed, open_for_owner
from support.paying import NoiselessRandomness
from support.prepared import prepared
from support.seeded import FixedNoise, SeededRandomness
from support.tiny import tiny_entities


@pytest.fixture(scope="module")
def clinic() -> Dataset:
    return redveil.load(*clinic_frames(400), clinic_schema())


Sources = Callable[[int], SeededRandomness]


def seeded(seed: int) -> Sources:
    """Give every trial a stream of its own."""
    return lambda trial: SeededRandomness(1000 * seed + trial)


def released(ran: Run) -> list[object]:
    """Return all that was released, in a form that can be compared."""
    return [
        (
            table.left,
            table.right,
            table.cells.tolist(),
            None if table.left_margin is None else table.left_margin.tolist(),
            None if table.right_margin is None else table.right_margin.tolist(),
        )
        for table in ran.tables
    ]


ALTERNATING = AltExpM(trials=2)
AUTO = Twin.of()
# Walks of a hundred steps: enough to see that they are paid for and repeatable.
WAYS = (
    Twin(trials=2),
    ALTERNATING,
    AltExpM(trials=2, start=Start.RANDOM, counts=Counts.LEAST_SQUARES),
    AltMCMC(trials=2),
    AltMCMC(trials=2, walk_steps=100, sampler=Sampler.WALK),
    TreePair(trials=3, walk_steps=100),
    TreePair(trials=3, walk_steps=100, counts=Counts.TWO_PASS),
)


@pytest.mark.parametrize("wanted", [AUTO, *WAYS])
def test_a_seed_settles_everything(clinic: Dataset, wanted: Algorithm) -> None:
    runs = [run(clinic, wanted, Fraction(8), seeded(seed)) for seed in (1, 1, 2)]
    assert released(runs[0]) == released(runs[1])
    assert released(runs[0]) != released(runs[2])


@pytest.mark.parametrize("wanted", [AUTO, *WAYS])
def test_the_number_of_threads_does_not_show(clinic: Dataset, wanted: Algorithm) -> None:
    alone, together = (run(clinic, wanted, Fraction(8), seeded(1), workers=n) for n in (1, 4))
    assert released(alone) == released(together)


def test_a_run_keeps_its_plan_and_its_tables(clinic: Dataset) -> None:
    wanted = AltExpM(depth=2, trials=2, alternations=3)
    ran = run(clinic, wanted, Fraction(60), seeded(1))
    assert ran.plan == wanted.plan(Fraction(60))
    assert ran.schema is ran.declared is clinic.schema
    assert ran.algorithm is wanted
    assert len(ran.tables) == 6


def test_a_published_run_has_a_schema_of_its_own() -> None:
    dataset = wide_dataset(50, booleans=2, numerics=2)
    ran = run(dataset, AltExpM(profile=PUBLISHED, depth=1, alternations=1), Fraction(1))
    assert ran.declared is dataset.schema
    assert ran.schema == PUBLISHED.observed(dataset).schema != ran.declared
    # Its noise is its own too, unless other streams are given.
    assert ran.tables[0].cells.dtype == np.float64


def to_the_end_of_its_bin(column: Column) -> Column:
    """Move every number up to the cut point above it, or to the bound: no bin changes."""
    if not isinstance(column, NumericColumn):
        return column
    ends = np.array([*column.attribute.cuts, column.attribute.maximum])
    above = ends[np.searchsorted(column.attribute.cuts, column.values, side="left")]
    return NumericColumn(column.attribute, np.where(np.isnan(column.values), np.nan, above))


@pytest.mark.parametrize("wanted", [AUTO, *WAYS])
def test_a_hardened_run_knows_bins_and_no_values(clinic: Dataset, wanted: Algorithm) -> None:
    """Bins are public; where in its bin a value lies decides nothing, not even a target's."""
    table = open_for_owner(clinic.table)
    views = [
        {name: to_the_end_of_its_bin(column) for name, column in view.items()}
        for view in (table.left, table.right)
    ]
    moved = Dataset(clinic.schema, Sealed(Table(table.rows, views[0], views[1])), clinic.report)
    # This seed's random starts are numbers.
    here, there = (run(data, wanted, Fraction(8), seeded(1)) for data in (clinic, moved))
    assert released(here) == released(there)


def test_twin_trees_are_one_piece_of_work_with_a_table_a_trial(clinic: Dataset) -> None:
    asked: list[int] = []

    def sources(number: int) -> SeededRandomness:
        asked.append(number)
        return SeededRandomness(number)

    ran = run(clinic, Twin(trials=3), Fraction(30), sources)
    assert asked == [1]
    assert len(ran.tables) == 3
    roots = {(table.left.splits[0], table.right.splits[0]) for table in ran.tables}
    assert len(roots) == 3, "every pair of trees begins with something else"


@pytest.mark.parametrize("epsilon", [Fraction(1), Fraction(50)])
def test_what_is_left_to_the_rule_is_tuned_by_a_private_size(
    clinic: Dataset, epsilon: Fraction
) -> None:
    asked: list[int] = []

    class Inflated(SeededRandomness):
        """A source that makes the first count, the size, half a million too large."""

        def laplace(self, epsilon: Fraction, count: int) -> NDArray[np.int64]:
            return super().laplace(epsilon, count) + 500_000

    def sources(number: int) -> SeededRandomness:
        asked.append(number)
        return Inflated(0) if number == 0 else SeededRandomness(number)

    ran = run(clinic, AUTO, epsilon, sources)
    assert asked == [0, 1]
    # By the noisy size, and not by that of the data; and by what the scout released.
    tuned = AUTO.tuned(clinic.schema, 500_400, epsilon)
    assert tuned.scout > 0
    strong = related(ran.tables[0])
    assert ran.algorithm == tuned.shaped(clinic.schema, 500_400, epsilon, strong)
    assert isinstance(ran.algorithm, Twin)
    assert ran.algorithm.scout != AUTO.tuned(clinic.schema, 400, Fraction(1)).scout
    assert ran.plan == ran.algorithm.plan(epsilon)
    assert ran.plan.steps[0] == size_step(epsilon)
    assert total(step.price for step in ran.plan.steps) == epsilon
    assert len(ran.tables) == ran.algorithm.trials


@pytest.mark.parametrize("wanted", WAYS)
def test_nobody_asks_for_a_size_that_nothing_is_tuned_by(
    clinic: Dataset, wanted: Algorithm
) -> None:
    asked: list[int] = []

    def sources(number: int) -> SeededRandomness:
        asked.append(number)
        return SeededRandomness(number)

    ran = run(clinic, wanted, Fraction(8), sources)
    trials = 1 if isinstance(wanted, Twin) else wanted.trials
    assert sorted(asked) == list(range(1, trials + 1))
    assert ran.plan.first(StepKind.SIZE) is None


@pytest.mark.parametrize("wanted", WAYS)
def test_progress_follows_the_plan_and_not_the_data(clinic: Dataset, wanted: Algorithm) -> None:
    others = redveil.load(*clinic_frames(37, seed=9), clinic_schema())
    seen: dict[str, list[float]] = {"many": [], "few": []}
    run(clinic, wanted, Fraction(5), seeded(1), seen["many"].append)
    run(others, wanted, Fraction(1, 5), seeded(2), seen["few"].append)
    last = wanted.stages
    assert seen["many"] == seen["few"]
    assert seen["many"] == pytest.approx([k / last for k in range(1, last + 1)])
    assert seen["many"][-1] == 1


def test_progress_is_reported_one_stage_at_a_time(clinic: Dataset) -> None:
    # The first call waits for another to come in from the other trial's thread; none may.
    overlapping, calls = threading.Event(), list[float]()

    def report(share: float) -> None:
        calls.append(share)
        if len(calls) == 1:
            overlapping.wait(0.5)
            assert len(calls) == 1
        else:
            overlapping.set()

    run(clinic, ALTERNATING, Fraction(8), seeded(1), report, workers=2)
    assert calls == sorted(calls)


# The private size


some = settings(max_examples=30, deadline=None)
epsilons = st.fractions(Fraction(1, 10**6), Fraction(100), max_denominator=10**6)
ENTITIES = prepared(tiny_entities(37, 1, 1, 1), tiny_entities(37, 1, 1, 2))


@pytest.mark.parametrize("noise", [0, 5, -36, -37, -5000])
def test_the_noise_is_that_of_one_count_and_nothing_is_hidden(noise: int) -> None:
    source, price = FixedNoise(noise), Fraction(3, 7)
    assert private_size(ENTITIES, Purse(price), price, source) == 37 + noise
    assert source.asked == [(Fraction(3, 700), 1)]


def test_the_noise_has_the_price_s_spread() -> None:
    source, epsilon = SeededRandomness(2), Fraction(20)
    sizes = [private_size(ENTITIES, Purse(epsilon), epsilon, source) for _ in range(2000)]
    found = np.array(sizes)
    # Integer Laplace noise at 1/5 has a standard deviation of 7.04; four standard errors each.
    assert abs(found.mean() - 37) < 4 * 7.04 / 2000**0.5
    assert 7.04 * 0.9 < found.std() < 7.04 * 1.1


@some
@given(epsilons | epsilons.map(Rho))
def test_the_size_is_planned_ahead_and_belongs_to_the_plan(price: Price) -> None:
    purse = Purse(price)
    private_size(ENTITIES, purse, price, NoiselessRandomness())
    with pytest.raises(PlanError, match="'size' is planned already"):
        private_size(ENTITIES, purse, price, FixedNoise(0))
    tree = StepKey(StepKind.TREE, 1, 1)
    with pytest.raises(PlanError, match="planned ahead, but not in the plan: size"):
        purse.commit(Plan(price, (Step(tree, "choose", price),)))
    rest = Step(tree, "choose", price * (1 - SIZE_SHARE))
    purse.commit(Plan(price, (size_step(price), rest)))
    purse.pay(tree, "choose")
    purse.close()


# One purse a run


@dataclass
class Watched:
    """All purses that a run opens, and what they were asked for."""

    opened: list[Price]
    ahead: list[Step]
    paid: list[StepKey]
    closed: int = 0


@pytest.fixture
def watched(monkeypatch: pytest.MonkeyPatch) -> Watched:
    seen = Watched([], [], [])

    class WatchedPurse(Purse):
        def __init__(self, price: Price) -> None:
            super().__init__(price)
            seen.opened.append(price)

        def plan_ahead(self, steps: Iterable[Step]) -> None:
            listed = list(steps)
            seen.ahead += listed
            super().plan_ahead(listed)

        def pay(self, key: StepKey, mechanism: Mechanism) -> Receipt:
            seen.paid.append(key)
            return super().pay(key, mechanism)

        def close(self) -> None:
            super().close()
            seen.closed += 1

    monkeypatch.setattr(running, "Purse", WatchedPurse)
    return seen


@pytest.mark.parametrize("wanted", [AUTO, *WAYS])
@pytest.mark.parametrize("price", [Fraction(8), Rho(Fraction(1, 3))])
def test_a_run_has_one_purse_that_pays_for_its_whole_plan(
    clinic: Dataset, watched: Watched, wanted: Algorithm, price: Price
) -> None:
    ran = run(clinic, wanted, price, seeded(1), workers=1)
    assert watched.opened == [price]
    early = [size_step(price)] if wanted.auto else []
    early += ran.algorithm.scout_steps(ran.algorithm.after_size(price))
    assert watched.ahead == early == list(ran.plan.steps[: len(early)])
    assert watched.paid == [step.key for step in ran.plan.steps]
    assert total(step.price for step in ran.plan.steps) == price
    assert watched.closed == 1


class Steered(SeededRandomness):
    """Adds so much noise to a scout's table that the noise alone decides what is found.

    evenly: what every cell gets; matched: what the first and the last get on top
    """

    def __init__(self, seed: int, evenly: int, matched: int) -> None:
        super().__init__(seed)
        self._noise: tuple[int, int] | None = evenly, matched

    def laplace(self, epsilon: Fraction, count: int) -> NDArray[np.int64]:
        """Return noise that decides what is found, once."""
        return self._steered(super().laplace(epsilon, count))

    def gaussian(self, rho: Fraction, count: int) -> NDArray[np.int64]:
        """Return noise that decides what is found, once."""
        return self._steered(super().gaussian(rho, count))

    def _steered(self, noise: NDArray[np.int64]) -> NDArray[np.int64]:
        if self._noise is not None:
            noise += self._noise[0]
            noise[[0, -1]] += self._noise[1]
            self._noise = None
        return noise


UNRELATED, WEAK, STRONG = (10**5, 0), (10**5, 10**5), (0, 10**5)


@pytest.mark.parametrize("price", [Fraction(4), Rho(Fraction(1))])
def test_a_scout_s_release_decides_the_shape_and_every_shape_costs_the_price(
    clinic: Dataset, watched: Watched, price: Price
) -> None:
    shapes = set[tuple[int, bool, bool]]()
    for off, noise in product((-390, -240, 0, 600, 10_000), (UNRELATED, WEAK, STRONG)):
        watched.paid.clear()
        seen: list[float] = []

        def sources(number: int, off: int = off, noise: tuple[int, int] = noise) -> Randomness:
            return Steered(number, *noise) if number else FixedNoise(off)

        ran = run(clinic, AUTO, price, sources, seen.append, workers=1)
        made, tuned = ran.algorithm, AUTO.tuned(clinic.schema, 400 + off, price)
        if tuned.scout:
            # A function of the released size and the released table, and of nothing else.
            tuned = tuned.shaped(clinic.schema, 400 + off, price, related(ran.tables[0]))
        assert made == tuned
        assert watched.paid == [step.key for step in ran.plan.steps]
        assert total(step.price for step in ran.plan.steps) == price == ran.plan.price
        assert len(ran.tables) == made.trials
        assert seen == pytest.approx([k / made.stages for k in range(1, made.stages + 1)])
        shapes.add((made.depth, made.trials > 1, made.again))
    # No scout; a scout and another choice; and with it stumps, or trees of depth 2.
    assert shapes == {(1, False, False), (1, True, True), (1, True, False), (2, True, False)}


@pytest.mark.parametrize("wanted", [AUTO, Twin(trials=2)])
def test_a_step_that_is_left_over_is_an_error(clinic: Dataset, wanted: Twin) -> None:
    class Forgetful(Twin):
        """Plans one trial more than it runs."""

        def work(self, trial: Callable[[int], Trial]) -> list[Work]:
            shorter = Twin(depth=self.depth, trials=max(self.trials - 1, 1), counts=self.counts)
            return shorter.work(trial) if self.trials > 1 else []

    given = {name: getattr(wanted, name) for name in ("depth", "trials", "auto")}
    with pytest.raises(PlanError, match=r"planned steps? (was|were) not paid for: trial \d, twin"):
        run(clinic, Forgetful(**given), Fraction(3), seeded(1))


def test_a_step_that_is_not_planned_is_an_error(clinic: Dataset) -> None:
    class Greedy(Twin):
        """Runs one trial more than it plans."""

        def work(self, trial: Callable[[int], Trial]) -> list[Work]:
            return Twin(depth=self.depth, trials=self.trials + 1).work(trial)

    with pytest.raises(PlanError, match="'trial 2, twin trees, level 1' is not in the plan"):
        run(clinic, Greedy(trials=1), Fraction(3), seeded(1))


def test_a_plan_of_another_price_is_an_error(clinic: Dataset) -> None:
    class Cheap(Twin):
        """Plans for half of the price."""

        def plan(self, price: Price) -> Plan:
            return super().plan(price / 2)

    with pytest.raises(PlanError, match="the plan costs 3/2, and the purse holds 3"):
        run(clinic, Cheap(), Fraction(3), seeded(1))
