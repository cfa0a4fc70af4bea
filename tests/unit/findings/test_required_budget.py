"""What it would have taken."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from redveil.algorithms.parameters import Constraints, Parameters
from redveil.data.synthetic import clinic_schema
from redveil.findings.required_budget import RARE, Match, _is_reported, good_match, needed
from redveil.privacy.loss import Loss
from redveil.privacy.score import MOST_ENTITIES
from redveil.schema import Attribute, Kind, Schema, View

SCHEMA, AUTO = clinic_schema(), Parameters.of()
GOOD = Match(jaccard=0.5)


def flags(name: str, many: int) -> View:
    return View(name, "id", tuple(Attribute(f"{name} {i}", Kind.BOOLEAN) for i in range(many)))


@pytest.mark.parametrize(("size", "epsilon"), [(1_000, "0.1"), (5_000, "0.02"), (20_000, "0.005")])
def test_what_is_said_to_suffice_suffices_and_half_of_it_does_not(size: int, epsilon: str) -> None:
    price = Fraction(epsilon)
    need = needed(AUTO, SCHEMA, size, Loss(price), GOOD)
    assert float(price) < need.epsilon < 1
    assert size < need.size < 1_000_000
    enough = Fraction(need.epsilon).limit_denominator(10**6)
    assert _is_reported(AUTO, SCHEMA, size, enough * Fraction(101, 100), GOOD, {})
    assert not _is_reported(AUTO, SCHEMA, size, enough / 2, GOOD, {})
    assert _is_reported(AUTO, SCHEMA, need.size * 1.01, price, GOOD, {})
    assert not _is_reported(AUTO, SCHEMA, need.size / 2, price, GOOD, {})


def test_where_everything_suffices_nothing_more_is_needed() -> None:
    need = needed(AUTO, SCHEMA, 10_000, Loss(Fraction(1)), GOOD)
    assert need.epsilon <= 1
    assert need.size <= 10_000


def test_a_better_match_needs_less() -> None:
    weak, strong = (
        needed(AUTO, SCHEMA, 1_000, Loss(Fraction(1, 50)), Match(j)) for j in (0.45, 0.9)
    )
    assert strong.epsilon < weak.epsilon
    assert strong.size < weak.size


def test_too_few_entities_are_not_helped_by_any_epsilon() -> None:
    """Halves of 40 people that share two thirds are no surprise, with or without noise."""
    need = needed(AUTO, SCHEMA, 40, Loss(Fraction(1)), GOOD)
    assert math.isinf(need.epsilon)
    assert 40 < need.size < 10_000


def test_a_noisy_size_below_one_is_taken_for_one() -> None:
    assert needed(AUTO, SCHEMA, -12.0, Loss(Fraction(1, 10)), GOOD).size > 1


def test_constraints_count() -> None:
    strict = Parameters.of(constraints=Constraints(min_jaccard=0.45))
    price = Fraction(1, 20)
    assert (
        needed(strict, SCHEMA, 3_000, Loss(price), GOOD).epsilon
        > needed(AUTO, SCHEMA, 3_000, Loss(price), GOOD).epsilon
    )


def test_a_demanding_reader_is_told_of_a_match_that_would_do() -> None:
    strict = Parameters.of(constraints=Constraints(min_jaccard=0.95))
    assert math.isinf(needed(strict, SCHEMA, 3_000, Loss(Fraction(1, 20)), GOOD).size)
    better = good_match(strict.constraints)
    assert 0.95 < better.jaccard < 1
    assert needed(strict, SCHEMA, 3_000, Loss(Fraction(1, 20)), better).size < 10**6


def test_what_is_rare_needs_more() -> None:
    common, rare = (
        needed(AUTO, SCHEMA, 2_000, Loss(Fraction(1, 20)), good_match(Constraints(), share))
        for share in (0.5, RARE)
    )
    assert common.epsilon < rare.epsilon < 100
    assert common.size < rare.size < 10**6


def test_a_reader_of_small_queries_is_told_of_a_small_match() -> None:
    small = Parameters.of(constraints=Constraints(max_support=0.2))
    match = good_match(small.constraints)
    assert match.share == 0.2
    assert match.both(3_000) == pytest.approx(400)
    need = needed(small, SCHEMA, 2_000, Loss(Fraction(1, 20)), match)
    assert 0.05 < need.epsilon < 100


@pytest.mark.parametrize("wanted", [Constraints(min_support=900), Constraints(max_support=0.4)])
def test_supports_that_nobody_can_have_need_more_than_any_epsilon(wanted: Constraints) -> None:
    strict = Parameters.of(constraints=wanted)
    assert needed(AUTO, SCHEMA, 2_000, Loss(Fraction(1, 20)), GOOD).epsilon < 1
    assert math.isinf(needed(strict, SCHEMA, 2_000, Loss(Fraction(1, 20)), GOOD).epsilon)


def test_among_more_rivals_a_pair_needs_more() -> None:
    few, many = (Schema("flags", flags("left", n), flags("right", n)) for n in (5, 500))
    shallow = Parameters.of(depth=1, trials=1)
    alone, crowded = (
        needed(shallow, schema, 2_000, Loss(Fraction(1, 50)), GOOD).epsilon
        for schema in (few, many)
    )
    assert alone < crowded


@pytest.mark.parametrize("delta", [Fraction(0), Fraction(1, 10**6)])
@pytest.mark.parametrize("size", [20, 60, 90, 200])
def test_nothing_is_asked_for_that_a_run_cannot_have(size: int, delta: Fraction) -> None:
    need = needed(AUTO, SCHEMA, size, Loss(Fraction(1, 10), delta), GOOD)
    assert 0.1 < need.epsilon <= 100 or math.isinf(need.epsilon)
    assert size < need.size < MOST_ENTITIES
    tiny = needed(AUTO, SCHEMA, size, Loss(Fraction(1, 10**6), delta), GOOD)
    assert tiny.size <= MOST_ENTITIES or math.isinf(tiny.size)
