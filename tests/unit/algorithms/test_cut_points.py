from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from redveil.algorithms.cut_points import Wanted, bought_cuts, cuts_plan, fine_counts
from redveil.data.table import NumericColumn, Table
from redveil.privacy.loss import laplace_variance, total
from redveil.schema import Attribute, Kind, Side
from redveil.schema.cuts import CutRule, faults
from redveil.schema.fine_grid import fine_grid
from redveil.sealed import Sealed
from strategies.schemas import attributes, columns
from support.seeded import SeededRandomness

COST = Attribute(
    "cost", Kind.NUMERIC, maximum=200_000, cuts=CutRule("decades").points(0.0, 200_000.0)
)
WANTED = Wanted(Side.RIGHT, COST)


def table_of(values: np.ndarray, attribute: Attribute = COST) -> Table:
    return Table(values.size, {}, {attribute.name: NumericColumn(attribute, values)})


def costs(rows: int, zeros: float = 0.5) -> np.ndarray:
    generator = np.random.default_rng(4)
    values = np.exp(generator.normal(7.5, 1.3, rows))
    values[generator.random(rows) < zeros] = 0
    return np.clip(values, 0, COST.maximum)


@given(st.integers(1, 60), st.fractions(Fraction(1, 1000), 10, max_denominator=10**6))
def test_prices_are_equal_and_add_up_exactly(number: int, epsilon: Fraction) -> None:
    wanted = [
        Wanted(side, Attribute(f"cost {i}", Kind.NUMERIC)) for side in Side for i in range(number)
    ]
    steps = cuts_plan(wanted, epsilon).steps
    assert total(step.price for step in steps) == epsilon
    assert {step.price for step in steps} == {epsilon / (2 * number)}
    assert {step.mechanism for step in steps} == {"count"}


@settings(max_examples=50)
@given(st.data())
def test_one_entity_is_in_one_bin_and_one_that_lacks_the_value_in_none(data: st.DataObject) -> None:
    attribute = data.draw(attributes("x", [Kind.NUMERIC]))
    column = data.draw(columns(attribute, rows=8))
    assert isinstance(column, NumericColumn)
    wanted, grid = Wanted(Side.RIGHT, attribute), np.array(fine_grid(attribute))
    counts = [
        fine_counts(table_of(column.values[:rows], attribute), wanted, grid) for rows in (7, 8)
    ]
    assert counts[0].sum() == np.isfinite(column.values[:7]).sum()
    assert np.abs(counts[1] - counts[0]).sum() == np.isfinite(column.values[7])


@settings(max_examples=50)
@given(st.data(), st.integers(1, 20))
def test_bought_cut_points_are_valid_whatever_the_noise(data: st.DataObject, most: int) -> None:
    attribute = data.draw(attributes("x", [Kind.NUMERIC]))
    column = data.draw(columns(attribute, rows=8))
    assert isinstance(column, NumericColumn)
    table = Sealed(table_of(column.values, attribute))
    wanted = [Wanted(Side.RIGHT, attribute)]
    (cuts,) = bought_cuts(table, wanted, most, Fraction(1, 2), SeededRandomness(most))
    assert 1 <= len(cuts) <= most
    assert faults(cuts, attribute.minimum, attribute.maximum) is None
    assert set(cuts) <= set(fine_grid(attribute))


@pytest.mark.parametrize("most", [3, 7, 15])
def test_many_entities_and_a_good_price_give_quantiles(most: int) -> None:
    values = costs(100_000)
    (cuts,) = bought_cuts(Sealed(table_of(values)), [WANTED], most, Fraction(1), SeededRandomness())
    assert cuts[0] == 0
    positive = values[values > 0]
    ranks = [float((positive <= cut).mean()) for cut in cuts[1:]]
    share = 1 / len(cuts)
    # As close to even as the grid allows: its steps hold up to a fourteenth of the entities.
    assert np.diff([0, *ranks, 1]) == pytest.approx(share, abs=0.08)
    assert len(cuts) >= most - 2


def test_missing_values_do_not_matter() -> None:
    values = costs(2000)
    absent = np.concatenate([values, np.full(500, np.nan)])
    found = [
        bought_cuts(Sealed(table_of(x)), [WANTED], 7, Fraction(1, 10), SeededRandomness(6))
        for x in (values, absent)
    ]
    assert found[0] == found[1]


def test_a_column_that_nobody_has_a_value_for_is_cut_all_the_same() -> None:
    nobody = Sealed(table_of(np.full(50, np.nan)))
    (cuts,) = bought_cuts(nobody, [WANTED], 7, Fraction(1, 10), SeededRandomness(6))
    assert 1 <= len(cuts) <= 7


def test_little_noise_is_worth_more_than_much() -> None:
    values = costs(10_000)

    def unevenness(epsilon: Fraction) -> float:
        cuts = [
            bought_cuts(Sealed(table_of(values)), [WANTED], 15, epsilon, SeededRandomness(i))[0]
            for i in range(10)
        ]
        groups = [np.bincount(np.searchsorted(one, values[values > 0])) for one in cuts]
        return float(np.mean([g.max() for g in groups]))

    assert unevenness(Fraction(1, 10)) < unevenness(Fraction(1, 1000)) / 2


@pytest.mark.parametrize("epsilon", [Fraction(1, 50), Fraction(1), Fraction(4)])
def test_the_noise_has_the_variance_that_is_assumed(epsilon: Fraction) -> None:
    noise = SeededRandomness(8).laplace(epsilon, 200_000)
    assert laplace_variance(epsilon) == pytest.approx(noise.var(), rel=0.05)
