"""Scores of pairs of trees against exact fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracle import walk as by_hand
from oracle.walk import Table
from redveil.kernels.pair_score import association_units, pair_units
from redveil.trees.scores import ASSOCIATION, GRID_BITS, PAIR_PURITY

few = settings(max_examples=80, deadline=None)
UNIT = Fraction(1, 2**GRID_BITS)
small = st.integers(0, 9)
# Squares of these leave 32 bits; in grid units they need nearly all of 64.
large = st.integers(0, 3) | st.integers(10**6, 10**7)


def tables(
    count: st.SearchStrategy[int], height: int = 4, width: int = 4
) -> st.SearchStrategy[Table]:
    """Tables of up to height × width counts."""
    return st.integers(1, width).flatmap(
        lambda columns: st.lists(
            st.lists(count, min_size=columns, max_size=columns), min_size=1, max_size=height
        )
    )


@st.composite
def pairs(draw: st.DrawFn, count: st.SearchStrategy[int]) -> tuple[Table, Table, int]:
    """Classes by leaves of the first tree, leaves by leaves, and how many entities there are."""
    leaves, classes = draw(st.integers(1, 4)), draw(st.integers(1, 3))
    table, by_class = (
        draw(st.lists(st.lists(count, min_size=w, max_size=w), min_size=h, max_size=h))
        for h, w in ((leaves, leaves), (leaves, classes))
    )
    most = max(sum(map(sum, table)), sum(map(sum, by_class)))
    return by_class, table, most + draw(st.integers(0, 3))


def array(table: Table) -> np.ndarray[tuple[int, int], np.dtype[np.int64]]:
    return np.array(table, np.int64)


@few
@given(tables(small), st.integers(0, 20))
def test_association_is_what_fractions_say(table: Table, bits: int) -> None:
    assert association_units(array(table), bits) == by_hand.association_units(table, bits)


@few
@given(tables(large))
def test_large_tables_are_scored_as_fractions_are(table: Table) -> None:
    assert association_units(array(table), GRID_BITS) == by_hand.association_units(table, GRID_BITS)


@few
@given(tables(small) | tables(large))
def test_association_is_within_its_rounding(table: Table) -> None:
    # One-sided errors: h rows and w columns lose up to a unit each, the last term gains one.
    grid = Fraction(int(association_units(array(table), GRID_BITS)), 2**ASSOCIATION.grid_bits)
    lines = len(table) + len(table[0])
    error = grid - by_hand.association(table)
    assert -lines * UNIT / 2 < error < UNIT / 2


@few
@given(tables(small))
def test_association_is_the_same_in_both_directions(table: Table) -> None:
    turned = array(by_hand.turned(table))
    assert association_units(array(table), GRID_BITS) == association_units(turned, GRID_BITS)


def test_independent_trees_have_no_association_and_equal_ones_the_most() -> None:
    unit = 2**ASSOCIATION.grid_bits
    assert association_units(array([[2, 4], [4, 8]]), GRID_BITS) == pytest.approx(0, abs=4)
    assert association_units(array([[8, 0], [0, 8]]), GRID_BITS) == 8 * unit
    assert association_units(array([[0, 0], [0, 5]]), GRID_BITS) == 0
    assert association_units(array([[0, 0], [0, 0]]), GRID_BITS) == 0


def test_rows_columns_and_the_last_term_are_rounded_on_their_own() -> None:
    # Rows and columns hold 5/3 each, the last term 18/6 twice: 4·1 − 6, not floor(20/3) − 6.
    assert association_units(array([[2, 1], [1, 2]]), 0) == 4 - 6
    # 2, 5/3, 9/4 + 1/4 and 1, less (4 + 9 + 16 + 1)/5: 2 + 1 + 2 + 1 − 6.
    assert association_units(array([[2, 0], [2, 1]]), 0) == 0


@pytest.mark.parametrize("n", [46_341, 2**24 + 1, 10**8 + 7, 10**9])
def test_huge_tables_do_not_overflow(n: int) -> None:
    table = [[n, 1], [3, n // 3]]
    assert association_units(array(table), GRID_BITS) == by_hand.association_units(table, GRID_BITS)


@few
@given(pairs(small), st.integers(0, 16))
def test_pair_purity_is_the_nearest_unit(case: tuple[Table, Table, int], bits: int) -> None:
    by_class, table, entities = case
    found = int(pair_units(array(by_class), array(table), entities, bits))
    assert abs(found - by_hand.pair_share(by_class, table, entities, bits)) <= Fraction(1, 2)
    assert found == by_hand.pair_units(by_class, table, entities, bits)


@few
@given(pairs(large))
def test_large_pairs_err_as_little_as_the_proof_allows(case: tuple[Table, Table, int]) -> None:
    by_class, table, entities = case
    found = int(pair_units(array(by_class), array(table), entities, GRID_BITS))
    exact = by_hand.pair_share(by_class, table, entities, GRID_BITS)
    # Half a unit, and doubles that err by less than N · 2^-50.
    slack = Fraction(max(entities, 1), 2 ** (50 - GRID_BITS))
    assert abs(found - exact) <= Fraction(1, 2) + slack


@few
@given(pairs(small))
def test_pair_purity_is_the_published_score_times_n(case: tuple[Table, Table, int]) -> None:
    by_class, table, entities = case
    found = int(pair_units(array(by_class), array(table), entities, PAIR_PURITY.grid_bits))
    exact = by_hand.pair_purity(by_class, table, entities)
    # Every leaf of either tree loses less than a unit, with slopes of at most 1 and ½.
    most = len(by_class) + Fraction(len(table), 2) + Fraction(1, 2)
    assert -most * UNIT <= found * UNIT - exact <= UNIT / 2


def test_no_entities_score_zero() -> None:
    assert pair_units(array([[0]]), array([[0]]), 0, GRID_BITS) == 0
    assert pair_units(array([[0]]), array([[0]]), 5, GRID_BITS) == 0


def test_two_perfect_trees_score_the_number_of_entities() -> None:
    assert pair_units(array([[3, 0], [0, 4]]), array([[3, 0], [0, 4]]), 7, 12) == 7 << 12
    # Stuck entities are missing from the sum, not from N: 7 · (9 + 7) / 18.
    assert pair_units(array([[3, 0], [0, 4]]), array([[3, 0], [0, 4]]), 9, 0) == 6
