"""One split replaced, against sending every entity down again."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from oracle.binning import bins_of
from oracle.splits import splits_of
from oracle.walk import (
    Candidates,
    Splits,
    candidates,
    leaves,
    purity_units,
    reached,
    tabulate,
)
from redveil.counting import split_sets as sets_of_view
from redveil.data.binning import bin_view
from redveil.kernels.subtree import (
    first_leaf_below,
    keep,
    label_sets,
    purity_of_leaves,
    recount,
    spread,
)
from redveil.schema import View
from redveil.trees.splits import Splits as ViewSplits
from strategies import arrays
from strategies.schemas import view_columns, views
from strategies.walks import entity_counts, full_trees, offers, packed_sets, sets_array, trees_inner

few = settings(max_examples=60, deadline=None)
GARBAGE = np.uint64(2**64 - 1)


@dataclass(frozen=True)
class Replacement:
    """A tree, and one of its splits replaced."""

    view: Candidates
    rows: int
    before: Splits
    node: int
    split: int

    @property
    def after(self) -> Splits:
        return (*self.before[: self.node], self.split, *self.before[self.node + 1 :])

    @property
    def below(self) -> list[int]:
        """The replaced node and everything under it."""
        found = [self.node]
        for node in found:
            found += [n for n in (2 * node + 1, 2 * node + 2) if n <= 2 * len(self.before)]
        return found

    def reach(self, splits: Splits) -> NDArray[np.uint64]:
        return packed_sets(reached(splits, self.view, self.rows), self.rows)

    def leaves(self, splits: Splits) -> list[int]:
        return leaves(splits, self.view, self.rows)

    def half_done(self) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
        """Return reach and fresh as `spread` leaves them; fresh is not valid elsewhere."""
        old, new = self.reach(self.before), self.reach(self.after)
        fresh = np.full_like(new, GARBAGE)
        fresh[self.below] = new[self.below]
        return old, fresh


@st.composite
def replacements(draw: st.DrawFn) -> Replacement:
    rows, inner = draw(entity_counts), draw(trees_inner)
    view = draw(offers(rows))
    node, split = draw(st.integers(0, inner - 1)), draw(st.integers(0, len(view.holds) - 1))
    return Replacement(view, rows, draw(full_trees(view, inner)), node, split)


@few
@given(replacements())
def test_entities_spread_below_the_new_split(case: Replacement) -> None:
    old, expected = case.half_done()
    fresh = np.full_like(old, GARBAGE)
    before = np.array(case.before, np.int32)
    spread(case.node, case.split, before, sets_array(case.view, case.rows), old, fresh)
    assert fresh.tolist() == expected.tolist()
    assert old.tolist() == case.reach(case.before).tolist()
    assert before.tolist() == list(case.before)


@few
@given(st.data(), replacements(), st.integers(1, 4))
def test_the_leaves_below_a_new_split_are_counted_again(
    data: st.DataObject, case: Replacement, labels: int
) -> None:
    old, fresh = case.half_done()
    label = data.draw(arrays.spread(st.integers(-1, labels - 1), case.rows))
    sets = label_sets(np.array(label, np.int32), labels, fresh.shape[1])
    was, now, inner = case.leaves(case.before), case.leaves(case.after), len(case.before)
    counts = np.array(tabulate(was, label, inner + 1, labels), np.int64)
    recount(case.node, inner, fresh, sets, counts.T)
    assert counts.tolist() == tabulate(now, label, inner + 1, labels)
    # A proposal changes counts only; it may yet be refused.
    assert old.tolist() == case.reach(case.before).tolist()


@few
@given(replacements())
def test_what_is_kept_is_the_new_tree(case: Replacement) -> None:
    old, fresh = case.half_done()
    keep(case.node, old, fresh)
    assert old.tolist() == case.reach(case.after).tolist()


@pytest.mark.parametrize("inner", [1, 3, 7, 15])
def test_the_leaves_below_a_node_are_those_whose_path_meets_it(inner: int) -> None:
    def path(node: int) -> list[int]:
        return [node] if node == 0 else [node, *path((node - 1) // 2)]

    for node in range(2 * inner + 1):
        below = [leaf for leaf in range(inner, 2 * inner + 1) if node in path(leaf)]
        assert first_leaf_below(node, inner) == (below[0], below[-1])
        assert below == list(range(below[0], below[-1] + 1))


@st.composite
def leaf_counts(draw: st.DrawFn) -> list[list[int]]:
    classes = draw(st.integers(1, 3))
    count = st.integers(0, 9) | st.integers(10**6, 10**7)
    row = st.lists(count, min_size=classes, max_size=classes)
    return draw(st.lists(row, min_size=1, max_size=8))


@few
@given(st.data(), leaf_counts(), st.integers(0, 20), st.sampled_from((0, 1, 4096)))
def test_leaves_are_as_pure_as_fractions_say(
    data: st.DataObject, table: list[list[int]], bits: int, cost: int
) -> None:
    first, last = sorted(data.draw(st.integers(0, len(table) - 1)) for _ in range(2))
    found = purity_of_leaves(first, last, np.array(table, np.int64), bits, cost)
    assert found == purity_units(table[first : last + 1], bits, cost)


def test_each_leaf_is_rounded_on_its_own() -> None:
    # Both leaves hold 5/3: twice floor(5/3) is 2, although 10/3 rounds down to 3.
    assert purity_of_leaves(0, 1, np.array([[2, 1], [2, 1]]), 0, 0) == 2
    # Three entities in each, at a cost of one unit.
    assert purity_of_leaves(0, 1, np.array([[2, 1], [2, 1]]), 0, 1) == 2 - 6


@few
@given(st.data(), views(), arrays.row_counts)
def test_a_view_s_splits_become_the_sets_they_hold_for(
    data: st.DataObject, view: View, rows: int
) -> None:
    columns = data.draw(view_columns(view, rows))
    runs = [(one.attribute, min(one.holds), max(one.holds)) for one in splits_of(view)]
    expected = candidates([bins_of(columns[a.name], a) for a in view.attributes], runs)
    sets = sets_of_view.split_sets(bin_view(columns, view, rows), ViewSplits.of(view))
    assert sets.holds.tolist() == packed_sets(expected.holds, rows).tolist()
    assert sets.known[sets.known_row].tolist() == packed_sets(expected.known, rows).tolist()
    starts = [offered.start for offered in expected.of_attribute]
    assert sets.first_split.tolist() == [*starts, len(runs)]
    assert sets.first_split.dtype == sets.known_row.dtype == np.int32


@given(arrays.row_counts)
def test_the_set_of_all_entities_contains_every_entity(rows: int) -> None:
    assert sets_of_view.all_entities(rows).tolist() == packed_sets([range(rows)], rows)[0].tolist()
