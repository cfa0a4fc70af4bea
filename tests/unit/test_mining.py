"""Mining: from a sealed data set to a ranked list, and to a result."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray
from scipy.stats import hypergeom

import redveil
from redveil.algorithms.algorithm import Algorithm
from redveil.algorithms.alternation import AltExpM, AltMCMC, Start
from redveil.algorithms.tree_pair import TreePair
from redveil.algorithms.twin import Twin
from redveil.data.dataset import Dataset
from redveil.data.report import LoadReport
from redveil.data.synthetic import clinic_frames, clinic_schema
from redveil.data.table import CodedColumn, Column, NumericColumn, Table
from redveil.findings.redescription import Redescription
from redveil.findings.reporting import Constraints, Reporting
from redveil.losses.loss import Loss, total
from redveil.mining import Mined, mine, report
from redveil.query.formula import attributes, evaluate
from redveil.schema import Attribute, Kind, Schema, View
from redveil.sealed import Sealed, open_for_owner
from support.seeded import SeededRandomness


@pytest.fixture(scope="module")
def clinic() -> Dataset:
    return redveil.load(*clinic_frames(400), clinic_schema())


Sources = Callable[[int], SeededRandomness]
AUTO = Twin.of()


def seeded(seed: int) -> Sources:
    """Give every trial a stream of its own."""
    return lambda trial: SeededRandomness(1000 * seed + trial)


def mined_from(
    dataset: Dataset,
    algorithm: Algorithm,
    epsilon: Fraction,
    sources: Sources,
    progress: Callable[[float], None] = lambda _: None,
) -> Mined:
    return mine(dataset, algorithm, Reporting(), Loss(epsilon), sources, progress)


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


def truth(one: Redescription, table: Table) -> tuple[float, float]:
    """Return the true J and Fisher's p-value."""
    left, right = evaluate(one.left, table.left).true, evaluate(one.right, table.right).true
    both, either = int((left & right).sum()), int((left | right).sum())
    p = hypergeom.sf(both - 1, table.rows, int(left.sum()), int(right.sum()))
    return both / either if either else 0.0, float(p)


@pytest.mark.parametrize("wanted", [AUTO, AltExpM(trials=2), TreePair(trials=2, walk_steps=100)])
def test_a_seed_settles_everything(clinic: Dataset, wanted: Algorithm) -> None:
    runs = [mined_from(clinic, wanted, Fraction(8), seeded(seed)) for seed in (1, 1, 2)]
    first, again, other = (
        [(t.left, t.right, t.cells.tolist()) for t in one.run.tables] for one in runs
    )
    assert first == again != other
    assert runs[0].findings.redescriptions == runs[1].findings.redescriptions


def test_findings_belong_to_the_tables_of_the_run(clinic: Dataset) -> None:
    wanted = AltExpM(depth=2, trials=2, alternations=3)
    mined = mined_from(clinic, wanted, Fraction(60), seeded(1))
    for released, table in zip(mined.findings.tables, mined.run.tables, strict=True):
        np.testing.assert_array_equal(released.counts.cells, table.cells)
        assert released.counts.prices == table.prices
    assert len(mined.run.tables) == len(mined.findings.estimates) == 6
    for table, guess in zip(mined.run.tables, mined.findings.estimates, strict=True):
        assert table.cells.shape == guess.cells.shape
        assert guess.size == pytest.approx(400, abs=6 * guess.size_deviation)
    assert {one.table for one in mined.findings.redescriptions} <= set(range(6))
    assert mined.findings.redescriptions


def test_a_result_has_the_findings_and_the_plan_of_the_run(clinic: Dataset) -> None:
    loss, reporting = Loss(Fraction(20)), Reporting(Constraints(min_support=11))
    mined = mine(clinic, AUTO, reporting, loss, seeded(3))
    result = report(mined)
    promise = result.certificate
    assert [(s.name, s.mechanism, s.price) for s in promise.steps] == [
        (s.name, s.mechanism, s.price) for s in mined.run.plan.steps
    ]
    assert (promise.epsilon, promise.guarantee) == ("20", "exact")
    assert promise.parameters == mined.run.algorithm.public() | reporting.public()
    assert len(result) == len(mined.findings.redescriptions) > 0
    assert len(result.document.tree_pairs) == len(mined.run.tables)


def test_planted_correspondences_are_found(clinic: Dataset) -> None:
    names = clinic.schema.left.names
    start = names.index("diabetes type 2")
    wanted = AltExpM(depth=2, alternations=2, start=Start.RANDOM)
    mined = mined_from(clinic, wanted, Fraction(100), lambda _: StartingAt(start))
    table = open_for_owner(clinic.table)
    planted = [
        one
        for one in mined.findings.redescriptions
        if "diabetes type 2" in attributes(one.left)
        and {"HbA1c", "fasting glucose"} & set(attributes(one.right))
    ]
    best = max(truth(one, table)[0] for one in planted)
    assert best > 0.85
    for one in planted:
        jaccard, p = truth(one, table)
        assert jaccard == pytest.approx(one.statistics.jaccard.estimate, abs=0.05)
        # At this ε intervals are as narrow as rounding.
        known = one.statistics.jaccard
        assert known.low - 1e-9 <= jaccard <= known.high + 1e-9
        assert p <= one.statistics.p_value * (1 + 1e-9)


