"""Alternation runs: who is grown on what, and that every step is paid for once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from oracle.crosstab import count_pairs
from redveil.algorithms.alternation import alternate
from redveil.algorithms.parameters import Algorithm, Counts, Parameters, Sampler, Start
from redveil.algorithms.schedule import make_plan
from redveil.algorithms.trial import Trial
from redveil.data.binning import bin_table
from redveil.data.table import CodedColumn, Column, Table
from redveil.findings.leaf_table import LeafTable
from redveil.privacy.randomness import Randomness
from redveil.schema import Attribute, Kind, Schema, Side, View
from redveil.sealed import Released, Sealed
from redveil.trees.counting import route
from redveil.trees.splits import Splits
from redveil.trees.twin import Soil
from redveil.trees.walks import Ground
from strategies.schemas import schemas, tables
from support.paying import Diary, Quiet
from support.seeded import ScriptedRandomness, SeededRandomness

few = settings(max_examples=15, deadline=None)


def run(
    table: Table,
    schema: Schema,
    wanted: Parameters,
    epsilon: Fraction,
    source: Randomness,
    trees: int | None = None,
) -> tuple[list[Released[LeafTable]], Diary, int]:
    """Return the leaf tables of all trials, the purse and the number of stages.

    Twins grow only where a private start is planned: there is no soil without one.

    trees: after so many somebody presses Ctrl-C.
    """
    purse = Diary(make_plan(wanted, epsilon))
    stages: list[int] = []
    packed = Sealed(bin_table(table, schema))
    splits = {side: Splits.of(schema.view(side)) for side in Side}
    stop = np.zeros(1, np.uint8)
    ground = Ground.of(packed, splits, stop)
    soil = Soil.of(packed, ground.sets, splits, stop) if wanted.starts_privately else None
    found: list[Released[LeafTable]] = []
    for number in range(1, wanted.trials + 1):
        count = partial(_count, stages, stop, trees)
        trial = Trial(number, packed, schema, ground, soil, wanted, purse, source, count)
        found += alternate(trial)
    return found, purse, len(stages)


def _count(stages: list[int], stop: NDArray[np.uint8], trees: int | None) -> None:
    stages.append(1)
    stop[0] = len(stages) == trees


@pytest.mark.parametrize("algorithm", [Algorithm.ALT_EXPM, Algorithm.ALT_MCMC])
def test_whoever_stops_a_run_stops_it_before_the_next_tree(algorithm: Algorithm) -> None:
    schema, table = twins()
    wanted = Parameters(algorithm, depth=1, alternations=5)
    source = SeededRandomness(1)
    assert len(run(table, schema, wanted, Fraction(1), source)[0]) == 5
    with pytest.raises(KeyboardInterrupt):
        run(table, schema, wanted, Fraction(1), source, trees=1)


ALTERNATIONS = st.sampled_from([Algorithm.ALT_EXPM, Algorithm.ALT_MCMC])


@st.composite
def parameters(draw: st.DrawFn) -> Parameters:
    """Any alternation; deep trees cannot be drawn exactly."""
    algorithm, depth = draw(ALTERNATIONS), draw(st.integers(1, 4))
    deep = algorithm is Algorithm.ALT_MCMC and depth > 2
    made = Parameters(
        algorithm,
        depth=depth,
        trials=draw(st.integers(1, 2)),
        alternations=draw(st.integers(1, 3)),
        steps=draw(st.integers(1, 30)),
        counts=draw(st.sampled_from(Counts)),
        sampler=Sampler.WALK if deep else draw(st.sampled_from(Sampler)),
        start=draw(st.sampled_from(Start)),
    )
    alone = depth == 1 and made.starts_privately and not made.walks and draw(st.booleans())
    return replace(made, alternations=0) if alone else made


@few
@given(st.data(), schemas(), st.integers(0, 70), parameters())
def test_every_step_is_paid_for_once_and_in_order(
    data: st.DataObject, schema: Schema, rows: int, wanted: Parameters
) -> None:
    table = data.draw(tables(schema, rows))
    found, purse, stages = run(table, schema, wanted, Fraction(3), SeededRandomness(rows))
    assert purse.paid == [step.name for step in make_plan(wanted, Fraction(3)).steps]
    assert purse.is_empty
    assert len(found) == wanted.trials * max(wanted.alternations, 1)
    assert stages == wanted.trials * max(2 * wanted.alternations + 1, 2)


@few
@given(st.data(), schemas(), st.integers(0, 70), parameters())
def test_cells_and_margins_count_the_entities_in_the_released_trees(
    data: st.DataObject, schema: Schema, rows: int, wanted: Parameters
) -> None:
    table = data.draw(tables(schema, rows))
    found, _, _ = run(table, schema, wanted, Fraction(10), Quiet(rows))
    packed = bin_table(table, schema)
    for released in found:
        one = released.value
        assert (one.left.side, one.right.side) == (Side.LEFT, Side.RIGHT)
        trees = {Side.LEFT: one.left, Side.RIGHT: one.right}
        ends = {
            side: route(packed.view(side), Splits.of(schema.view(side)), tree).tolist()
            for side, tree in trees.items()
        }
        cells = [{node: i for i, node in enumerate(tree.ends)} for tree in trees.values()]
        expected = np.array(count_pairs(ends[Side.LEFT], ends[Side.RIGHT], cells[0], cells[1]))
        assert one.cells.tolist() == expected.tolist()
        sums = expected.sum(axis=1).tolist(), expected.sum(axis=0).tolist()
        margins = {
            Counts.CELLS: (None, None),
            Counts.TWO_PASS: (sums[0], None),
            Counts.LEAST_SQUARES: sums,
        }
        assert (listed(one.left_margin), listed(one.right_margin)) == margins[wanted.counts]
        assert int(one.cells.sum()) == rows


def listed(margin: NDArray[np.int64] | None) -> list[int] | None:
    return None if margin is None else [int(number) for number in margin]


def booleans(name: str, columns: int, *, required: bool = True) -> View:
    names = (f"{name} {number}" for number in range(columns))
    return View(name, "id", tuple(Attribute(n, Kind.BOOLEAN, required) for n in names))


def coded(view: View, columns: NDArray[np.int64]) -> Mapping[str, Column]:
    return {
        attribute.name: CodedColumn(attribute, values.astype(np.uint8))
        for attribute, values in zip(view.attributes, columns, strict=True)
    }


def twins(rows: int = 200) -> tuple[Schema, Table]:
    """Three independent attributes on the left; on the right the same three, from last to first."""
    columns = np.random.default_rng(3).integers(0, 2, (3, rows))
    schema = Schema("twins", booleans("left", 3), booleans("right", 3))
    return schema, Table(rows, coded(schema.left, columns), coded(schema.right, columns[::-1]))


SURE = Fraction(10_000)
WAYS = (Algorithm.ALT_EXPM, Algorithm.ALT_MCMC)


@pytest.mark.parametrize("algorithm", WAYS)
@pytest.mark.parametrize("start", range(6))
def test_a_random_start_is_an_attribute_that_the_other_side_predicts(
    start: int, algorithm: Algorithm
) -> None:
    schema, table = twins()
    # The first word picks the attribute, the others the splits, of which one is all but certain.
    source = ScriptedRandomness(6 * 10**9 + start, *[2**63] * 10)
    wanted = Parameters(algorithm, depth=1, alternations=1, start=Start.RANDOM)
    (released,), _, _ = run(table, schema, wanted, Fraction(100), source)
    attribute = start if start < 3 else 5 - start
    assert released.value.left.splits == (attribute,)
    assert released.value.right.splits == (2 - attribute,)
    half = table.rows // 2
    assert abs(released.value.cells - np.diag(np.diag(released.value.cells))).sum() == 0
    assert abs(int(released.value.cells[0, 0]) - half) < 40


def planted(*, agree: int, rows: int = 300, columns: int = 5) -> tuple[Schema, Table]:
    """Coins on either side, of which left `agree` and right 0 are one; some values are missing."""
    rng = np.random.default_rng(11)
    left, right = rng.integers(0, 2, (2, columns, rows))
    right[0] = left[agree]
    left[(agree + 1) % columns, ::7] = right[1, ::9] = 255
    schema = Schema(
        "planted",
        booleans("left", columns, required=False),
        booleans("right", columns, required=False),
    )
    return schema, Table(rows, coded(schema.left, left), coded(schema.right, right))


@pytest.mark.parametrize("algorithm", WAYS)
@pytest.mark.parametrize("agree", range(3))
def test_a_private_start_is_the_pair_of_splits_that_go_together(
    agree: int, algorithm: Algorithm
) -> None:
    # No attribute is predicted by anything but its twin: a random start finds it in 2 of 10.
    schema, table = planted(agree=agree)
    wanted = Parameters(algorithm, depth=1, alternations=1)
    for seed in range(10):
        (released,), _, _ = run(table, schema, wanted, SURE, SeededRandomness(seed))
        assert released.value.left.splits == (agree,)
        assert released.value.right.splits == (0,)


@pytest.mark.parametrize("algorithm", WAYS)
def test_the_first_tree_predicts_the_right_stump(algorithm: Algorithm) -> None:
    # The tree after the start is a left one, though a right one could predict as well.
    schema, table = twins()
    wanted = Parameters(algorithm, depth=1, alternations=2)
    for seed in range(6):
        found, _, _ = run(table, schema, wanted, SURE, SeededRandomness(seed))
        first, second = (one.value for one in found)
        assert first.right is second.right, "the second tree of three, and the only right one"
        assert first.left.splits == second.left.splits
        assert first.right.splits == (2 - int(first.left.splits[0] or 0),)


@pytest.mark.parametrize("algorithm", WAYS)
@pytest.mark.parametrize("depth", [1, 2])
def test_an_alternation_with_a_private_start_never_comes_back_empty(
    algorithm: Algorithm, depth: int
) -> None:
    schema, table = planted(agree=2)
    both = {2}, {0}
    wanted = Parameters(algorithm, depth=depth, alternations=2)
    for seed in range(12):
        found, _, _ = run(table, schema, wanted, SURE, SeededRandomness(seed))
        for one in found:
            # Booleans have one split each, so splits are attributes.
            assert both[0] <= set(one.value.left.splits)
            assert both[1] <= set(one.value.right.splits)
            assert related(one.value) > 0.8


def related(table: LeafTable) -> float:
    """Return χ² / N of the leaves: 0 for independent trees, 1 for halves that match."""
    cells = table.cells[: len(table.left.leaves), : len(table.right.leaves)].astype(np.float64)
    cells = np.maximum(cells, 0)
    cells = cells[cells.sum(axis=1) > 0][:, cells.sum(axis=0) > 0]
    expected = np.outer(cells.sum(axis=1), cells.sum(axis=0)) / cells.sum()
    return float(((cells - expected) ** 2 / expected).sum() / cells.sum())


def test_a_random_start_may_well_come_back_empty() -> None:
    schema, table = planted(agree=2)
    wanted = Parameters(Algorithm.ALT_EXPM, depth=1, alternations=1, start=Start.RANDOM)
    runs = [run(table, schema, wanted, SURE, SeededRandomness(seed))[0][0] for seed in range(20)]
    empty = [one for one in runs if related(one.value) < 0.1]
    assert 5 < len(empty) < 20


def test_neighbouring_tables_of_a_trial_share_a_tree() -> None:
    schema, table = twins()
    wanted = Parameters(Algorithm.ALT_EXPM, depth=2, trials=2, alternations=3)
    found, _, _ = run(table, schema, wanted, Fraction(1), SeededRandomness(4))
    for trial in (found[:3], found[3:]):
        trees = [(one.value.left, one.value.right) for one in trial]
        changed = []
        for (left, right), (next_left, next_right) in pairwise(trees):
            assert (left is next_left) != (right is next_right)
            changed.append(Side.LEFT if right is next_right else Side.RIGHT)
        assert changed[0] is changed[1].other, "the same side was grown twice in a row"


@pytest.mark.parametrize("start", Start)
def test_a_table_carries_the_prices_and_receipts_that_paid_for_it(start: Start) -> None:
    schema, table = twins()
    wanted = Parameters(
        Algorithm.ALT_EXPM, depth=2, alternations=2, start=start, counts=Counts.LEAST_SQUARES
    )
    # Three trees, two tables, and a start if it is paid for.
    epsilon = Fraction(6 if start is Start.PRIVATE else 5)
    found, _, _ = run(table, schema, wanted, epsilon, SeededRandomness(4))
    assert [one.value.cells_price for one in found] == [Fraction(1, 2)] * 2
    assert [one.value.left_price for one in found] == [Fraction(1, 4)] * 2
    assert [one.value.right_price for one in found] == [Fraction(1, 4)] * 2
    for number, one in enumerate(found, start=1):
        assert {receipt.step for receipt in one.receipts} == {
            *(f"trial 1, tree {tree}, level {n}" for tree in (number, number + 1) for n in (1, 2)),
            f"trial 1, leaf table {number}, cells",
            f"trial 1, leaf table {number}, left margin",
            f"trial 1, leaf table {number}, right margin",
        }


@pytest.mark.parametrize(
    ("sampler", "mechanism", "suffix"),
    [(Sampler.EXACT, "choose", ""), (Sampler.WALK, "walk", ", walk")],
)
def test_a_whole_tree_costs_one_choice_or_one_walk(
    sampler: Sampler, mechanism: str, suffix: str
) -> None:
    schema, table = twins()
    wanted = Parameters(Algorithm.ALT_MCMC, depth=2, alternations=2, steps=20, sampler=sampler)
    found, purse, _ = run(table, schema, wanted, Fraction(6), SeededRandomness(4))
    assert purse.is_empty
    for number, one in enumerate(found, start=1):
        grown = [receipt for receipt in one.receipts if "leaf table" not in receipt.step]
        assert sorted((r.step, str(r.mechanism), r.price) for r in grown) == [
            (f"trial 1, tree {tree}{suffix}", mechanism, Fraction(1))
            for tree in (number, number + 1)
        ]
        assert one.value.cells_price == 1


def test_whole_tree_are_as_good_as_trees_get() -> None:
    # Four leaves on either side that match one to one: no walk of 20 steps gets there every time.
    schema, table = twins()
    wanted = Parameters(Algorithm.ALT_MCMC, depth=2, alternations=1)
    for seed in range(5):
        (released,), _, _ = run(table, schema, wanted, SURE, SeededRandomness(seed))
        assert released.value.cells.shape == (4, 4)
        assert np.count_nonzero(released.value.cells > 5) == 4


@pytest.mark.parametrize("required", [True, False])
def test_trees_end_early_where_the_schema_has_no_more_splits(required: bool) -> None:  # noqa: FBT001
    schema = Schema(
        "small", booleans("left", 1, required=required), booleans("right", 2, required=required)
    )
    columns = np.random.default_rng(1).integers(0, 2, (3, 50))
    table = Table(50, coded(schema.left, columns[:1]), coded(schema.right, columns[1:]))
    wanted = Parameters(Algorithm.ALT_EXPM, depth=5, alternations=2)
    found, purse, stages = run(table, schema, wanted, Fraction(1), SeededRandomness(2))
    assert purse.is_empty
    assert stages == 5
    for one in found:
        assert len(one.value.left.leaves) == 2
        assert len(one.value.right.leaves) == 4
        assert len(one.value.left.stuck) == (0 if required else 1)


def test_noise_is_added_at_the_price_of_each_part() -> None:
    schema, table = twins()
    asked: list[tuple[Fraction, int]] = []

    class Listening(Quiet):
        def laplace(self, epsilon: Fraction, count: int) -> NDArray[np.int64]:
            asked.append((epsilon, count))
            return np.arange(count, dtype=np.int64)

    wanted = Parameters(Algorithm.ALT_EXPM, depth=1, alternations=1, counts=Counts.LEAST_SQUARES)
    (released,), _, _ = run(table, schema, wanted, Fraction(4), Listening(1))
    assert asked == [(Fraction(1, 2), 4), (Fraction(1, 4), 2), (Fraction(1, 4), 2)]
    # Noise of 0, 1, 2 … on every part: the parts are measured apart, not summed up.
    cells = released.value.cells - np.arange(4).reshape(2, 2)
    assert listed(released.value.left_margin) == (cells.sum(axis=1) + np.arange(2)).tolist()
    assert listed(released.value.right_margin) == (cells.sum(axis=0) + np.arange(2)).tolist()
    assert int(cells.sum()) == table.rows


@pytest.mark.parametrize(
    ("counts", "prices"),
    [
        (Counts.CELLS, (Fraction(1), None, None)),
        (Counts.TWO_PASS, (Fraction(1, 2), Fraction(1, 2), None)),
        (Counts.LEAST_SQUARES, (Fraction(1, 2), Fraction(1, 4), Fraction(1, 4))),
    ],
)
def test_only_what_is_measured_is_paid_for(
    counts: Counts, prices: tuple[Fraction, Fraction | None, Fraction | None]
) -> None:
    schema, table = twins()
    wanted = Parameters(Algorithm.ALT_EXPM, depth=1, alternations=1, counts=counts)
    (released,), _, _ = run(table, schema, wanted, Fraction(4), Quiet(1))
    one = released.value
    assert (one.cells_price, one.left_price, one.right_price) == prices
    measured = [margin is not None for margin in (one.left_margin, one.right_margin)]
    assert measured == [price is not None for price in prices[1:]]
