"""Joint counts and the scores computed from them, against sets of entities and exact fractions."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from oracle import joint
from oracle.binning import bins_of
from oracle.splits import splits_of
from oracle.walk import Candidates, candidates
from redveil.counting.joint import FEWEST_WORD_PAIRS_FOR_THREADS, count_jointly
from redveil.counting.split_sets import split_sets
from redveil.data.binning import bin_view
from redveil.data.table import Column
from redveil.kernels.joint import (
    BLOCK_RIGHTS,
    BLOCK_WORDS,
    TILE_LEFTS,
    JointCounts,
    agreement_units,
    correspondence_units,
    joint_counts,
    leverage_units,
)
from redveil.kernels.subtree import SplitSets
from redveil.schema import View
from redveil.trees.scores import GRID_BITS
from redveil.trees.scores.correspondence import SHARES, piece, pieces
from redveil.trees.splits import Splits
from strategies.arrays import row_counts, spread
from strategies.schemas import view_columns, views
from strategies.walks import packed
from support.compiled import compiled_only
from support.prepared import among

some = settings(max_examples=40, deadline=None)
grids = st.sampled_from((12, 0, 1, 20))
halves = st.sampled_from((1, 2, 4, 3, 0))
Offers = tuple[SplitSets, Candidates]
Case = tuple[Offers, Offers, list[int], int]


def offers(view: View, columns: Mapping[str, Column], rows: int) -> Offers:
    """Return a view's splits, as the package packs them and as sets."""
    values = [bins_of(columns[a.name], a) for a in view.attributes]
    runs = [(one.attribute, min(one.holds), max(one.holds)) for one in splits_of(view)]
    sets = split_sets(bin_view(columns, view, rows), Splits.of(view))
    return sets, candidates(values, runs)


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """Two small views of any kinds, with missing values, and some of their entities."""
    rows = draw(row_counts)
    both = [
        offers(view, draw(view_columns(view, rows)), rows)
        for view in (draw(views("left", most=2)), draw(views("right", most=2)))
    ]
    inside = draw(spread(st.booleans(), rows) | st.just([True] * rows))
    return both[0], both[1], [entity for entity in range(rows) if inside[entity]], rows


def counted(case: Case) -> JointCounts:
    (left, _), (right, _), members, rows = case
    inside = np.array(packed(members, rows), np.uint64)
    return count_jointly(among(left, inside), among(right, inside))


@some
@given(cases())
def test_counts_are_the_sizes_of_sets(case: Case) -> None:
    (_, left), (_, right), entities, _ = case
    counts, members = counted(case), frozenset(entities)
    assert all(part.dtype == np.int64 for part in counts[:4])
    assert counts.known[0, 0] == len(members)
    for i, one in enumerate(left.holds):
        row = counts.left_row[i]
        assert counts.left_known[i, 0] == len(one & members)
        for j, other in enumerate(right.holds):
            column = counts.right_row[j]
            known = left.known[i] & members, right.known[j] & members
            assert counts.both[i, j] == len(one & other & members)
            assert counts.left_known[i, column] == len(one & known[1])
            assert counts.right_known[row, j] == len(known[0] & other)
            assert counts.right_known[0, j] == len(other & members)
            assert counts.known[row, column] == len(known[0] & known[1])
            assert counts.known[0, column] == len(known[1])
            assert counts.known[row, 0] == len(known[0])


@some
@given(cases(), grids)
def test_leverage_is_that_of_sets(case: Case, bits: int) -> None:
    (_, left), (_, right), members, _ = case
    units = leverage_units(counted(case), bits)
    expected = joint.candidate_units(left, right, members, joint.leverage_units(bits))
    assert units.dtype == np.int64
    assert units.tolist() == expected


@some
@given(cases(), halves)
def test_agreement_is_that_of_sets(case: Case, cost: int) -> None:
    (_, left), (_, right), members, _ = case
    units = agreement_units(counted(case), cost)
    expected = joint.candidate_units(left, right, members, joint.agreement_units(cost))
    assert units.dtype == np.int64
    assert units.tolist() == expected


