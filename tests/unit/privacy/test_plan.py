from __future__ import annotations

from fractions import Fraction

import pytest

from redveil.errors import PlanError
from redveil.privacy.plan import Plan, Step
from redveil.sealed import Receipt

HALF = Fraction(1, 2)


def two_steps() -> Plan:
    return Plan(Fraction(1), (Step("a", "choose", HALF), Step("b", "count", HALF)))


def test_a_plan_that_does_not_add_up_is_refused() -> None:
    with pytest.raises(PlanError, match="cost 1/2, not 1"):
        Plan(Fraction(1), (Step("a", "choose", HALF),))


def test_a_plan_with_a_free_step_is_refused() -> None:
    with pytest.raises(PlanError, match="positive"):
        Plan(HALF, (Step("a", "choose", HALF), Step("b", "count", Fraction(0))))


def test_a_plan_with_two_steps_of_one_name_is_refused() -> None:
    with pytest.raises(PlanError, match="same name"):
        Plan(Fraction(1), (Step("a", "choose", HALF), Step("a", "count", HALF)))


def test_a_step_is_paid_for_once() -> None:
    purse = two_steps().purse()
    assert purse.pay("a", "choose") == Receipt("a", "choose", HALF)
    with pytest.raises(PlanError, match="paid for already"):
        purse.pay("a", "choose")


def test_what_is_not_planned_cannot_be_paid_for() -> None:
    with pytest.raises(PlanError, match="not in the plan"):
        two_steps().purse().pay("c", "count")


def test_a_step_pays_for_its_own_mechanism_only() -> None:
    with pytest.raises(PlanError, match="pays for choose, not count"):
        two_steps().purse().pay("a", "count")


def test_a_purse_is_empty_when_everything_is_paid() -> None:
    purse = two_steps().purse()
    assert not purse.is_empty
    purse.pay("a", "choose")
    purse.pay("b", "count")
    assert purse.is_empty
