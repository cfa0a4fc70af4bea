"""Fisher's test: never below the exact tail, near it where it matters, the same for complements."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracle.fisher import fisher_tail, log_of
from redveil.findings.fisher import fisher_p_value, log_fisher

Cells = tuple[int, int, int, int]


def exact(cells: Cells) -> float:
    """Return the logarithm of the exact p-value of a table (both, only left, only right, rest)."""
    both, only_left, only_right, _ = cells
    return log_of(fisher_tail(both, both + only_left, both + only_right, sum(cells)))


def is_related(cells: Cells) -> bool:
    """Whether there is more overlap than expected."""
    both, only_left, only_right, _ = cells
    return both * sum(cells) > (both + only_left) * (both + only_right)


counts = st.integers(0, 400)
tables = st.tuples(counts, counts, counts, counts)


def test_for_all_small_tables_the_bound_is_not_below_the_exact_tail() -> None:
    everything: list[Cells] = list(itertools.product(range(7), range(7), range(7), range(7)))
    bounds = log_fisher(*np.array(everything).T)
    for cells, bound in zip(everything, bounds.tolist(), strict=True):
        assert bound >= exact(cells) - 1e-9, cells
        assert bound <= 0
        if not is_related(cells):
            assert bound == 0


@settings(max_examples=200, deadline=None)
@given(tables)
def test_the_bound_is_not_below_the_exact_tail(cells: Cells) -> None:
    assert float(log_fisher(*cells)) >= exact(cells) - 1e-7


@settings(max_examples=200, deadline=None)
@given(st.tuples(*[st.integers(1, 400)] * 4).filter(is_related))
def test_where_it_matters_the_bound_is_near_the_exact_tail(cells: Cells) -> None:
    truth, bound = exact(cells), float(log_fisher(*cells))
    if truth < math.log(1e-4):
        assert bound - truth <= math.log(1.6)
    if truth < math.log(1e-20):
        assert bound - truth <= math.log(1.2)


@pytest.mark.parametrize(
    "cells",
    [(300, 40, 30, 600), (600, 30, 40, 300), (900, 20, 15, 65), (50, 5, 5, 5000), (80, 0, 0, 120)],
)
def test_strong_relations_are_within_a_hundredth(cells: Cells) -> None:
    truth, bound = exact(cells), float(log_fisher(*cells))
    assert truth < math.log(1e-30)
    assert 0 <= bound - truth + 1e-9 <= math.log(1.01)


@settings(max_examples=200, deadline=None)
@given(*[st.floats(-20, 1e6)] * 4)
def test_a_pair_and_its_complement_have_the_same_bound(
    both: float, only_left: float, only_right: float, rest: float
) -> None:
    one = float(log_fisher(both, only_left, only_right, rest))
    complement = float(log_fisher(rest, only_right, only_left, both))
    turned = float(log_fisher(both, only_right, only_left, rest))
    assert complement == pytest.approx(one, rel=1e-9, abs=1e-6)
    assert turned == pytest.approx(one, rel=1e-9, abs=1e-6)
    assert one <= 0


@settings(max_examples=150, deadline=None)
@given(st.tuples(*[st.floats(0, 1e5)] * 4), st.floats(0, 1e3))
def test_with_the_same_margins_more_overlap_is_never_less_significant(
    cells: tuple[float, float, float, float], more: float
) -> None:
    both, only_left, only_right, rest = cells
    moved = min(more, only_left, only_right)
    further = log_fisher(both + moved, only_left - moved, only_right - moved, rest + moved)
    assert float(further) <= float(log_fisher(*cells)) + 1e-6


def test_negative_counts_count_as_none() -> None:
    assert log_fisher(30, -5, -2, 70) == log_fisher(30, 0, 0, 70)
    assert log_fisher(-3, 10, 10, 50) == 0
    assert log_fisher(0, 0, 0, 0) == 0


def test_p_values_beyond_what_floats_hold_have_a_logarithm() -> None:
    found = float(log_fisher(50_000, 0, 0, 50_000))
    assert np.exp(found) == 0
    assert found == pytest.approx(-math.log(math.comb(100_000, 50_000)), rel=1e-6)


def test_the_p_value_of_true_counts_is_the_exact_tail() -> None:
    for cells in itertools.product(range(6), range(6), range(6), range(6)):
        both, only_left, only_right, _ = cells
        size = sum(cells)
        counts = both, both + only_left, both + only_right, size
        assert fisher_p_value(*counts) == pytest.approx(float(fisher_tail(*counts)), rel=1e-9)


@settings(max_examples=150, deadline=None)
@given(tables)
def test_so_it_is_for_larger_ones(cells: Cells) -> None:
    both, only_left, only_right, _ = cells
    counts = both, both + only_left, both + only_right, sum(cells)
    exact = float(fisher_tail(*counts))
    assert fisher_p_value(*counts) == pytest.approx(exact, rel=1e-7, abs=1e-300)


@pytest.mark.parametrize("size", [10**6, 2**30])
def test_p_values_of_very_many_entities_are_those_of_the_normal_law(size: int) -> None:
    half, quarter = size // 2, size // 4
    deviation = math.sqrt(size) / 4
    for deviations, chance in ((0, 0.5), (2, 0.02275), (-2, 0.97725)):
        both = quarter + round(deviations * deviation)
        assert fisher_p_value(both, half, half, size) == pytest.approx(chance, rel=0.02)


@pytest.mark.parametrize(
    "cells", [(50_300, 49_700, 49_700, 50_300), (7, 99_993, 1, 99_999), (60_000, 40_000, 0, 9)]
)
def test_many_entities_do_not_drown_a_p_value_in_rounding(cells: Cells) -> None:
    """Factorials of numbers like these have logarithms of millions."""
    both, only_left, only_right, neither = cells
    left, right, size = both + only_left, both + only_right, sum(cells)
    ways = math.comb(left, both) * math.comb(size - left, only_right)
    first = math.log(Fraction(ways, math.comb(size, right)))
    ratio = only_left * only_right / ((both + 1) * (neither + 1))
    bound = min(first - math.log1p(-ratio), 0.0)
    assert float(log_fisher(*cells)) == pytest.approx(bound, rel=1e-12)
