"""Intervals that hold, and p-values that neither overflow nor vanish."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import binom

from oracle.leaf_table import dense_fit, laplace_variance, rectangle
from redveil.findings.critical_values import _for_all_terms
from redveil.findings.estimate import Fit, Moments, estimate
from redveil.findings.leaf_table import LeafTable, Prices
from redveil.findings.statistics import (
    CriticalValues,
    Interval,
    expected_jaccard,
    jaccard_bounds,
    leverage_variance,
    line_variance,
    p_values,
    pessimistic_p_values,
    statistics_of,
)
from redveil.privacy.loss import amount
from redveil.query.leaves import term_ends
from redveil.schema import Side
from redveil.trees.tree import Tree
from support.seeded import SeededRandomness

HALF = Fraction(1, 2)
some = settings(max_examples=30, deadline=None)
prices = st.fractions(Fraction(1, 50), Fraction(4), max_denominator=50)
critical_values = st.floats(0, 6)

# Three leaves and a node to be stuck at on the left, two leaves on the right.
LEFT, RIGHT = Tree(Side.LEFT, (0, 1, None), stuck=(1,)), Tree(Side.RIGHT, (0,))
TERMS = term_ends(LEFT), term_ends(RIGHT)
PAIRS = np.repeat(TERMS[0], 4, axis=0), np.tile(TERMS[1], (6, 1))


@st.composite
def counted(
    draw: st.DrawFn, passes: tuple[int, ...] = (1, 2, 3)
) -> tuple[LeafTable, np.ndarray, np.ndarray]:
    """A noisy table, and some pairs of unions of its ends that are not empty."""
    price = draw(prices)
    cells = draw(arrays(np.int64, (4, 2), elements=st.integers(0, 2000)))
    noise = SeededRandomness(draw(st.integers(0, 10**6)))
    left = draw(arrays(np.bool_, (3, 4)).filter(lambda flags: bool(flags.any(axis=1).all())))
    right = draw(arrays(np.bool_, (3, 2)).filter(lambda flags: bool(flags.any(axis=1).all())))
    return measured(cells, price, noise, passes=draw(st.sampled_from(passes))), left, right


def measured(
    cells: np.ndarray,
    price: Fraction,
    noise: SeededRandomness,
    *,
    passes: int = 3,
) -> LeafTable:
    """Measure cells for half of a price, and margins for the rest; in one pass cells alone."""
    dear = price * HALF if passes > 1 else price
    margin = price * HALF / (passes - 1) if passes > 1 else price
    return LeafTable(
        LEFT,
        RIGHT,
        cells + noise.laplace(dear, cells.size).reshape(cells.shape),
        cells.sum(axis=1) + noise.laplace(margin, 4) if passes > 1 else None,
        cells.sum(axis=0) + noise.laplace(margin, 2) if passes == 3 else None,
        Prices(dear, margin if passes > 1 else None, margin if passes == 3 else None),
    )


def true_jaccard(cells: np.ndarray, left: np.ndarray, right: np.ndarray) -> float:
    both = int(cells[left][:, right].sum())
    either = int(cells[left].sum() + cells[:, right].sum()) - both
    return both / either if either else 0.0


@some
@given(counted(), critical_values)
def test_bounds_contain_the_estimate_and_lie_between_0_and_1(
    case: tuple[LeafTable, np.ndarray, np.ndarray], critical: float
) -> None:
    table, left, right = case
    likely, low, high = jaccard_bounds(estimate(table).moments(left, right), critical)
    assert (low >= 0).all()
    assert (low <= likely).all()
    assert (likely <= high).all()
    assert (high <= 1).all()


@some
@given(counted(passes=(3,)), st.floats(0.1, 6))
def test_bounds_hold_the_values_of_j_that_the_noise_allows(
    case: tuple[LeafTable, np.ndarray, np.ndarray], critical: float
) -> None:
    table, left, right = case
    moments = estimate(table).moments(left, right)
    likely, low, high = jaccard_bounds(moments, critical)
    assert table.left_margin is not None
    assert table.right_margin is not None
    assert table.prices.left_margin is not None
    prices = amount(table.prices.cells), amount(table.prices.left_margin)
    v_cells, v_margin = (laplace_variance(x) + 0.25 for x in prices)
    dense = dense_fit(
        table.cells, table.left_margin, table.right_margin, (v_cells, v_margin, v_margin)
    )
    for k in range(len(left)):
        both = rectangle(left[k], right[k])
        either = np.maximum(rectangle(left[k], [True] * 2), rectangle([True] * 4, right[k]))
        union = dense.mean_of(either)
        if union <= critical * dense.covariance_of(either, either) ** 0.5 * (1 + 1e-6):
            continue  # no telling whether any entity is covered
        assert likely[k] == pytest.approx(np.clip(dense.mean_of(both) / union, 0, 1), abs=1e-9)
        for j in np.linspace(0, 1, 21):
            line = both - j * either
            variance = dense.covariance_of(line, line)
            gap, allowed = abs(dense.mean_of(line)), critical * variance**0.5
            if low[k] + 1e-6 < j < high[k] - 1e-6:
                assert gap <= allowed * (1 + 1e-6)
            elif j < low[k] - 1e-6 or j > high[k] + 1e-6:
                assert gap >= allowed * (1 - 1e-6)
            stated = line_variance(_row(moments, k), np.array([j]))[0]
            assert stated == pytest.approx(variance, rel=1e-6, abs=1e-9)


def _row(moments: Moments, k: int) -> Moments:
    return Moments(*(getattr(moments, name)[k : k + 1] for name in Moments.__slots__))


def test_nothing_is_known_when_no_entity_may_be_covered() -> None:
    cells = np.zeros((4, 2), np.int64)
    half = Fraction(1, 2)
    margins, prices = (cells.sum(axis=1), cells.sum(axis=0)), Prices(half, half, half)
    table = LeafTable(LEFT, RIGHT, cells, *margins, prices)
    likely, low, high = jaccard_bounds(estimate(table).moments(*PAIRS), 2.0)
    assert set(likely) == {0.0}
    assert set(low) == {0.0}
    assert set(high) == {1.0}


@some
@given(
    arrays(np.int64, (4, 2), elements=st.integers(1, 2000)),
    prices,
    st.fractions(Fraction(1), Fraction(10), max_denominator=10),
    critical_values,
)
def test_bounds_shrink_as_prices_grow(
    cells: np.ndarray, price: Fraction, factor: Fraction, critical: float
) -> None:
    def bounds(price: Fraction) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        margins = cells.sum(axis=1), cells.sum(axis=0)
        prices = Prices(price, price / 2, price / 2)
        table = LeafTable(LEFT, RIGHT, cells, *margins, prices)
        return jaccard_bounds(estimate(table).moments(*PAIRS), critical)

    likely, low, high = bounds(price)
    dearer_likely, dearer_low, dearer_high = bounds(price * factor)
    np.testing.assert_allclose(likely, dearer_likely, atol=1e-6)
    assert (dearer_low >= low - 1e-6).all()
    assert (dearer_high <= high + 1e-6).all()
    if factor >= 2 and critical >= 1:
        open_bounds = (low > 0) & (high < 1)
        assert (dearer_high - dearer_low < high - low)[open_bounds].all()


TRUTHS = {
    "associated": np.array([[300, 20], [15, 200], [80, 90], [5, 2]]),
    "independent": np.array([[60, 120], [30, 60], [150, 300], [10, 20]]),
    "sparse": np.array([[40, 0], [0, 900], [0, 3], [0, 0]]),
}


@pytest.mark.parametrize("name", TRUTHS)
@pytest.mark.parametrize(
    ("price", "passes"),
    [(Fraction(1, 10), 3), (Fraction(2), 3), (Fraction(1), 2), (Fraction(1, 2), 1)],
)
def test_bounds_cover_the_truth(name: str, price: Fraction, passes: int) -> None:
    truth, noise, repetitions = TRUTHS[name], SeededRandomness(7), 150
    jaccards = np.array([true_jaccard(truth, *pair) for pair in zip(*PAIRS, strict=True)])
    covered = np.zeros((repetitions, len(jaccards)), np.bool_)
    best = np.zeros(repetitions, np.int64)
    for i in range(repetitions):
        table = measured(truth, price, noise, passes=passes)
        critical = _for_all_terms(table, *TERMS, tables=1)
        _, low, high = jaccard_bounds(estimate(table).moments(*PAIRS), critical)
        covered[i] = (low - 1e-9 <= jaccards) & (jaccards <= high + 1e-9)
        best[i] = low.argmax()
    # Bounds for all pairs at once at 95 % leave single pairs far more room than 5 %, and the
    # winner is one of the pairs.
    assert covered.mean(axis=0).min() >= 0.95
    assert covered[np.arange(repetitions), best].mean() >= 0.95
    # 95 % of runs hold throughout; 1.1 % is the quantile's own error, 1.8 % that of 150 runs.
    assert covered.all(axis=1).mean() >= 0.9


@st.composite
def supports(draw: st.DrawFn, most: int = 10**7) -> tuple[int, int, int, int]:
    """Whole numbers: overlap, left support, right support, entities."""
    size = draw(st.integers(1, most))
    left, right = draw(st.integers(0, size)), draw(st.integers(0, size))
    return draw(st.integers(0, min(left, right))), left, right, size


@settings(max_examples=150, deadline=None)
@given(supports())
def test_p_values_are_the_binomial_tail(case: tuple[int, int, int, int]) -> None:
    both, left, right, size = case
    expected = binom.sf(both - 1, size, left * right / size**2)
    assert float(p_values(both, left, right, size)) == pytest.approx(expected, rel=1e-6, abs=1e-305)


@settings(max_examples=100, deadline=None)
@given(supports(most=40))
def test_p_values_are_sums_of_chances(case: tuple[int, int, int, int]) -> None:
    both, left, right, size = case
    chance = Fraction(left * right, size**2)
    tail = sum(
        comb(size, k) * chance**k * (1 - chance) ** (size - k) for k in range(both, size + 1)
    )
    assert float(p_values(both, left, right, size)) == pytest.approx(float(tail), rel=1e-9)


@given(st.floats(-1e6, 0), st.floats(-10, 1e6), st.floats(-10, 1e6), st.floats(-10, 1e6))
def test_no_overlap_is_no_surprise(both: float, left: float, right: float, size: float) -> None:
    assert p_values(both, left, right, size) == 1


@pytest.mark.parametrize(
    ("both", "left", "right", "size"),
    [
        (100, 100, 100, 10**5),
        (100, 120, 130, 10**5),
        (61, 61, 61, 10**7),
        (60, 61, 61, 10**7),
        (1200, 2000, 2000, 10**4),
    ],
)
def test_small_p_values_do_not_vanish(both: int, left: int, right: int, size: int) -> None:
    with mpmath.workdps(30):
        chance = mpmath.mpf(left * right) / size**2
        terms = [
            mpmath.binomial(size, k) * chance**k * (1 - chance) ** (size - k)
            for k in range(both, both + 400)
        ]
        tail = float(mpmath.fsum(terms))
    assert 1e-301 < tail < 1e-200
    assert float(p_values(both, left, right, size)) == pytest.approx(tail, rel=1e-6, abs=0)


@pytest.mark.parametrize("size", [46_340, 46_341, 10**7])
@pytest.mark.parametrize("dtype", ["int32", "int64", "float64"])
def test_large_tables_do_not_overflow(size: int, dtype: str) -> None:
    quarter, half, whole = (np.full(1, n).astype(dtype) for n in (size // 4, size // 2, size))
    # The overlap is what chance gives: half of the binomial's weight lies above.
    assert p_values(quarter, half, half, whole)[0] == pytest.approx(0.5, abs=0.01)
    assert p_values(quarter + 5 * int(size**0.5), half, half, whole)[0] < 1e-20
    assert p_values(quarter - 5 * int(size**0.5), half, half, whole)[0] > 1 - 1e-9
    assert p_values(whole, whole, whole, whole)[0] == 1


shares = st.floats(0, 1)


@settings(max_examples=150, deadline=None)
@given(shares, shares, shares, st.floats(1, 1e6), st.floats(0, 1e4))
def test_p_values_are_monotone(
    left_share: float, right_share: float, overlap: float, size: float, more: float
) -> None:
    left, right = left_share * size, right_share * size
    both = overlap * min(left, right)
    p = p_values(both, left, right, size)
    assert 0 <= p <= 1
    assert p_values(both + more, left, right, size) <= p * (1 + 1e-9)
    assert p_values(both, left, right, size + more) <= p * (1 + 1e-9)
    assert p_values(both, left + more, right, size) >= p * (1 - 1e-9)
    assert p_values(both, left, right + more, size) >= p * (1 - 1e-9)


@some
@given(counted(), critical_values)
def test_pessimism_never_helps(
    case: tuple[LeafTable, np.ndarray, np.ndarray], critical: float
) -> None:
    table, left, right = case
    fitted = estimate(table)
    m = fitted.moments(left, right)
    at_estimates = p_values(m.both, m.left, m.right, fitted.size)
    pessimistic = pessimistic_p_values(m, fitted, critical)
    assert (pessimistic >= at_estimates * (1 - 1e-9)).all()
    np.testing.assert_allclose(pessimistic_p_values(m, fitted, 0.0), at_estimates)


COUNTED = ("both", "left", "right", "size")
VARIANCES = ("both_both", "left_left", "right_right", "size_size")


@pytest.mark.parametrize("uncertain", VARIANCES)
def test_noise_in_any_count_raises_the_p_value(uncertain: str) -> None:
    known = dict.fromkeys(Moments.__slots__, np.array([0.0]))
    known |= {
        name: np.array([x]) for name, x in zip(COUNTED, (60.0, 200.0, 220.0, 1e3), strict=True)
    }
    fitted = Fit(np.full((2, 2), 250.0), 0.0, 0.0, 0.0, 0.0)
    sure = float(pessimistic_p_values(Moments(**known), fitted, 2.0)[0])
    assert sure == pytest.approx(float(p_values(60, 200, 220, 1000)))
    found = [sure]
    for variance in (1.0, 4.0, 25.0):
        known[uncertain] = np.array([variance])
        found.append(float(pessimistic_p_values(Moments(**known), fitted, 2.0)[0]))
    assert found == sorted(set(found))


def test_the_leverage_is_bounded_wherever_the_noise_may_have_put_the_counts() -> None:
    """Independent cells within their bounds never give a p-value above the pessimistic one."""
    rng, critical = np.random.default_rng(5), 3.0
    fitted = Fit(np.array([[300.0, 90.0], [110.0, 500.0]]), 16.0, 16.0, 16.0, 16.0)
    one = np.array([[True, False]])
    m = fitted.moments(one, one)
    bound = float(pessimistic_p_values(m, fitted, critical)[0])
    directions = rng.normal(size=(2000, 2, 2))
    # A cloud in which every count, and the leverage, is off by at most `critical` deviations.
    ball = directions / np.linalg.norm(directions, axis=(1, 2), keepdims=True) * critical * 4.0
    worst = max(
        float(p_values(cells[0, 0], cells[0].sum(), cells[:, 0].sum(), cells.sum()))
        for cells in fitted.cells + ball
    )
    assert worst <= bound
    assert bound < 1e-3


def test_the_linear_part_has_the_variance_of_a_weighted_sum_of_cells() -> None:
    fitted = Fit(np.array([[300.0, 90.0], [110.0, 500.0]]), 16.0, 16.0, 16.0, 16.0)
    one = np.array([[True, False]])
    weights = np.outer(np.array([1.0, 0.0]) - 0.39, np.array([1.0, 0.0]) - 0.41)
    expected = 16.0 * (weights**2).sum()
    assert leverage_variance(fitted.moments(one, one))[0] == pytest.approx(expected)


def test_pessimism_holds_for_the_truth() -> None:
    """With the critical value of a table, the p-value is not below the true one in 95 % of runs."""
    truth, noise, repetitions = TRUTHS["associated"], SeededRandomness(11), 100
    pair = TERMS[0][:1], TERMS[1][:1]
    both, left, right = (int(x) for x in (truth[0, 0], truth[0].sum(), truth[:, 0].sum()))
    true_p = float(p_values(both, left, right, int(truth.sum())))
    held = 0
    for _ in range(repetitions):
        table = measured(truth, Fraction(1, 2), noise)
        fitted = estimate(table)
        critical = _for_all_terms(table, *TERMS, tables=1)
        held += bool(pessimistic_p_values(fitted.moments(*pair), fitted, critical)[0] >= true_p)
    assert held / repetitions >= 0.95


def test_the_statistics_of_a_pair_are_its_bounds_and_p_values() -> None:
    table = measured(TRUTHS["associated"], Fraction(1), SeededRandomness(3))
    fitted, critical = estimate(table), CriticalValues(2.5, 3.5)
    pair = TERMS[0][:1], TERMS[1][:1]
    m = fitted.moments(*pair)
    found = statistics_of(m, fitted, critical)
    assert found.jaccard == Interval(*(float(bound[0]) for bound in jaccard_bounds(m, 2.5)))
    for interval, middle, variance in (
        (found.support_both, m.both, m.both_both),
        (found.support_left, m.left, m.left_left),
        (found.support_right, m.right, m.right_right),
    ):
        width = 2.5 * float(variance[0]) ** 0.5
        assert interval.estimate == pytest.approx(middle[0])
        assert (interval.low, interval.high) == pytest.approx(
            (middle[0] - width, middle[0] + width)
        )
    # p-values are made of four counts, which have a critical value of their own.
    assert found.p_value == float(pessimistic_p_values(m, fitted, 3.5)[0])
    assert found.p_value_estimate == float(p_values(m.both, m.left, m.right, fitted.size)[0])
    expected = expected_jaccard(float(m.left[0]), float(m.right[0]), fitted.size)
    assert found.expected_jaccard == pytest.approx(expected)
    assert 0 < expected < found.jaccard.low


def test_supports_are_never_negative() -> None:
    fitted = Fit(np.array([[-7.0, 2.0], [3.0, 50.0]]), 16.0, 16.0, 16.0, 16.0)
    one = np.array([[True, False]])
    found = statistics_of(fitted.moments(one, one), fitted, CriticalValues(2.0, 2.0))
    assert found.support_both == Interval(0.0, 0.0, -7.0 + 2 * 4.0)
    assert found.support_left.estimate == found.support_left.low == 0
    assert found.expected_jaccard == 0


@pytest.mark.parametrize(("left", "right"), [(500, 500), (900, 800), (100, 700), (30, 40)])
def test_unrelated_sets_overlap_as_much_on_average(left: int, right: int) -> None:
    generator, size = np.random.default_rng(1), 1_000
    found = []
    for _ in range(400):
        one, other = generator.permutation(size)[:left], generator.permutation(size)[:right]
        both = len(np.intersect1d(one, other))
        found.append(both / (left + right - both))
    assert np.mean(found) == pytest.approx(expected_jaccard(left, right, size), abs=0.005)


@given(st.floats(-10, 1e6), st.floats(-10, 1e6), st.floats(-10, 1e6))
def test_noisy_sizes_give_an_index_too(left: float, right: float, entities: float) -> None:
    assert 0 <= expected_jaccard(left, right, entities) <= 1
    assert expected_jaccard(left, right, entities) == expected_jaccard(right, left, entities)
