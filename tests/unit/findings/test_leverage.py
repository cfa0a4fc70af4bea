"""Leverages, p-values and corrected indices that the noise allows, against brute force."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from oracle.fisher import fisher_tail, log_of
from oracle.leaf_table import PlainSums, dense_fit, laplace_variance, rectangle
from redveil.findings import leverage as module
from redveil.findings.critical_values import question_critical_values, unions
from redveil.findings.estimate import Fit, Moments, TwoPass, estimate
from redveil.findings.fisher import log_fisher
from redveil.findings.leaf_table import LeafTable, Prices
from redveil.findings.leverage import (
    cautious_corrected,
    corrected_bounds,
    corrected_index,
    largest_log_p,
    leverage_variance,
    may_be_positive,
    possible_leverages,
    ratio_bounds,
)
from redveil.losses.loss import Price, Rho
from redveil.schema import Side
from redveil.trees.tree import Tree
from support.seeded import SeededRandomness

Counts = NDArray[np.int64]
Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
FIRST = np.array([[True, False]])


def quadrants(cells: list[list[float]], variance: float) -> Moments:
    """Return the moments of a pair of queries, from its 2 × 2 table with independent noise."""
    return Fit(np.array(cells, dtype=np.float64), *[variance] * 4).moments(FIRST, FIRST)


# ——— Ratios ———


@settings(max_examples=80, deadline=None)
@given(
    st.floats(-50, 2000),
    st.floats(-50, 2000),
    st.floats(0.1, 400),
    st.floats(-0.9, 0.9),
    st.floats(0.1, 400),
    st.floats(0.1, 6),
)
def test_ratios_are_those_that_two_noisy_counts_do_not_contradict(
    top: float, bottom: float, one: float, correlation: float, other: float, critical: float
) -> None:
    covariance = correlation * (one * other) ** 0.5
    low, high = (
        float(bound[0])
        for bound in ratio_bounds(
            np.array([top]),
            np.array([bottom]),
            np.array([one]),
            np.array([covariance]),
            np.array([other]),
            critical,
        )
    )
    assert 0 <= low <= high <= 1
    if bottom <= critical * other**0.5 * (1 + 1e-6):
        assert bottom > critical * other**0.5 * (1 - 1e-6) or (low, high) == (0, 1)
        return
    for ratio in np.linspace(0, 1, 41):
        error = (one - 2 * ratio * covariance + ratio**2 * other) ** 0.5
        gap = abs(top - ratio * bottom)
        if low + 1e-6 < ratio < high - 1e-6:
            assert gap <= critical * error * (1 + 1e-6)
        elif ratio < low - 1e-6 or ratio > high + 1e-6:
            assert gap >= critical * error * (1 - 1e-6)


# ——— Variances and bounds, pair by pair ———

HEIGHT, WIDTH = 4, 3
cells_of_a_table = arrays(np.int64, (HEIGHT, WIDTH), elements=st.integers(0, 900))
one_union = arrays(np.bool_, HEIGHT).filter(lambda flags: bool(flags.any()))
another_union = arrays(np.bool_, WIDTH).filter(lambda flags: bool(flags.any()))
a_share = st.floats(0, 1)


@settings(max_examples=50, deadline=None)
@given(cells_of_a_table, one_union, another_union, a_share, a_share)
def test_a_leverage_is_a_weighted_sum_of_cells(
    cells: Counts, left: Flags, right: Flags, a: float, b: float
) -> None:
    noise = SeededRandomness(1)
    ninth = Fraction(1, 9)
    margins = (
        cells.sum(axis=1) + noise.laplace(ninth, HEIGHT),
        cells.sum(axis=0) + noise.laplace(ninth, WIDTH),
    )
    prices = Prices(Fraction(1, 5), ninth, ninth)
    trees = Tree(Side.LEFT, (0, 1, 2)), Tree(Side.RIGHT, (0, 1, None))
    fitted = estimate(LeafTable(*trees, cells, *margins, prices))
    dear, cheap = (laplace_variance(price) + 0.25 for price in (Fraction(1, 5), ninth))
    dense = dense_fit(cells, *margins, (dear, cheap, cheap))
    weights = np.outer(left - a, right - b)
    moments = fitted.moments(left[None], right[None])
    middle = moments.both - b * moments.left - a * moments.right + a * b * moments.size
    assert float(middle[0]) == pytest.approx(dense.mean_of(weights), rel=1e-6, abs=1e-6)
    variance = leverage_variance(moments, np.array([a]), np.array([b]))
    assert float(variance[0]) == pytest.approx(
        max(dense.covariance_of(weights, weights), 1e-12), rel=1e-6, abs=1e-9
    )


@settings(max_examples=50, deadline=None)
@given(cells_of_a_table, one_union, another_union, a_share, a_share)
def test_so_it_is_in_two_passes(
    cells: Counts, left: Flags, right: Flags, a: float, b: float
) -> None:
    margin = cells.sum(axis=1) + SeededRandomness(2).laplace(Fraction(1, 9), HEIGHT)
    sums = PlainSums(cells, margin, 12.0, 34.0)
    fitted = TwoPass(cells.astype(np.float64), margin.astype(np.float64), 12.0, 34.0)
    # Overlaps and right supports are sums of cells, left supports and sizes of left counts.
    of_cells = rectangle(left, right) - a * rectangle([True] * HEIGHT, right)
    parts = of_cells, a * b - b * left.astype(np.float64)
    moments = fitted.moments(left[None], right[None])
    middle = moments.both - b * moments.left - a * moments.right + a * b * moments.size
    assert float(middle[0]) == pytest.approx(sums.mean_of(*parts), rel=1e-6, abs=1e-6)
    variance = leverage_variance(moments, np.array([a]), np.array([b]))
    by_hand = sums.covariance_of(parts, parts)
    assert float(variance[0]) == pytest.approx(max(by_hand, 1e-12), rel=1e-6)


@settings(max_examples=50, deadline=None)
@given(cells_of_a_table, one_union, another_union, st.floats(0.5, 6), st.sampled_from([1, 5, 9]))
def test_possible_leverages_lie_around_their_sums_at_shares_within_their_bounds(
    cells: Counts, left: Flags, right: Flags, critical: float, tried: int
) -> None:
    variance = 30.0
    fitted = Fit(cells.astype(np.float64), *[variance] * 4)
    found = possible_leverages(fitted.moments(left[None], right[None]), critical, tried)
    assert found.low.shape == (tried, tried, 1)
    for i, j in np.ndindex(tried, tried):
        a, b = float(found.left[i, j, 0]), float(found.right[i, j, 0])
        weights = np.outer(left - a, right - b)
        middle = float((weights * cells).sum())
        width = critical * max(variance * float((weights**2).sum()), 1e-12) ** 0.5
        assert float(found.low[i, j, 0]) == pytest.approx(middle - width, abs=1e-6)
        assert float(found.high[i, j, 0]) == pytest.approx(middle + width, abs=1e-6)
        if tried > 1 and cells.sum() > 2 * critical * (variance * cells.size) ** 0.5:
            for share, covered, axis in ((a, left, 1), (b, right, 0)):
                line = (
                    np.outer(left - a, np.ones(WIDTH))
                    if axis
                    else np.outer(np.ones(HEIGHT), right - b)
                )
                gap = abs(float((line * cells).sum()))
                assert gap <= critical * (variance * float((line**2).sum())) ** 0.5 + 1e-6
                assert 0 <= share <= 1
                assert covered.any()
    smallest, largest = found.sizes[:, 0, 0, 0].tolist()
    off = critical * (variance * cells.size) ** 0.5
    size = max(float(cells.sum()), 1.0)
    assert (smallest, largest) == pytest.approx((max(size - off, 1.0), size + off))


# ——— The chance-corrected index ———


@pytest.mark.parametrize("price", [Fraction(1, 3), Fraction(1, 30)], ids=str)
@pytest.mark.parametrize("margins", [0, 1, 2])
@pytest.mark.parametrize("least", [0, -60], ids=["counted", "negative"])
def test_no_leverage_that_is_surely_positive_is_missed(
    price: Fraction, margins: int, least: int
) -> None:
    drawn = np.random.default_rng(4)
    flags = drawn.random((2, 40, 6)) < 0.5
    for _ in range(20):
        cells = drawn.integers(least, 100, (6, 6)) * drawn.integers(0, 3, (6, 6))
        sums = (cells.sum(axis=1) + 5, cells.sum(axis=0) - 4)
        left, right = (sums[i] if i < margins else None for i in range(2))
        prices = Prices(price, *(price / (i + 1) if i < margins else None for i in range(2)))
        trees = Tree(Side.LEFT, (0,) * 5), Tree(Side.RIGHT, (0,) * 5)
        fitted = estimate(LeafTable(*trees, cells, left, right, prices))
        critical = float(drawn.uniform(0, 5))
        surely = possible_leverages(fitted.all_moments(*flags), critical, 1).low[0, 0] > 0
        may_be = may_be_positive(fitted, fitted.counts(*flags), critical)
        assert not (surely.reshape(may_be.shape) & ~may_be).any()
        assert not may_be.all() or surely.all()


def corrected_by_hand(both: int, left: int, right: int, size: int) -> float:
    """Return (J − E) / (1 − E); not a number if E is 1, 0 if nobody is in either."""
    if left == right == size:
        return math.nan
    if left + right == 0:
        return 0.0
    overlap = Fraction(left * right, size)
    jaccard, expected = Fraction(both, left + right - both), overlap / (left + right - overlap)
    return float((jaccard - expected) / (1 - expected))


@settings(max_examples=150, deadline=None)
@given(st.tuples(*[st.integers(0, 60)] * 4).filter(lambda cells: sum(cells) > 0))
def test_the_corrected_index_is_the_surplus_of_j_over_its_expectation(
    cells: tuple[int, int, int, int],
) -> None:
    both, only_left, only_right, rest = cells
    size = sum(cells)
    left, right = both + only_left, both + only_right
    expectation = corrected_by_hand(both, left, right, size)
    assume(not math.isnan(expectation))
    overlap = Fraction(left * right, size)
    shares = np.array([left / size]), np.array([right / size])
    surplus = np.array([float((both - overlap) / size)])
    assert float(corrected_index(*shares, surplus)[0]) == pytest.approx(expectation, abs=1e-9)
    # Estimates are those of the table, and without noise the bounds are the estimates.
    known = quadrants([[both, only_left], [only_right, rest]], 1e-12)
    for critical, tolerance in ((0.0, 1e-9), (3.0, 1e-3)):
        bounds = [float(bound[0]) for bound in corrected_bounds(known, critical)]
        assert bounds == pytest.approx([expectation] * 3, abs=tolerance)


def test_the_cautious_index_is_a_standard_error_of_the_leverage_below() -> None:
    cells, variance = [[300.0, 90.0], [110.0, 500.0]], 400.0
    weights = np.outer(np.array([1, 0]) - 0.39, np.array([1, 0]) - 0.41)
    leverage = 300 - 390 * 410 / 1000 - (variance * float((weights**2).sum())) ** 0.5
    found = cautious_corrected(quadrants(cells, variance))
    both = leverage + 390 * 410 / 1000
    jaccard, expected = both / (800 - both), 159.9 / (800 - 159.9)
    assert float(found[0]) == pytest.approx((jaccard - expected) / (1 - expected))


# ——— The search over shares ———


def some_tables(count: int, seed: int) -> list[tuple[Moments, float]]:
    """Return moments of 2 × 2 tables of many sizes, shares, strengths and noises."""
    rng, found = np.random.default_rng(seed), []
    for _ in range(count):
        size, deviation = 10 ** rng.uniform(2, 5), 10 ** rng.uniform(-0.3, 2)
        a, b = np.clip(rng.beta(0.7, 0.7, 2), 0.01, 0.99)
        surplus = rng.uniform(0.05, 1) * min(a * (1 - b), b * (1 - a))
        cells = size * np.array(
            [
                [a * b + surplus, a * (1 - b) - surplus],
                [(1 - a) * b - surplus, (1 - a) * (1 - b) + surplus],
            ]
        )
        noisy = cells + deviation * rng.laplace(size=(2, 2))
        found.append(
            (quadrants(noisy.tolist(), deviation**2 * rng.integers(2, 9)), rng.uniform(2, 6))
        )
    return found


def on_a_grid(moments: Moments, critical: float, tried: int, worst: Callable[..., float]) -> float:
    """Return the worst of something over a grid of shares, point by point."""
    found = possible_leverages(moments, critical, tried)
    return max(
        worst(float(a), float(b), float(low), float(high), float(n))
        for a, b, low, high in zip(
            *(x.ravel() for x in (found.left, found.right, found.low, found.high)), strict=True
        )
        for n in found.sizes.ravel()
    )


def log_p_at(a: float, b: float, low: float, _high: float, n: float) -> float:
    """Return the logarithm of the p-value of the table with these shares and this leverage."""
    surplus = min(low, n * a * (1 - b), n * b * (1 - a))
    cells = a * b * n + surplus, a * (1 - b) * n - surplus, (1 - a) * b * n - surplus
    return float(log_fisher(*cells, (1 - a) * (1 - b) * n + surplus))


@pytest.mark.uncovered
@pytest.mark.parametrize("count", [5, pytest.param(60, marks=pytest.mark.slow)])
def test_a_finer_grid_of_shares_hardly_finds_larger_p_values(count: int) -> None:
    for moments, critical in some_tables(count, seed=1):
        coarse = float(largest_log_p(moments, critical)[0])
        assert coarse == pytest.approx(on_a_grid(moments, critical, 5, log_p_at), abs=1e-6)
        fine = on_a_grid(moments, critical, 29, log_p_at)
        assert fine >= coarse - 1e-6
        # A hundredth of the logarithm: 1e-50 for what may be 1e-49.5.
        assert fine <= coarse * 0.99 + 1e-6


@pytest.mark.uncovered
def test_a_finer_grid_of_shares_hardly_widens_corrected_indices() -> None:
    def index(a: float, b: float, leverage: float, n: float) -> float:
        return float(corrected_index(*(np.array([x]) for x in (a, b, leverage / n)))[0])

    for moments, critical in some_tables(12, seed=2):
        estimate, low, high = (float(x[0]) for x in corrected_bounds(moments, critical))
        assert low <= estimate <= high
        finer = (
            -on_a_grid(moments, critical, 45, lambda a, b, low, _h, n: -index(a, b, low, n)),
            on_a_grid(moments, critical, 45, lambda a, b, _l, high, n: index(a, b, high, n)),
        )
        assert low - 0.03 <= finer[0] <= max(low, finer[0])
        assert finer[1] <= high + 0.03
        # What is surely related has a lower bound that no grid improves.
        if finer[0] > 0:
            assert low == pytest.approx(finer[0], abs=0.003)


def possible_tables(moments: Moments, critical: float, count: int, seed: int) -> Floats:
    """Draw true tables that the noise allows: leverage, shares and size, each within its error."""
    m, rng = moments, np.random.default_rng(seed)
    deviation = float(m.both_both[0]) ** 0.5
    both, left, right, size = (float(x[0]) for x in (m.both, m.left, m.right, m.size))
    measured = np.array([both, left - both, right - both, size - left - right + both])
    directions = rng.normal(size=(count, 4))
    directions /= np.abs(directions).max(axis=1, keepdims=True)
    reach = critical * rng.uniform(0.5, 2, (count, 1)) * deviation
    drawn = np.maximum(measured + directions * reach, 0.0)
    n11, n10, n01, _ = drawn.T
    total = drawn.sum(axis=1)
    a, b = (n11 + n10) / total, (n11 + n01) / total
    gap = both - b * left - a * right + a * b * size - (n11 - total * a * b)
    errors = critical * np.sqrt(leverage_variance(m, a, b))
    allowed = np.abs(gap) <= errors
    for share, covered, variance, covariance in (
        (a, left, m.left_left, m.left_size),
        (b, right, m.right_right, m.right_size),
    ):
        spread = variance - 2 * share * covariance + share**2 * m.size_size
        allowed &= np.abs(covered - share * size) <= critical * np.sqrt(spread)
    allowed &= np.abs(total - size) <= critical * np.sqrt(m.size_size)
    return np.asarray(drawn[allowed], dtype=np.float64)


def test_no_table_that_the_noise_allows_has_a_larger_p_value_or_an_index_outside() -> None:
    seen = 0
    for number, (moments, critical) in enumerate(some_tables(60, seed=3)):
        if float(moments.size[0]) <= 2 * critical * float(moments.size_size[0]) ** 0.5:
            continue
        tables = possible_tables(moments, critical, 3000, number)
        seen += len(tables)
        if not len(tables):
            continue
        bound = float(largest_log_p(moments, critical)[0])
        assert log_fisher(*tables.T).max() <= bound * 0.98 + 0.02
        total = tables.sum(axis=1)
        a, b = (tables[:, 0] + tables[:, 1]) / total, (tables[:, 0] + tables[:, 2]) / total
        index = corrected_index(a, b, tables[:, 0] / total - a * b)
        _, low, high = (float(x[0]) for x in corrected_bounds(moments, critical))
        assert low - 0.02 <= index.min()
        assert index.max() <= high + 0.02
    assert seen > 10_000


# ——— Coverage, by redrawing the noise ———

# Three leaves and two nodes to be stuck at on the left, three leaves on the right.
GAPPY = Tree(Side.LEFT, (0, 1, None), stuck=(0, 1)), Tree(Side.RIGHT, (0, None, 1))
PLAIN = Tree(Side.LEFT, (0, 1, 2)), Tree(Side.RIGHT, (0, 1, None))
TRUTHS = {
    "associated": np.array([[300, 20, 9], [15, 200, 8], [80, 90, 150], [5, 2, 3], [9, 1, 12]]),
    "sparse": np.array([[40, 0, 0], [0, 900, 3], [0, 3, 11], [0, 0, 0], [0, 0, 1]]),
}
PLAIN_TRUTHS = {
    "associated": TRUTHS["associated"][:4],
    "common": np.array([[900, 20, 9], [15, 20, 8], [18, 9, 10], [15, 2, 3]]),
}


@dataclass(frozen=True)
class Truth:
    """True cells, and what holds of all pairs of unions of the ends of two trees."""

    trees: tuple[Tree, Tree]
    cells: Counts

    def pairs(self) -> tuple[Flags, Flags]:
        left, right = (each[each.any(axis=1)] for each in map(unions, self.trees))
        return np.repeat(left, len(right), axis=0), np.tile(right, (len(left), 1))

    def known(self) -> tuple[Floats, Floats]:
        """Return the exact logarithms of p-values, and the corrected indices.

        Where everybody is expected to be in both, there is nothing to correct: not a number.
        """
        log_p, corrected = [], []
        size = int(self.cells.sum())
        for left, right in zip(*self.pairs(), strict=True):
            both = int(self.cells[left][:, right].sum())
            lefts, rights = int(self.cells[left].sum()), int(self.cells[:, right].sum())
            log_p.append(log_of(fisher_tail(both, lefts, rights, size)))
            corrected.append(corrected_by_hand(both, lefts, rights, size))
        return np.array(log_p), np.array(corrected)


def measured(truth: Truth, price: Price, noise: SeededRandomness, passes: int = 1) -> LeafTable:
    """Measure cells, and one margin or both, each at the same price."""

    def noisy(counts: Counts) -> Counts:
        drawn = (
            noise.gaussian(price.amount, counts.size)
            if isinstance(price, Rho)
            else noise.laplace(price, counts.size)
        )
        return counts + drawn.reshape(counts.shape)

    cells = truth.cells
    return LeafTable(
        *truth.trees,
        noisy(cells),
        noisy(cells.sum(axis=1)) if passes > 1 else None,
        noisy(cells.sum(axis=0)) if passes == 3 else None,
        Prices(price, price if passes > 1 else None, price if passes == 3 else None),
    )


def what_holds(
    truth: Truth, price: Price, runs: int, *, passes: int = 1, tables: int = 1, shrunk: float = 1.0
) -> Floats:
    """Return in which share of runs everything holds: p-values and indices at 95 %, p at 99 %.

    shrunk: what critical values are multiplied with
    """
    noise = SeededRandomness(17)
    left, right = truth.pairs()
    log_p, corrected = truth.known()
    held = np.ones((runs, 3), np.bool_)
    for run in range(runs):
        for _ in range(tables):
            table = measured(truth, price, noise, passes)
            moments = estimate(table).moments(left, right)
            critical = question_critical_values(table, tables)
            likely, confirming = critical.leverages * shrunk, critical.confirming * shrunk
            held[run, 0] &= bool((largest_log_p(moments, likely) >= log_p - 1e-6).all())
            _, low, high = corrected_bounds(moments, likely)
            inside = (low - 1e-9 <= corrected) & (corrected <= high + 1e-9) | np.isnan(corrected)
            held[run, 1] &= bool(inside.all())
            held[run, 2] &= bool((largest_log_p(moments, confirming) >= log_p - 1e-6).all())
    return np.asarray(held.mean(axis=0))


CASES: dict[str, tuple[Truth, Price, int, int]] = {
    **{f"missing values, {n}": (Truth(GAPPY, t), Fraction(1, 2), 1, 1) for n, t in TRUTHS.items()},
    **{
        f"none missing, {n}": (Truth(PLAIN, t), Fraction(1, 3), 1, 1)
        for n, t in PLAIN_TRUTHS.items()
    },
    "much noise": (Truth(GAPPY, TRUTHS["associated"]), Fraction(1, 20), 1, 1),
    "little noise": (Truth(PLAIN, PLAIN_TRUTHS["associated"]), Fraction(3), 1, 1),
    "normal noise": (Truth(PLAIN, PLAIN_TRUTHS["common"]), Rho(Fraction(1, 20)), 1, 1),
    "normal noise, sparse": (Truth(GAPPY, TRUTHS["sparse"]), Rho(Fraction(1, 100)), 1, 1),
    "two passes": (Truth(GAPPY, TRUTHS["associated"]), Fraction(1, 2), 2, 1),
    "least squares": (Truth(PLAIN, PLAIN_TRUTHS["common"]), Fraction(1, 2), 3, 1),
    "two tables": (Truth(GAPPY, TRUTHS["sparse"]), Fraction(1, 2), 1, 2),
}


@pytest.mark.uncovered
@pytest.mark.parametrize("name", CASES)
def test_p_values_and_corrected_indices_of_all_unions_hold_together(name: str) -> None:
    truth, price, passes, tables = CASES[name]
    runs = 150
    p_value, corrected, confirming = what_holds(truth, price, runs, passes=passes, tables=tables)
    # Three standard errors below 95 % and 99 %.
    assert min(p_value, corrected) >= 0.95 - 3 * (0.95 * 0.05 / runs) ** 0.5
    assert confirming >= 0.99 - 3 * (0.99 * 0.01 / runs) ** 0.5


@pytest.mark.uncovered
def test_with_smaller_critical_values_they_would_not() -> None:
    truth = Truth(PLAIN, PLAIN_TRUTHS["associated"])
    p_value, corrected, confirming = what_holds(truth, Fraction(1, 3), 100, shrunk=0.25)
    assert max(p_value, corrected, confirming) < 0.8


def test_p_values_of_a_pair_and_its_complement_are_the_same() -> None:
    """Without missing values; whichever half is listed."""
    truth = Truth(PLAIN, PLAIN_TRUTHS["common"])
    table = measured(truth, Fraction(1, 5), SeededRandomness(4))
    left, right = truth.pairs()
    inner = ~left.all(axis=1) & ~right.all(axis=1)
    best = estimate(table)
    for critical in (0.0, 1.0, 2.0):
        one = largest_log_p(best.moments(left[inner], right[inner]), critical)
        other = largest_log_p(best.moments(~left[inner], ~right[inner]), critical)
        np.testing.assert_allclose(one, other, rtol=1e-7, atol=1e-7)
        assert one.min() < -5


def test_where_nothing_is_known_nothing_is_claimed() -> None:
    for cells in ([[0.0, 0.0], [0.0, 0.0]], [[-5.0, 2.0], [1.0, -9.0]], [[12.0, 0.0], [0.0, 9.0]]):
        moments = quadrants(cells, 400.0)
        assert largest_log_p(moments, 3.0)[0] == 0
        _, low, high = corrected_bounds(moments, 3.0)
        assert low[0] <= 0
        assert high[0] == pytest.approx(1, abs=0.05)


def test_only_estimates_are_tried_where_there_is_no_noise() -> None:
    assert module.SHARES_TRIED > 1
    moments = quadrants([[30.0, 5.0], [4.0, 61.0]], 25.0)
    assert float(largest_log_p(moments, 0.0)[0]) == pytest.approx(float(log_fisher(30, 5, 4, 61)))
