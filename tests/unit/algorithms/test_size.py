"""The private size: what it costs, and what it says."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from redveil.algorithms.schedule import size_step
from redveil.algorithms.size import private_size
from redveil.sealed import Sealed
from support.seeded import FixedNoise, SeededRandomness
from support.tiny import table_of, tiny_entities

some = settings(max_examples=30, deadline=None)
epsilons = st.fractions(Fraction(1, 10**6), Fraction(100), max_denominator=10**6)
ENTITIES = Sealed(table_of(tiny_entities(37, 1, 1, 1), tiny_entities(37, 1, 1, 2)))


@some
@given(epsilons)
def test_the_size_costs_a_hundredth(epsilon: Fraction) -> None:
    step = size_step(epsilon)
    assert (step.name, step.mechanism, step.price) == ("size", "count", epsilon / 100)


@pytest.mark.parametrize("noise", [0, 5, -36, -37, -5000])
def test_the_noise_is_that_of_one_count_and_nothing_is_hidden(noise: int) -> None:
    source = FixedNoise(noise)
    assert private_size(ENTITIES, Fraction(3, 7), source) == 37 + noise
    assert source.asked == [(Fraction(3, 700), 1)]


def test_the_noise_has_the_price_s_spread() -> None:
    source, epsilon = SeededRandomness(2), Fraction(20)
    found = np.array([private_size(ENTITIES, epsilon, source) for _ in range(2000)])
    # Integer Laplace noise at 1/5 has a standard deviation of 7.04; four standard errors each.
    assert abs(found.mean() - 37) < 4 * 7.04 / 2000**0.5
    assert 7.04 * 0.9 < found.std() < 7.04 * 1.1
