"""The noise of terms: looking at few simulations gives the quantile of all of them."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest

from oracle import term_noise as oracle
from redveil.findings import critical_values
from redveil.findings import term_noise as module
from redveil.findings.leaf_table import LeafTable, Prices
from redveil.findings.noise import SIMULATIONS, quantile_rank, upper_quantile
from redveil.findings.term_noise import largest_of_terms
from redveil.losses.loss import Rho
from redveil.query.leaves import term_ends
from redveil.schema import Side
from redveil.trees.tree import Tree

TENTH, THIRD = Fraction(1, 10), Fraction(1, 3)
PRICES = {
    "cells": Prices(TENTH),
    "little noise": Prices(Fraction(4)),
    "gaussian": Prices(Rho(Fraction(1, 200))),
    "two passes": Prices(TENTH, THIRD),
    "least squares": Prices(TENTH, THIRD, Fraction(1, 2)),
}
TABLES: dict[str, Callable[[int, int], np.ndarray]] = {
    "counted": lambda *shape: np.random.default_rng(7).integers(0, 300, shape),
    "negative": lambda *shape: np.random.default_rng(7).integers(-90, 3, shape),
    "one cell each": lambda *shape: np.eye(*shape, dtype=np.int64) * 500,
}


def tabled(name: str, counted: str, stuck: tuple[int, ...]) -> LeafTable:
    trees = Tree(Side.LEFT, (0,) * 7, stuck), Tree(Side.RIGHT, (0,) * 7)
    cells = TABLES[counted](len(trees[0].ends), len(trees[1].ends))
    prices = PRICES[name]
    left = None if prices.left_margin is None else cells.sum(axis=1) + 4
    right = None if prices.right_margin is None else cells.sum(axis=0) - 3
    return LeafTable(*trees, cells, left, right, prices)


def ceiling(table: LeafTable) -> np.ndarray:
    return critical_values._largest_bound(table.cells.shape, table.prices, SIMULATIONS)


def terms_of(table: LeafTable) -> tuple[np.ndarray, np.ndarray]:
    return term_ends(table.left, inner=True), term_ends(table.right, inner=True)


@pytest.mark.parametrize("stuck", [(), (0, 2, 5)])
@pytest.mark.parametrize("counted", TABLES)
@pytest.mark.parametrize("name", PRICES)
def test_the_quantile_is_that_of_all_simulations(
    name: str, counted: str, stuck: tuple[int, ...]
) -> None:
    table = tabled(name, counted, stuck)
    terms = terms_of(table)
    every = oracle.largest_of_terms(table, *terms)
    for tail in (0.2, 0.05, 0.05 / 20):
        found = largest_of_terms(table, *terms, tail, ceiling(table))
        assert upper_quantile(found, tail) == pytest.approx(upper_quantile(every, tail), rel=1e-12)
        assert (found <= every * (1 + 1e-12)).all()


@pytest.mark.parametrize("name", PRICES)
def test_bounds_hold_whatever_is_counted_and_leave_few_simulations_to_look_at(name: str) -> None:
    table = tabled(name, "counted", (0, 2, 5))
    left, right = terms_of(table)
    above = ceiling(table)
    bounds = module._bounds(table.cells.shape, table.prices, left.tobytes(), right.tobytes())
    everything = np.arange(len(above))
    low, high = bounds.low(everything), bounds.high(everything)
    for counted in TABLES:
        every = oracle.largest_of_terms(tabled(name, counted, (0, 2, 5)), left, right)
        assert (low <= every * (1 + 1e-12)).all()
        assert (every <= high * (1 + module.SLACK)).all()
        assert (high <= above * (1 + module.SLACK)).all()
    assert (high >= np.sort(low)[quantile_rank(len(low), 0.05 / 20)]).mean() < 0.1
