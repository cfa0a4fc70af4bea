"""The widths of the scores of twin trees: never exceeded, and approached at both ends.

Changes are in units of each score's grid. A change may exceed an end of the proof's interval by
the rounding that is paid for: twice `Score.rounding`.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cache, partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from redveil.algorithms.twin import RootScore
from redveil.counting.joint import count_jointly
from redveil.counting.split_sets import split_sets
from redveil.growing.twin import BY_AGREEMENT, BY_CORRESPONDENCE, BY_LEVERAGE, Matching
from redveil.kernels.joint import JointCounts, agreement_units
from redveil.losses.score import Score
from redveil.schema import Attribute, Kind, View
from redveil.trees.scores import agreement
from support.tiny import Tiny

Answer = bool | None
Entity = tuple[Answer, Answer]  # what it answers to the left split and to the right one
Pair = tuple[int, int]  # units of the two orientations
Composition = tuple[int, ...]  # how many entities of each kind

THREE: tuple[Answer, ...] = (True, False, None)
ENTITIES: tuple[Entity, ...] = tuple(itertools.product(THREE, THREE))
AGREEMENTS = {
    halves: Matching(agreement(halves), partial(agreement_units, halves=halves))
    for halves in (2, 4)
} | {1: BY_AGREEMENT}
MATCHINGS = (BY_CORRESPONDENCE, BY_LEVERAGE, *AGREEMENTS.values())
by_name = pytest.mark.parametrize("matching", MATCHINGS, ids=lambda one: one.score.name)


def ends(matching: Matching) -> tuple[Fraction, Fraction]:
    """Return the ends of the interval of changes that the proofs state."""
    if matching is BY_CORRESPONDENCE:
        return Fraction(-1), Fraction(2)
    if matching is BY_LEVERAGE:
        return Fraction(-1), Fraction(1)
    [halves] = [halves for halves, one in AGREEMENTS.items() if one is matching]
    return -Fraction(halves, 2), Fraction(1)


def in_units(value: Fraction, score: Score) -> Fraction:
    return value * (1 << score.grid_bits)


def allowed(matching: Matching) -> tuple[Fraction, Fraction]:
    """Return the interval that holds every change, rounding included."""
    score, (low, high) = matching.score, ends(matching)
    return (
        in_units(low - 2 * score.rounding, score),
        in_units(high + 2 * score.rounding, score),
    )


def counts_of(composition: Composition) -> JointCounts:
    """Return the joint counts of one pair of splits."""
    of = dict(zip(ENTITIES, composition, strict=True))

    def count(lefts: Sequence[Answer], rights: Sequence[Answer]) -> int:
        return sum(of[entity] for entity in itertools.product(lefts, rights))

    holds, known = (True,), (True, False)
    return JointCounts(
        np.array([[count(holds, holds)]]),
        np.array([[count(holds, THREE), count(holds, known)]]),
        np.array([[count(THREE, holds)], [count(known, holds)]]),
        np.array(
            [
                [count(THREE, THREE), count(THREE, known)],
                [count(known, THREE), count(known, known)],
            ]
        ),
        np.array([1], np.int32),
        np.array([1], np.int32),
    )


@cache
def units(matching: Matching, composition: Composition) -> Pair:
    first, second = matching.units(counts_of(composition)).ravel().tolist()
    return first, second


def with_one_more(composition: Composition, kind: int) -> Composition:
    return (*composition[:kind], composition[kind] + 1, *composition[kind + 1 :])


def changes(matching: Matching, composition: Composition) -> Iterator[int]:
    """Yield how both orientations change for a newcomer of every kind."""
    before = units(matching, composition)
    for kind in range(len(ENTITIES)):
        after = units(matching, with_one_more(composition, kind))
        yield from (new - old for old, new in zip(before, after, strict=True))


def compositions(size: int) -> Iterator[Composition]:
    """Yield every composition of a number of entities by the nine kinds."""
    for members in itertools.combinations_with_replacement(range(len(ENTITIES)), size):
        times = Counter(members)
        yield tuple(times[kind] for kind in range(len(ENTITIES)))


@by_name
def test_the_ends_are_as_far_apart_as_the_score_says(matching: Matching) -> None:
    score, (low, high) = matching.score, ends(matching)
    assert high - low == score.change
    assert allowed(matching)[1] - allowed(matching)[0] == in_units(score.width, score)
    assert score.monotone is False


def test_twins_grow_by_the_scores_that_are_tested_here() -> None:
    assert {score.matching for score in RootScore} <= set(MATCHINGS)


@by_name
def test_no_small_table_moves_further_than_its_width(matching: Matching) -> None:
    low, high = allowed(matching)
    widest = in_units(matching.score.width, matching.score)
    for size in range(6):
        # Candidates share the number of entities; their compositions are their own.
        found = {change for one in compositions(size) for change in changes(matching, one)}
        assert low <= min(found)
        assert max(found) <= high
        assert max(found) - min(found) <= widest


@pytest.mark.parametrize("halves", [1, 2, 4])
def test_agreement_changes_as_the_proof_says(halves: int) -> None:
    matching = AGREEMENTS[halves]
    found = {change for one in compositions(4) for change in changes(matching, one)}
    assert found == {-halves, 0, 2}


def test_correspondence_reaches_both_ends_of_its_interval() -> None:
    """The coefficients 2 and −1 are whole numbers of grid units, so nothing is lost."""
    low, high = allowed(BY_CORRESPONDENCE)
    found = [
        change
        for size in range(5)
        for one in compositions(size)
        for change in changes(BY_CORRESPONDENCE, one)
    ]
    assert low == min(found)
    assert high == max(found)
    assert high - low == in_units(BY_CORRESPONDENCE.score.width, BY_CORRESPONDENCE.score)


larger_compositions = st.tuples(*[st.integers(0, 3) | st.integers(0, 3000)] * len(ENTITIES))


@by_name
@given(composition=larger_compositions)
def test_no_larger_table_moves_further(matching: Matching, composition: Composition) -> None:
    low, high = allowed(matching)
    found = list(changes(matching, composition))
    assert low <= min(found)
    assert max(found) <= high


def leverages(composition: Composition) -> tuple[Fraction, Fraction]:
    """Return the leverage of both orientations, not rounded."""
    of, size = dict(zip(ENTITIES, composition, strict=True)), max(sum(composition), 1)
    held = sum(of[True, right] for right in THREE)
    first, second = (
        of[True, right] - Fraction(held * sum(of[left, right] for left in THREE), size)
        for right in (True, False)
    )
    return first, second


@given(composition=larger_compositions)
def test_rounding_moves_leverage_by_no_more_than_is_paid_for(composition: Composition) -> None:
    before, grid = units(BY_LEVERAGE, composition), 1 << BY_LEVERAGE.score.grid_bits
    for kind in range(len(ENTITIES)):
        more = with_one_more(composition, kind)
        after, true = units(BY_LEVERAGE, more), leverages(more)
        for place, old in enumerate(leverages(composition)):
            change = Fraction(after[place] - before[place], grid)
            # Both values of a change are rounded.
            assert abs(change - (true[place] - old)) <= 2 * BY_LEVERAGE.score.rounding


def composed(**times: int) -> Composition:
    """Return a composition by the splits' answers: y, n or m (missing), left then right."""
    letters: dict[str, Answer] = {"y": True, "n": False, "m": None}
    kinds = {(letters[name[0]], letters[name[1]]): count for name, count in times.items()}
    return tuple(kinds.get(entity, 0) for entity in ENTITIES)


