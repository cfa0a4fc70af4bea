from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redveil.errors import PlanError
from redveil.losses.loss import Price, Rho, amount
from redveil.losses.plan import Mechanism, Plan, Step, StepKey, StepKind
from redveil.privacy.purse import Purse
from redveil.sealed import Receipt

HALF = Fraction(1, 2)
SIZE = Step(StepKey(StepKind.SIZE), "count", Fraction(1, 100))
REST = Step(StepKey(StepKind.TREE, 1, 1), "choose", Fraction(99, 100))
TREE, TABLE = StepKey(StepKind.TREE, 1, 1), StepKey(StepKind.LEAF_TABLE, 1, 1, part="cells")
OTHER = StepKey(StepKind.TREE, 1, 2)


def two_steps() -> Plan:
    return Plan(Fraction(1), (Step(TREE, "choose", HALF), Step(TABLE, "count", HALF)))


def two_step_purse() -> Purse:
    purse = Purse(Fraction(1))
    purse.commit(two_steps())
    return purse


# Keys


@pytest.mark.parametrize(
    ("key", "name"),
    [
        (StepKey(StepKind.SIZE), "size"),
        (StepKey(StepKind.START, trial=2), "trial 2, start"),
        (StepKey(StepKind.TREE, trial=1, number=2), "trial 1, tree 2"),
        (StepKey(StepKind.TREE, trial=1, number=3, level=2), "trial 1, tree 3, level 2"),
        (StepKey(StepKind.TREE_PAIR, trial=4), "trial 4, tree pair"),
        (StepKey(StepKind.TWIN_TREES, trial=1, level=1), "trial 1, twin trees, level 1"),
        (
            StepKey(StepKind.LEAF_TABLE, trial=1, number=2, part="left margin"),
            "trial 1, leaf table 2, left margin",
        ),
    ],
)
def test_a_step_is_named_after_its_key(key: StepKey, name: str) -> None:
    assert str(key) == name
    assert Step(key, "count", HALF).name == name


_numbers = st.none() | st.integers(1, 12)
_keys = st.builds(
    StepKey,
    kind=st.sampled_from(StepKind),
    trial=_numbers,
    number=_numbers,
    level=_numbers,
    part=st.sampled_from([None, "cells", "left margin", "right margin"]),
)


@given(_keys, _keys)
def test_different_keys_have_different_names(one: StepKey, other: StepKey) -> None:
    assert (str(one) == str(other)) == (one == other)
    assert (hash(one) == hash(other)) or one != other


# Plans


def test_a_plan_that_does_not_add_up_is_refused() -> None:
    with pytest.raises(PlanError, match="cost 1/2, not 1"):
        Plan(Fraction(1), (Step(TREE, "choose", HALF),))


def test_a_plan_with_a_free_step_is_refused() -> None:
    with pytest.raises(PlanError, match="positive"):
        Plan(HALF, (Step(TREE, "choose", HALF), Step(TABLE, "count", Fraction(0))))


def test_a_plan_with_two_steps_of_one_key_is_refused() -> None:
    again = StepKey(StepKind.TREE, 1, 1)
    with pytest.raises(PlanError, match="two steps of the plan are the same"):
        Plan(Fraction(1), (Step(TREE, "choose", HALF), Step(again, "count", HALF)))


@pytest.mark.parametrize(
    "other",
    [
        StepKey(StepKind.START, 1, 1),
        StepKey(StepKind.TREE, 2, 1),
        StepKey(StepKind.TREE, 1, 2),
        StepKey(StepKind.TREE, 1, 1, level=1),
        StepKey(StepKind.TREE, 1, 1, part="cells"),
        StepKey(StepKind.TREE, 1),
        StepKey(StepKind.TREE),
    ],
)
def test_every_field_tells_keys_apart(other: StepKey) -> None:
    assert other != TREE
    plan = Plan(Fraction(1), (Step(TREE, "choose", HALF), Step(other, "choose", HALF)))
    assert len(plan.steps) == 2


