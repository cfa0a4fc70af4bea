"""The closed-form fit against a dense least-squares solution, and plain sums against sums."""

from __future__ import annotations

import math
from dataclasses import asdict, replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from oracle.leaf_table import DenseFit, PlainSums, dense_fit, laplace_variance, rectangle
from redveil.findings.estimate import estimate, solver
from redveil.findings.leaf_table import LeafTable, Prices
from redveil.losses.loss import Price
from redveil.schema import Side
from redveil.trees.tree import Tree
from support.seeded import SeededRandomness

some = settings(max_examples=30, deadline=None)
prices = st.fractions(Fraction(1, 50), Fraction(8), max_denominator=100)

# The fit looks at shapes and numbers only; any trees will do.
TREES = Tree(Side.LEFT, (0,)), Tree(Side.RIGHT, (0,))


@st.composite
def full_tables(draw: st.DrawFn) -> LeafTable:
    """Tables of any small shape whose margins contradict their cells, as noise makes them."""
    height, width = draw(st.tuples(st.integers(1, 5), st.integers(1, 5)))
    counts = st.integers(-40, 3000)
    return LeafTable(
        *TREES,
        draw(arrays(np.int64, (height, width), elements=counts)),
        draw(arrays(np.int64, height, elements=counts)),
        draw(arrays(np.int64, width, elements=counts)),
        Prices(*(draw(prices) for _ in range(3))),
    )


def without_margins(table: LeafTable) -> LeafTable:
    return replace(table, left_margin=None, right_margin=None, prices=Prices(table.prices.cells))


def leaf_tables() -> st.SearchStrategy[LeafTable]:
    """Tables with both margins, and tables of nothing but cells."""
    return full_tables() | full_tables().map(without_margins)


def consistent(cells: np.ndarray, *, price: Fraction = Fraction(1)) -> LeafTable:
    """A table measured without noise."""
    return LeafTable(
        *TREES, cells, cells.sum(axis=1), cells.sum(axis=0), Prices(price, price, price)
    )


def variance(price: Price | None) -> float:
    assert isinstance(price, Fraction)
    return laplace_variance(price) + 0.25


def dense(table: LeafTable) -> DenseFit:
    if table.left_margin is None or table.right_margin is None:
        # What was not measured might be anything: its noise has no end.
        height, width = table.cells.shape
        variances = variance(table.prices.cells), math.inf, math.inf
        return dense_fit(table.cells, np.zeros(height), np.zeros(width), variances)
    cells, left, right = (variance(price) for price in table.prices)
    return dense_fit(table.cells, table.left_margin, table.right_margin, (cells, left, right))


SECOND_MOMENTS = (
    *("both_both", "left_left", "right_right"),
    *("both_left", "both_right", "left_right"),
    *("both_size", "left_size", "right_size", "size_size"),
)


@some
@given(leaf_tables())
def test_the_fit_is_the_dense_least_squares_solution(table: LeafTable) -> None:
    expected = dense(table)
    found = estimate(table)
    np.testing.assert_allclose(found.cells, expected.cells, rtol=1e-8, atol=1e-6)
    assert found.size == pytest.approx(expected.cells.sum(), rel=1e-8, abs=1e-6)
    assert found.size_deviation**2 == pytest.approx(expected.covariance.sum(), rel=1e-8)


@some
@given(st.data(), leaf_tables())
def test_every_variance_is_that_of_the_dense_solution(
    data: st.DataObject, table: LeafTable
) -> None:
    height, width = table.cells.shape
    pairs = data.draw(st.integers(1, 4))
    left = data.draw(arrays(np.bool_, (pairs, height)))
    right = data.draw(arrays(np.bool_, (pairs, width)))
    expected, found = dense(table), estimate(table).moments(left, right)
    for k in range(pairs):
        sums = {
            "both": rectangle(left[k], right[k]),
            "left": rectangle(left[k], np.ones(width, np.bool_)),
            "right": rectangle(np.ones(height, np.bool_), right[k]),
            "size": np.ones((height, width)),
        }
        for name, one in sums.items():
            mean = expected.mean_of(one)
            assert getattr(found, name)[k] == pytest.approx(mean, rel=1e-8, abs=1e-6)
        for name in SECOND_MOMENTS:
            one, other = (sums[part] for part in name.split("_"))
            covariance = expected.covariance_of(one, other)
            assert getattr(found, name)[k] == pytest.approx(covariance, rel=1e-7, abs=1e-9), name


