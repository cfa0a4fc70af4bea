"""Prices in ρ: they keep (ε, δ), buy choices and counts, and add up like prices in ε."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import opendp.prelude as dp
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from redveil.algorithms.catalogue import make_algorithm
from redveil.algorithms.tuning import tuned_cases
from redveil.algorithms.twin import Twin
from redveil.errors import InputError, PlanError
from redveil.losses import concentrated
from redveil.losses.concentrated import keeps, rho_within
from redveil.losses.loss import (
    Loss,
    Rho,
    amount,
    choice_epsilon,
    count_variance,
    parse_loss,
    round_down,
    total,
)
from redveil.losses.plan import Plan, Step, StepKey, StepKind
from redveil.privacy.mechanisms import count
from redveil.privacy.randomness import SystemRandomness, paid_noise
from redveil.sealed import Receipt, Sealed
from support.seeded import SeededRandomness

SIZE, TABLE = StepKey(StepKind.SIZE), StepKey(StepKind.LEAF_TABLE)
epsilons = st.fractions(Fraction(1, 100), 20, max_denominator=1000)
deltas = st.integers(4, 29).map(lambda zeros: Fraction(1, 10**zeros))


def gaussian_delta(rho: float, epsilon: float) -> mpmath.mpf:
    """Return the exact δ of the real Gaussian mechanism whose zero-concentrated loss is ρ."""
    mean = mpmath.mpf(2 * rho)
    deviation = mpmath.sqrt(mean)
    above = (mpmath.mpf(rho) - epsilon) / deviation
    below = (-mpmath.mpf(rho) - epsilon) / deviation
    return mpmath.ncdf(above) - mpmath.exp(epsilon) * mpmath.ncdf(below)


@settings(max_examples=60)
@given(epsilons, deltas)
def test_rho_keeps_the_guarantee_and_little_more_would_not(
    epsilon: Fraction, delta: Fraction
) -> None:
    rho = rho_within(epsilon, delta)
    assert 0 < rho < epsilon
    assert keeps(rho, epsilon, delta)
    assert not keeps(rho * (1 + Fraction(1, 500)), epsilon, delta)
    # The Gaussian mechanism costs exactly ρ, so a bound for all releases holds for it.
    assert gaussian_delta(float(rho), float(epsilon)) <= float(delta)


@settings(max_examples=40)
@given(epsilons, deltas)
def test_the_conversion_is_at_least_as_good_as_the_simple_one(
    epsilon: Fraction, delta: Fraction
) -> None:
    """ρ + 2·√(ρ·log 1/δ) ≤ ε is the bound of textbooks."""
    room = math.log(1 / delta)
    simple = (math.sqrt(room + float(epsilon)) - math.sqrt(room)) ** 2
    assert float(rho_within(epsilon, delta)) >= simple * (1 - 1e-3)


def test_a_search_that_goes_too_far_is_corrected(monkeypatch: pytest.MonkeyPatch) -> None:
    """The search is in double precision; its result counts only once it has been checked."""
    one, million = Fraction(1), Fraction(1, 10**6)
    best, about = rho_within(one, million), concentrated._log_delta
    monkeypatch.setattr(concentrated, "_log_delta", lambda *both: about(*both) - 0.01)
    assert rho_within.__wrapped__(one, million) == best


def test_a_stricter_guarantee_allows_less_rho() -> None:
    one, million = Fraction(1), Fraction(1, 10**6)
    assert rho_within(one, million) > rho_within(one, million / 10)
    assert rho_within(one, million) > rho_within(one / 2, million)


@given(st.fractions(Fraction(1, 10**12), 100, max_denominator=10**12))
def test_a_choice_costs_at_most_its_rho_and_not_much_less(rho: Fraction) -> None:
    epsilon = choice_epsilon(Rho(rho))
    assert epsilon**2 / 8 <= rho < (epsilon + Fraction(1, 2**60)) ** 2 / 8


@given(st.fractions(Fraction(1, 10**4), 10, max_denominator=10**4))
def test_the_variance_of_integer_gaussian_noise_is_bounded(rho: Fraction) -> None:
    largest = math.ceil(12 / math.sqrt(2 * rho)) + 2
    support = np.arange(-largest, largest + 1, dtype=np.float64)
    weights = np.exp(-float(rho) * support**2)
    variance = float((weights * support**2).sum() / weights.sum())
    assert variance <= count_variance(Rho(rho)) * (1 + 1e-12)


@pytest.mark.parametrize("rho", [Fraction(1, 50), Fraction(1, 7), Fraction(3, 10**5)])
def test_counts_paid_in_rho_get_gaussian_noise_of_their_width(rho: Fraction) -> None:
    receipt = Receipt(SIZE, "count", Rho(rho))
    noise = count(Sealed(np.full(20_000, 7)), receipt, SeededRandomness(2)).value - 7
    assert noise.var() == pytest.approx(1 / (2 * rho), rel=0.06)


@pytest.mark.parametrize(
    "price", [Fraction(1, 50), Fraction(1, 3), Fraction(7, 10**9), Fraction(9)]
)
def test_the_real_noise_never_costs_more_than_its_price(price: Fraction) -> None:
    """The loss that OpenDP states, exactly: it would exceed most prices without widening."""
    laplace = dp.l1_distance(T="i64"), 1 / round_down(price)
    gaussian = dp.l2_distance(T="i64"), 1 / math.sqrt(2 * round_down(price))
    for make, (metric, scale) in ((dp.m.make_laplace, laplace), (dp.m.make_gaussian, gaussian)):
        noise = paid_noise(make, metric, scale, price)
        assert Fraction(float(noise.map(1))) <= price
        assert float(noise.map(1)) == pytest.approx(float(price), rel=1e-12)
    assert SystemRandomness().gaussian(price, 5).dtype == np.int64
    assert SystemRandomness().laplace(price, 5).dtype == np.int64


def test_widening_is_needed() -> None:
    dp.enable_features("contrib")
    price = Fraction(1, 50)
    domain = dp.vector_domain(dp.atom_domain(T="i64"))
    scale = 1 / math.sqrt(2 * round_down(price))
    first: Any = dp.m.make_gaussian(domain, dp.l2_distance(T="i64"), scale=scale)
    assert Fraction(float(first.map(1))) > price


@pytest.mark.parametrize("bad", ["", "one", "-1e-6", "1", "0.001", "1e-40", "nan", True])
def test_a_meaningless_delta_is_refused(bad: str | float) -> None:
    with pytest.raises(InputError, match=r"delta must be 0 or lie between 1e-30 and 0\.0001"):
        parse_loss(1, bad)


@pytest.mark.parametrize("none", [None, 0, "0", 0.0])
def test_no_delta_is_pure(none: str | float | None) -> None:
    assert parse_loss("1/3", none) == Loss(Fraction(1, 3))
    assert parse_loss("1/3", none).price == Fraction(1, 3)


def test_a_loss_says_what_it_is() -> None:
    assert str(parse_loss(1, None)) == "ε = 1"
    assert str(parse_loss(1, 1e-6)) == "ε = 1, δ = 1e-06"


def test_prices_in_epsilon_and_rho_cannot_be_added() -> None:
    one = Fraction(1)
    with pytest.raises(PlanError, match="cannot be added"):
        Plan(one, (Step(SIZE, "count", one), Step(TABLE, "count", Rho(one))))
    with pytest.raises(PlanError, match="the steps cost 1, not 1"):
        Plan(one, (Step(SIZE, "count", Rho(one)),))
    with pytest.raises(PlanError, match="positive price"):
        Plan(Rho(Fraction(0)), (Step(SIZE, "count", Rho(Fraction(0))),))


@given(
    st.sampled_from(["twin", "alt-expm", "alt-mcmc", "tree-pair"]),
    st.integers(0, 200_000),
    epsilons,
    deltas,
)
def test_every_plan_spends_exactly_the_rho_that_keeps_the_guarantee(
    algorithm: str, size: int, epsilon: Fraction, delta: Fraction
) -> None:
    price = Loss(epsilon, delta).price
    wanted = make_algorithm(algorithm)
    plan = wanted.tuned(None, size, price).plan(price)
    assert plan.price == total(step.price for step in plan.steps) == Rho(rho_within(epsilon, delta))
    assert repr(plan).startswith("<Plan: ρ = ")
    tuned = wanted.tuned(None, size, epsilon)
    pure = tuned.plan(epsilon)
    # What a scout needs, in ρ, is another share.
    alone = not isinstance(tuned, Twin) or not tuned.scout
    if alone and len(pure.steps) == len(plan.steps):
        shares = [step.price / epsilon for step in pure.steps]
        assert shares == [amount(step.price) / amount(price) for step in plan.steps]


def test_more_entities_never_get_shallower_trees() -> None:
    price = Loss(Fraction(1), Fraction(1, 10**6)).price
    found = tuned_cases(make_algorithm(), None, price, most=100_000)
    shapes = [(one.algorithm.trials, one.algorithm.depth) for one in found]
    assert [depth for _, depth in shapes] == sorted(depth for _, depth in shapes)
    assert shapes[0] == (1, 1)
    assert shapes[-1] == (13, 2)