@some
@given(cases())
def test_correspondence_is_that_of_sets(case: Case) -> None:
    (_, left), (_, right), members, _ = case
    units = correspondence_units(counted(case), pieces())
    score = joint.correspondence_units(GRID_BITS, SHARES)
    expected = joint.candidate_units(left, right, members, score)
    assert units.dtype == np.int64
    assert units.tolist() == expected


@some
@given(*[st.integers(0, 200)] * 4)
def test_correspondence_is_within_a_unit_an_entity_of_exact_fractions(
    both: int, only_left: int, only_right: int, neither: int
) -> None:
    size = both + only_left + only_right + neither
    units = correspondence_units(one_pair(both, only_left, only_right, neither), pieces())
    for found, first, second in (
        (units[0, 0, 0], both, neither),
        (units[1, 0, 0], only_left, only_right),
    ):
        rest, exact = size - first - second, list[Fraction]()
        for share in (Fraction(k, SHARES) for k in range(SHARES + 1)):
            x, y, z = piece(share)
            exact.append(x * first + y * second + z * rest)
            # A positive multiple of the leverage and of how far the share is off both sides'.
            product = (1 - share) ** 2 * first + share**2 * second - share * (1 - share) * rest
            assert (exact[-1] > 0, exact[-1] < 0) == (product > 0, product < 0) or share in (0, 1)
        assert abs(Fraction(int(found), 2**GRID_BITS) - min(exact)) <= Fraction(size, 2**GRID_BITS)


def random_sets(sets: int, words: int, seed: int) -> NDArray[np.uint64]:
    """Return sets with few members, among them the first and last entity of every block."""
    generator = np.random.default_rng(seed)
    flags = generator.random((sets, words * 64)) < 0.01
    for begin in range(0, words, BLOCK_WORDS):
        flags[:, begin * 64] = True
        flags[:, min(begin + BLOCK_WORDS, words) * 64 - 1] = True
    return np.array([packed(np.flatnonzero(row).tolist(), words * 64) for row in flags], np.uint64)


@pytest.mark.parametrize(
    "words", [BLOCK_WORDS - 1, BLOCK_WORDS, BLOCK_WORDS + 1, 2 * BLOCK_WORDS + 3]
)
def test_sets_longer_than_a_block_are_counted_to_their_end(words: int) -> None:
    left, right = random_sets(2, words, 1), random_sets(3, words, 2)
    counts = np.full((2, 3), -7, np.int64)
    joint_counts(left, right, counts)
    expected = np.bitwise_count(left[:, None, :] & right[None, :, :]).sum(axis=2, dtype=np.int64)
    assert counts.tolist() == expected.tolist()
    assert counts.min() >= 2 * math.ceil(words / BLOCK_WORDS)


@pytest.mark.parametrize("lefts", [*range(1, 2 * TILE_LEFTS + 2)])
@pytest.mark.parametrize("rights", [1, 2, 3, BLOCK_RIGHTS, BLOCK_RIGHTS + 1, BLOCK_RIGHTS + 2])
def test_every_pair_is_counted_in_or_beside_a_tile(lefts: int, rights: int) -> None:
    left, right = random_sets(lefts, 3, 1), random_sets(rights, 3, 2)
    counts = np.full((lefts, rights), -7, np.int64)
    joint_counts(left, right, counts)
    expected = np.bitwise_count(left[:, None, :] & right[None, :, :]).sum(axis=2, dtype=np.int64)
    assert counts.tolist() == expected.tolist()