def test_the_first_step_of_a_kind_is_found() -> None:
    third = Fraction(1, 3)
    steps = (
        Step(TABLE, "count", third),
        Step(OTHER, "choose", third),
        Step(TREE, "choose", third),
    )
    plan = Plan(Fraction(1), steps)
    assert plan.first(StepKind.TREE) is steps[1]
    assert plan.first(StepKind.LEAF_TABLE) is steps[0]
    assert plan.first(StepKind.SIZE) is None


def test_a_plan_prints_its_price_and_length() -> None:
    assert repr(two_steps()) == "<Plan: ε = 1, 2 steps>"
    assert repr(Plan(Rho(HALF), (Step(TREE, "choose", Rho(HALF)),))) == "<Plan: ρ = 1/2, 1 steps>"


# Purses: paying for a committed plan


def test_a_step_is_paid_for_once() -> None:
    purse = two_step_purse()
    assert purse.pay(TREE, "choose") == Receipt(TREE, "choose", HALF)
    with pytest.raises(PlanError, match="'trial 1, tree 1' is not in the plan, or is paid for alr"):
        purse.pay(TREE, "choose")


def test_what_is_not_planned_cannot_be_paid_for() -> None:
    with pytest.raises(PlanError, match="'trial 1, tree 2' is not in the plan"):
        two_step_purse().pay(OTHER, "choose")


@pytest.mark.parametrize("mechanism", ["count", "walk"])
def test_a_step_pays_for_its_own_mechanism_only(mechanism: Mechanism) -> None:
    with pytest.raises(PlanError, match=f"pays for choose, not {mechanism}"):
        two_step_purse().pay(TREE, mechanism)


def test_nothing_is_paid_for_without_a_plan() -> None:
    with pytest.raises(PlanError, match="'trial 1, tree 1' is not in the plan"):
        Purse(Fraction(1)).pay(TREE, "choose")


# Purses: committing


def test_a_plan_is_committed_once() -> None:
    purse = two_step_purse()
    with pytest.raises(PlanError, match="a run has one plan; this purse already has one"):
        purse.commit(two_steps())
    purse.pay(TREE, "choose")
    purse.pay(TABLE, "count")
    with pytest.raises(PlanError, match="already has one"):
        purse.commit(two_steps())


@pytest.mark.parametrize("price", [HALF, Fraction(2), Rho(Fraction(1))])
def test_a_plan_must_cost_what_the_purse_holds(price: Fraction | Rho) -> None:
    purse = Purse(price)
    with pytest.raises(PlanError, match=f"the plan costs 1, and the purse holds {price}"):
        purse.commit(two_steps())
    with pytest.raises(PlanError, match="is not in the plan"):
        purse.pay(TREE, "choose")


# Purses: planning ahead


def planned_ahead(*steps: Step) -> Purse:
    purse = Purse(Fraction(1))
    purse.plan_ahead(steps)
    return purse


@pytest.mark.parametrize("committed", [False, True])
def test_what_was_planned_ahead_is_paid_for_once(committed: bool) -> None:  # noqa: FBT001
    """Before the plan is committed, or after."""
    purse, plan = planned_ahead(SIZE), Plan(Fraction(1), (SIZE, REST))
    if committed:
        purse.commit(plan)
    assert purse.pay(SIZE.key, "count") == Receipt(SIZE.key, "count", Fraction(1, 100))
    with pytest.raises(PlanError, match="'size' is not in the plan, or is paid for already"):
        purse.pay(SIZE.key, "count")
    if not committed:
        purse.commit(plan)
    with pytest.raises(PlanError, match="'size' is not in the plan, or is paid for already"):
        purse.pay(SIZE.key, "count")
    assert purse.pay(REST.key, "choose").price == Fraction(99, 100)
    purse.close()


def test_nothing_else_is_paid_for_before_the_plan() -> None:
    purse = planned_ahead(SIZE)
    with pytest.raises(PlanError, match="'trial 1, tree 1' is not in the plan"):
        purse.pay(REST.key, "choose")
    with pytest.raises(PlanError, match="'size' pays for count, not choose"):
        purse.pay(SIZE.key, "choose")


