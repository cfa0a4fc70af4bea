"""The guarantee of ρ, computed exactly: choices, counts, and both together."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Hashable
from fractions import Fraction

import numpy as np
import pytest

from redveil.losses.concentrated import rho_within
from redveil.losses.loss import Rho, choice_epsilon
from redveil.losses.score import Score
from redveil.privacy.mechanisms import choose, count
from redveil.privacy.randomness import Randomness, SystemRandomness
from redveil.sealed import Receipt, Sealed
from support.prepared import SOME_STEP
from support.seeded import SeededRandomness
from support.surprise import FALSE_ALARM, surprise

ORDERS = np.concatenate([1 + np.logspace(-4, 0, 30), np.linspace(2.1, 60, 60)])
# Two candidates change by at most 2 between neighbours, in opposite directions or not.
SCORE = Score(
    "toy", Fraction(2), monotone=False, grid_bits=0, rounding=Fraction(0), proof="privacy/choose.md"
)


def choice_law(units: np.ndarray, rho: Fraction) -> np.ndarray:
    """Return the law of a choice that is paid for with ρ, from the definition."""
    weights = np.exp(math.sqrt(8 * rho) * (units - units.max()) / 2)
    return np.asarray(weights / weights.sum())


def gaussian_law(rho: float, around: int, largest: int) -> np.ndarray:
    """Return the probabilities of -largest … largest for noise around a count."""
    weights = np.exp(-rho * (np.arange(-largest, largest + 1, dtype=np.float64) - around) ** 2)
    return np.asarray(weights / weights.sum())


def divergence(one: np.ndarray, other: np.ndarray, order: float) -> float:
    """Return the Rényi divergence of an order, in log space."""
    logs = order * np.log(one) + (1 - order) * np.log(other)
    return float(np.logaddexp.reduce(logs)) / (order - 1)


def concentrated_loss(one: np.ndarray, other: np.ndarray) -> float:
    """Return the largest D_α / α over many orders, in both directions."""
    pairs = ((one, other), (other, one))
    return max(float(divergence(*pair, order) / order) for pair in pairs for order in ORDERS)


def delta(one: np.ndarray, other: np.ndarray, epsilon: float) -> float:
    """Return the smallest δ for which two laws are (ε, δ)-close, exactly."""
    return max(
        float(np.maximum(p - math.exp(epsilon) * q, 0).sum())
        for p, q in ((one, other), (other, one))
    )


@pytest.mark.parametrize("rho", [Fraction(1, 200), Fraction(1, 8), Fraction(2)])
def test_a_choice_loses_at_most_its_rho_and_comes_close(rho: Fraction) -> None:
    worst = 0.0
    for before in itertools.product(range(4), repeat=3):
        for change in itertools.product((-1, 0, 1), repeat=3):
            after = np.array(before) + change
            laws = choice_law(np.array(before), rho), choice_law(after, rho)
            loss = concentrated_loss(*laws)
            assert loss <= float(rho) * (1 + 1e-9)
            worst = max(worst, loss)
    # Three candidates can be half and half; the bound is met in the limit of small ρ.
    assert worst > float(rho) * (0.95 if rho < 1 else 0.4)


def test_without_the_bounded_range_the_same_epsilon_would_cost_more() -> None:
    """Randomised response at ε: its log-ratio jumps by 2ε, and ε²/8 would be a false guarantee."""
    epsilon = 0.2
    chance = 1 / (1 + math.exp(-epsilon))
    laws = np.array([chance, 1 - chance]), np.array([1 - chance, chance])
    assert concentrated_loss(*laws) > 3 * epsilon**2 / 8


@pytest.mark.parametrize("rho", [Fraction(1, 200), Fraction(1, 8), Fraction(2)])
def test_a_count_loses_at_most_its_rho_and_comes_close(rho: Fraction) -> None:
    largest = math.ceil(80 / math.sqrt(2 * rho))
    with np.errstate(under="ignore"):
        centred, moved = (gaussian_law(float(rho), at, largest) for at in (0, 1))
        # Probabilities that underflow are left out.
        seen = (centred > 1e-290) & (moved > 1e-290)
        loss = concentrated_loss(centred[seen], moved[seen])
    assert loss == pytest.approx(float(rho), rel=0.02)
    assert loss <= float(rho) * (1 + 1e-6)


@pytest.mark.parametrize(("epsilon", "chance"), [(1, 1e-6), (2, 1e-4), (Fraction(1, 4), 1e-6)])
def test_choices_and_counts_together_keep_epsilon_and_delta(
    epsilon: int | Fraction, chance: float
) -> None:
    """Two choices and a count share ρ; their joint law is computed, and so is its δ."""
    rho = rho_within(Fraction(epsilon), Fraction(str(chance)))
    shares = rho / 20, rho / 20, rho * 9 / 10
    largest = math.ceil(30 / math.sqrt(2 * shares[2]))
    centred, moved = (gaussian_law(float(shares[2]), at, largest) for at in (0, 1))
    worst = 0.0
    for change in itertools.product((-1, 1), repeat=4):
        units = np.zeros(2), np.zeros(2)
        changed = np.array(change[:2]), np.array(change[2:])
        before = [choice_law(one, s) for one, s in zip(units, shares[:2], strict=True)]
        after = [choice_law(one, s) for one, s in zip(changed, shares[:2], strict=True)]
        joint = [
            np.einsum("i,j,k->ijk", *laws, counts).ravel()
            for laws, counts in ((before, centred), (after, moved))
        ]
        worst = max(worst, delta(joint[0], joint[1], float(epsilon)))
    assert worst <= chance
    # Not reached, because the conversion holds for all releases of that ρ, but close.
    assert worst > chance / 100


@pytest.mark.parametrize(
    ("source", "rho"),
    [
        (SeededRandomness(8), Fraction(1, 50)),
        (SystemRandomness(), Fraction(1, 50)),
        (SystemRandomness(), Fraction(1, 3)),
        (SystemRandomness(), Fraction(2)),
    ],
)
def test_count_follows_the_integer_gaussian_law(source: Randomness, rho: Fraction) -> None:
    draws, largest = 40_000, math.ceil(5 / math.sqrt(2 * rho)) + 1
    noisy = (
        count(Sealed(np.full(draws, 7)), Receipt(SOME_STEP, "count", Rho(rho)), source).value - 7
    )
    seen: Counter[Hashable] = Counter(np.clip(noisy, -largest, largest).tolist())
    law = gaussian_law(float(rho), 0, 3 * largest)
    clipped = law[2 * largest : -2 * largest].copy()
    clipped[[0, -1]] += law[: 2 * largest].sum()
    expected: dict[Hashable, float] = dict(
        zip(range(-largest, largest + 1), clipped.tolist(), strict=True)
    )
    assert surprise(seen, expected) > FALSE_ALARM


def test_choose_follows_the_law_that_rho_buys() -> None:
    rho, draws = Fraction(1, 18), 20_000
    units, base = np.array([[0, 1, 3]]), np.ones((1, 3), dtype=np.int64)
    assert float(choice_epsilon(Rho(rho))) == pytest.approx(2 / 3)
    source = SeededRandomness(9)
    chosen: Counter[Hashable] = Counter(
        choose(Sealed(units), SCORE, base, Receipt(SOME_STEP, "choose", Rho(rho)), source).value[0]
        for _ in range(draws)
    )
    fits: list[float] = []
    for price in (rho, 2 * rho):
        law: dict[Hashable, float] = dict(enumerate(choice_law(units[0], price).tolist()))
        fits.append(surprise(chosen, law))
    # Twice the price would be noticed.
    assert fits[0] > FALSE_ALARM > fits[1]