@some
@given(
    st.tuples(st.integers(1, 5), st.integers(1, 5)).flatmap(
        lambda shape: arrays(np.int64, shape, elements=st.integers(0, 10**7))
    ),
    prices,
)
def test_what_was_measured_without_noise_is_reproduced(cells: np.ndarray, price: Fraction) -> None:
    # The fit is linear, so this is unbiasedness: its mean is its value at the mean.
    table = consistent(cells, price=price)
    for measured in (table, without_margins(table)):
        np.testing.assert_allclose(estimate(measured).cells, cells, rtol=1e-9, atol=1e-4)


@some
@given(full_tables().map(without_margins))
def test_cells_alone_are_the_estimate(table: LeafTable) -> None:
    found, noise = estimate(table), variance(table.prices.cells)
    np.testing.assert_allclose(found.cells, table.cells, atol=1e-9)
    assert found.cell_deviation**2 == pytest.approx(noise)
    assert found.size == pytest.approx(int(table.cells.sum()), abs=1e-6)
    assert found.size_deviation**2 == pytest.approx(noise * table.cells.size)


def test_cells_for_the_whole_price_err_less_than_cells_and_margins_for_shares_of_it() -> None:
    # Why cells is the default: two leaves and a place to be stuck at on either side.
    cells, half = np.full((3, 3), 100), Fraction(1, 2)
    shared = replace(consistent(cells), prices=Prices(half, half / 2, half / 2))
    alone = replace(without_margins(shared), prices=Prices(Fraction(1)))
    one = np.array([[True, False, False]])
    spread = [estimate(table).moments(one, one) for table in (alone, shared)]
    for name in ("both_both", "left_left", "right_right"):
        assert getattr(spread[0], name)[0] < getattr(spread[1], name)[0]


def test_the_fit_errs_as_much_as_it_says_and_around_the_truth() -> None:
    truth = np.array([[500, 20, 3], [40, 300, 10]])
    prices = Fraction(1, 5), Fraction(1, 20), Fraction(1, 10)
    noise, repetitions = SeededRandomness(1), 4000
    exact = LeafTable(*TREES, truth, truth.sum(axis=1), truth.sum(axis=0), Prices(*prices))
    fitted = solver((2, 3), exact.prices).solve(
        truth + noise.laplace(prices[0], repetitions * 6).reshape(repetitions, 2, 3),
        truth.sum(axis=1) + noise.laplace(prices[1], repetitions * 2).reshape(repetitions, 2),
        truth.sum(axis=0) + noise.laplace(prices[2], repetitions * 3).reshape(repetitions, 3),
    )
    stated = estimate(exact)
    one_cell = stated.moments(np.array([[True, False]]), np.array([[True, False, False]]))
    errors = fitted.cells - truth
    # 6 standard errors of a mean, and 10 % for a deviation: what 4000 heavy-tailed draws can tell.
    assert (np.abs(errors.mean(axis=0)) < 6 * errors.std(axis=0) / repetitions**0.5).all()
    assert errors[:, 0, 0].std() == pytest.approx(one_cell.both_both[0] ** 0.5, rel=0.1)
    assert errors.sum(axis=(1, 2)).std() == pytest.approx(stated.size_deviation, rel=0.1)


def test_tables_side_by_side_are_fitted_one_by_one() -> None:
    noise, price = SeededRandomness(2), Fraction(1, 3)
    cells = noise.laplace(price, 4 * 2 * 3).reshape(4, 2, 3)
    left, right = noise.laplace(price, 8).reshape(4, 2), noise.laplace(price, 12).reshape(4, 3)
    prices = Prices(price, price, price)
    tables = [LeafTable(*TREES, cells[s], left[s], right[s], prices) for s in range(4)]
    together = solver((2, 3), prices).solve(cells, left, right)
    alone = [estimate(table).cells for table in tables]
    np.testing.assert_allclose(together.cells, alone, atol=1e-9)


