"""What is reported: which constraints and thresholds are accepted, and how a refusal reads."""

from __future__ import annotations

import math
from typing import Any

import pytest

from redveil.errors import InputError
from redveil.findings.reporting import Constraints, Reporting

SHARES = ["max_p_value", "min_jaccard", "max_support"]


@pytest.mark.parametrize("name", SHARES)
@pytest.mark.parametrize("value", [-0.001, 1.001, math.nan, math.inf, -math.inf])
def test_shares_lie_between_0_and_1(name: str, value: float) -> None:
    wanted: dict[str, Any] = {name: value}
    with pytest.raises(InputError, match=f"^{name} must lie between 0 and 1$"):
        Constraints(**wanted)


@pytest.mark.parametrize("name", SHARES)
@pytest.mark.parametrize("value", [0, 1, 0.5])
def test_shares_may_be_0_and_1(name: str, value: float) -> None:
    wanted: dict[str, Any] = {name: value}
    assert getattr(Constraints(**wanted), name) == value


def test_supports_are_not_negative() -> None:
    assert Constraints(min_support=0).min_support == 0
    with pytest.raises(InputError, match="min_support must not be negative"):
        Constraints(min_support=-1)


@pytest.mark.parametrize("number", [0, 11, -1])
def test_disjuncts_are_few(number: int) -> None:
    with pytest.raises(InputError, match="max_disjuncts must lie between 1 and 10"):
        Constraints(max_disjuncts=number)


def test_defaults_account_for_noise_and_prune_nothing() -> None:
    assert Reporting() == Reporting(Constraints(0.01, 0.1, 10, 0.8, 3), None, noise_aware=True)


@pytest.mark.parametrize("prune", [None, "auto", 20.0, 0.0])
def test_a_threshold_is_a_number_or_follows_from_the_noise(prune: float | str | None) -> None:
    assert Reporting(prune=prune).prune == prune


@pytest.mark.parametrize("prune", ["most", "", "20"])
def test_other_words_are_no_threshold(prune: str) -> None:
    with pytest.raises(InputError, match="prune must be a number of entities, or auto"):
        Reporting(prune=prune)


def test_constraints_and_threshold_go_into_a_certificate() -> None:
    assert Reporting(Constraints(min_jaccard=0.3), 20.0).public() == {
        "prune": 20.0,
        "max_p_value": 0.01,
        "min_jaccard": 0.3,
        "min_support": 10,
        "max_support": 0.8,
        "max_disjuncts": 3,
    }