@compiled_only
@pytest.mark.parametrize("lefts", [1, 7, 33])
def test_threads_count_every_pair(lefts: int) -> None:
    words = FEWEST_WORD_PAIRS_FOR_THREADS // (lefts * 5) + 1
    source = np.random.default_rng(3)
    left, right = (
        SplitSets(
            source.integers(0, 2**64, (sets, words), dtype=np.uint64),
            np.full((1, words), 2**64 - 1, np.uint64),
            np.zeros(sets, np.int32),
            np.array([0, sets], np.int32),
        )
        for sets in (lefts, 5)
    )
    counts = count_jointly(left, right)
    for i, one in enumerate(left.holds):
        assert counts.both[i].tolist() == np.bitwise_count(one & right.holds).sum(axis=1).tolist()


def test_words_are_unsigned() -> None:
    everyone = np.full((1, 2), 2**64 - 1, np.uint64)
    last = np.array([[2**63, 0], [0, 2**63], [2**63, 2**63]], np.uint64)
    counts = np.zeros((1, 3), np.int64)
    joint_counts(everyone, last, counts)
    assert counts.tolist() == [[1, 1, 2]]


def test_no_entities_score_nothing() -> None:
    none = np.zeros((2, 0), np.uint64)
    rows = np.array([1], np.int32)
    sets = SplitSets(none[:1], none, rows, np.array([0, 1], np.int32))
    counts = count_jointly(among(sets, none[0]), sets)
    assert leverage_units(counts, 12).tolist() == [[[0]], [[0]]]
    assert agreement_units(counts, 1).tolist() == [[[0]], [[0]]]
    assert correspondence_units(counts, pieces()).tolist() == [[[0]], [[0]]]


def one_pair(both: int, only_left: int, only_right: int, neither: int) -> JointCounts:
    """Return the counts of one pair of splits, every value known."""
    size = both + only_left + only_right + neither
    row = np.zeros(1, np.int32)
    return JointCounts(
        np.array([[both]]),
        np.array([[both + only_left]]),
        np.array([[both + only_right]]),
        np.array([[size]]),
        row,
        row,
    )


millions = st.integers(0, 10**7) | st.integers(9_900_000, 10**7)


@some
@given(millions, millions, millions, millions)
def test_forty_million_entities_do_not_overflow(
    both: int, only_left: int, only_right: int, neither: int
) -> None:
    size = both + only_left + only_right + neither
    counts = one_pair(both, only_left, only_right, neither)
    lefts, rights = both + only_left, both + only_right
    true_scores = [
        both - Fraction(lefts * rights, max(size, 1)),
        only_left - Fraction(lefts * (size - rights), max(size, 1)),
    ]
    units = leverage_units(counts, 12).ravel().tolist()
    assert units == [math.floor(score * 2**12) for score in true_scores]
    assert agreement_units(counts, 1).ravel().tolist() == [
        2 * min(both, neither) - only_left - only_right,
        2 * min(only_left, only_right) - both - neither,
    ]
    found = correspondence_units(counts, pieces()).ravel().tolist()
    matched = (both, neither), (only_left, only_right)
    assert found == [
        min(x * a + y * b + z * (size - a - b) for x, y, z in pieces().tolist()) for a, b in matched
    ]


def test_below_0_is_rounded_down_too() -> None:
    # m − a·b / n is −1/3 uncrossed and 1/3 crossed.
    counts = one_pair(0, 1, 1, 1)
    assert leverage_units(counts, 0).ravel().tolist() == [-1, 0]
    assert leverage_units(counts, 4).ravel().tolist() == [-6, 5]


def test_perfect_matches_score_all_there_is() -> None:
    straight, crossed = one_pair(30, 0, 0, 70), one_pair(0, 30, 70, 0)
    assert leverage_units(straight, 0).ravel().tolist() == [21, -21]
    assert leverage_units(crossed, 0).ravel().tolist() == [-21, 21]
    assert agreement_units(straight, 2).ravel().tolist() == [60, -200]
    assert agreement_units(crossed, 2).ravel().tolist() == [-200, 60]
    # Twice the smaller side; crossed, nobody is matched.
    assert correspondence_units(straight, pieces()).ravel().tolist() == [60 * 4096, -100 * 4096]
    assert correspondence_units(crossed, pieces()).ravel().tolist() == [-100 * 4096, 60 * 4096]
