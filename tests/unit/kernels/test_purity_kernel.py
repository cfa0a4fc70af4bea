"""Purity in grid units against exact fractions."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from oracle.purity import gini, purity, sides, units
from redveil.kernels.purity import purity_units
from redveil.trees.scores import SPLIT_GINI

Table = list[list[int]]  # class counts of each bin, at one node, for one attribute
Run = tuple[int, int, int]  # attribute, first and last bin for which a split holds

# Squares of these leave 32 bits; in grid units they need nearly all of 64.
big_counts = st.integers(0, 3) | st.integers(10**6, 10**7)


@st.composite
def scored(
    draw: st.DrawFn, count: st.SearchStrategy[int]
) -> tuple[list[list[Table]], list[Run], int]:
    """Counts by attribute and node, splits on them, and the number of classes."""
    bins = draw(st.lists(st.integers(1, 4), min_size=1, max_size=3))
    nodes, classes = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    row = st.lists(count, min_size=classes, max_size=classes)
    table = [[[draw(row) for _ in range(b)] for _ in range(nodes)] for b in bins]
    runs = [
        (a, low, high) for a, b in enumerate(bins) for low in range(b) for high in range(low, b)
    ]
    return table, draw(st.lists(st.sampled_from(runs), max_size=6)), classes


def score(
    tables: list[list[Table]],
    runs: list[Run],
    classes: int,
    bits: int,
    kind: type[np.integer[Any]] = np.int64,
) -> NDArray[np.int64]:
    """Call the kernel on tables[attribute][node], with counts of some type."""
    nodes = len(tables[0])
    rows = [
        [n for node in range(nodes) for n in of[node][b]]
        for of in tables
        for b in range(len(of[0]))
    ]
    attribute, low, high = (np.array([run[i] for run in runs], np.int32) for i in range(3))
    return purity_units(
        np.array(rows, kind).reshape(len(rows), nodes * classes),
        np.cumsum([0, *(len(of[0]) for of in tables)], dtype=np.int64),
        low,
        high,
        attribute,
        nodes,
        classes,
        bits,
    )


def expect(tables: list[list[Table]], runs: list[Run], bits: int) -> list[list[int]]:
    """Score each node and split by fractions."""
    return [
        [units(tables[a][node], low, high, bits) for a, low, high in runs]
        for node in range(len(tables[0]))
    ]


@settings(max_examples=60, deadline=None)
@given(scored(st.integers(0, 9)), st.integers(0, 20))
def test_small_counts_score_as_fractions_do(
    case: tuple[list[list[Table]], list[Run], int], bits: int
) -> None:
    tables, runs, classes = case
    result = score(tables, runs, classes, bits)
    assert result.dtype == np.int64
    assert result.shape == (len(tables[0]), len(runs))
    assert result.tolist() == expect(tables, runs, bits)


@settings(max_examples=60, deadline=None)
@given(scored(big_counts))
def test_large_counts_do_not_overflow(case: tuple[list[list[Table]], list[Run], int]) -> None:
    tables, runs, classes = case
    result = score(tables, runs, classes, SPLIT_GINI.grid_bits)
    assert result.tolist() == expect(tables, runs, SPLIT_GINI.grid_bits)


@pytest.mark.parametrize("n", [46_340, 46_341, 65_536, 2**24 + 1, 47_453_132, 10**8, 10**9, 2**31])
def test_one_huge_class_is_as_pure_as_it_is_large(n: int) -> None:
    tables = [[[[n, 0], [0, 1]]]]
    result = score(tables, [(0, 0, 0)], 2, SPLIT_GINI.grid_bits)
    assert result.tolist() == [[(n + 1) << SPLIT_GINI.grid_bits]]


@pytest.mark.parametrize("n", [10**7 - 1, 10**8 - 1, 8 * 10**8 + 7])
def test_huge_uneven_classes_are_rounded_down_exactly(n: int) -> None:
    tables = [[[[n, n - 1, 3], [n // 3, 1, n // 7]]]]
    result = score(tables, [(0, 0, 0), (0, 0, 1)], 3, SPLIT_GINI.grid_bits)
    assert result.tolist() == expect(tables, [(0, 0, 0), (0, 0, 1)], SPLIT_GINI.grid_bits)


@pytest.mark.parametrize("few", [1, 35, 350])
def test_a_hair_below_a_grid_line_is_rounded_down(few: int) -> None:
    # With n = 2^13·few² + 1, the exact score is 2^12·(n − 2·few) + 1 − 1/n units: for large n,
    # floating point would round it up.
    n = 2**13 * few**2 + 1
    tables = [[[[few, n - few], [0, 0]]]]
    assert score(tables, [(0, 0, 0)], 2, 12).tolist() == [[2**12 * (n - 2 * few)]]
    assert expect(tables, [(0, 0, 0)], 12) == [[2**12 * (n - 2 * few)]]


@settings(max_examples=40, deadline=None)
@given(scored(big_counts))
def test_short_counts_score_as_long_ones_do(
    case: tuple[list[list[Table]], list[Run], int],
) -> None:
    tables, runs, classes = case
    wide = score(tables, runs, classes, SPLIT_GINI.grid_bits)
    for kind in (np.uint32, np.uint64):
        assert (score(tables, runs, classes, SPLIT_GINI.grid_bits, kind) == wide).all()
    few = [[[[n % 2**16 for n in row] for row in table] for table in of] for of in tables]
    short = score(few, runs, classes, SPLIT_GINI.grid_bits, np.uint16)
    assert short.tolist() == expect(few, runs, SPLIT_GINI.grid_bits)


def test_an_empty_node_scores_nothing() -> None:
    assert score([[[[0, 0], [0, 0]]]], [(0, 0, 0)], 2, SPLIT_GINI.grid_bits).tolist() == [[0]]


def test_each_side_is_rounded_on_its_own() -> None:
    # Both sides hold 5/3: twice floor(5/3) is 2, although 10/3 rounds down to 3.
    assert score([[[[2, 1], [2, 1]]]], [(0, 0, 0)], 2, 0).tolist() == [[2]]


def test_255_bins_are_summed_from_the_first_to_the_last() -> None:
    table = [[b % 5, (b * b) % 7] for b in range(255)]
    runs = [(0, 0, high) for high in range(254)] + [(0, b, b) for b in (0, 127, 128, 254)]
    assert score([[table]], runs, 2, 12).tolist() == expect([[table]], runs, 12)


@settings(max_examples=60, deadline=None)
@given(scored(big_counts))
def test_the_score_orders_splits_as_gini_does(
    case: tuple[list[list[Table]], list[Run], int],
) -> None:
    tables, runs, classes = case
    result = score(tables, runs, classes, SPLIT_GINI.grid_bits)
    for node in range(len(tables[0])):
        for s, (a, low, high) in enumerate(runs):
            both = sides(tables[a][node], low, high)
            n = sum(map(sum, both))
            exact = n - sum((sum(side) * gini(side) for side in both), Fraction(0))
            assert exact == sum(purity(side) for side in both)
            grid = Fraction(int(result[node, s]), 2**SPLIT_GINI.grid_bits)
            assert exact - Fraction(2, 2**SPLIT_GINI.grid_bits) < grid <= exact
