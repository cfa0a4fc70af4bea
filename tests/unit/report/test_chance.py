"""The Jaccard index by chance, against sets drawn at random, and where people see it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from redveil.report.chance import jaccard_by_chance
from redveil.report.html import fragment
from support.results import document, redescription


@pytest.mark.parametrize(("left", "right"), [(500, 500), (900, 800), (100, 700), (30, 40)])
def test_unrelated_sets_overlap_as_much_on_average(left: int, right: int) -> None:
    generator, size = np.random.default_rng(1), 1_000
    found = []
    for _ in range(400):
        one, other = generator.permutation(size)[:left], generator.permutation(size)[:right]
        both = len(np.intersect1d(one, other))
        found.append(both / (left + right - both))
    assert np.mean(found) == pytest.approx(jaccard_by_chance(left, right, size), abs=0.005)


@given(st.floats(-10, 1e6), st.floats(-10, 1e6), st.floats(-10, 1e6))
def test_noisy_sizes_give_a_share_too(left: float, right: float, entities: float) -> None:
    assert 0 <= jaccard_by_chance(left, right, entities) <= 1
    assert jaccard_by_chance(left, right, entities) == jaccard_by_chance(right, left, entities)


def test_notebooks_show_it_too() -> None:
    page = fragment(document(redescription()))
    assert "by chance" in page
    assert ">0.03<" in page
