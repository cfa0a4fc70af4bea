"""Ranking, and dropping what has been said already."""

from __future__ import annotations

import itertools
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from redveil.mining.estimate import Fit
from redveil.mining.pruning import pruned_by_support, similarity, without_redundancy
from redveil.mining.query import Literal, Or, Query
from redveil.mining.redescription import Interval, Redescription

some = settings(max_examples=30, deadline=None)
NUMBERS = itertools.count()
SUPPORT = Interval(100.0, 90.0, 110.0)


def one(
    low: float,
    cells: tuple[tuple[int, ...], tuple[int, ...]] = ((0,), (0,)),
    *,
    table: int = 0,
    left: Query | None = None,
    right: Query | None = None,
    estimate: float | None = None,
    support: Interval = SUPPORT,
) -> Redescription:
    """A redescription with the parts that pruning looks at; its words are its own if not given."""
    middle = low if estimate is None else estimate
    return Redescription(
        left or Literal(f"l{next(NUMBERS)}", "<=", 1),
        right or Literal(f"r{next(NUMBERS)}", "<=", 1),
        Interval(middle, low, 1.0),
        support,
        support,
        support,
        0.001,
        0.0001,
        table,
        *cells,
    )


def fit_of(cells: np.ndarray | list[list[float]]) -> Fit:
    return Fit(np.array(cells, dtype=np.float64), 1.0, 1.0, 1.0, 1.0)


APART = fit_of([[100, 0, 0], [0, 100, 0], [0, 0, 100]])
FIRST, SECOND, THIRD = ((0,), (0,)), ((1,), (1,)), ((2,), (2,))


def test_the_highest_lower_bound_comes_first_whatever_the_estimate() -> None:
    sure = one(0.6, FIRST, estimate=0.65)
    lucky = one(0.2, SECOND, estimate=0.9)
    middling = one(0.4, THIRD, estimate=0.7)
    assert without_redundancy([lucky, middling, sure], [APART]) == (sure, middling, lucky)


def test_of_equal_bounds_the_shorter_wording_comes_first() -> None:
    wordy = Or((Literal("a", "<=", 1), Literal("b", "<=", 1)))
    long, short = one(0.5, FIRST, left=wordy), one(0.5, SECOND, left=Literal("z", "<=", 1))
    assert without_redundancy([long, short], [APART]) == (short, long)


def test_the_same_words_about_two_tables_are_printed_once() -> None:
    left, right = Literal("a", "<=", 1), Literal("b", ">", 2)
    better = one(0.6, table=1, left=left, right=right)
    worse = one(0.5, table=0, left=left, right=right)
    half_the_words = one(0.4, table=0, left=left)
    kept = without_redundancy([worse, half_the_words, better], [APART, APART])
    assert kept == (better, half_the_words)


def test_tables_are_compared_by_wording_only() -> None:
    here, there = one(0.6, table=0), one(0.5, table=1)
    assert without_redundancy([here, there], [APART, APART]) == (here, there)


@pytest.mark.parametrize(("shared", "is_kept"), [(79, True), (80, False), (99, False)])
def test_extents_that_share_four_fifths_say_the_same(shared: int, is_kept: bool) -> None:  # noqa: FBT001
    table = fit_of([[shared, 0], [100 - shared, 50]])
    wide, narrow = one(0.7, ((0, 1), (0,))), one(0.6, ((0,), (0,)))
    assert similarity(wide, narrow, table) == pytest.approx(shared / 100)
    assert (narrow in without_redundancy([narrow, wide], [table])) is is_kept


def test_what_was_dropped_drops_nothing() -> None:
    # Each is like its neighbour, but the first and the last are not alike.
    table = fit_of([[15], [70], [15]])
    first, middle, last = (
        one(0.9, ((0, 1), (0,))),
        one(0.8, ((0, 1, 2), (0,))),
        one(0.7, ((1, 2), (0,))),
    )
    assert similarity(first, middle, table) == similarity(middle, last, table) == 0.85
    assert without_redundancy([first, middle, last], [table]) == (first, last)
    assert without_redundancy([middle, last], [table]) == (middle,)


def test_without_estimates_only_the_wording_counts() -> None:
    left, right = Literal("a", "<=", 1), Literal("b", ">", 2)
    twice = [one(0.6, FIRST, left=left, right=right), one(0.5, SECOND, left=left, right=right)]
    alike = one(0.4, FIRST)
    assert without_redundancy([*twice, alike], []) == (twice[0], alike)


@pytest.mark.parametrize(
    ("threshold", "kept"),
    [(None, "abcd"), (0, "abcd"), (50, "abc"), (50.5, "ab"), (1e9, ""), ("auto", "ac")],
)
def test_small_supports_are_pruned(threshold: float | str | None, kept: str) -> None:
    intervals = {
        "a": Interval(100.0, 90.0, 110.0),
        "b": Interval(100.0, 0.0, 900.0),
        "c": Interval(50.0, 0.5, 60.0),
        "d": Interval(2.0, 0.0, 6.0),
    }
    found = {name: one(0.5, support=interval) for name, interval in intervals.items()}
    remain, pruned = pruned_by_support(found.values(), threshold)
    assert remain == [found[name] for name in kept]
    assert pruned == [found[name] for name in "abcd" if name not in kept]


def test_nothing_in_nothing_out() -> None:
    assert without_redundancy([], []) == ()


@some
@given(st.data(), arrays(np.int64, (3, 4), elements=st.integers(-3, 6)))
def test_similarity_is_that_of_sets_of_people(data: st.DataObject, cells: np.ndarray) -> None:
    rows = st.sets(st.integers(0, 2), min_size=1).map(lambda s: tuple(sorted(s)))
    columns = st.sets(st.integers(0, 3), min_size=1).map(lambda s: tuple(sorted(s)))
    pair = [data.draw(st.tuples(rows, columns)) for _ in range(2)]
    # A negative count is noise: nobody is there.
    covered = [
        {(i, j, k) for i in left for j in right for k in range(cells[i, j])} for left, right in pair
    ]
    either = len(covered[0] | covered[1])
    expected = len(covered[0] & covered[1]) / either if either else 1.0
    found = [one(0.5, cells) for cells in pair]
    assert similarity(found[0], found[1], fit_of(cells)) == pytest.approx(expected)
    assert similarity(found[1], found[0], fit_of(cells)) == pytest.approx(expected)


@some
@given(st.data(), st.lists(st.floats(0, 1), max_size=8, unique=True))
def test_what_is_kept_is_ranked_and_unlike(data: st.DataObject, bounds: list[float]) -> None:
    cells = st.tuples(
        st.sets(st.integers(0, 2), min_size=1).map(tuple),
        st.sets(st.integers(0, 1), min_size=1).map(tuple),
    )
    fits = [fit_of([[40, 3], [2, 50], [9, 9]]), fit_of([[5, 40], [40, 5], [1, 0]])]
    found = [one(low, data.draw(cells), table=data.draw(st.integers(0, 1))) for low in bounds]
    kept = without_redundancy(found, fits)
    shuffled = Random(1).sample(found, len(found))
    assert without_redundancy(shuffled, fits) == kept, "the order of the input matters"
    assert without_redundancy(kept, fits) == kept
    assert [r.jaccard.low for r in kept] == sorted((r.jaccard.low for r in kept), reverse=True)
    for r in found:
        rivals = [k for k in kept if k.table == r.table and k.jaccard.low > r.jaccard.low]
        alike = any(similarity(r, k, fits[r.table]) >= 0.8 for k in rivals)
        assert (r in kept) is not alike
