from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from redveil.algorithms.even_bins import even_cuts, smoothed

MASSES = st.lists(st.floats(0, 1e9) | st.just(0.0), min_size=2, max_size=40).map(np.array)


@given(MASSES, st.integers(1, 30))
def test_cuts_are_few_different_and_leave_nothing_empty_on_purpose(
    mass: np.ndarray, most: int
) -> None:
    cuts = even_cuts(mass, most)
    assert 1 <= len(cuts) <= most
    assert sorted(set(cuts)) == list(cuts)
    assert cuts[0] >= 0
    assert cuts[-1] < mass.size - 1


@given(st.integers(1, 8), st.integers(2, 9))
def test_equal_masses_are_divided_equally(most: int, size: int) -> None:
    cuts = even_cuts(np.ones((most + 1) * size), most)
    assert cuts == tuple(size * i - 1 for i in range(1, most + 1))


@pytest.mark.parametrize("place", [0, 11, 23])
def test_a_heavy_bin_stays_alone_and_costs_the_others_no_cuts(place: int) -> None:
    mass = np.ones(24)
    mass[place] = 1000
    cuts = even_cuts(mass, 7)
    assert {place - 1, place} & set(range(23)) <= set(cuts)
    groups = np.split(mass, np.array(cuts) + 1)
    assert max(group.sum() for group in groups if 1000 not in group) <= 6


def test_no_mass_at_all_is_divided_evenly() -> None:
    assert even_cuts(np.zeros(9), 2) == even_cuts(np.ones(9), 2)


def test_smoothing_follows_the_noise() -> None:
    generator = np.random.default_rng(2)
    truth = 300 * np.exp(-0.5 * ((np.arange(60) - 30) / 8) ** 2)
    noisy = truth + generator.laplace(0, 60, 60)
    assert ((smoothed(noisy, 7200.0) - truth) ** 2).sum() < ((noisy - truth) ** 2).sum() / 4
    clear = np.round(truth)
    assert np.allclose(smoothed(clear, 1e-9), clear)


def test_what_stands_out_is_left_alone() -> None:
    counts = np.full(30, 50.0)
    counts[[0, 17]] = 4000
    assert smoothed(counts, 100.0) == pytest.approx(counts)


def test_estimates_are_not_negative() -> None:
    assert smoothed(np.array([-50.0, -20, 3, -90]), 1000.0).min() >= 0