@pytest.mark.parametrize("paid", [False, True])
def test_a_step_is_planned_ahead_once(paid: bool) -> None:  # noqa: FBT001
    purse = planned_ahead(SIZE)
    if paid:
        purse.pay(SIZE.key, "count")
    for price in (SIZE.price, HALF):
        with pytest.raises(PlanError, match="'size' is planned already"):
            purse.plan_ahead([Step(SIZE.key, "count", price)])


def test_what_is_planned_ahead_must_be_paid_for_too() -> None:
    purse = planned_ahead(SIZE)
    purse.commit(Plan(Fraction(1), (SIZE, REST)))
    purse.pay(REST.key, "choose")
    with pytest.raises(PlanError, match=r"^1 planned step was not paid for: size$"):
        purse.close()


@pytest.mark.parametrize(
    "instead",
    [
        Step(SIZE.key, "count", Fraction(1, 50)),
        Step(SIZE.key, "choose", SIZE.price),
        Step(OTHER, "count", SIZE.price),
    ],
)
def test_a_plan_must_contain_what_was_planned_ahead(instead: Step) -> None:
    purse = planned_ahead(SIZE)
    rest = Step(TREE, "choose", 1 - amount(instead.price))
    with pytest.raises(PlanError, match="planned ahead, but not in the plan: size"):
        purse.commit(Plan(Fraction(1), (instead, rest)))


def test_nothing_is_planned_ahead_once_the_plan_is_committed() -> None:
    purse = Purse(Fraction(1))
    purse.commit(Plan(Fraction(1), (SIZE, REST)))
    with pytest.raises(PlanError, match="'size' cannot be planned ahead: there is a plan"):
        purse.plan_ahead([SIZE])


def test_no_more_is_planned_ahead_than_the_purse_holds() -> None:
    with pytest.raises(PlanError, match="'size' costs more than the purse holds"):
        Purse(Fraction(1, 200)).plan_ahead([SIZE])
    purse = planned_ahead(Step(TREE, "choose", HALF), Step(OTHER, "choose", HALF))
    purse.pay(TREE, "choose")
    with pytest.raises(PlanError, match="costs more than the purse holds"):
        purse.plan_ahead([SIZE])


# Purses: closing


def test_a_purse_closes_when_everything_is_paid() -> None:
    purse = two_step_purse()
    with pytest.raises(PlanError) as caught:
        purse.close()
    assert str(caught.value) == (
        "2 planned steps were not paid for: trial 1, tree 1, trial 1, leaf table 1, cells"
    )
    purse.pay(TREE, "choose")
    with pytest.raises(PlanError, match=r"^1 planned step was not paid for: trial 1, leaf table 1"):
        purse.close()
    purse.pay(TABLE, "count")
    purse.close()


def test_a_purse_without_a_plan_does_not_close() -> None:
    purse = Purse(Fraction(1))
    with pytest.raises(PlanError, match="closed without a plan"):
        purse.close()
    purse.plan_ahead([SIZE])
    purse.pay(SIZE.key, "count")
    with pytest.raises(PlanError, match="closed without a plan"):
        purse.close()


@pytest.mark.parametrize("price", [Rho(Fraction(1, 2)), Fraction(0), Fraction(-5)])
def test_only_a_positive_price_of_the_same_currency_is_planned_ahead(price: Price) -> None:
    with pytest.raises(PlanError, match="a positive price in the purse's currency"):
        Purse(Fraction(1)).plan_ahead([Step(StepKey(StepKind.SIZE), "count", price)])


def test_a_refused_mechanism_leaves_the_step_unpaid() -> None:
    key = StepKey(StepKind.TREE)
    purse = Purse(Fraction(1))
    purse.commit(Plan(Fraction(1), (Step(key, "choose", Fraction(1)),)))
    with pytest.raises(PlanError, match="pays for choose, not count"):
        purse.pay(key, "count")
    with pytest.raises(PlanError, match="not paid for"):
        purse.close()
    assert purse.pay(key, "choose").price == 1
