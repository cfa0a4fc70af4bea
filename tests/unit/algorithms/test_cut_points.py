"""Cut points bought with ε: their price, their histogram, and bins of about equal share."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from redveil.algorithms.cut_points import (
    CutPointRequest,
    bought_cuts,
    cuts_plan,
    even_cuts,
    fine_counts,
    smoothed,
)
from redveil.data.table import NumericColumn, Table
from redveil.privacy.loss import laplace_variance, total
from redveil.schema import Attribute, Kind, Side
from redveil.schema.cuts import CutRule, faults
from redveil.schema.fine_grid import fine_grid
from redveil.sealed import Sealed
from strategies.schemas import attributes, columns
from support.seeded import FixedNoise, SeededRandomness

COST = Attribute(
    "cost", Kind.NUMERIC, maximum=200_000, cuts=CutRule("decades").points(0.0, 200_000.0)
)
WANTED = CutPointRequest(Side.RIGHT, COST)
MASSES = st.lists(st.floats(0, 1e9) | st.just(0.0), min_size=2, max_size=40).map(np.array)


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
        CutPointRequest(side, Attribute(f"cost {i}", Kind.NUMERIC))
        for side in Side
        for i in range(number)
    ]
    steps = cuts_plan(wanted, epsilon).steps
    assert total(step.price for step in steps) == epsilon
    assert {step.price for step in steps} == {epsilon / (2 * number)}
    assert {step.mechanism for step in steps} == {"count"}
    assert [step.key for step in steps] == [one.key for one in wanted]


def test_a_step_names_the_view_and_the_attribute() -> None:
    assert [str(CutPointRequest(side, COST).key) for side in Side] == [
        "cut points, left cost",
        "cut points, right cost",
    ]


@pytest.mark.parametrize("number", [1, 3])
def test_every_column_is_measured_once_at_its_price(number: int) -> None:
    wanted = [CutPointRequest(Side.RIGHT, replace(COST, name=f"cost {i}")) for i in range(number)]
    columns = {one.attribute.name: NumericColumn(one.attribute, costs(50)) for one in wanted}
    source = FixedNoise(0)
    found = bought_cuts(Sealed(Table(50, {}, columns)), wanted, 7, Fraction(1, 2), source)
    assert len(found) == number
    bins = len(fine_grid(COST)) + 1
    assert source.asked == [(Fraction(1, 2 * number), bins)] * number


@settings(max_examples=50)
@given(st.data())
def test_one_entity_is_in_one_bin_and_one_without_the_value_in_none(data: st.DataObject) -> None:
    attribute = data.draw(attributes("x", [Kind.NUMERIC]))
    column = data.draw(columns(attribute, rows=8))
    assert isinstance(column, NumericColumn)
    wanted, grid = CutPointRequest(Side.RIGHT, attribute), np.array(fine_grid(attribute))
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
    wanted = [CutPointRequest(Side.RIGHT, attribute)]
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


# Bins of equal share


@given(MASSES, st.integers(1, 30))
def test_cuts_are_few_different_and_leave_nothing_empty_on_purpose(
    mass: np.ndarray, most: int
) -> None:
    cuts = even_cuts(mass, most)
    assert 1 <= len(cuts) <= most
    assert sorted(set(cuts)) == list(cuts)
    assert cuts[0] >= 0
    assert cuts[-1] < mass.size - 1


@given(st.integers(1, 8), st.integers(2, 9))
def test_equal_masses_are_divided_equally(most: int, size: int) -> None:
    cuts = even_cuts(np.ones((most + 1) * size), most)
    assert cuts == tuple(size * i - 1 for i in range(1, most + 1))


@pytest.mark.parametrize("place", [0, 11, 23])
def test_a_heavy_bin_stays_alone_and_costs_the_others_no_cuts(place: int) -> None:
    mass = np.ones(24)
    mass[place] = 1000
    cuts = even_cuts(mass, 7)
    assert {place - 1, place} & set(range(23)) <= set(cuts)
    groups = np.split(mass, np.array(cuts) + 1)
    assert max(group.sum() for group in groups if 1000 not in group) <= 6


def test_no_mass_at_all_is_divided_evenly() -> None:
    assert even_cuts(np.zeros(9), 2) == even_cuts(np.ones(9), 2)


def test_smoothing_follows_the_noise() -> None:
    generator = np.random.default_rng(2)
    truth = 300 * np.exp(-0.5 * ((np.arange(60) - 30) / 8) ** 2)
    noisy = truth + generator.laplace(0, 60, 60)
    assert ((smoothed(noisy, 7200.0) - truth) ** 2).sum() < ((noisy - truth) ** 2).sum() / 4
    clear = np.round(truth)
    assert np.allclose(smoothed(clear, 1e-9), clear)


def test_what_stands_out_is_left_alone() -> None:
    counts = np.full(30, 50.0)
    counts[[0, 17]] = 4000
    assert smoothed(counts, 100.0) == pytest.approx(counts)


def test_estimates_are_not_negative() -> None:
    assert smoothed(np.array([-50.0, -20, 3, -90]), 1000.0).min() >= 0
