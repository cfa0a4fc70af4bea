"""The required budget: the ε, or the number of entities, that a match would have needed."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from redveil.algorithms.algorithm import Algorithm
from redveil.algorithms.catalogue import make_algorithm
from redveil.data.synthetic import clinic_schema
from redveil.findings.reporting import Constraints
from redveil.findings.required_budget import (
    RARE_SHARE,
    Match,
    RequiredBudget,
    good_match,
    is_chosen,
    is_reported,
    required_budget,
)
from redveil.losses.loss import Loss, Price
from redveil.losses.score import MOST_ENTITIES
from redveil.schema import Attribute, Kind, Schema, Side, View

SCHEMA, AUTO = clinic_schema(), make_algorithm()
GOOD, ANY = Match(jaccard=0.5), Constraints()


def required(
    size: float,
    loss: Loss,
    match: Match = GOOD,
    constraints: Constraints = ANY,
    *,
    schema: Schema = SCHEMA,
    algorithm: Algorithm = AUTO,
) -> RequiredBudget:
    return required_budget(
        lambda entities, price: algorithm.designs(schema, entities, price),
        constraints,
        splits_of(schema),
        size,
        loss,
        match,
    )


def splits_of(schema: Schema) -> dict[Side, int]:
    return {side: schema.view(side).split_count for side in Side}


def suffices(size: float, price: Price) -> bool:
    """Whether a good match is chosen among the splits, and reported."""
    return any(
        is_chosen(design.choice, splits_of(SCHEMA), size, GOOD)
        and is_reported(design, ANY, size, GOOD, {})
        for design in AUTO.designs(SCHEMA, size, price)
    )


def flags(name: str, many: int) -> View:
    return View(name, "id", tuple(Attribute(f"{name} {i}", Kind.BOOLEAN) for i in range(many)))


@pytest.mark.parametrize(("size", "epsilon"), [(1_000, "0.1"), (5_000, "0.02"), (20_000, "0.005")])
def test_what_is_said_to_suffice_suffices_and_half_of_it_does_not(size: int, epsilon: str) -> None:
    price = Fraction(epsilon)
    found = required(size, Loss(price))
    assert float(price) < found.epsilon < 1
    assert size < found.size < 1_000_000
    enough = Fraction(found.epsilon).limit_denominator(10**6)
    assert suffices(size, enough * Fraction(101, 100))
    assert not suffices(size, enough / 2)
    assert suffices(found.size * 1.01, price)
    assert not suffices(found.size / 2, price)


def test_where_everything_suffices_nothing_more_is_required() -> None:
    found = required(10_000, Loss(Fraction(1)))
    assert found.epsilon <= 1
    assert found.size <= 10_000


def test_a_better_match_requires_less() -> None:
    weak, strong = (required(1_000, Loss(Fraction(1, 50)), Match(j)) for j in (0.45, 0.9))
    assert strong.epsilon < weak.epsilon
    assert strong.size < weak.size


def test_too_few_entities_are_not_helped_by_any_epsilon() -> None:
    """Halves of 40 entities that share two thirds are no surprise, with or without noise."""
    found = required(40, Loss(Fraction(1)))
    assert math.isinf(found.epsilon)
    assert 40 < found.size < 10_000


def test_a_noisy_size_below_one_is_taken_for_one() -> None:
    assert required(-12.0, Loss(Fraction(1, 10))).size > 1


def test_constraints_count() -> None:
    strict, loss = Constraints(max_p_value=1e-40), Loss(Fraction(1, 20))
    assert required(3_000, loss, GOOD, strict).epsilon > required(3_000, loss).epsilon
    # What is a matter of taste is judged at the estimate.
    picky = Constraints(min_jaccard=0.45)
    assert required(3_000, loss, GOOD, picky) == required(3_000, loss)


def test_strict_constraints_lead_to_a_match_that_satisfies_them() -> None:
    strict, loss = Constraints(min_jaccard=0.95), Loss(Fraction(1, 20))
    assert math.isinf(required(3_000, loss, GOOD, strict).size)
    better = good_match(strict)
    assert 0.95 < better.jaccard < 1
    assert required(3_000, loss, better, strict).size < 10**6


def test_what_is_rare_requires_more() -> None:
    common, rare = (
        required(2_000, Loss(Fraction(1, 20)), good_match(ANY, share))
        for share in (0.5, RARE_SHARE)
    )
    assert common.epsilon < rare.epsilon < 100
    assert common.size < rare.size < 10**6


def test_a_small_maximum_support_leads_to_a_small_match() -> None:
    small = Constraints(max_support=0.2)
    match = good_match(small)
    assert match.share == 0.2
    assert match.both(3_000) == pytest.approx(400)
    assert 0.05 < required(2_000, Loss(Fraction(1, 20)), match, small).epsilon < 100


@pytest.mark.parametrize("wanted", [Constraints(min_support=900), Constraints(max_support=0.4)])
def test_supports_that_are_impossible_require_more_than_any_epsilon(wanted: Constraints) -> None:
    loss = Loss(Fraction(1, 20))
    assert required(2_000, loss).epsilon < 1
    assert math.isinf(required(2_000, loss, GOOD, wanted).epsilon)


def test_among_more_splits_a_match_requires_more() -> None:
    few, many = (Schema("flags", flags("left", n), flags("right", n)) for n in (5, 500))
    shallow = make_algorithm(depth=1, trials=1)
    among_few, among_many = (
        required(2_000, Loss(Fraction(1, 50)), schema=schema, algorithm=shallow).epsilon
        for schema in (few, many)
    )
    assert among_few < among_many


@pytest.mark.parametrize("delta", [Fraction(0), Fraction(1, 10**6)])
@pytest.mark.parametrize("size", [20, 60, 90, 200])
def test_nothing_is_required_that_a_run_cannot_have(size: int, delta: Fraction) -> None:
    found = required(size, Loss(Fraction(1, 10), delta))
    assert 0.1 < found.epsilon <= 100 or math.isinf(found.epsilon)
    assert size < found.size < MOST_ENTITIES
    tiny = required(size, Loss(Fraction(1, 10**6), delta))
    assert tiny.size <= MOST_ENTITIES or math.isinf(tiny.size)


@pytest.mark.parametrize("algorithm", ["twin", "alt-expm", "alt-mcmc", "tree-pair"])
def test_a_private_choice_is_accounted_for_where_there_is_one(algorithm: str) -> None:
    """Without one, all that counts is what is measured."""
    wanted = make_algorithm(algorithm)
    design = wanted.design(SCHEMA, 2_000, Fraction(1, 50))
    assert (design.choice is None) == (algorithm == "tree-pair")
    assert is_chosen(None, splits_of(SCHEMA), 2_000, GOOD)
    found = required(2_000, Loss(Fraction(1, 50)), algorithm=wanted)
    assert 1 / 50 < found.epsilon < 100
    assert 2_000 < found.size < MOST_ENTITIES
