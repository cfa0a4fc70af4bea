"""The paper's binomial tail: exact, monotone, and pessimistic about the noise."""

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

from redveil.findings.binomial import binomial_p_values, largest_binomial_p
from redveil.findings.critical_values import question_critical_values
from redveil.findings.estimate import Fit, Moments, estimate
from redveil.findings.leaf_table import LeafTable, Prices
from redveil.schema import Side
from redveil.trees.tree import Tree
from support.seeded import SeededRandomness

# Three leaves and a node to be stuck at on the left, two leaves on the right.
LEFT, RIGHT = Tree(Side.LEFT, (0, 1, None), stuck=(1,)), Tree(Side.RIGHT, (0,))
ASSOCIATED = np.array([[300, 20], [15, 200], [80, 90], [5, 2]])


def measured(cells: np.ndarray, price: Fraction, noise: SeededRandomness) -> LeafTable:
    """Measure cells alone, as runs do."""
    noisy = cells + noise.laplace(price, cells.size).reshape(cells.shape)
    return LeafTable(LEFT, RIGHT, noisy, None, None, Prices(price))


@st.composite
def counted(draw: st.DrawFn) -> tuple[LeafTable, np.ndarray, np.ndarray]:
    """A noisy table, and some pairs of unions of its ends that are not empty."""
    price = draw(st.fractions(Fraction(1, 50), Fraction(4), max_denominator=50))
    cells = draw(arrays(np.int64, (4, 2), elements=st.integers(0, 2000)))
    noise = SeededRandomness(draw(st.integers(0, 10**6)))
    left = draw(arrays(np.bool_, (3, 4)).filter(lambda flags: bool(flags.any(axis=1).all())))
    right = draw(arrays(np.bool_, (3, 2)).filter(lambda flags: bool(flags.any(axis=1).all())))
    return measured(cells, price, noise), left, right


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
    found = float(binomial_p_values(both, left, right, size))
    assert found == pytest.approx(expected, rel=1e-6, abs=1e-305)


@settings(max_examples=100, deadline=None)
@given(supports(most=40))
def test_p_values_are_sums_of_chances(case: tuple[int, int, int, int]) -> None:
    both, left, right, size = case
    chance = Fraction(left * right, size**2)
    tail = sum(
        comb(size, k) * chance**k * (1 - chance) ** (size - k) for k in range(both, size + 1)
    )
    assert float(binomial_p_values(both, left, right, size)) == pytest.approx(float(tail), rel=1e-9)


@given(st.floats(-1e6, 0), st.floats(-10, 1e6), st.floats(-10, 1e6), st.floats(-10, 1e6))
def test_no_overlap_is_no_surprise(both: float, left: float, right: float, size: float) -> None:
    assert binomial_p_values(both, left, right, size) == 1


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
    assert float(binomial_p_values(both, left, right, size)) == pytest.approx(tail, rel=1e-6, abs=0)


