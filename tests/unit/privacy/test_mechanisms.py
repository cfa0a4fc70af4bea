from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from redveil.errors import PlanError
from redveil.losses.score import Score
from redveil.privacy.mechanisms import choose, count
from redveil.sealed import Receipt, Sealed
from support.prepared import SOME_STEP
from support.seeded import ScriptedRandomness, SeededRandomness

SCORE = Score("toy", Fraction(1), True, 0, Fraction(0), "privacy/choose.md")  # noqa: FBT003


def paid(mechanism: str) -> Receipt:
    """A receipt opens one seal, so every call needs its own."""
    return Receipt(SOME_STEP, mechanism, Fraction(1))


def test_choose_releases_one_candidate_a_part() -> None:
    units = Sealed(np.array([[0, 900], [900, 0], [0, 0]]))
    base = np.array([[1, 1], [1, 1], [0, 1]])
    receipt = paid("choose")
    chosen = choose(units, SCORE, base, receipt, SeededRandomness(1))
    assert chosen.value == (1, 0, 1)
    assert chosen.receipts == (receipt,)


def test_choose_refuses_a_base_measure_of_another_shape() -> None:
    with pytest.raises(PlanError):
        choose(
            Sealed(np.zeros((1, 2), int)),
            SCORE,
            np.ones((1, 3), int),
            paid("choose"),
            SeededRandomness(),
        )


def test_count_adds_noise_to_every_group_and_freezes_the_answer() -> None:
    released = count(Sealed(np.array([5, 0, 7])), paid("count"), SeededRandomness(1))
    assert released.value.shape == (3,)
    assert released.value.tolist() != [5, 0, 7]
    assert not released.value.flags.writeable


def test_count_without_noise_is_the_count() -> None:
    released = count(Sealed(np.array([5, 0, 7])), paid("count"), ScriptedRandomness())
    assert released.value.tolist() == [5, 0, 7]


def test_a_receipt_for_one_mechanism_does_not_open_the_other() -> None:
    with pytest.raises(PlanError):
        count(Sealed(np.array([1])), paid("choose"), SeededRandomness())
    with pytest.raises(PlanError):
        choose(
            Sealed(np.ones((1, 1), int)),
            SCORE,
            np.ones((1, 1), int),
            paid("count"),
            SeededRandomness(),
        )


def test_rounding_is_paid_for_in_the_width() -> None:
    rounded = Score("toy", Fraction(2), True, 12, Fraction(1, 4096), "privacy/choose.md")  # noqa: FBT003
    assert rounded.width == 2 + Fraction(4, 4096)
    assert rounded.rate(Fraction(1)) * rounded.width * 4096 == 1
