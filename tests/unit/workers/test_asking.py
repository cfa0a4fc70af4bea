"""Questions are checked by the functions that owners call, before anything is charged."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from redveil.data.synthetic import clinic_schema
from redveil.errors import InputError
from redveil.workers.asking import Checked, Limits, check, result_of

LIMITS: Limits = {
    "exact_only": True,
    "least_epsilon": "0.01",
    "most_trials": 5,
    "most_walk_steps": 100,
}


def checked(**question: Any) -> Checked:
    return check({"kind": "mine", "epsilon": "1/2"} | question, clinic_schema(), LIMITS)


@pytest.mark.parametrize(
    "question",
    [
        {},
        {"depth": 1, "trials": 2},
        {"within": "[age > 50]"},
        {"kind": "describe", "query": "[gout]"},
        {"algorithm": "alt-expm"},
        {"algorithm": "alt-expm", "trials": 1, "alternations": 5},
        {"algorithm": "alt-mcmc", "depth": 1, "trials": 5, "alternations": 0},
    ],
)
def test_a_question_costs_what_it_asks_for(question: dict[str, Any]) -> None:
    found = checked(**question)
    assert (found.loss.epsilon, found.loss.delta) == (Fraction(1, 2), Fraction(0))
    plain = found.plain()
    assert plain["epsilon"] == "1/2"
    assert sum(Fraction(step["price"]) for step in plain["steps"]) == Fraction(1, 2)


@pytest.mark.parametrize(
    ("question", "message"),
    [
        ({"trials": 6}, "trials must be at most 5"),
        ({"walk_steps": 101}, "walk_steps must be at most 100"),
        ({"algorithm": "alt-expm", "alternations": 6}, "alternations must be at most 5"),
        (
            {"algorithm": "alt-mcmc", "depth": 1, "trials": 2, "alternations": 3},
            "trials × alternations must be at most 5",
        ),
        ({"algorithm": "tree-pair", "walk_steps": 10}, "the guarantee must be exact"),
        ({"kind": "describe", "query": "[nobody knows]"}, "query"),
        ({"kind": "guess"}, "kind must be"),
        ({"epsilon": "-1"}, "epsilon"),
        ({"epsilon": "0.009"}, "epsilon must be at least 0.01 on this server"),
        ({"epsilon": "0.000001", "delta": "0.0001"}, "epsilon must be at least 0.01"),
    ],
)
def test_what_cannot_be_asked_is_refused(question: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        checked(**question)


def test_the_smallest_price_can_be_paid() -> None:
    assert checked(epsilon="0.01").loss.epsilon == Fraction(1, 100)


def test_a_question_about_an_earlier_result_needs_one() -> None:
    with pytest.raises(InputError):
        result_of(None)
