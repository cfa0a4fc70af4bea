"""Mechanisms against their exact laws. Seeded, except for the real noise source.

The false-alarm rate of every χ² test is stated: one in a million runs for the unseeded ones.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import chi2

from redveil.losses.score import Score
from redveil.privacy.mechanisms import choose, count
from redveil.privacy.randomness import Randomness, SystemRandomness
from redveil.sealed import Receipt, Sealed
from support.prepared import SOME_STEP
from support.seeded import SeededRandomness

FALSE_ALARM = 1e-6


def surprise(observed: np.ndarray, expected: np.ndarray) -> float:
    """Return the χ² p-value of observed counts, pooling cells that expect fewer than five."""
    order = np.argsort(expected)
    observed, expected = observed[order], expected[order]
    small = int(np.searchsorted(np.cumsum(expected), 5.0)) + 1
    observed = np.concatenate([[observed[:small].sum()], observed[small:]])
    expected = np.concatenate([[expected[:small].sum()], expected[small:]])
    statistic = float(((observed - expected) ** 2 / expected).sum())
    return float(chi2.sf(statistic, len(observed) - 1))


def laplace_law(epsilon: float, largest: int) -> np.ndarray:
    """Return the exact probabilities of -largest … largest, the tails added to the ends."""
    decay = math.exp(-epsilon)
    k = np.abs(np.arange(-largest, largest + 1))
    law = (1 - decay) / (1 + decay) * decay**k
    law[[0, -1]] = decay**largest / (1 + decay)
    return law


def test_the_exact_laplace_law_used_here_sums_to_one() -> None:
    assert laplace_law(0.5, 20).sum() == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize(("monotone", "change"), [(True, 2), (False, 3)])
def test_choose_follows_the_exponential_mechanism(monotone: bool, change: int) -> None:  # noqa: FBT001
    score = Score("toy", Fraction(change), monotone, 3, Fraction(1, 8), "privacy/choose.md")
    units = np.array([[0, 8, 16, 20, 3], [5, 5, 5, 5, 40]])
    base = np.array([[1, 1, 1, 0, 5], [2, 1, 1, 1, 1]])
    source, draws, price = SeededRandomness(5), 20_000, Fraction(3, 2)
    chosen = np.array(
        [
            choose(Sealed(units), score, base, Receipt(SOME_STEP, "choose", price), source).value
            for _ in range(draws)
        ]
    )
    for part in range(2):
        exponent = 1.5 * units[part] / 8 / (change + 4 / 8)
        law = base[part] * np.exp(exponent)
        law = law / law.sum()
        seen = np.bincount(chosen[:, part], minlength=5)
        assert seen[law == 0].sum() == 0
        assert surprise(seen[law > 0], draws * law[law > 0]) > FALSE_ALARM


@pytest.mark.parametrize(
    ("source", "epsilon"),
    [
        (SeededRandomness(6), Fraction(1, 2)),
        (SystemRandomness(), Fraction(1, 2)),
        (SystemRandomness(), Fraction(1, 7)),
        (SystemRandomness(), Fraction(3)),
    ],
)
def test_count_follows_the_integer_laplace_law(source: Randomness, epsilon: Fraction) -> None:
    draws, largest = 40_000, math.ceil(6 / epsilon)
    receipt = Receipt(SOME_STEP, "count", epsilon)
    noisy = count(Sealed(np.full(draws, 7)), receipt, source).value - 7
    seen = np.bincount(np.clip(noisy, -largest, largest) + largest, minlength=2 * largest + 1)
    assert surprise(seen, draws * laplace_law(float(epsilon), largest)) > FALSE_ALARM


def test_words_of_the_system_source_are_uniform_bit_by_bit() -> None:
    words = SystemRandomness().words(20_000)
    for bit in range(64):
        ones = int(((words >> np.uint64(bit)) & np.uint64(1)).sum())
        assert surprise(np.array([ones, 20_000 - ones]), np.array([1e4, 1e4])) > FALSE_ALARM


def test_half_the_noise_would_be_noticed() -> None:
    noisy = SeededRandomness(7).laplace(Fraction(1), 40_000)
    seen = np.bincount(np.clip(noisy, -12, 12) + 12, minlength=25)
    assert surprise(seen, 40_000 * laplace_law(0.5, 12)) < FALSE_ALARM
