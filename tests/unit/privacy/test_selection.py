from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mpmath import mp

from redveil.errors import PlanError
from redveil.privacy.selection import decide_exactly, draw
from support.seeded import ScriptedRandomness, SeededRandomness


def exact_choice(units: list[int], rate: Fraction, base: list[int], word: int) -> int:
    """Invert the cumulative law at a 64-bit uniform number, with 200 digits."""
    with mp.workdps(200):
        step = mp.mpf(rate.numerator) / rate.denominator
        top = max(u for u, b in zip(units, base, strict=True) if b)
        weights = [b * mp.exp(-step * (top - u)) for u, b in zip(units, base, strict=True)]
        threshold = (mp.mpf(word) + mp.mpf("0.5")) / 2**64 * mp.fsum(weights)
        total = mp.mpf(0)
        for index, weight in enumerate(weights):
            total += weight
            if threshold < total:
                return index
    raise AssertionError("unreachable")


laws = st.integers(1, 12).flatmap(
    lambda n: st.tuples(
        st.lists(st.integers(-(2**20), 2**20), min_size=n, max_size=n),
        st.fractions(min_value=Fraction(1, 10**6), max_value=1),
        st.lists(st.integers(0, 3), min_size=n, max_size=n).filter(any),
        st.integers(0, 2**64 - 1),
    )
)


@given(laws)
def test_the_fast_draw_inverts_the_exact_law(
    law: tuple[list[int], Fraction, list[int], int],
) -> None:
    units, rate, base, word = law
    source = ScriptedRandomness(word, 2**63, 2**63, 2**63)
    drawn = draw(np.array(units), rate, np.array(base), source)
    assert drawn == exact_choice(units, rate, base, word)


@given(laws)
def test_the_exact_decision_agrees_with_the_exact_law(
    law: tuple[list[int], Fraction, list[int], int],
) -> None:
    units, rate, base, word = law
    top = max(u for u, b in zip(units, base, strict=True) if b)
    source = ScriptedRandomness(2**63, 2**63, 2**63, 2**63)
    drawn = decide_exactly(top - np.array(units), rate, np.array(base), word, source)
    assert drawn == exact_choice(units, rate, base, word)


def test_a_draw_on_a_boundary_is_continued_with_fresh_bits() -> None:
    # Two equal weights: the boundary is at 2^63, where the first word cannot decide in floating
    # point; the words that follow do not matter, for the number is already past the boundary.
    even = np.array([0, 0]), Fraction(1), np.array([1, 1])
    assert draw(*even, ScriptedRandomness(2**63, 0)) == 1
    assert draw(*even, ScriptedRandomness(2**63 - 1, 2**64 - 1)) == 0


def test_three_even_candidates_need_more_bits_at_a_third() -> None:
    third = 2**64 // 3  # 0101…01: the word that straddles the boundary at 1/3
    even = np.array([0, 0, 0]), Fraction(1), np.array([1, 1, 1])
    assert draw(*even, ScriptedRandomness(third, 0)) == 0
    assert draw(*even, ScriptedRandomness(third, 2**64 - 1)) == 1


def test_an_excluded_candidate_is_never_drawn_however_good() -> None:
    source = SeededRandomness(3)
    drawn = {
        draw(np.array([10**9, 0, 1]), Fraction(1), np.array([0, 1, 1]), source) for _ in range(99)
    }
    assert drawn == {1, 2}


def test_hopeless_candidates_do_not_disturb_the_others() -> None:
    units = np.array([0, 2**40, 2**40])
    source = SeededRandomness(4)
    drawn = [draw(units, Fraction(1), np.array([1, 1, 1]), source) for _ in range(400)]
    assert set(drawn) == {1, 2}


@pytest.mark.parametrize("base", [[0, 0], [-1, 2], [2**53, 1]])
def test_an_impossible_base_measure_is_refused(base: list[int]) -> None:
    with pytest.raises(PlanError):
        draw(np.array([1, 2]), Fraction(1), np.array(base), SeededRandomness())
