"""The exact draw of a whole tree against the law inverted with many digits."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mpmath import mp

from redveil.errors import PlanError
from redveil.privacy.selection import settle
from redveil.privacy.two_level_selection import (
    TwoLevelBase,
    decide_root_exactly,
    draw_two_level,
    root_boundaries,
    root_error,
    root_weights,
)
from support.seeded import ScriptedRandomness, SeededRandomness

HALF = 2**63


@dataclass(frozen=True)
class Case:
    """A law over trees as plain lists: units[root][side][choice]."""

    units: list[list[list[int]]]
    rate: Fraction
    root: list[int]
    below: list[int]
    open: list[list[list[bool]]]

    @property
    def base(self) -> TwoLevelBase:
        return TwoLevelBase(np.array(self.root), np.array(self.below), np.array(self.open))

    @property
    def array(self) -> np.ndarray:
        return np.array(self.units, np.int64)

    def weights(self, root: int, side: int) -> list[Any]:
        """Return the weights of the choices on a side, not normalised."""
        step = mp.mpf(self.rate.numerator) / self.rate.denominator
        listed = zip(self.units[root][side], self.below, self.open[root][side], strict=True)
        return [b * mp.exp(step * u) if may else mp.mpf(0) for u, b, may in listed]

    def roots(self) -> list[Any]:
        return [
            own * mp.fsum(self.weights(r, 0)) * mp.fsum(self.weights(r, 1))
            for r, own in enumerate(self.root)
        ]

    def best(self, root: int) -> int:
        """Return the units of the best tree with a root."""
        sides = zip(self.units[root], self.open[root], strict=True)
        return sum(
            max(u for u, may in zip(units, open_, strict=True) if may) for units, open_ in sides
        )

    def scaled_roots(self) -> list[Any]:
        """Return the roots' weights divided by the weight of the best tree's score."""
        true_weights = self.roots()
        top = max(self.best(root) for root, weight in enumerate(true_weights) if weight)
        scale = mp.exp(-mp.mpf(self.rate.numerator) / self.rate.denominator * top)
        return [weight * scale for weight in true_weights]


def inverted(weights: list[Any], word: int) -> int:
    """Return the index that a uniform number selects, half-way between two numbers of 64 bits."""
    threshold = (mp.mpf(word) + mp.mpf("0.5")) / 2**64 * mp.fsum(weights)
    for index in range(len(weights)):
        if threshold < mp.fsum(weights[: index + 1]):
            return index
    raise AssertionError("unreachable")


@st.composite
def cases(draw: st.DrawFn, most: int = 2**20) -> Case:
    roots, choices = draw(st.integers(1, 5)), draw(st.integers(1, 4))

    def per_choice(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
        row = st.lists(values, min_size=choices, max_size=choices)
        sides = st.lists(row, min_size=2, max_size=2)
        return st.lists(sides, min_size=roots, max_size=roots)

    root = draw(st.lists(st.integers(0, 3), min_size=roots, max_size=roots).filter(any))
    may = draw(per_choice(st.booleans()))
    certain = next(r for r, own in enumerate(root) if own)
    may[certain][0][0] = may[certain][1][-1] = True
    return Case(
        draw(per_choice(st.integers(-most, most))),
        draw(st.fractions(min_value=Fraction(1, 10**6), max_value=1)),
        root,
        draw(st.lists(st.integers(1, 3), min_size=choices, max_size=choices)),
        may,
    )


words = st.integers(0, 2**64 - 1)


@given(cases() | cases(most=20), words)
def test_the_draw_inverts_the_exact_law(case: Case, word: int) -> None:
    with mp.workdps(200):
        root = inverted(case.roots(), word)
        below = [inverted(case.weights(root, side), HALF) for side in range(2)]
    source = ScriptedRandomness(word, *[HALF] * 12)
    assert draw_two_level(case.array, case.rate, case.base, source) == (root, *below)


@given(cases() | cases(most=20), words)
def test_the_exact_decision_agrees_with_the_exact_law(case: Case, word: int) -> None:
    with mp.workdps(200):
        root = inverted(case.roots(), word)
    source = ScriptedRandomness(*[HALF] * 12)
    assert decide_root_exactly(case.array, case.rate, case.base, word, source) == root


@given(cases() | cases(most=20))
def test_doubles_are_off_by_less_than_the_slack(case: Case) -> None:
    found = root_weights(case.array, case.rate, case.base)
    with mp.workdps(200):
        true_weights = case.scaled_roots()
        off = mp.fsum(abs(mp.mpf(f) - e) for f, e in zip(found.tolist(), true_weights, strict=True))
        assert off <= root_error(len(case.below)) * mp.mpf(2) ** -52 * mp.fsum(true_weights)


@given(cases(most=20), st.integers(0, 12))
def test_boundaries_enclose_the_exact_weights_however_coarse(case: Case, precision: int) -> None:
    with mp.workdps(200):
        true_weights = case.scaled_roots()
        listed = list(root_boundaries(case.array, case.rate, case.base, precision))
        assert [root for root, _, _ in listed] == [
            r for r, weight in enumerate(true_weights) if weight
        ]
        rounding = mp.mpf(10) ** -150  # of the 200 digits; exact boundaries leave it no room
        for root, low, high in listed:
            true = mp.fsum(true_weights[: root + 1]) * 2**precision
            assert low - rounding <= true <= high + rounding


def test_boundaries_are_rounded_outwards() -> None:
    # e^-0.7 is 0.497, in halves between 0 and 1: the sums are between 2 and 3 halves and the weight
    # is between 2 and 4.5 halves. It is 4.48, more than 4.
    case = Case([[[0, -70], [0, -70]]], Fraction(1, 100), [1], [1, 1], [[[True, True]] * 2])
    assert list(root_boundaries(case.array, case.rate, case.base, 1)) == [(0, 2, 5)]


def test_the_digits_after_the_first_word_decide_at_a_boundary() -> None:
    # The boundary between the roots is the irrational share of sums of exponentials.
    case = Case(
        [[[0, 3, 1], [2, 2, 0]], [[1, 1, 2], [0, 4, 1]]],
        Fraction(1, 3),
        [2, 1],
        [1, 2, 1],
        [[[True] * 3] * 2] * 2,
    )
    with mp.workdps(100):
        first, second = case.roots()
        place = int(mp.floor(first / (first + second) * 2**128))
    word, following = divmod(place, 2**64)
    assert settle(root_weights(case.array, case.rate, case.base), root_error(3), word) is None
    for more, root in ((following - 1, 0), (following + 1, 1)):
        source = ScriptedRandomness(word, more, HALF, HALF, HALF)
        assert draw_two_level(case.array, case.rate, case.base, source)[0] == root


EVEN = [[[0, 0], [0, 0]]] * 3
ALL = [[[True, True], [True, True]]] * 3


@pytest.mark.parametrize(("more", "root"), [(0, 0), (2**64 - 1, 1)])
def test_three_even_roots_need_more_bits_at_a_third(more: int, root: int) -> None:
    case = Case(EVEN, Fraction(1), [1, 1, 1], [1, 1], ALL)
    source = ScriptedRandomness(2**64 // 3, more, 0, 0)
    assert draw_two_level(case.array, case.rate, case.base, source) == (root, 0, 0)


def test_a_root_whose_weight_vanishes_in_doubles_keeps_its_share_of_the_law() -> None:
    # e^-800 is about 2^-1154: no double, but a number that starts with 1 216 zeros is below it.
    units = [[[-800, -800], [0, 0]], EVEN[0], EVEN[0]]
    case = Case(units, Fraction(1), [1, 1, 1], [1, 1], ALL)
    assert root_weights(case.array, case.rate, case.base)[0] == 0.0
    below_it = ScriptedRandomness(*[0] * 19, HALF, HALF)
    assert draw_two_level(case.array, case.rate, case.base, below_it)[0] == 0
    above_it = ScriptedRandomness(*[0] * 17, 1, HALF, HALF)
    assert draw_two_level(case.array, case.rate, case.base, above_it)[0] == 1


def test_scores_of_any_size_do_not_overflow() -> None:
    units = [[[2**50, -(2**50)], [2**50, 0]], [[0, -(2**60)], [2**60, 0]], EVEN[0]]
    case = Case(units, Fraction(1), [2**53 - 1] * 3, [2**53 - 1] * 2, ALL)
    source = SeededRandomness(2)
    drawn = {draw_two_level(case.array, case.rate, case.base, source) for _ in range(50)}
    assert drawn == {(1, 0, 0)}


def test_an_excluded_choice_is_never_drawn_however_good() -> None:
    units = [[[9**9, 0], [9**9, 0]], [[9**9, 9**9], [9**9, 9**9]], [[0, 9**9], [0, 0]]]
    # The first root allows the second choice only; the second is excluded; the third allows
    # nothing where its split does not hold.
    may = [[[False, True], [False, True]], ALL[0], [[True, True], [False, False]]]
    case = Case(units, Fraction(1), [1, 0, 1], [1, 1], may)
    source = SeededRandomness(3)
    drawn = {draw_two_level(case.array, case.rate, case.base, source) for _ in range(50)}
    assert drawn == {(0, 1, 1)}


@pytest.mark.parametrize(
    ("root", "below", "may"),
    [
        ([0, 0, 0], [1, 1], ALL),
        ([1, 1, -1], [1, 1], ALL),
        ([1, 1, 2**53], [1, 1], ALL),
        ([1, 1, 1], [1, 0], ALL),
        ([1, 1, 1], [1, 2**53], ALL),
        ([1, 1, 1], [1, 1], [[[True, True], [False, False]]] * 3),
        ([1, 1], [1, 1], ALL),
        ([1, 1, 1], [1, 1, 1], ALL),
        ([1, 1, 1], [1, 1], [one[:1] for one in ALL]),
    ],
)
def test_an_impossible_base_measure_is_refused(
    root: list[int], below: list[int], may: list[list[list[bool]]]
) -> None:
    with pytest.raises(PlanError):
        TwoLevelBase(np.array(root), np.array(below), np.array(may))
