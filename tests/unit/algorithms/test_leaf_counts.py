"""Leaf tables: what is measured of them, what that costs, and that true counts are counted."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from oracle.crosstab import count_pairs
from redveil.algorithms.algorithm import Algorithm
from redveil.algorithms.alternation import AltExpM
from redveil.algorithms.leaf_counts import Counts, table_steps
from redveil.counting.columns import route
from redveil.data.binning import bin_table
from redveil.data.table import Table
from redveil.findings.leaf_table import Prices
from redveil.losses.loss import Price, Rho, total
from redveil.losses.plan import StepKey, StepKind
from redveil.schema import Schema, Side
from redveil.trees.splits import Splits
from strategies.algorithms import algorithms
from strategies.schemas import schemas, tables
from support.booleans import boolean_schema, boolean_table
from support.paying import NoiselessRandomness, run_trials

few = settings(max_examples=30, deadline=None)
epsilons = st.fractions(Fraction(1, 10**6), Fraction(100), max_denominator=10**6)
PARTS = {
    Counts.CELLS: {"cells": Fraction(1)},
    Counts.TWO_PASS: {"cells": Fraction(1, 2), "left margin": Fraction(1, 2)},
    Counts.LEAST_SQUARES: {
        "cells": Fraction(1, 2),
        "left margin": Fraction(1, 4),
        "right margin": Fraction(1, 4),
    },
}


@pytest.mark.parametrize("counts", Counts)
@given(epsilons | epsilons.map(Rho), st.integers(1, 9), st.integers(1, 9))
def test_cells_cost_everything_or_half(
    counts: Counts, price: Price, trial: int, number: int
) -> None:
    steps = list(table_steps(counts, trial, number, price))
    assert list(counts.shares) == list(PARTS[counts])
    assert {step.key: step.price for step in steps} == {
        StepKey(StepKind.LEAF_TABLE, trial, number, part=part): price * share
        for part, share in PARTS[counts].items()
    }
    assert {step.mechanism for step in steps} == {"count"}
    assert steps[0].key.part == "cells"
    assert total(step.price for step in steps) == price


@few
@given(
    st.data(),
    schemas(),
    st.integers(0, 70),
    algorithms(depth=4, trials=3, alternations=3),
)
def test_cells_and_margins_count_the_entities_in_the_released_trees(
    data: st.DataObject, schema: Schema, rows: int, wanted: Algorithm
) -> None:
    table = data.draw(tables(schema, rows))
    found = run_trials(table, schema, wanted, Fraction(10), NoiselessRandomness(rows)).tables
    packed = bin_table(table, schema)
    for released in found:
        one = released.value
        assert (one.left.side, one.right.side) == (Side.LEFT, Side.RIGHT)
        trees = {Side.LEFT: one.left, Side.RIGHT: one.right}
        ends = {
            side: route(packed.view(side), Splits.of(schema.view(side)), tree).tolist()
            for side, tree in trees.items()
        }
        places = [{node: i for i, node in enumerate(tree.ends)} for tree in trees.values()]
        expected = np.array(count_pairs(ends[Side.LEFT], ends[Side.RIGHT], places[0], places[1]))
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


def mirrored(rows: int = 200) -> tuple[Schema, Table]:
    """Three independent attributes on the left; on the right the same three, from last to first."""
    columns = np.random.default_rng(3).integers(0, 2, (3, rows))
    schema = boolean_schema(3, 3)
    return schema, boolean_table(schema, columns, columns[::-1])


def test_noise_is_added_at_the_price_of_each_part() -> None:
    schema, table = mirrored()
    asked: list[tuple[Fraction, int]] = []

    class Counting(NoiselessRandomness):
        def laplace(self, epsilon: Fraction, count: int) -> NDArray[np.int64]:
            asked.append((epsilon, count))
            return np.arange(count, dtype=np.int64)

    wanted = AltExpM(depth=1, alternations=1, counts=Counts.LEAST_SQUARES)
    (released,) = run_trials(table, schema, wanted, Fraction(4), Counting(1)).tables
    assert asked == [(Fraction(1, 2), 4), (Fraction(1, 4), 2), (Fraction(1, 4), 2)]
    # Noise of 0, 1, 2 … on every part: the parts are measured apart, not summed up.
    cells = released.value.cells - np.arange(4).reshape(2, 2)
    assert listed(released.value.left_margin) == (cells.sum(axis=1) + np.arange(2)).tolist()
    assert listed(released.value.right_margin) == (cells.sum(axis=0) + np.arange(2)).tolist()
    assert int(cells.sum()) == table.rows


@pytest.mark.parametrize(
    ("counts", "prices"),
    [
        (Counts.CELLS, Prices(Fraction(1))),
        (Counts.TWO_PASS, Prices(Fraction(1, 2), Fraction(1, 2))),
        (Counts.LEAST_SQUARES, Prices(Fraction(1, 2), Fraction(1, 4), Fraction(1, 4))),
    ],
)
def test_only_what_is_measured_is_paid_for(counts: Counts, prices: Prices) -> None:
    schema, table = mirrored()
    wanted = AltExpM(depth=1, alternations=1, counts=counts)
    found = run_trials(table, schema, wanted, Fraction(4), NoiselessRandomness(1))
    (released,) = found.tables
    one = released.value
    assert one.prices == prices
    measured = [margin is not None for margin in (one.left_margin, one.right_margin)]
    assert measured == [price is not None for price in prices[1:]]
    assert {key.part for key in found.purse.paid if key.part} == set(PARTS[counts])
