"""The simulator: the true noise law, the same draws every time, quantiles on the safe side."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from redveil.findings import noise as module
from redveil.findings.critical_values import question_critical_values, report_critical_values
from redveil.findings.estimate import Fit, TwoPass, estimate
from redveil.findings.leaf_table import LeafTable, Prices
from redveil.findings.noise import (
    SIMULATIONS,
    TAIL_DECAY,
    integer_noise,
    left_margin,
    simulated_errors,
    upper_quantile,
)
from redveil.losses.loss import Price, Rho, count_variance
from redveil.query.leaves import term_ends
from redveil.schema import Side
from redveil.trees.tree import Tree

HALF = Fraction(1, 2)
PRICES = {
    "cells": Prices(HALF),
    "two passes": Prices(HALF, Fraction(1, 4)),
    "least squares": Prices(HALF, Fraction(1, 4), Fraction(1, 8)),
    "cells in rho": Prices(Rho(Fraction(1, 20))),
}


@pytest.fixture(autouse=True)
def _nothing_drawn_yet() -> None:
    module._drawn.cache_clear()


def drawn(prices: Prices, count: int, batch: int = SIMULATIONS) -> list[Fit | TwoPass]:
    return list(simulated_errors((3, 2), prices, count, batch))


def cells(errors: list[Fit | TwoPass]) -> np.ndarray:
    return np.concatenate([one.cells for one in errors])


@pytest.mark.parametrize(
    "price",
    [Fraction(3), Fraction(1, 2), Fraction(1, 100), Rho(Fraction(2)), Rho(Fraction(1, 30))],
    ids=str,
)
def test_simulated_noise_has_the_law_of_measured_counts(price: Price) -> None:
    count = 100_000
    found = integer_noise(np.random.default_rng(1), price, (count,))
    assert found.dtype == np.int64
    rate = float(price.amount if isinstance(price, Rho) else price)
    farthest = math.ceil(40 / rate)
    whole = np.arange(-farthest, farthest + 1)
    heights = -rate * (whole.astype(np.float64) ** 2 if isinstance(price, Rho) else np.abs(whole))
    law = np.exp(heights) / np.exp(heights).sum()
    for number in (-3, -1, 0, 1, 2):
        chance = float(law[number + farthest])
        error = math.sqrt(chance * (1 - chance) / count)
        assert np.mean(found == number) == pytest.approx(chance, abs=5 * error + 1e-9)
    assert np.var(found) == pytest.approx(float(law @ whole.astype(np.float64) ** 2), rel=0.05)


@pytest.mark.parametrize(
    "chance", [1e-15, 1e-11, 1e-6, 0.01, 0.1, 0.25, 0.3299, 0.3301, 1 / 3, 0.5, 0.95]
)
def test_geometric_draws_are_numpy_s_own(chance: float) -> None:
    ours, theirs = np.random.default_rng(3), np.random.default_rng(3)
    found = module._geometric(ours, chance, (200, 100))
    assert found.tolist() == theirs.geometric(chance, (200, 100)).tolist()
    assert ours.bit_generator.state == theirs.bit_generator.state


def test_wide_gaussian_noise_is_rounded() -> None:
    price = Rho(Fraction(1, 200_000))
    found = integer_noise(np.random.default_rng(2), price, (50_000,))
    assert found.dtype == np.int64
    assert math.sqrt(count_variance(price)) > module.WIDE_DEVIATION
    assert np.std(found) == pytest.approx(math.sqrt(count_variance(price)), rel=0.02)
    assert np.mean(found) == pytest.approx(0, abs=5 * np.std(found) / 50_000**0.5)


@pytest.mark.parametrize("name", PRICES)
def test_errors_are_those_of_tables_without_entities(name: str) -> None:
    (errors,) = drawn(PRICES[name], 2000)
    assert isinstance(errors, TwoPass) == (name == "two passes")
    assert errors.cells.shape == (2000, 3, 2)
    trees = Tree(Side.LEFT, (0, 1, None)), Tree(Side.RIGHT, (0,))
    left, right = (
        None if price is None else np.zeros(ends)
        for price, ends in zip(PRICES[name][1:], (3, 2), strict=True)
    )
    empty = estimate(LeafTable(*trees, np.zeros((3, 2)), left, right, PRICES[name]))
    one = np.array([[True, False, False]]), np.array([[True, False]])
    stated = empty.moments(*one)
    assert errors.cells[:, 0, 0].std() == pytest.approx(stated.both_both[0] ** 0.5, rel=0.1)
    margin = left_margin(errors)
    assert margin.shape == (2000, 3)
    assert margin[:, 0].std() == pytest.approx(stated.left_left[0] ** 0.5, rel=0.1)
    assert margin.sum(axis=1).std() == pytest.approx(empty.size_deviation, rel=0.1)
    deviations = errors.cells.std(axis=0)
    assert (np.abs(errors.cells.mean(axis=0)) < 5 * deviations / 2000**0.5).all()


@pytest.mark.parametrize("name", PRICES)
@pytest.mark.parametrize("batch", [1, 7, 60, 1000])
def test_the_size_of_batches_does_not_show(name: str, batch: int) -> None:
    whole, parts = drawn(PRICES[name], 60), drawn(PRICES[name], 60, batch)
    assert len(parts) == math.ceil(60 / batch)
    assert sum(len(one.cells) for one in parts) == 60
    np.testing.assert_array_equal(cells(parts), cells(whole))
    for one in parts:
        assert len(left_margin(one)) == len(one.cells)
    margins = np.concatenate([left_margin(one) for one in parts])
    np.testing.assert_array_equal(margins, left_margin(whole[0]))


@pytest.mark.parametrize("name", PRICES)
def test_the_draws_of_a_shape_and_price_are_always_the_same(name: str) -> None:
    first = cells(drawn(PRICES[name], 100))
    module._drawn.cache_clear()
    np.testing.assert_array_equal(cells(drawn(PRICES[name], 100)), first)
    # Fewer simulations are the first of more.
    np.testing.assert_array_equal(cells(drawn(PRICES[name], 30)), first[:30])


def test_other_shapes_and_prices_have_their_own_draws() -> None:
    dear, cheap = (cells(drawn(Prices(price), 500)) for price in (Fraction(2), Fraction(1, 20)))
    assert dear.std() < cheap.std() / 10
    (other,) = simulated_errors((2, 5), Prices(HALF), 10)
    assert other.cells.shape == (10, 2, 5)


def test_a_shape_and_price_are_not_simulated_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[Price, tuple[int, ...]]] = []

    def listening(source: np.random.Generator, price: Price, shape: tuple[int, ...]) -> np.ndarray:
        asked.append((price, shape))
        return integer_noise(source, price, shape)

    monkeypatch.setattr(module, "integer_noise", listening)
    prices = PRICES["least squares"]
    first = drawn(prices, 100)
    assert asked == [
        (prices.cells, (SIMULATIONS, 3, 2)),
        (prices.left_margin, (SIMULATIONS, 3)),
        (prices.right_margin, (SIMULATIONS, 2)),
    ]
    again = drawn(Prices(*prices), 1500, batch=200)
    assert len(asked) == 3
    np.testing.assert_array_equal(cells(again)[:100], cells(first))
    drawn(prices._replace(cells=Fraction(1, 3)), 10)
    assert len(asked) == 6


def test_small_tables_are_drawn_more_often_if_their_tails_are_wanted() -> None:
    few, many = (cells(drawn(PRICES["cells"], count)) for count in (SIMULATIONS, 9000))
    assert (len(few), len(many)) == (SIMULATIONS, 9000)
    (whole,) = drawn(PRICES["cells"], module.MOST_SIMULATIONS, module.MOST_SIMULATIONS)
    assert len(whole.cells) == module.MOST_SIMULATIONS
    np.testing.assert_array_equal(whole.cells[:9000], many)


def test_critical_values_leave_the_draws_as_they_are() -> None:
    trees = Tree(Side.LEFT, (0, 1, None)), Tree(Side.RIGHT, (0,))
    table = LeafTable(*trees, np.full((3, 2), 50), None, None, Prices(Fraction(5, 11)))
    before = cells(list(simulated_errors((3, 2), table.prices, 300))).copy()
    question_critical_values(table)
    report_critical_values(table, term_ends(trees[0]), term_ends(trees[1]), tables=2)
    # Leverages are simulated more often; everything else shares its draws.
    assert module._drawn.cache_info().misses == 2
    np.testing.assert_array_equal(cells(list(simulated_errors((3, 2), table.prices, 300))), before)


@pytest.mark.parametrize("tail", [0.05, 0.0125])
def test_a_quantile_is_hardly_ever_too_small(tail: float) -> None:
    generator, repetitions = np.random.default_rng(3), 1000
    truth = -math.log(tail)
    below = sum(
        upper_quantile(generator.exponential(size=1000), tail) < truth for _ in range(repetitions)
    )
    # 1 %, and three standard errors of 1000 repetitions.
    assert below / repetitions <= 0.01 + 3 * 0.0032


@given(st.floats(1e-6, 0.2), st.floats(0.1, 0.99))
def test_a_thinner_tail_lies_farther_out(tail: float, factor: float) -> None:
    simulated = np.random.default_rng(4).exponential(size=1000)
    assert upper_quantile(simulated, tail * factor) >= upper_quantile(simulated, tail)


def test_beyond_the_simulations_the_tail_is_extrapolated() -> None:
    simulated = np.arange(1000.0)
    # The largest of 1000 lies above the quantile of this tail with a confidence of 99 %.
    thinnest = math.log(100) / 1000
    assert upper_quantile(simulated, thinnest * 1.001) == 999
    assert upper_quantile(simulated, thinnest / 10) == pytest.approx(
        999 + math.log(10) / TAIL_DECAY
    )


def test_very_large_tables_are_drawn_less_often() -> None:
    (found,) = simulated_errors((127, 127), Prices(HALF), SIMULATIONS)
    assert module.FEWEST_SIMULATIONS <= len(found.cells) < SIMULATIONS
    assert found.cells.size <= module.MOST_CELLS_DRAWN