N = 1000


@pytest.mark.parametrize(
    ("composition", "newcomer", "orientation", "end"),
    [
        (composed(nn=N), (True, True), 0, 1),  # on both sides, where no other is
        (composed(yy=N), (False, False), 0, 1),  # on neither, where all others are on both
        (composed(ny=N), (True, False), 0, -1),  # on the left alone
        (composed(ny=N), (True, None), 0, -1),
        (composed(yn=N), (False, True), 0, -1),  # on the right alone
        (composed(ny=N), (True, False), 1, 1),  # crossed: the right side is the opposite one
        (composed(yn=N), (False, True), 1, 1),
        (composed(yn=N), (None, None), 1, 1),
        (composed(nn=N), (True, True), 1, -1),
        (composed(nn=N), (True, None), 1, -1),
        (composed(yy=N), (False, False), 1, -1),
    ],
)
def test_leverage_comes_close_to_both_ends(
    composition: Composition, newcomer: Entity, orientation: int, end: int
) -> None:
    after = with_one_more(composition, ENTITIES.index(newcomer))
    change = units(BY_LEVERAGE, after)[orientation] - units(BY_LEVERAGE, composition)[orientation]
    share = change / in_units(Fraction(end), BY_LEVERAGE.score)
    assert Fraction(998, 1000) < share <= 1


