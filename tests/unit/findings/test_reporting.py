"""Constraints and pruning: what is accepted, and how a refusal reads."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import asdict
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from redveil.algorithms.profile import HARDENED
from redveil.algorithms.published import PUBLISHED
from redveil.errors import InputError
from redveil.findings.reporting import Constraints, Reporting, read_prune


@pytest.mark.parametrize("name", ["max_p_value", "min_jaccard", "max_support"])
@pytest.mark.parametrize("value", [-0.001, 1.001, math.nan, math.inf, -math.inf, None, True])
def test_shares_lie_between_0_and_1(name: str, value: object) -> None:
    wanted: dict[str, Any] = {name: value}
    with pytest.raises(InputError, match=f"^{name} must lie between 0 and 1$"):
        Constraints(**wanted)


@pytest.mark.parametrize("name", ["max_p_value", "min_jaccard", "max_support"])
@pytest.mark.parametrize("value", [5e-324, 1, 0.5])
def test_shares_may_be_anything_in_between(name: str, value: float) -> None:
    wanted: dict[str, Any] = {name: value}
    assert getattr(Constraints(**wanted), name) == value


@pytest.mark.parametrize("name", ["max_p_value", "max_support"])
@pytest.mark.parametrize("value", [0, 0.0, -0.0])
def test_what_nothing_can_satisfy_is_refused(name: str, value: float) -> None:
    wanted: dict[str, Any] = {name: value}
    with pytest.raises(InputError, match=f"^{name} must be above 0, or there is nothing to report"):
        Constraints(**wanted)
    assert Constraints(min_jaccard=0).min_jaccard == 0


def test_supports_are_not_negative() -> None:
    assert Constraints(min_support=0).min_support == 0
    with pytest.raises(InputError, match="min_support must not be negative"):
        Constraints(min_support=-1)


@pytest.mark.parametrize("value", [math.nan, math.inf, 1.5, 2**30 + 1, None, True])
def test_supports_are_whole_numbers_of_entities(value: Any) -> None:
    with pytest.raises(InputError, match="min_support must be a whole number"):
        Constraints(min_support=value)


def test_numbers_of_other_libraries_become_plain_ones() -> None:
    """A certificate contains them, and it is written when the run is paid for."""
    wanted: Any = {
        "max_p_value": np.float32(0.5),
        "min_jaccard": Fraction(1, 4),
        "min_support": np.int64(7),
        "max_support": np.float64(0.5),
        "max_disjuncts": 2.0,
    }
    assert asdict(Constraints(**wanted)) == asdict(Constraints(0.5, 0.25, 7, 0.5, 2))
    kinds = {type(value) for value in asdict(Constraints(**wanted)).values()}
    assert kinds == {int, float}


@pytest.mark.parametrize("number", [0, 11, -1])
def test_disjuncts_are_few(number: Any) -> None:
    with pytest.raises(InputError, match="max_disjuncts must lie between 1 and 10"):
        Constraints(max_disjuncts=number)


@pytest.mark.parametrize("kind", [np.float64, np.float32, np.float16, Decimal, Fraction, str])
def test_numbers_of_any_kind_become_plain_ones(kind: Callable[[Any], Any]) -> None:
    """A certificate is JSON, and holds no others."""
    wanted = Constraints(max_p_value=kind("0.5"), min_support=kind("5"), max_disjuncts=kind("2"))
    assert wanted == Constraints(max_p_value=0.5, min_support=5, max_disjuncts=2)
    assert [type(one) for one in Reporting(wanted, read_prune(kind("7"))).public().values()] == [
        *(float, float, float, int, float, int)
    ]


@pytest.mark.parametrize("name", ["max_p_value", "min_jaccard", "max_support"])
@pytest.mark.parametrize("value", ["much", None, True, np.True_, [0.5]])
def test_what_is_no_share_is_refused(name: str, value: Any) -> None:
    with pytest.raises(InputError, match=f"^{name} must lie between 0 and 1$"):
        Constraints(**{name: value})


@pytest.mark.parametrize("name", ["min_support", "max_disjuncts"])
@pytest.mark.parametrize("value", ["many", None, 2.5, True, np.True_, np.float64(2.5)])
def test_what_is_no_count_is_refused(name: str, value: Any) -> None:
    with pytest.raises(InputError, match=f"^{name} must be a whole number$"):
        Constraints(**{name: value})


def test_nothing_is_pruned_and_noise_is_accounted_for_unless_something_else_is_said() -> None:
    assert Reporting() == Reporting(Constraints(0.01, 0.1, 10, 0.8, 3), None, noise_aware=True)


@pytest.mark.parametrize(
    ("given", "kept"), [("auto", "auto"), (200, 200.0), ("2e3", 2000.0), (None, None)]
)
def test_a_threshold_is_a_number_or_comes_from_the_noise(
    given: object, kept: float | str | None
) -> None:
    assert Reporting(prune=read_prune(given)).prune == kept


@pytest.mark.parametrize(
    "value", ["some", "nan", "inf", "1/0", "1e400", "9" * 400, "1e999999999", True, 2**30 + 1]
)
def test_a_threshold_that_is_no_number_is_refused(value: object) -> None:
    with pytest.raises(InputError, match=r"^prune must be a number"):
        read_prune(value)


def test_other_words_are_no_threshold() -> None:
    with pytest.raises(InputError, match=r"^prune must be a number of entities, or auto$"):
        Reporting(prune="most")


def test_the_hardened_profile_accounts_for_noise() -> None:
    assert HARDENED.reporting(None, None) == Reporting()
    strict = Constraints(min_jaccard=0.5)
    assert HARDENED.reporting(strict, 20.0) == Reporting(strict, 20.0)


def test_the_published_profile_judges_by_estimates_and_prunes() -> None:
    # A simple query, extended up to three times.
    usual = Constraints(0.01, 0.1, 10, 0.8, 4)
    assert PUBLISHED.reporting(None, None) == Reporting(usual, "auto", noise_aware=False)
    strict = Constraints(min_jaccard=0.5)
    assert PUBLISHED.reporting(strict, 20.0) == Reporting(strict, 20.0, noise_aware=False)


def test_constraints_and_pruning_go_into_a_certificate() -> None:
    public = Reporting(Constraints(min_support=7), 20.0).public()
    assert public == {
        "prune": 20.0,
        "max_p_value": 0.01,
        "min_jaccard": 0.1,
        "min_support": 7,
        "max_support": 0.8,
        "max_disjuncts": 3,
    }
    assert Reporting().public()["prune"] is None
