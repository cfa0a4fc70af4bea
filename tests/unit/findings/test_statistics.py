"""Intervals that hold, and the p-values of either test."""

from __future__ import annotations

from dataclasses import fields
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from oracle.leaf_table import dense_fit, laplace_variance, rectangle
from redveil.findings.binomial import binomial_p_values, largest_binomial_p
from redveil.findings.critical_values import _for_all_terms
from redveil.findings.estimate import Fit, Moments, estimate
from redveil.findings.leaf_table import LeafTable, Prices
from redveil.findings.leverage import corrected_bounds, largest_log_p
from redveil.findings.statistics import (
    CriticalValues,
    Interval,
    SignificanceTest,
    expected_jaccard,
    jaccard_bounds,
    line_variance,
    p_values_at,
    statistics_of,
)
from redveil.losses.loss import amount
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


def test_an_index_does_not_contradict_its_counts() -> None:
    def counts(both: float, left: float, right: float) -> Moments:
        nothing = np.zeros(1)
        variances = {"both_both": 2500.0, "left_left": 6400.0, "right_right": 6400.0}
        known = variances | {"both": both, "left": left, "right": right, "size": 5000.0}
        return Moments(**{one.name: nothing + known.get(one.name, 0.0) for one in fields(Moments)})

    # The union may be nothing but noise, so overlap and union alone leave every index possible.
    unsure = counts(300, 400, 420)
    assert 4.5**2 * 15300 > 520**2
    _, low, high = jaccard_bounds(unsure, 4.5)
    assert (low[0], high[0]) == pytest.approx((75 / (760 + 780 - 75), 1))
    # One support is certainly larger than the overlap can be.
    _, low, high = jaccard_bounds(counts(10, 20, 600), 4.5)
    assert high[0] == pytest.approx(235 / 240)
    assert low[0] == 0


def test_the_statistics_of_a_pair_are_its_bounds_and_p_values() -> None:
    table = measured(TRUTHS["associated"], Fraction(1), SeededRandomness(3))
    fitted, critical = estimate(table), CriticalValues(2.5, 3.5, 3.0, 4.0)
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
    # Leverages have critical values of their own, and so have the p-values that confirm.
    bounds = [float(bound[0]) for bound in corrected_bounds(m, 3.0)]
    assert (found.corrected.low, found.corrected.high) == (bounds[1], bounds[2])
    assert found.corrected.estimate == pytest.approx(bounds[0])
    assert found.p_value == float(np.exp(largest_log_p(m, 3.0)[0]))
    assert found.p_value_confirming == float(np.exp(largest_log_p(m, 4.0)[0]))
    assert found.p_value_estimate == float(np.exp(largest_log_p(m, 0.0)[0]))
    assert found.p_value_estimate < found.p_value < found.p_value_confirming < 1
    expected = expected_jaccard(float(m.left[0]), float(m.right[0]), fitted.size)
    assert found.expected_jaccard == pytest.approx(expected)
    assert 0 < expected < found.jaccard.low


def test_the_corrected_estimate_follows_from_the_two_indices_beside_it() -> None:
    # Noise has made the overlap larger than the right support.
    fitted = Fit(np.array([[60.0, 20.0], [-9.0, 500.0]]), 16.0, 16.0, 16.0, 16.0)
    one = np.array([[True, False]])
    found = statistics_of(fitted.moments(one, one), fitted, CriticalValues(2.0, 2.0, 2.0, 2.0))
    expected = found.expected_jaccard
    corrected = (found.jaccard.estimate - expected) / (1 - expected)
    assert found.corrected.estimate == pytest.approx(corrected)
    assert found.corrected.low <= corrected <= found.corrected.high


def test_the_paper_s_p_values_are_binomial() -> None:
    table = measured(TRUTHS["associated"], Fraction(1), SeededRandomness(3))
    fitted, critical = estimate(table), CriticalValues(2.5, 3.5, 3.0, 4.0)
    m = fitted.moments(TERMS[0][:1], TERMS[1][:1])
    found = statistics_of(m, fitted, critical, SignificanceTest.BINOMIAL)
    fisher = statistics_of(m, fitted, critical)
    likely = binomial_p_values(m.both, m.left, m.right, fitted.size)
    assert found.p_value_estimate == float(likely[0])
    # They are made of four counts, which have a critical value of their own.
    assert found.p_value == found.p_value_confirming
    assert found.p_value == float(largest_binomial_p(m, fitted, 3.5)[0])
    assert (found.jaccard, found.corrected) == (fisher.jaccard, fisher.corrected)
    assert found.p_value != fisher.p_value


@some
@given(counted())
def test_p_values_grow_with_what_the_noise_is_allowed(
    case: tuple[LeafTable, np.ndarray, np.ndarray],
) -> None:
    table, left, right = case
    fitted = estimate(table)
    moments = fitted.moments(left, right)
    for test in SignificanceTest:
        none, some, much = p_values_at(moments, fitted, test, (0.0, 2.0, 5.0))
        assert (none <= some * (1 + 1e-6) + 1e-12).all()
        assert (some <= much * (1 + 1e-6) + 1e-12).all()
        assert (none >= 0).all()
        assert (much <= 1).all()


def test_supports_are_never_negative() -> None:
    fitted = Fit(np.array([[-7.0, 2.0], [3.0, 50.0]]), 16.0, 16.0, 16.0, 16.0)
    one = np.array([[True, False]])
    found = statistics_of(fitted.moments(one, one), fitted, CriticalValues(2.0, 2.0, 2.0, 2.0))
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
