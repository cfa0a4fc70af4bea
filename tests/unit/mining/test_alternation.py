"""Alternation runs: who is grown on what, and that every step is paid for once."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import partial
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from oracle.crosstab import count_pairs
from redveil.data.binning import bin_table
from redveil.data.table import CodedColumn, Column, Table
from redveil.mining.alternation import alternate
from redveil.mining.leaf_table import LeafTable
from redveil.mining.parameters import Algorithm, Counts, Parameters
from redveil.mining.schedule import make_plan
from redveil.mining.trial import Trial
from redveil.privacy.plan import Mechanism, Plan, Purse
from redveil.privacy.randomness import Randomness
from redveil.schema import Attribute, Kind, Schema, Side, View
from redveil.sealed import Receipt, Released, Sealed
from redveil.trees.counting import route
from redveil.trees.splits import Splits
from redveil.trees.walks import Ground
from strategies.schemas import schemas, tables
from support.seeded import ScriptedRandomness, SeededRandomness

few = settings(max_examples=15, deadline=None)


class Quiet(SeededRandomness):
    """Chooses at random, counts without noise."""

    def laplace(self, _epsilon: Fraction, count: int) -> NDArray[np.int64]:
        return np.zeros(count, dtype=np.int64)


class Diary(Purse):
    """A purse that writes down what it paid for."""

    def __init__(self, plan: Plan) -> None:
        super().__init__(plan.steps)
        self.paid: list[str] = []

    def pay(self, name: str, mechanism: Mechanism) -> Receipt:
        self.paid.append(name)
        return super().pay(name, mechanism)


def run(
    table: Table, schema: Schema, wanted: Parameters, epsilon: Fraction, source: Randomness
) -> tuple[list[Released[LeafTable]], Diary, int]:
    """Return the leaf tables of all trials, the purse and the number of stages."""
    purse = Diary(make_plan(wanted, epsilon))
    stages: list[int] = []
    packed = Sealed(bin_table(table, schema))
    splits = {side: Splits.of(schema.view(side)) for side in Side}
    ground = Ground.of(packed, splits, np.zeros(1, np.uint8))
    found: list[Released[LeafTable]] = []
    for number in range(1, wanted.trials + 1):
        count = partial(stages.append, number)
        found += alternate(Trial(number, packed, schema, ground, wanted, purse, source, count))
    return found, purse, len(stages)


ALTERNATIONS = st.sampled_from([Algorithm.ALT_EXPM, Algorithm.ALT_MCMC])


@few
@given(
    st.data(),
    schemas(),
    st.integers(0, 70),
    st.builds(
        Parameters,
        algorithm=ALTERNATIONS,
        depth=st.integers(1, 4),
        trials=st.integers(1, 2),
        alternations=st.integers(1, 3),
        steps=st.integers(1, 30),
        counts=st.sampled_from(Counts),
    ),
)
def test_every_step_is_paid_for_once_and_in_order(
    data: st.DataObject, schema: Schema, rows: int, wanted: Parameters
) -> None:
    table = data.draw(tables(schema, rows))
    found, purse, stages = run(table, schema, wanted, Fraction(3), SeededRandomness(rows))
    assert purse.paid == [step.name for step in make_plan(wanted, Fraction(3)).steps]
    assert purse.is_empty
    assert len(found) == wanted.trials * wanted.alternations
    assert stages == wanted.trials * (2 * wanted.alternations + 1)


@few
@given(st.data(), schemas(), st.integers(0, 70), st.integers(1, 3), ALTERNATIONS)
def test_cells_and_margins_count_the_entities_in_the_released_trees(
    data: st.DataObject, schema: Schema, rows: int, depth: int, algorithm: Algorithm
) -> None:
    table = data.draw(tables(schema, rows))
    wanted = Parameters(algorithm, depth=depth, alternations=2, steps=10)
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
        cells = [{node: i for i, node in enumerate(tree.cells)} for tree in trees.values()]
        expected = np.array(count_pairs(ends[Side.LEFT], ends[Side.RIGHT], cells[0], cells[1]))
        assert one.cells.tolist() == expected.tolist()
        assert one.left_margin.tolist() == expected.sum(axis=1).tolist()
        assert margin(one).tolist() == expected.sum(axis=0).tolist()
        assert int(one.cells.sum()) == rows


def margin(table: LeafTable) -> NDArray[np.int64]:
    """Return the right margin, which these runs measure."""
    assert table.right_margin is not None
    return table.right_margin


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


@pytest.mark.parametrize("start", range(6))
def test_the_first_tree_predicts_a_random_attribute_from_the_other_side(start: int) -> None:
    schema, table = twins()
    # The first word picks the attribute, the others the splits, of which one is all but certain.
    source = ScriptedRandomness(6 * 10**9 + start, *[2**63] * 10)
    wanted = Parameters(depth=1, alternations=1)
    (released,), _, _ = run(table, schema, wanted, Fraction(100), source)
    attribute = start if start < 3 else 5 - start
    assert released.value.left.splits == (attribute,)
    assert released.value.right.splits == (2 - attribute,)
    half = table.rows // 2
    assert abs(released.value.cells - np.diag(np.diag(released.value.cells))).sum() == 0
    assert abs(int(released.value.cells[0, 0]) - half) < 40


def test_neighbouring_tables_of_a_trial_share_a_tree() -> None:
    schema, table = twins()
    wanted = Parameters(depth=2, trials=2, alternations=3)
    found, _, _ = run(table, schema, wanted, Fraction(1), SeededRandomness(4))
    for trial in (found[:3], found[3:]):
        trees = [(one.value.left, one.value.right) for one in trial]
        changed = []
        for (left, right), (next_left, next_right) in pairwise(trees):
            assert (left is next_left) != (right is next_right)
            changed.append(Side.LEFT if right is next_right else Side.RIGHT)
        assert changed[0] is changed[1].other, "the same side was grown twice in a row"


def test_a_table_carries_the_prices_and_receipts_that_paid_for_it() -> None:
    schema, table = twins()
    wanted = Parameters(depth=2, alternations=2)
    found, _, _ = run(table, schema, wanted, Fraction(5), SeededRandomness(4))
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


@pytest.mark.parametrize("required", [True, False])
def test_trees_end_early_where_the_schema_has_no_more_splits(required: bool) -> None:  # noqa: FBT001
    schema = Schema(
        "small", booleans("left", 1, required=required), booleans("right", 2, required=required)
    )
    columns = np.random.default_rng(1).integers(0, 2, (3, 50))
    table = Table(50, coded(schema.left, columns[:1]), coded(schema.right, columns[1:]))
    wanted = Parameters(depth=5, alternations=2)
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

    wanted = Parameters(depth=1, alternations=1)
    (released,), _, _ = run(table, schema, wanted, Fraction(3), Listening(1))
    assert asked == [(Fraction(1, 2), 4), (Fraction(1, 4), 2), (Fraction(1, 4), 2)]
    # Noise of 0, 1, 2 … on every part: the parts are measured apart, not summed up.
    cells = released.value.cells - np.arange(4).reshape(2, 2)
    assert released.value.left_margin.tolist() == (cells.sum(axis=1) + np.arange(2)).tolist()
    assert margin(released.value).tolist() == (cells.sum(axis=0) + np.arange(2)).tolist()
    assert int(cells.sum()) == table.rows


def test_the_right_margin_is_not_measured_in_two_passes() -> None:
    schema, table = twins()
    wanted = Parameters(depth=1, alternations=1, counts=Counts.TWO_PASS)
    (released,), _, _ = run(table, schema, wanted, Fraction(3), Quiet(1))
    assert released.value.right_margin is None
    assert released.value.right_price is None
    assert released.value.cells_price == released.value.left_price == Fraction(1, 2)
    assert released.value.left_margin.tolist() == released.value.cells.sum(axis=1).tolist()
