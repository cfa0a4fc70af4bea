"""Cut points: the points of each rule, and the faults of explicit ones."""

from __future__ import annotations

import math

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from redveil.schema.cuts import (
    METHODS,
    CutRule,
    Method,
    default_rule,
    default_smallest,
    faults,
)

bounds = st.tuples(
    st.floats(-1e12, 1e12, allow_nan=False), st.floats(-1e12, 1e12, allow_nan=False)
).filter(lambda pair: pair[0] < pair[1])


@given(bounds, st.sampled_from(METHODS), st.integers(2, 255))
def test_every_rule_gives_increasing_points_within_the_bounds(
    limits: tuple[float, float], method: Method, count: int
) -> None:
    assume(method != "explicit")
    points = CutRule(method, count).points(*limits)
    assert faults(points, *limits) is None


@given(st.integers(2, 100), st.integers(-1000, 1000), st.integers(1, 1000))
def test_equal_width_gives_one_point_fewer_than_intervals(count: int, low: int, width: int) -> None:
    points = CutRule("equal-width", count).points(low, low + width)
    assert len(points) == count - 1
    assert points == pytest.approx([low + width * i / count for i in range(1, count)])


def test_bounds_too_narrow_for_twelve_digits_give_no_point_twice() -> None:
    points = CutRule("equal-width").points(1e12, 1e12 + 1)
    assert len(points) == len(set(points))


def test_decades() -> None:
    assert CutRule("decades").points(0, 1000) == (0, 1, 2, 5, 10, 20, 50, 100, 200, 500)
    assert CutRule("decades", smallest=100).points(0, 1000) == (0, 100, 200, 500)
    assert CutRule("decades").points(0, 0.05) == (
        *(0, 1e-5, 2e-5, 5e-5, 1e-4, 2e-4, 5e-4, 1e-3, 2e-3, 5e-3, 1e-2, 2e-2),
    )
    assert CutRule("decades").points(15, 60) == (20, 50)


def test_symmetric_decades() -> None:
    assert CutRule("symmetric-decades").points(-20, 10) == (-20, -10, -5, -2, -1, 0, 1, 2, 5)


def test_decades_start_somewhere_even_for_the_smallest_numbers() -> None:
    top = 1e-322
    assert default_smallest(0, top) > 0
    assert faults(CutRule("decades").points(0, top), 0, top) is None


@pytest.mark.parametrize(
    ("low", "high", "integer", "points"),
    [
        (1, 5, True, (1, 2, 3, 4)),
        (0.5, 3.5, True, (1, 2)),
        (0, 64, True, tuple(range(64))),
        (0, 65, True, CutRule("equal-width", 20).points(0, 65)),
        (0, 5, False, CutRule("equal-width", 20).points(0, 5)),
    ],
)
def test_default_rule(low: float, high: float, integer: bool, points: tuple[float, ...]) -> None:  # noqa: FBT001 - a table of cases
    assert default_rule(low, high, integer=integer).points(low, high) == points


def test_integers_that_are_one_double_are_one_cut_point() -> None:
    low, high = 1e17, 1e17 + 48
    points = default_rule(low, high, integer=True).points(low, high)
    assert points == (1e17, 1e17 + 16, 1e17 + 32)
    assert faults(points, low, high) is None


@pytest.mark.parametrize(
    ("values", "what"),
    [
        ([], None),
        ([0, 5, 9.5], None),
        ([math.nan], "a cut point is not a finite number"),
        ([1, math.inf], "a cut point is not a finite number"),
        ([3, 2], "cut points are not strictly increasing"),
        ([2, 2], "cut points are not strictly increasing"),
        ([-1, 2], "a cut point lies outside the bounds"),
        ([2, 10], "a cut point lies outside the bounds"),
    ],
)
def test_faults(values: list[float], what: str | None) -> None:
    fault = faults(values, 0, 10)
    if what is None:
        assert fault is None
    else:
        assert fault is not None
        assert fault.startswith(what)
