"""Splits below splits against counting entities one by one."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from oracle.binning import bins_of
from oracle.splits import splits_of
from oracle.two_level import below_units
from oracle.walk import Candidates, candidates
from redveil.counting.split_sets import split_sets
from redveil.data.binning import bin_view
from redveil.kernels.subtree import SplitSets
from redveil.kernels.two_level import two_level_units
from redveil.schema import View
from redveil.trees.splits import Splits
from strategies.arrays import row_counts, spread
from strategies.schemas import view_columns, views
from strategies.walks import entity_counts, offers, packed_sets, sets_array
from support.prepared import counts_by_class

few = settings(max_examples=40, deadline=None)
grids = st.sampled_from((12, 0, 3))


def expected(view: Candidates, target: list[int], grid_bits: int) -> list[list[list[int]]]:
    """Return what every split scores on either side of every split, and then the leaf alone."""
    below = [*range(len(view.holds)), None]
    return [
        [
            [below_units(view, target, (root, held), split, grid_bits) for split in below]
            for held in (True, False)
        ]
        for root in range(len(view.holds))
    ]


def check(
    sets: SplitSets, view: Candidates, target: list[int], classes: int, grid_bits: int
) -> None:
    labels = np.array(target, np.int32)
    units = two_level_units(counts_by_class(sets, labels, classes), grid_bits)
    assert units.dtype == np.int64
    assert units.tolist() == expected(view, target, grid_bits)


@few
@given(st.data(), entity_counts, st.integers(1, 4), grids)
def test_every_pair_of_splits_is_scored_as_by_hand(
    data: st.DataObject, rows: int, classes: int, grid_bits: int
) -> None:
    view = data.draw(offers(rows))
    target = data.draw(spread(st.integers(-1, classes - 1), rows))
    check(sets_array(view, rows), view, target, classes, grid_bits)


@few
@given(st.data(), views(), row_counts, st.integers(1, 3))
def test_booleans_numbers_and_categories_are_scored_as_by_hand(
    data: st.DataObject, view: View, rows: int, classes: int
) -> None:
    columns = data.draw(view_columns(view, rows))
    target = data.draw(spread(st.integers(-1, classes - 1), rows))
    runs = [(one.attribute, min(one.holds), max(one.holds)) for one in splits_of(view)]
    by_hand = candidates([bins_of(columns[a.name], a) for a in view.attributes], runs)
    sets = split_sets(bin_view(columns, view, rows), Splits.of(view))
    check(sets, by_hand, target, classes, 12)


@pytest.mark.parametrize("splits", [1, 3, 4, 35])
def test_more_splits_than_a_tile_holds(splits: int) -> None:
    # Known values change from split to split, at the tiles' edges too, or stay for a while.
    generator, rows = np.random.default_rng(splits), 70
    everyone = frozenset(range(rows))
    some = [everyone, *(frozenset(np.flatnonzero(generator.random(rows) < 0.8)) for _ in range(3))]
    known = [some[n] for n in np.repeat(generator.integers(0, 4, splits), 3)[:splits]]
    view = Candidates(
        tuple(one & frozenset(np.flatnonzero(generator.random(rows) < 0.4)) for one in known),
        tuple(known),
        (range(splits),),
    )
    target = generator.integers(-1, 3, rows).tolist()
    check(sets_array(view, rows), view, target, 3, 12)


def test_each_leaf_is_rounded_on_its_own() -> None:
    # The first split holds for six entities and the second divides them into 2:1 and 1:2. Both
    # leaves hold 5/3: twice floor(5/3) is 2, although 10/3 rounds down to 3.
    both = packed_sets([range(6), range(3)], 6)
    sets = SplitSets(
        both, packed_sets([range(6)], 6), np.zeros(2, np.int32), np.array([0, 1, 2], np.int32)
    )
    target = np.array([0, 0, 1, 0, 1, 1], np.int32)
    assert two_level_units(counts_by_class(sets, target, 2), 0)[0].tolist() == [
        [3, 2, 3],
        [0, 0, 0],
    ]


def test_the_two_orders_of_a_pair_have_the_same_four_leaves() -> None:
    generator = np.random.default_rng(8)
    holds: NDArray[np.uint64] = generator.integers(0, 2**64, (5, 3), dtype=np.uint64)
    everyone = np.full((1, 3), 2**64 - 1, np.uint64)
    sets = SplitSets(holds, everyone, np.zeros(5, np.int32), np.arange(6, dtype=np.int32))
    target = generator.integers(0, 3, 192).astype(np.int32)
    units = two_level_units(counts_by_class(sets, target, 3), 12)
    for i, j in product(range(5), repeat=2):
        assert units[i, :, j].sum() == units[j, :, i].sum()