@pytest.mark.parametrize(
    "wanted",
    [AUTO, AltExpM(), AltMCMC()],
    ids=["twin", "alt-expm", "alt-mcmc"],
)
def test_a_private_start_finds_something_every_time(clinic: Dataset, wanted: Algorithm) -> None:
    table = open_for_owner(clinic.table)
    for seed in range(2):
        mined = mined_from(clinic, wanted, Fraction(40), seeded(seed))
        assert max(truth(one, table)[0] for one in mined.findings.redescriptions) > 0.5


def test_intervals_of_whole_runs_cover_the_truth(clinic: Dataset) -> None:
    table = open_for_owner(clinic.table)
    ways = Twin(trials=4), AltExpM(trials=4, alternations=1)
    covered: list[bool] = []
    for seed in range(8):
        wanted = ways[seed % 2]
        mined = mined_from(clinic, wanted, Fraction(60), seeded(seed))
        for one in mined.findings.redescriptions:
            jaccard, p = truth(one, table)
            covered.append(
                one.statistics.jaccard.low <= jaccard <= one.statistics.jaccard.high and p <= 0.01
            )
    assert len(covered) > 20
    assert np.mean(covered) >= 0.95


def test_constraints_reach_the_extraction(clinic: Dataset) -> None:
    def found(**demands: float) -> list[Redescription]:
        wanted = Reporting(Constraints(**demands))  # type: ignore[arg-type]
        mined = mine(clinic, Twin(), wanted, Loss(Fraction(20)), seeded(3))
        return list(mined.findings.redescriptions)

    best = found()[0]
    least, certain = (
        best.statistics.jaccard.low + 0.001,
        math.ceil(best.statistics.support_both.low + 0.001),
    )
    # Each demand is just beyond what is found without it.
    for strict in (found(min_jaccard=least), found(min_support=certain)):
        pairs = {(one.left_ends, one.right_ends) for one in strict}
        assert (best.left_ends, best.right_ends) not in pairs
    assert all(one.statistics.jaccard.low >= least for one in found(min_jaccard=least))
    assert all(one.statistics.support_both.low >= certain for one in found(min_support=certain))
    assert found(max_p_value=5e-324) == []


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
    """The same value for every entity; None is missing."""
    if attribute.kind is Kind.NUMERIC:
        return NumericColumn(attribute, np.full(rows, np.nan if value is None else value))
    return CodedColumn(attribute, np.full(rows, 255 if value is None else value).astype(np.uint8))


@pytest.mark.parametrize("wanted", [Twin(depth=4), AltExpM(depth=4)])
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
    wanted: Algorithm,
    rows: int,
    epsilon: Fraction,
    left: Attribute,
    right: Attribute,
    value: float | None,
) -> None:
    given = [column(a, rows, 1 if a.required and value is None else value) for a in (left, right)]
    odd = dataset_of({left.name: given[0]}, {right.name: given[1]}, rows)
    stages: list[float] = []
    mined = mined_from(odd, wanted, epsilon, seeded(rows), stages.append)
    assert mined.findings.redescriptions == ()
    assert stages[-1] == 1
    assert total(step.price for step in mined.run.plan.steps) == epsilon
    for guess in mined.findings.estimates:
        assert abs(guess.size - rows) <= 10 * guess.size_deviation


@pytest.mark.parametrize("wanted", [Twin(depth=6), AltExpM(depth=6)])
def test_one_attribute_a_side_is_enough(wanted: Algorithm) -> None:
    flags = np.random.default_rng(1).random(500) < 0.4
    nearly = np.where(np.arange(500) < 20, ~flags, flags)
    left = pl.DataFrame({"id": range(500), "flag": nearly})
    right = pl.DataFrame({"id": range(500), "sure": flags})
    schema = Schema("two", View("l", "id", (BOOLEAN,)), View("r", "id", (REQUIRED,)))
    both = redveil.load(left, right, schema)
    mined = mined_from(both, wanted, Fraction(4), seeded(2))
    assert mined.findings.redescriptions
    assert all(len(table.left.leaves) == len(table.right.leaves) == 2 for table in mined.run.tables)
    for one in mined.findings.redescriptions:
        assert attributes(one.left) == ("flag",)
        assert attributes(one.right) == ("sure",)
        assert one.statistics.jaccard.low > 0.7


def test_a_deep_run_on_few_attributes_still_pays_every_step() -> None:
    rows = np.arange(300)
    left = {
        "flag": CodedColumn(BOOLEAN, (rows % 2).astype(np.uint8)),
        "level": CodedColumn(LEVEL, (rows % 3).astype(np.uint8)),
    }
    right = {"number": NumericColumn(NUMBER, (rows % 3 * 2).astype(np.float64))}
    wanted = AltExpM(depth=6, trials=2)
    mined = mined_from(dataset_of(left, right, 300), wanted, Fraction(50), seeded(1))
    # 2 × 3 combinations on the left, 3 bins on the right: trees stop there, all is paid for.
    assert all(len(table.left.leaves) == 6 for table in mined.run.tables)
    assert all(len(table.right.leaves) == 3 for table in mined.run.tables)
    assert mined.findings.redescriptions[0].statistics.jaccard.estimate == pytest.approx(1, abs=0.1)
