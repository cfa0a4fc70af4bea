"""What is released of a pair of trees, and how noisy it is."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracle.leaf_table import laplace_variance
from redveil.findings.leaf_table import LeafTable, noise_variance
from redveil.schema import Side
from redveil.trees.tree import Tree

TREES = Tree(Side.LEFT, (0,)), Tree(Side.RIGHT, (0, 1, None))


def test_a_table_is_put_together_from_its_parts() -> None:
    parts = {
        "right margin": np.array([7, 8, 9]),
        "cells": np.arange(6),
        "left margin": np.array([1, 2]),
    }
    prices = {name: Fraction(1, 2 + n) for n, name in enumerate(parts)}
    table = LeafTable.of(*TREES, (2, 3), parts, prices)
    assert (table.left, table.right) == TREES
    assert table.cells.tolist() == [[0, 1, 2], [3, 4, 5]]
    assert table.left_margin is not None
    assert table.left_margin.tolist() == [1, 2]
    assert table.right_margin is not None
    assert table.right_margin.tolist() == [7, 8, 9]
    assert table.right_price == Fraction(1, 2)
    assert table.cells_price == Fraction(1, 3)
    assert table.left_price == Fraction(1, 4)


def test_the_right_margin_may_be_left_out() -> None:
    parts = {"cells": np.arange(6), "left margin": np.array([1, 2])}
    table = LeafTable.of(*TREES, (2, 3), parts, dict.fromkeys(parts, Fraction(1)))
    assert table.right_margin is None
    assert table.right_price is None


def test_cells_alone_make_a_table() -> None:
    table = LeafTable.of(*TREES, (2, 3), {"cells": np.arange(6)}, {"cells": Fraction(1, 3)})
    assert table.cells.tolist() == [[0, 1, 2], [3, 4, 5]]
    assert table.cells_price == Fraction(1, 3)
    assert (table.left_margin, table.right_margin) == (None, None)
    assert (table.left_price, table.right_price) == (None, None)


@given(st.fractions(Fraction(1, 40), Fraction(40), max_denominator=1000))
def test_a_quarter_is_added_to_the_noise_law_s_variance(epsilon: Fraction) -> None:
    assert noise_variance(epsilon) - 0.25 == pytest.approx(
        laplace_variance(epsilon), rel=1e-9, abs=1e-12
    )


@pytest.mark.parametrize("digits", [6, 9, 12, 15])
def test_the_variance_keeps_its_digits_at_tiny_prices(digits: int) -> None:
    # 2/ε² − 1/6 up to ε² / 120; the price of a run's smallest step is about 1e-13.
    epsilon = Fraction(1, 10**digits)
    assert noise_variance(epsilon) == pytest.approx(float(2 / epsilon**2), rel=1e-9)
