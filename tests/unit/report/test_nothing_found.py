"""The message of an empty list: its wording, in the declared unit."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from redveil.findings.findings import NothingFound
from redveil.findings.required_budget import Match, RequiredBudget
from redveil.losses.loss import Loss
from redveil.report.nothing_found import explanation
from redveil.schema.view import plural

LOSS = Loss(Fraction(1, 20))
SAID = (
    "The noise is too large to show that any redescription meets the constraints. With about "
    "2,345 patients, ε = 0.05 leaves an error of about 41 in every count that was measured."
)


def nothing(
    match: Match | None = None, required: RequiredBudget | None = None, *, noise_aware: bool = True
) -> NothingFound:
    return NothingFound(2345.4, 40.6, noise_aware, match, required)


def test_what_was_required_is_said_both_ways() -> None:
    found = nothing(Match(0.5), RequiredBudget(0.1234, 12_345.6))
    assert explanation(found, LOSS, "patient") == (
        f"{SAID} Two queries that each cover half of the patients, with a Jaccard index of 0.5, "
        "would have needed an ε of about 0.12 at this size, or about 12,346 patients at "
        "this ε."
    )


def test_a_rare_match_is_said_to_be_rare() -> None:
    found = nothing(Match(0.95, 0.1), RequiredBudget(0.1234, 12_345.6))
    assert (
        "Two queries that each cover 10 % of the patients, with a Jaccard index of 0.95,"
        in explanation(found, LOSS, "patient")
    )


@pytest.mark.parametrize(
    ("epsilon", "size", "ending"),
    [
        (math.inf, 9e6, "would have needed about 9,000,000 patients at this ε."),
        (12.34, math.inf, "would have needed an ε of about 12 at this size."),
        (math.inf, math.inf, "could not have been reported under these constraints."),
    ],
)
def test_what_a_run_cannot_have_is_not_asked_for(epsilon: float, size: float, ending: str) -> None:
    found = nothing(Match(0.5), RequiredBudget(epsilon, size))
    assert explanation(found, LOSS, "patient").endswith(ending)


def test_where_the_budget_was_enough_the_data_may_hold_nothing() -> None:
    assert explanation(nothing(), LOSS, "patient") == (
        f"{SAID} The data may hold nothing to find, or nothing that this search considers."
    )


def test_without_noise_awareness_nothing_more_is_said() -> None:
    assert explanation(nothing(noise_aware=False), LOSS, "patient") == SAID


def test_the_unit_is_the_declared_one() -> None:
    text = explanation(nothing(Match(0.5), RequiredBudget(0.1, 9)), LOSS, "household")
    assert text.count("households") == 3
    assert "patient" not in text
    assert "entities" not in text


@pytest.mark.parametrize(
    ("unit", "units"),
    [
        ("patient", "patients"),
        ("entity", "entities"),
        ("country", "countries"),
        ("day", "days"),
        ("survey", "surveys"),
        ("person", "people"),
        ("bus", "buses"),
        ("box", "boxes"),
        ("branch", "branches"),
        ("dish", "dishes"),
        ("house", "houses"),
        ("y", "ys"),
        ("", "s"),
    ],
)
def test_the_plural_of_a_unit(unit: str, units: str) -> None:
    assert plural(unit) == units
