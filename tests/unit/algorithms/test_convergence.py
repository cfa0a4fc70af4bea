from __future__ import annotations

import math

import numpy as np
import pytest
from redveil.algorithms.convergence import effective_sample_size, split_rhat


def chains(correlation: float, walks: int = 4, steps: int = 4000) -> np.ndarray:
    """Autoregressive chains, whose effective sample size is known."""
    noise = np.random.default_rng(3).normal(size=(walks, steps + 200))
    values = np.zeros_like(noise)
    for step in range(1, noise.shape[1]):
        values[:, step] = correlation * values[:, step - 1] + noise[:, step]
    return values[:, 200:]


@pytest.mark.parametrize("correlation", [0.0, 0.5, 0.9])
def test_the_effective_sample_size_of_a_known_chain(correlation: float) -> None:
    known = 16_000 * (1 - correlation) / (1 + correlation)
    assert effective_sample_size(chains(correlation)) == pytest.approx(known, rel=0.2)


def test_walks_that_agree_have_rhat_near_one() -> None:
    assert split_rhat(chains(0.5)) == pytest.approx(1.0, abs=0.01)


def test_walks_that_disagree_are_noticed() -> None:
    apart = chains(0.5) + np.array([[0.0], [0.0], [0.0], [5.0]])
    assert split_rhat(apart) > 1.5


def test_a_drift_is_noticed_within_a_single_walk() -> None:
    assert split_rhat(chains(0.0, walks=1) + np.linspace(0, 5, 4000)) > 1.5


def test_walks_that_never_move() -> None:
    still = np.ones((3, 100))
    assert split_rhat(still) == 1.0
    assert effective_sample_size(still) == 3.0
    assert split_rhat(still * np.array([[1.0], [2.0], [3.0]])) == math.inf