@pytest.mark.parametrize("size", [46_340, 46_341, 10**7])
@pytest.mark.parametrize("dtype", ["int32", "int64", "float64"])
def test_large_tables_do_not_overflow(size: int, dtype: str) -> None:
    quarter, half, whole = (np.full(1, n).astype(dtype) for n in (size // 4, size // 2, size))
    # The overlap is what chance gives: half of the binomial's weight lies above.
    assert binomial_p_values(quarter, half, half, whole)[0] == pytest.approx(0.5, abs=0.01)
    assert binomial_p_values(quarter + 5 * int(size**0.5), half, half, whole)[0] < 1e-20
    assert binomial_p_values(quarter - 5 * int(size**0.5), half, half, whole)[0] > 1 - 1e-9
    assert binomial_p_values(whole, whole, whole, whole)[0] == 1


shares = st.floats(0, 1)


@settings(max_examples=150, deadline=None)
@given(shares, shares, shares, st.floats(1, 1e6), st.floats(0, 1e4))
def test_p_values_are_monotone(
    left_share: float, right_share: float, overlap: float, size: float, more: float
) -> None:
    left, right = left_share * size, right_share * size
    both = overlap * min(left, right)
    p = binomial_p_values(both, left, right, size)
    assert 0 <= p <= 1
    assert binomial_p_values(both + more, left, right, size) <= p * (1 + 1e-9)
    assert binomial_p_values(both, left, right, size + more) <= p * (1 + 1e-9)
    assert binomial_p_values(both, left + more, right, size) >= p * (1 - 1e-9)
    assert binomial_p_values(both, left, right + more, size) >= p * (1 - 1e-9)


@settings(max_examples=30, deadline=None)
@given(counted(), st.floats(0, 6))
def test_pessimism_never_helps(
    case: tuple[LeafTable, np.ndarray, np.ndarray], critical: float
) -> None:
    table, left, right = case
    fitted = estimate(table)
    m = fitted.moments(left, right)
    at_estimates = binomial_p_values(m.both, m.left, m.right, fitted.size)
    pessimistic = largest_binomial_p(m, fitted, critical)
    assert (pessimistic >= at_estimates * (1 - 1e-9)).all()
    np.testing.assert_allclose(largest_binomial_p(m, fitted, 0.0), at_estimates)


COUNTED = ("both", "left", "right", "size")
VARIANCES = ("both_both", "left_left", "right_right", "size_size")


@pytest.mark.parametrize("uncertain", VARIANCES)
def test_noise_in_any_count_raises_the_p_value(uncertain: str) -> None:
    known = dict.fromkeys(Moments.__slots__, np.array([0.0]))
    known |= {
        name: np.array([x]) for name, x in zip(COUNTED, (60.0, 200.0, 220.0, 1e3), strict=True)
    }
    fitted = Fit(np.full((2, 2), 250.0), 0.0, 0.0, 0.0, 0.0)
    sure = float(largest_binomial_p(Moments(**known), fitted, 2.0)[0])
    assert sure == pytest.approx(float(binomial_p_values(60, 200, 220, 1000)))
    found = [sure]
    for variance in (1.0, 4.0, 25.0):
        known[uncertain] = np.array([variance])
        found.append(float(largest_binomial_p(Moments(**known), fitted, 2.0)[0]))
    assert found == sorted(set(found))


def test_the_leverage_is_bounded_wherever_the_noise_may_have_put_the_counts() -> None:
    """Independent cells within their bounds never give a p-value above the pessimistic one."""
    rng, critical = np.random.default_rng(5), 3.0
    fitted = Fit(np.array([[300.0, 90.0], [110.0, 500.0]]), 16.0, 16.0, 16.0, 16.0)
    one = np.array([[True, False]])
    m = fitted.moments(one, one)
    bound = float(largest_binomial_p(m, fitted, critical)[0])
    directions = rng.normal(size=(2000, 2, 2))
    # A cloud in which every count, and the leverage, is off by at most `critical` deviations.
    ball = directions / np.linalg.norm(directions, axis=(1, 2), keepdims=True) * critical * 4.0
    worst = max(
        float(binomial_p_values(cells[0, 0], cells[0].sum(), cells[:, 0].sum(), cells.sum()))
        for cells in fitted.cells + ball
    )
    assert worst <= bound
    assert bound < 1e-3


def test_pessimism_holds_for_the_truth() -> None:
    """With the critical value of a table, the p-value is not below the true one in 95 % of runs."""
    noise, repetitions = SeededRandomness(11), 100
    pair = np.array([[True, False, False, False]]), np.array([[True, False]])
    both, left, right = (ASSOCIATED[0, 0], ASSOCIATED[0].sum(), ASSOCIATED[:, 0].sum())
    true_p = float(binomial_p_values(both, left, right, ASSOCIATED.sum()))
    held = 0
    for _ in range(repetitions):
        table = measured(ASSOCIATED, Fraction(1, 2), noise)
        fitted, critical = estimate(table), question_critical_values(table).counts
        held += bool(largest_binomial_p(fitted.moments(*pair), fitted, critical)[0] >= true_p)
    assert held / repetitions >= 0.95


def test_a_pair_and_its_complement_have_different_p_values() -> None:
    """Why the hardened profile tests by Fisher: of one table, one half looks far weaker."""
    common = float(binomial_p_values(850, 880, 870, 1000))
    rare = float(binomial_p_values(100, 120, 130, 1000))
    assert common > 1e-12
    assert rare < 1e-40
