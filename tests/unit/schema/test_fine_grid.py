from __future__ import annotations

import math
from itertools import pairwise

import pytest
from hypothesis import given

from redveil.schema import Attribute, Kind
from redveil.schema.cuts import CutRule, faults
from redveil.schema.fine_grid import fine_grid, is_heavy_tailed
from strategies.schemas import attributes


def numeric(minimum: float, maximum: float, *cuts: float) -> Attribute:
    return Attribute("x", Kind.NUMERIC, minimum=minimum, maximum=maximum, cuts=cuts)


@given(attributes("x", [Kind.NUMERIC]))
def test_a_grid_is_made_of_valid_cut_points(attribute: Attribute) -> None:
    grid = fine_grid(attribute)
    assert faults(grid, attribute.minimum, attribute.maximum) is None
    assert {*attribute.cuts, attribute.minimum} <= set(grid)
    assert len(grid) <= 400


@pytest.mark.parametrize(
    ("minimum", "maximum"),
    [
        (0, 5e-324),
        (-5e-324, 1e-320),
        (0, 1e308),
        (-8e307, 8e307),
        (1e300, math.nextafter(1e300, math.inf)),
        (1e6, 1e6 + 1e-9),
        (-1e-3, 0),
    ],
)
def test_odd_bounds_have_a_grid_too(minimum: float, maximum: float) -> None:
    for cuts in ((minimum,), CutRule("decades").points(minimum, maximum)[:200]):
        grid = fine_grid(numeric(minimum, maximum, *cuts))
        assert 1 <= len(grid) <= 500
        assert faults(grid, minimum, maximum) is None


def test_a_heavy_tail_gets_ten_round_numbers_per_power_of_ten() -> None:
    cost = numeric(0, 10_000, *CutRule("decades", smallest=5).points(0, 10_000))
    assert is_heavy_tailed(cost)
    grid = fine_grid(cost)
    assert grid[:5] == (0, 1, 1.2, 1.5, 2)
    assert len([x for x in grid if 100 <= x < 1000]) == 10
    assert max(b / a for a, b in pairwise(grid[1:])) < 1.34


def test_both_sides_of_zero_are_alike() -> None:
    rule = CutRule("symmetric-decades")
    grid = fine_grid(numeric(-1000, 1000, *rule.points(-1000, 1000)))
    assert {-x for x in grid if x > -1000} == set(grid) - {-1000}


def test_other_numbers_get_equal_steps_and_finer_ones_near_zero() -> None:
    payment = numeric(0, 200_000, *CutRule("equal-width").points(0, 200_000))
    assert not is_heavy_tailed(payment)
    grid = fine_grid(payment)
    assert {1.5, 250, 10_000, 12_000, 198_000} <= set(grid)
    widths = [b - a for a, b in pairwise(grid)]
    assert max(widths) == 2000
    assert fine_grid(numeric(0, 110, 50))[-100:] == tuple(range(10, 110))


def test_integers_get_whole_numbers() -> None:
    counts = Attribute("x", Kind.NUMERIC, maximum=5000, cuts=(0, 1, 10, 100), integer=True)
    grid = fine_grid(counts)
    assert grid[:6] == (0, 1, 2, 3, 4, 5)
    assert all(x == int(x) for x in grid)
    assert 1.5 in fine_grid(numeric(0, 5000, 0, 1, 10, 100))


def test_only_numbers_have_tails() -> None:
    assert not is_heavy_tailed(Attribute("sick", Kind.BOOLEAN))
    assert not is_heavy_tailed(numeric(0, 1000, 1))
