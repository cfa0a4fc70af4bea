"""Whole runs, from a sealed data set to a ranked list."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Mapping
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray

import redveil
from redveil.algorithms.parameters import (
    Algorithm,
    Constraints,
    Counts,
    Parameters,
    Sampler,
    Start,
)
from redveil.algorithms.run import run
from redveil.algorithms.schedule import make_plan, stages
from redveil.algorithms.tuning import tune, tuned_plan
from redveil.data.dataset import Dataset
from redveil.data.report import LoadReport
from redveil.data.synthetic import clinic_frames, clinic_schema
from redveil.data.table import CodedColumn, Column, NumericColumn, Table
from redveil.findings.findings import Mined
from redveil.findings.redescription import Redescription
from redveil.findings.statistics import p_values
from redveil.privacy.loss import total
from redveil.query.formula import attributes, evaluate
from redveil.schema import Attribute, Kind, Schema, View
from redveil.sealed import Sealed, open_for_owner
from support.seeded import SeededRandomness


@pytest.fixture(scope="module")
def clinic() -> Dataset:
    return redveil.load(*clinic_frames(400), clinic_schema())


Sources = Callable[[int], SeededRandomness]


def seeded(seed: int) -> Sources:
    """Give every trial a stream of its own."""
    return lambda trial: SeededRandomness(1000 * seed + trial)


class StartingAt(SeededRandomness):
    """Seeded, but the first choice, of the attribute to start from, is given."""

    def __init__(self, attribute: int) -> None:
        super().__init__(1)
        self._first: int | None = attribute

    def words(self, count: int) -> NDArray[np.uint64]:
        if self._first is None:
            return super().words(count)
        first, self._first = self._first, None
        return np.array([first], dtype=np.uint64)


def released(mined: Mined) -> list[object]:
    """Return all that an analyst sees, in a form that can be compared."""
    tables = [
        (
            t.left,
            t.right,
            t.cells.tolist(),
            None if t.left_margin is None else t.left_margin.tolist(),
        )
        for t in mined.tables
    ]
    return [*tables, *mined.redescriptions]


def truth(one: Redescription, table: Table) -> tuple[float, float]:
    """Return the true J and p-value."""
    left, right = evaluate(one.left, table.left).true, evaluate(one.right, table.right).true
    both, either = int((left & right).sum()), int((left | right).sum())
    p = p_values(both, int(left.sum()), int(right.sum()), table.rows)
    return both / either if either else 0.0, float(p)


ALTERNATING = Parameters(Algorithm.ALT_EXPM, trials=2)
UNTOLD = Parameters.of()
# Walks of a hundred steps: enough to see that they are paid for and repeatable.
WAYS = (
    Parameters(trials=2),
    ALTERNATING,
    Parameters(Algorithm.ALT_EXPM, trials=2, start=Start.RANDOM, counts=Counts.LEAST_SQUARES),
    Parameters(Algorithm.ALT_MCMC, trials=2),
    Parameters(Algorithm.ALT_MCMC, trials=2, steps=100, sampler=Sampler.WALK),
    Parameters(Algorithm.TREE_PAIR, trials=3, steps=100),
    Parameters(Algorithm.TREE_PAIR, trials=3, steps=100, counts=Counts.TWO_PASS),
)


@pytest.mark.parametrize("wanted", [UNTOLD, *WAYS])
def test_a_seed_settles_everything(clinic: Dataset, wanted: Parameters) -> None:
    runs = [run(clinic, wanted, Fraction(8), seeded(seed)) for seed in (1, 1, 2)]
    assert released(runs[0]) == released(runs[1])
    assert released(runs[0]) != released(runs[2])


@pytest.mark.parametrize("wanted", [UNTOLD, *WAYS])
def test_the_number_of_threads_does_not_show(clinic: Dataset, wanted: Parameters) -> None:
    alone, crowd = (run(clinic, wanted, Fraction(8), seeded(1), workers=n) for n in (1, 4))
    assert released(alone) == released(crowd)


def test_a_run_keeps_its_plan_and_its_tables(clinic: Dataset) -> None:
    wanted = Parameters(Algorithm.ALT_EXPM, depth=2, trials=2, alternations=3)
    mined = run(clinic, wanted, Fraction(60), seeded(1))
    assert mined.plan == make_plan(wanted, Fraction(60))
    assert mined.schema is clinic.schema
    assert mined.parameters is wanted
    assert len(mined.tables) == len(mined.estimates) == 6
    for table, guess in zip(mined.tables, mined.estimates, strict=True):
        assert table.cells.shape == guess.cells.shape
        assert guess.size == pytest.approx(400, abs=6 * guess.size_deviation)
    assert {one.table for one in mined.redescriptions} <= set(range(6))
    assert mined.redescriptions


def to_the_end_of_its_bin(column: Column) -> Column:
    """Move every number up to the cut point above it, or to the bound: no bin changes."""
    if not isinstance(column, NumericColumn):
        return column
    ends = np.array([*column.attribute.cuts, column.attribute.maximum])
    above = ends[np.searchsorted(column.attribute.cuts, column.values, side="left")]
    return NumericColumn(column.attribute, np.where(np.isnan(column.values), np.nan, above))


@pytest.mark.parametrize("wanted", [UNTOLD, *WAYS])
def test_a_hardened_run_knows_bins_and_no_values(clinic: Dataset, wanted: Parameters) -> None:
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


def test_twins_are_one_piece_of_work_with_a_table_a_trial(clinic: Dataset) -> None:
    asked: list[int] = []

    def sources(number: int) -> SeededRandomness:
        asked.append(number)
        return SeededRandomness(number)

    mined = run(clinic, Parameters(trials=3), Fraction(30), sources)
    assert asked == [1]
    assert len(mined.tables) == 3
    roots = {(table.left.splits[0], table.right.splits[0]) for table in mined.tables}
    assert len(roots) == 3, "every pair of twins begins with something else"


@pytest.mark.parametrize("epsilon", [Fraction(1), Fraction(50)])
def test_what_is_left_to_the_rule_is_tuned_by_a_private_size(
    clinic: Dataset, epsilon: Fraction
) -> None:
    asked: list[int] = []

    class Loud(SeededRandomness):
        """A source that makes the first count, the size, half a million too large."""

        def laplace(self, epsilon: Fraction, count: int) -> NDArray[np.int64]:
            return super().laplace(epsilon, count) + 500_000

    def sources(number: int) -> SeededRandomness:
        asked.append(number)
        return Loud(0) if number == 0 else SeededRandomness(number)

    mined = run(clinic, UNTOLD, epsilon, sources)
    assert asked == [0, 1]
    # By the noisy size, and not by that of the data.
    assert mined.parameters == tune(UNTOLD, clinic.schema, 500_400, epsilon)
    assert mined.parameters != tune(UNTOLD, clinic.schema, 400, Fraction(1))
    assert mined.plan == tuned_plan(mined.parameters, epsilon)
    assert mined.plan.steps[0].name == "size"
    assert total(step.price for step in mined.plan.steps) == epsilon
    assert len(mined.tables) == mined.parameters.trials


@pytest.mark.parametrize("wanted", WAYS)
def test_nobody_asks_for_a_size_that_nothing_is_tuned_by(
    clinic: Dataset, wanted: Parameters
) -> None:
    asked: list[int] = []

    def sources(number: int) -> SeededRandomness:
        asked.append(number)
        return SeededRandomness(number)

    mined = run(clinic, wanted, Fraction(8), sources)
    trials = 1 if wanted.algorithm is Algorithm.TWIN else wanted.trials
    assert sorted(asked) == list(range(1, trials + 1))
    assert "size" not in {step.name for step in mined.plan.steps}


@pytest.mark.parametrize("wanted", WAYS)
def test_progress_follows_the_plan_and_not_the_data(clinic: Dataset, wanted: Parameters) -> None:
    others = redveil.load(*clinic_frames(37, seed=9), clinic_schema())
    seen: dict[str, list[float]] = {"many": [], "few": []}
    run(clinic, wanted, Fraction(5), seeded(1), seen["many"].append)
    run(others, wanted, Fraction(1, 5), seeded(2), seen["few"].append)
    last = stages(wanted)
    assert seen["many"] == seen["few"]
    assert seen["many"] == pytest.approx([k / last for k in range(1, last + 1)])
    assert seen["many"][-1] == 1


def test_progress_is_told_one_thing_at_a_time(clinic: Dataset) -> None:
    # The first call waits for another to come in from the other trial's thread; none may.
    crowded, calls = threading.Event(), list[float]()

    def listen(share: float) -> None:
        calls.append(share)
        if len(calls) == 1:
            crowded.wait(0.5)
            assert len(calls) == 1
        else:
            crowded.set()

    run(clinic, ALTERNATING, Fraction(8), seeded(1), listen, workers=2)
    assert calls == sorted(calls)


def test_planted_correspondences_are_found(clinic: Dataset) -> None:
    names = clinic.schema.left.names
    start = names.index("diabetes type 2")
    wanted = Parameters(Algorithm.ALT_EXPM, depth=2, alternations=2, start=Start.RANDOM)
    mined = run(clinic, wanted, Fraction(100), lambda _: StartingAt(start))
    table = open_for_owner(clinic.table)
    planted = [
        one
        for one in mined.redescriptions
        if "diabetes type 2" in attributes(one.left)
        and {"HbA1c", "fasting glucose"} & set(attributes(one.right))
    ]
    best = max(truth(one, table)[0] for one in planted)
    assert best > 0.85
    for one in planted:
        jaccard, p = truth(one, table)
        assert jaccard == pytest.approx(one.jaccard.estimate, abs=0.05)
        assert one.jaccard.low <= jaccard <= one.jaccard.high
        assert p <= one.p_value


@pytest.mark.parametrize(
    "wanted",
    [UNTOLD, Parameters(Algorithm.ALT_EXPM), Parameters(Algorithm.ALT_MCMC)],
    ids=["twin", "alt-expm", "alt-mcmc"],
)
def test_whoever_starts_privately_finds_something_every_time(
    clinic: Dataset, wanted: Parameters
) -> None:
    table = open_for_owner(clinic.table)
    for seed in range(2):
        mined = run(clinic, wanted, Fraction(40), seeded(seed))
        assert max(truth(one, table)[0] for one in mined.redescriptions) > 0.5


def test_intervals_of_whole_runs_cover_the_truth(clinic: Dataset) -> None:
    table = open_for_owner(clinic.table)
    ways = Algorithm.TWIN, Algorithm.ALT_EXPM
    covered: list[bool] = []
    for seed in range(4):
        wanted = Parameters(ways[seed % 2], trials=4, alternations=1)
        mined = run(clinic, wanted, Fraction(60), seeded(seed))
        for one in mined.redescriptions:
            jaccard, p = truth(one, table)
            covered.append(one.jaccard.low <= jaccard <= one.jaccard.high and p <= 0.01)
    assert len(covered) > 20
    assert np.mean(covered) >= 0.95


def test_constraints_reach_the_extraction(clinic: Dataset) -> None:
    def found(**demands: float) -> list[Redescription]:
        wanted = Parameters(constraints=Constraints(**demands))  # type: ignore[arg-type]
        return list(run(clinic, wanted, Fraction(20), seeded(3)).redescriptions)

    best = found()[0]
    least, certain = best.jaccard.low + 0.001, math.ceil(best.support_both.low + 0.001)
    # Each demand is just beyond what is found without it.
    for strict in (found(min_jaccard=least), found(min_support=certain)):
        pairs = {(one.left_ends, one.right_ends) for one in strict}
        assert (best.left_ends, best.right_ends) not in pairs
    assert all(one.jaccard.low >= least for one in found(min_jaccard=least))
    assert all(one.support_both.low >= certain for one in found(min_support=certain))
    assert found(max_p_value=0) == []


BOOLEAN = Attribute("flag", Kind.BOOLEAN)
REQUIRED = Attribute("sure", Kind.BOOLEAN, required=True)
NUMBER = Attribute("number", Kind.NUMERIC, minimum=0, maximum=10, cuts=(2.0, 4.0))
LABEL = Attribute("label", Kind.CATEGORICAL, categories=("x", "y", "z"))
LEVEL = Attribute("level", Kind.ORDINAL, categories=("low", "mid", "high"))


def dataset_of(left: Mapping[str, Column], right: Mapping[str, Column], rows: int) -> Dataset:
    """Seal columns as they are; loading refuses empty tables."""
    views = [View("v", "id", tuple(c.attribute for c in side.values())) for side in (left, right)]
    schema = Schema("odd", views[0], views[1])
    return Dataset(schema, Sealed(Table(rows, left, right)), Sealed(LoadReport(rows)))


def column(attribute: Attribute, rows: int, value: float | None) -> Column:
    """The same value for everybody; None is missing."""
    if attribute.kind is Kind.NUMERIC:
        return NumericColumn(attribute, np.full(rows, np.nan if value is None else value))
    return CodedColumn(attribute, np.full(rows, 255 if value is None else value).astype(np.uint8))


@pytest.mark.parametrize("algorithm", [Algorithm.TWIN, Algorithm.ALT_EXPM])
@pytest.mark.parametrize("rows", [0, 1, 2, 64])
@pytest.mark.parametrize("epsilon", [Fraction(1, 100), Fraction(100)])
@pytest.mark.parametrize(
    ("left", "right", "value"),
    [
        (BOOLEAN, REQUIRED, 1),
        (REQUIRED, NUMBER, 0),
        (BOOLEAN, LABEL, None),
        (NUMBER, LEVEL, 2),
        (LEVEL, NUMBER, None),
    ],
)
def test_data_with_nothing_to_tell_yield_nothing(
    algorithm: Algorithm,
    rows: int,
    epsilon: Fraction,
    left: Attribute,
    right: Attribute,
    value: float | None,
) -> None:
    given = [column(a, rows, 1 if a.required and value is None else value) for a in (left, right)]
    odd = dataset_of({left.name: given[0]}, {right.name: given[1]}, rows)
    stages: list[float] = []
    wanted = Parameters(algorithm, depth=4, alternations=2)
    mined = run(odd, wanted, epsilon, seeded(rows), stages.append)
    assert mined.redescriptions == ()
    assert stages[-1] == 1
    assert total(step.price for step in mined.plan.steps) == epsilon
    for guess in mined.estimates:
        assert abs(guess.size - rows) <= 10 * guess.size_deviation


@pytest.mark.parametrize("algorithm", [Algorithm.TWIN, Algorithm.ALT_EXPM])
def test_one_attribute_a_side_is_enough(algorithm: Algorithm) -> None:
    flags = np.random.default_rng(1).random(500) < 0.4
    nearly = np.where(np.arange(500) < 20, ~flags, flags)
    left = pl.DataFrame({"id": range(500), "flag": nearly})
    right = pl.DataFrame({"id": range(500), "sure": flags})
    schema = Schema("two", View("l", "id", (BOOLEAN,)), View("r", "id", (REQUIRED,)))
    both = redveil.load(left, right, schema)
    mined = run(both, Parameters(algorithm, depth=6), Fraction(4), seeded(2))
    assert mined.redescriptions
    assert all(len(table.left.leaves) == len(table.right.leaves) == 2 for table in mined.tables)
    for one in mined.redescriptions:
        assert attributes(one.left) == ("flag",)
        assert attributes(one.right) == ("sure",)
        assert one.jaccard.low > 0.7


def test_a_deep_run_on_few_attributes_still_pays_every_step() -> None:
    rows = np.arange(300)
    left = {
        "flag": CodedColumn(BOOLEAN, (rows % 2).astype(np.uint8)),
        "level": CodedColumn(LEVEL, (rows % 3).astype(np.uint8)),
    }
    right = {"number": NumericColumn(NUMBER, (rows % 3 * 2).astype(np.float64))}
    wanted = Parameters(Algorithm.ALT_EXPM, depth=6, trials=2)
    mined = run(dataset_of(left, right, 300), wanted, Fraction(50), seeded(1))
    # 2 × 3 combinations on the left, 3 bins on the right: trees stop there, `run` checks its purse.
    assert all(len(table.left.leaves) == 6 for table in mined.tables)
    assert all(len(table.right.leaves) == 3 for table in mined.tables)
    assert mined.redescriptions[0].jaccard.estimate == pytest.approx(1, abs=0.1)
