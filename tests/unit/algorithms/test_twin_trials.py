"""Twin runs: what each pair begins with, what it counts, and that every step is paid for once."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from oracle.crosstab import count_pairs
from redveil.algorithms.parameters import Algorithm, Counts, Parameters, RootScore
from redveil.algorithms.schedule import make_plan, stages
from redveil.algorithms.trial import Trial
from redveil.algorithms.twin import grow_all_twins
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
from support.seeded import SeededRandomness

few = settings(max_examples=15, deadline=None)
CERTAIN = Fraction(10**6)
twin_parameters = st.builds(
    Parameters,
    algorithm=st.just(Algorithm.TWIN),
    depth=st.integers(1, 4),
    trials=st.integers(1, 3),
    counts=st.sampled_from(Counts),
    root_score=st.sampled_from(RootScore),
)


def run(
    table: Table, schema: Schema, wanted: Parameters, epsilon: Fraction, source: Randomness
) -> tuple[list[Released[LeafTable]], Diary, int]:
    """Return the leaf tables of all trials, the purse and the number of stages."""
    purse, told = Diary(make_plan(wanted, epsilon)), list[int]()
    packed = Sealed(bin_table(table, schema))
    splits = {side: Splits.of(schema.view(side)) for side in Side}
    stop = np.zeros(1, np.uint8)
    ground = Ground.of(packed, splits, stop)
    trial = Trial(
        number=1,
        data=packed,
        schema=schema,
        ground=ground,
        soil=Soil.of(packed, ground.sets, splits, stop),
        parameters=wanted,
        purse=purse,
        randomness=source,
        progress=lambda: told.append(len(purse.paid)),
    )
    return grow_all_twins(trial), purse, len(told)


@few
@given(st.data(), schemas(), st.integers(0, 70), twin_parameters)
def test_every_step_is_paid_for_once_and_in_order(
    data: st.DataObject, schema: Schema, rows: int, wanted: Parameters
) -> None:
    table = data.draw(tables(schema, rows))
    found, purse, told = run(table, schema, wanted, Fraction(3), SeededRandomness(rows))
    assert purse.paid == [step.name for step in make_plan(wanted, Fraction(3)).steps]
    assert purse.is_empty
    assert len(found) == wanted.trials
    assert told == stages(wanted)


@few
@given(st.data(), schemas(), st.integers(0, 70), twin_parameters)
def test_cells_and_margins_count_the_entities_in_the_released_trees(
    data: st.DataObject, schema: Schema, rows: int, wanted: Parameters
) -> None:
    table = data.draw(tables(schema, rows))
    found, _, _ = run(table, schema, wanted, Fraction(10), Quiet(rows))
    packed = bin_table(table, schema)
    for released in found:
        one = released.value
        ends = [
            route(packed.view(side), Splits.of(schema.view(side)), tree).tolist()
            for side, tree in zip(Side, (one.left, one.right), strict=True)
        ]
        cells = [{node: i for i, node in enumerate(tree.ends)} for tree in (one.left, one.right)]
        expected = np.array(count_pairs(ends[0], ends[1], cells[0], cells[1]))
        assert one.cells.tolist() == expected.tolist()
        assert int(one.cells.sum()) == rows
        for margin, axis in ((one.left_margin, 1), (one.right_margin, 0)):
            assert margin is None or margin.tolist() == expected.sum(axis=axis).tolist()


def booleans(name: str, columns: int) -> View:
    names = (f"{name} {number}" for number in range(columns))
    return View(name, "id", tuple(Attribute(n, Kind.BOOLEAN, required=True) for n in names))


def coded(view: View, columns: NDArray[np.int64]) -> dict[str, Column]:
    return {
        attribute.name: CodedColumn(attribute, values.astype(np.uint8))
        for attribute, values in zip(view.attributes, columns, strict=True)
    }


def mirrored(rows: int = 200) -> tuple[Schema, Table]:
    """Three independent attributes on the left; on the right the same three, from last to first.

    The first on the left is the clearest, the last is true of fewest.
    """
    chances = np.array([[0.5], [0.3], [0.15]])
    columns = (np.random.default_rng(3).random((3, rows)) < chances).astype(np.int64)
    schema = Schema("mirrored", booleans("left", 3), booleans("right", 3))
    return schema, Table(rows, coded(schema.left, columns), coded(schema.right, columns[::-1]))


@pytest.mark.parametrize("root", RootScore)
def test_each_pair_begins_with_what_the_earlier_ones_left(root: RootScore) -> None:
    schema, table = mirrored()
    wanted = Parameters(depth=1, trials=3, root_score=root)
    found, _, _ = run(table, schema, wanted, CERTAIN, SeededRandomness(1))
    assert [one.value.left.splits for one in found] == [(0,), (1,), (2,)]
    assert [one.value.right.splits for one in found] == [(2,), (1,), (0,)]


def test_when_all_attributes_were_begun_with_any_will_do() -> None:
    schema, table = mirrored()
    wanted = Parameters(depth=1, trials=5)
    found, _, _ = run(table, schema, wanted, CERTAIN, SeededRandomness(1))
    assert [one.value.left.splits for one in found[3:]] == [(0,), (0,)]
    assert [one.value.right.splits for one in found[3:]] == [(2,), (2,)]


def test_below_the_root_attributes_may_come_again() -> None:
    schema, table = mirrored(2000)
    wanted = Parameters(depth=2, trials=2)
    found, _, _ = run(table, schema, wanted, CERTAIN, SeededRandomness(1))
    assert found[1].value.left.splits[0] == 1
    assert set(found[1].value.left.splits[1:]) == {0}


@pytest.mark.parametrize(
    ("counts", "parts"),
    [
        (Counts.CELLS, {"cells": 1}),
        (Counts.TWO_PASS, {"cells": Fraction(1, 2), "left margin": Fraction(1, 2)}),
        (
            Counts.LEAST_SQUARES,
            {
                "cells": Fraction(1, 2),
                "left margin": Fraction(1, 4),
                "right margin": Fraction(1, 4),
            },
        ),
    ],
)
def test_a_table_carries_the_prices_and_receipts_that_paid_for_it(
    counts: Counts, parts: dict[str, Fraction]
) -> None:
    schema, table = mirrored()
    wanted = Parameters(depth=2, trials=2, counts=counts, tree_share=Fraction(1, 4))
    found, _, _ = run(table, schema, wanted, Fraction(4), SeededRandomness(4))
    for number, one in enumerate(found, start=1):
        prices = one.value.cells_price, one.value.left_price, one.value.right_price
        shares = [parts.get(part) for part in ("cells", "left margin", "right margin")]
        assert list(prices) == [None if s is None else s * Fraction(3, 2) for s in shares]
        assert {(receipt.step, receipt.price) for receipt in one.receipts} == {
            (f"trial {number}, twins, level 1", Fraction(1, 4)),
            (f"trial {number}, twins, level 2", Fraction(1, 4)),
            *(
                (f"trial {number}, leaf table 1, {part}", share * Fraction(3, 2))
                for part, share in parts.items()
            ),
        }


def test_a_seed_settles_all_twins() -> None:
    schema, table = mirrored()
    wanted = Parameters(depth=2, trials=3)

    def released(seed: int) -> list[object]:
        found, _, _ = run(table, schema, wanted, Fraction(1), SeededRandomness(seed))
        return [(one.value.left, one.value.right, one.value.cells.tolist()) for one in found]

    assert released(1) == released(1)
    assert released(1) != released(2)