@some
@given(leaf_tables())
def test_a_cell_s_deviation_is_never_understated(table: LeafTable) -> None:
    least = dense(table).covariance.diagonal().max() ** 0.5
    assert least <= estimate(table).cell_deviation * (1 + 1e-9)
    assert estimate(table).cell_deviation <= variance(table.prices.cells) ** 0.5 * (1 + 1e-9)


def without_right_margin(table: LeafTable) -> LeafTable:
    return replace(table, right_margin=None, prices=table.prices._replace(right_margin=None))


@some
@given(st.data(), full_tables().map(without_right_margin))
def test_two_passes_are_plain_sums(data: st.DataObject, table: LeafTable) -> None:
    height, width = table.cells.shape
    pairs = data.draw(st.integers(1, 4))
    left = data.draw(arrays(np.bool_, (pairs, height)))
    right = data.draw(arrays(np.bool_, (pairs, width)))
    variances = variance(table.prices.cells), variance(table.prices.left_margin)
    assert table.left_margin is not None
    plain, found = PlainSums(table.cells, table.left_margin, *variances), estimate(table)
    nothing, none = np.zeros((height, width)), np.zeros(height)
    whole = nothing, np.ones(height)
    assert found.cells.tolist() == table.cells.tolist()
    assert found.size == pytest.approx(plain.mean_of(*whole))
    assert found.size_deviation**2 == pytest.approx(plain.covariance_of(whole, whole))
    assert found.cell_deviation**2 == pytest.approx(variances[0])
    moments = found.moments(left, right)
    for k in range(pairs):
        sums = {
            "both": (rectangle(left[k], right[k]), none),
            "left": (nothing, left[k].astype(np.float64)),
            "right": (rectangle([True] * height, right[k]), none),
            "size": whole,
        }
        for name, one in sums.items():
            assert getattr(moments, name)[k] == pytest.approx(plain.mean_of(*one))
        for name in SECOND_MOMENTS:
            first, second = (sums[part] for part in name.split("_"))
            expected = plain.covariance_of(first, second)
            assert getattr(moments, name)[k] == pytest.approx(expected), name


def test_two_passes_can_be_read_side_by_side() -> None:
    noise, price = SeededRandomness(3), Fraction(1, 3)
    cells, left = noise.laplace(price, 24).reshape(4, 2, 3), noise.laplace(price, 8).reshape(4, 2)
    together = solver((2, 3), Prices(price, price)).solve(cells, left, None)
    assert together.cells.tolist() == cells.tolist()


def test_cells_alone_can_be_read_side_by_side() -> None:
    noise, price = SeededRandomness(4), Fraction(1, 3)
    cells = noise.laplace(price, 24).reshape(4, 2, 3)
    together = solver((2, 3), Prices(price)).solve(cells, None, None)
    np.testing.assert_allclose(together.cells, cells, atol=1e-9)


@some
@given(full_tables(), st.sampled_from((1, 2, 3)), st.data())
def test_all_pairs_have_the_moments_of_each_pair(
    table: LeafTable, measured: int, data: st.DataObject
) -> None:
    left, right = (
        data.draw(arrays(np.bool_, (data.draw(st.integers(1, 4)), ends)))
        for ends in table.cells.shape
    )
    _, of_left, of_right = table.prices
    fewer = replace(
        table,
        left_margin=table.left_margin if measured > 1 else None,
        right_margin=table.right_margin if measured > 2 else None,
        prices=Prices(
            table.prices.cells,
            of_left if measured > 1 else None,
            of_right if measured > 2 else None,
        ),
    )
    fitted = estimate(fewer)
    every = fitted.all_moments(left, right)
    pairs = np.repeat(left, len(right), axis=0), np.tile(right, (len(left), 1))
    for field, one_by_one in asdict(fitted.moments(*pairs)).items():
        np.testing.assert_allclose(getattr(every, field), one_by_one, rtol=1e-9, atol=1e-6)