def test_few_entities_get_as_far_as_n_of_n_plus_1() -> None:
    # The proof's own bound is a little sharper than the interval that is paid for.
    grid = 1 << BY_LEVERAGE.score.grid_bits
    for size in range(1, 5):
        found = {change for one in compositions(size) for change in changes(BY_LEVERAGE, one)}
        furthest = max(map(abs, found))
        assert abs(furthest - Fraction(size, size + 1) * grid) <= 1


# A left and a right view of two flags each: the newcomer raises one pair and lowers the other.
FLAGS = View("flags", "id", (Attribute("a", Kind.BOOLEAN), Attribute("b", Kind.BOOLEAN)))


def scores(
    matching: Matching, left: Sequence[Sequence[int]], right: Sequence[Sequence[int]]
) -> NDArray[np.int64]:
    """Return all scores by the real sets and counts, as a flat array of units."""
    sets = [
        split_sets(tiny.packed, tiny.splits) for tiny in (Tiny(FLAGS, left), Tiny(FLAGS, right))
    ]
    return matching.units(count_jointly(sets[0], sets[1])).ravel()


# The values of 1000 entities and of the newcomer for two left flags and two right flags.
OPPOSED = {
    # Pair a: true for the newcomer only. Pair b: left true for it only, right for all others.
    "leverage": (([0] * N, 1), ([0] * N, 1), ([0] * N, 1), ([1] * N, 0)),
    # Pair a: the newcomer joins the smaller side. Pair b: it disagrees where all others agree.
    "agreement": (
        ([0] * 900 + [1] * 100, 1),
        ([0] * 500 + [1] * 500, 1),
        ([0] * 900 + [1] * 100, 1),
        ([0] * 500 + [1] * 500, 0),
    ),
    # Pair a: the newcomer joins the smaller side of two that are the same. Pair b: halves match.
    "correspondence": (
        ([0] * 900 + [1] * 100, 1),
        ([0] * 500 + [1] * 500, 1),
        ([0] * 900 + [1] * 100, 1),
        ([0] * 500 + [1] * 500, 0),
    ),
}


@by_name
def test_one_newcomer_can_move_two_candidates_to_both_ends(matching: Matching) -> None:
    a, b, c, d = OPPOSED[matching.score.name.split()[0]]
    before = scores(matching, [a[0], b[0]], [c[0], d[0]])
    left, right = ([[*one[0], one[1]] for one in pair] for pair in ((a, b), (c, d)))
    change = scores(matching, left, right) - before
    spread = Fraction(int(change.max() - change.min()), 1 << matching.score.grid_bits)
    assert Fraction(99, 100) * matching.score.change < spread <= matching.score.width
    # A choice at price 1 then moves the odds of the two by nearly e.
    rate = matching.score.rate(Fraction(1))
    odds = math.exp(float(rate * int(change.max() - change.min())))
    assert 0.985 * math.e < odds <= math.e
