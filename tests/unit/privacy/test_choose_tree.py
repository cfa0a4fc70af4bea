"""`choose_tree`: paid for once, with scores in the shape of the base measure."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from redveil.errors import PlanError, SealedError
from redveil.losses.score import Score
from redveil.privacy.mechanisms import choose_tree
from redveil.privacy.two_level_selection import TwoLevelBase
from redveil.sealed import Receipt, Sealed
from support.prepared import SOME_STEP
from support.seeded import ScriptedRandomness, SeededRandomness

SCORE = Score("toy", Fraction(1), True, 0, Fraction(0), "privacy/choose.md")  # noqa: FBT003
BASE = TwoLevelBase(np.array([1, 1]), np.array([1, 1, 1]), np.ones((2, 2, 3), np.bool_))


def paid(mechanism: str = "choose", epsilon: Fraction = Fraction(1)) -> Receipt:
    """A receipt opens one seal, so every call needs its own."""
    return Receipt(SOME_STEP, mechanism, epsilon)


def test_the_best_tree_is_released_with_its_receipt() -> None:
    units = np.zeros((2, 2, 3), np.int64)
    # Neither of its splits is the best by itself: the tree is chosen as a whole.
    units[1] = [[0, 0, 400], [400, 0, 0]]
    units[0, 0, 1] = 500
    receipt = paid()
    chosen = choose_tree(Sealed(units), SCORE, BASE, receipt, SeededRandomness(1))
    assert chosen.value == (1, 2, 0)
    assert chosen.receipts == (receipt,)


def test_the_price_sets_how_much_the_score_weighs() -> None:
    # For next to nothing the roots are even; at ε = 1 the second weighs e^80 times as much.
    units = np.zeros((2, 2, 3), np.int64)
    units[1] = 40
    word = 2**62  # a quarter
    cheap = choose_tree(
        Sealed(units), SCORE, BASE, paid(epsilon=Fraction(1, 10**6)), ScriptedRandomness(word, 1, 1)
    )
    dear = choose_tree(Sealed(units), SCORE, BASE, paid(), ScriptedRandomness(word, 1, 1))
    assert (cheap.value[0], dear.value[0]) == (0, 1)


def test_a_receipt_for_something_else_is_refused() -> None:
    with pytest.raises(PlanError, match="pays for count"):
        choose_tree(
            Sealed(np.zeros((2, 2, 3), np.int64)), SCORE, BASE, paid("count"), SeededRandomness()
        )


def test_a_receipt_pays_once() -> None:
    receipt, units = paid(), Sealed(np.zeros((2, 2, 3), np.int64))
    choose_tree(units, SCORE, BASE, receipt, SeededRandomness())
    with pytest.raises(SealedError):
        choose_tree(units, SCORE, BASE, receipt, SeededRandomness())


def test_scores_of_another_shape_are_refused() -> None:
    with pytest.raises(PlanError, match="differ in shape"):
        choose_tree(Sealed(np.zeros((2, 2, 2), np.int64)), SCORE, BASE, paid(), SeededRandomness())
