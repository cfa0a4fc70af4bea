"""What is released of a pair of trees, and how noisy it is."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from oracle.leaf_table import laplace_variance
from redveil.algorithms.leaf_counts import Counts, count_leaves, table_steps
from redveil.findings.leaf_table import LeafTable, Prices, noise_variance
from redveil.losses.plan import Plan, StepKey, StepKind
from redveil.privacy.purse import Purse
from redveil.schema import Side
from redveil.sealed import Receipt, Released
from redveil.trees.tree import Tree
from support.prepared import prepared
from support.seeded import SeededRandomness
from support.tiny import Tiny, tiny_view

TREES = Tree(Side.LEFT, (0,)), Tree(Side.RIGHT, (0, 1, None))
PAID = Receipt(StepKey(StepKind.TREE), "choose", Fraction(1))


class PartByPart(SeededRandomness):
    """Adds 100 to the part that is measured first, 200 to the second, 300 to the third."""

    def __init__(self) -> None:
        super().__init__()
        self._noise = 0

    def laplace(self, _epsilon: Fraction, count: int) -> NDArray[np.int64]:
        self._noise += 100
        return np.full(count, self._noise)


def counted(counts: Counts) -> LeafTable:
    """Measure six entities, one in the first cell, two in the second, three in the last."""
    plan = Plan(Fraction(1), tuple(table_steps(counts, 1, 1, Fraction(1))))
    purse = Purse(plan.price)
    purse.commit(plan)
    # Ends in the order of a tree's leaves: 1, 2 on the left; 2, 3, 4 on the right.
    flags = [[1, 1, 1, 0, 0, 0]], [[0, 1, 1, 1, 1, 1], [0, 1, 1, 0, 0, 0]]
    data = prepared(*(Tiny(tiny_view(len(each), 1), [*each, [0] * 6]) for each in flags))
    left, right = (Released(tree, (PAID,)) for tree in TREES)
    grown = {Side.LEFT: left, Side.RIGHT: right}
    released = count_leaves(data, grown, counts, 1, 1, purse, PartByPart())
    purse.close()
    return released.value


def test_a_table_is_put_together_from_its_parts() -> None:
    assert [tree.ends for tree in TREES] == [(1, 2), (2, 3, 4)]
    table = counted(Counts.LEAST_SQUARES)
    assert (table.left, table.right) == TREES
    assert table.cells.tolist() == [[101, 102, 100], [100, 100, 103]]
    assert table.left_margin is not None
    assert table.left_margin.tolist() == [203, 203]
    assert table.right_margin is not None
    assert table.right_margin.tolist() == [301, 302, 303]
    assert table.prices == Prices(Fraction(1, 2), Fraction(1, 4), Fraction(1, 4))


def test_the_right_margin_may_be_left_out() -> None:
    table = counted(Counts.TWO_PASS)
    assert table.right_margin is None
    assert table.prices == Prices(Fraction(1, 2), Fraction(1, 2), None)


def test_cells_alone_make_a_table() -> None:
    table = counted(Counts.CELLS)
    assert table.cells.tolist() == [[101, 102, 100], [100, 100, 103]]
    assert (table.left_margin, table.right_margin) == (None, None)
    assert table.prices == Prices(Fraction(1)) == Prices(Fraction(1), None, None)


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
