"""What it would have taken."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from redveil.data.synthetic import clinic_schema
from redveil.mining.need import _is_reported, needed
from redveil.mining.parameters import Constraints, Parameters
from redveil.privacy.loss import Loss

SCHEMA, AUTO = clinic_schema(), Parameters.of()


@pytest.mark.parametrize(("size", "epsilon"), [(1_000, "0.1"), (5_000, "0.02"), (20_000, "0.005")])
def test_what_is_said_to_suffice_suffices_and_half_of_it_does_not(size: int, epsilon: str) -> None:
    price = Fraction(epsilon)
    need = needed(AUTO, SCHEMA, size, Loss(price))
    assert float(price) < need.epsilon < 1
    assert size < need.size < 1_000_000
    enough = Fraction(need.epsilon).limit_denominator(10**6)
    assert _is_reported(AUTO, SCHEMA, size, enough * Fraction(101, 100), 0.5, {})
    assert not _is_reported(AUTO, SCHEMA, size, enough / 2, 0.5, {})
    assert _is_reported(AUTO, SCHEMA, need.size * 1.01, price, 0.5, {})
    assert not _is_reported(AUTO, SCHEMA, need.size / 2, price, 0.5, {})


def test_where_everything_suffices_nothing_more_is_needed() -> None:
    need = needed(AUTO, SCHEMA, 10_000, Loss(Fraction(1)))
    assert need.epsilon <= 1
    assert need.size <= 10_000


def test_a_better_match_needs_less() -> None:
    weak, strong = (needed(AUTO, SCHEMA, 1_000, Loss(Fraction(1, 50)), j) for j in (0.45, 0.9))
    assert strong.epsilon < weak.epsilon
    assert strong.size < weak.size


def test_too_few_entities_are_not_helped_by_any_epsilon() -> None:
    """Halves of 40 people that share two thirds are no surprise, with or without noise."""
    need = needed(AUTO, SCHEMA, 40, Loss(Fraction(1)))
    assert math.isinf(need.epsilon)
    assert 40 < need.size < 10_000


def test_a_noisy_size_below_one_is_taken_for_one() -> None:
    assert needed(AUTO, SCHEMA, -12.0, Loss(Fraction(1, 10))).size > 1


def test_constraints_count() -> None:
    strict = Parameters.of(constraints=Constraints(min_jaccard=0.45))
    price = Fraction(1, 20)
    assert (
        needed(strict, SCHEMA, 3_000, Loss(price)).epsilon
        > needed(AUTO, SCHEMA, 3_000, Loss(price)).epsilon
    )
