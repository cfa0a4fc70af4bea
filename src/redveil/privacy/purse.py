"""The purse of a run: it holds the price, and pays for planned steps, each once."""

from __future__ import annotations

from collections.abc import Iterable

from redveil.errors import PlanError
from redveil.losses.loss import Price, amount, total
from redveil.losses.plan import Mechanism, Plan, Step, StepKey
from redveil.sealed import Receipt


class Purse:
    """The budget of one run, opened with its whole price.

    A plan is committed once, and its price must be the purse's. What the plan itself depends on,
    such as the private size, is planned and paid for before that, and must be in the plan.

    >>> from fractions import Fraction
    >>> from redveil.losses.plan import StepKind
    >>> size = Step(StepKey(StepKind.SIZE), "count", Fraction(1, 100))
    >>> tree = Step(StepKey(StepKind.TREE), "choose", Fraction(99, 100))
    >>> purse = Purse(Fraction(1))
    >>> purse.plan_ahead([size])
    >>> purse.pay(size.key, "count").price
    Fraction(1, 100)
    >>> purse.commit(Plan(Fraction(1), (size, tree)))
    >>> purse.close()
    Traceback (most recent call last):
    redveil.errors.PlanError: 1 planned step was not paid for: tree
    >>> purse.pay(tree.key, "choose").price
    Fraction(99, 100)
    >>> purse.pay(tree.key, "choose")
    Traceback (most recent call last):
    redveil.errors.PlanError: step 'tree' is not in the plan, or is paid for already
    >>> purse.close()
    """

    __slots__ = ("_ahead", "_is_committed", "_open", "_price")

    def __init__(self, price: Price) -> None:
        self._price = price
        self._ahead: list[Step] = []
        self._open: dict[StepKey, Step] = {}
        self._is_committed = False

    def plan_ahead(self, steps: Iterable[Step]) -> None:
        """Take on steps that the plan will contain, before the plan is known."""
        for step in steps:
            if self._is_committed:
                raise PlanError(f"step {step.name!r} cannot be planned ahead: there is a plan")
            if any(one.key == step.key for one in self._ahead):
                raise PlanError(f"step {step.name!r} is planned already")
            if type(step.price) is not type(self._price) or amount(step.price) <= 0:
                raise PlanError(
                    f"step {step.name!r} needs a positive price in the purse's currency"
                )
            if amount(total(one.price for one in (*self._ahead, step))) > amount(self._price):
                raise PlanError(f"step {step.name!r} costs more than the purse holds")
            self._ahead.append(step)
            self._open[step.key] = step

    def commit(self, plan: Plan) -> None:
        """Take on a plan; from now on, only its steps can be paid for."""
        if self._is_committed:
            raise PlanError("a run has one plan; this purse already has one")
        if plan.price != self._price:
            raise PlanError(f"the plan costs {plan.price}, and the purse holds {self._price}")
        missing = [step.name for step in self._ahead if step not in plan.steps]
        if missing:
            raise PlanError(f"planned ahead, but not in the plan: {', '.join(missing)}")
        self._open |= {step.key: step for step in plan.steps if step not in self._ahead}
        self._is_committed = True

    def pay(self, key: StepKey, mechanism: Mechanism) -> Receipt:
        """Take a step's price out of the purse and return the receipt that a mechanism asks for."""
        planned = self._open.get(key)
        if planned is not None and planned.mechanism != mechanism:
            raise PlanError(f"step {str(key)!r} pays for {planned.mechanism}, not {mechanism}")
        # Threads may ask at once: only one of them gets the step.
        step = self._open.pop(key, None)
        if step is None:
            raise PlanError(f"step {str(key)!r} is not in the plan, or is paid for already")
        return Receipt(step.key, step.mechanism, step.price)

    def close(self) -> None:
        """Check that the whole plan was paid for; what is left over is an error."""
        if not self._is_committed:
            raise PlanError("the purse is closed without a plan")
        if self._open:
            left = [step.name for step in self._open.values()]
            verb = "step was" if len(left) == 1 else "steps were"
            raise PlanError(f"{len(left)} planned {verb} not paid for: {', '.join(left)}")
