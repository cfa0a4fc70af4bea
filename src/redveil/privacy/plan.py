"""The plan of a run, step by step, and the purse that pays for it.

A plan is a list of steps with exact prices. It follows from public and released values alone. A
purse holds the price of one run: each planned step is paid for once, and nothing else is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, Protocol

from redveil.display import Displayed, Listing
from redveil.errors import PlanError
from redveil.privacy.loss import Price, Rho, amount, total
from redveil.sealed import Receipt

Mechanism = Literal["choose", "count", "walk"]


class StepKind(StrEnum):
    """What a step releases.

    >>> StepKind.LEAF_TABLE.value
    'leaf table'
    """

    SIZE = "size"
    START = "start"
    TREE = "tree"
    TREE_PAIR = "tree pair"
    TWIN_TREES = "twin trees"
    LEAF_TABLE = "leaf table"


@dataclass(frozen=True, slots=True)
class StepKey:
    """Which release of a run a step pays for. Two steps of a plan never have the same key.

    trial:  the trial, counted from 1; None for what belongs to the run as a whole
    number: which tree or leaf table of the trial, counted from 1
    level:  the level of a tree that is paid for level by level, counted from 1
    part:   the part of a leaf table

    `str` gives the step's name. It is for display; nothing reads it back.

    >>> str(StepKey(StepKind.TREE, trial=1, number=3, level=2))
    'trial 1, tree 3, level 2'
    """

    kind: StepKind
    trial: int | None = None
    number: int | None = None
    level: int | None = None
    part: str | None = None

    def __str__(self) -> str:
        return ", ".join(
            [
                *([] if self.trial is None else [f"trial {self.trial}"]),
                self.kind.value if self.number is None else f"{self.kind.value} {self.number}",
                *([] if self.level is None else [f"level {self.level}"]),
                *([] if self.part is None else [self.part]),
            ]
        )


@dataclass(frozen=True, slots=True)
class Step:
    """One release of a plan, with the mechanism that makes it and its price.

    >>> from fractions import Fraction
    >>> Step(StepKey(StepKind.SIZE), "count", Fraction(1, 100)).name
    'size'
    """

    key: StepKey
    mechanism: Mechanism
    price: Price

    @property
    def name(self) -> str:
        """The step's name, for display."""
        return str(self.key)


class Priced(Protocol):
    """A step of a plan, or of a certificate."""

    @property
    def name(self) -> str:
        """The step's name."""

    @property
    def mechanism(self) -> Mechanism:
        """The mechanism that makes the release."""

    @property
    def price(self) -> Price:
        """What it costs."""


def steps_listing(steps: Iterable[Priced]) -> Listing:
    """Return steps with their prices, and the sum, as a table.

    >>> from fractions import Fraction
    >>> size = Step(StepKey(StepKind.SIZE), "count", Fraction(1, 100))
    >>> steps_listing([size]).rows
    [('size', 'count', '1/100')]
    """
    listed = list(steps)
    whole = total(step.price for step in listed)
    return Listing(
        ("step", "mechanism", _unit(whole)),
        [(step.name, step.mechanism, str(step.price)) for step in listed],
        footer=("sum", "", str(whole)),
        right=(2,),
    )


def _unit(price: Price) -> str:
    return "ρ" if isinstance(price, Rho) else "ε"


@dataclass(frozen=True, slots=True)
class Plan(Displayed):
    """Steps whose prices add up exactly. Depends on public and released values only.

    Prices are in ε, or all of them in ρ (`Rho`). `print` shows every step.

    >>> from fractions import Fraction
    >>> third, rest = Fraction(1, 3), Fraction(2, 3)
    >>> tree, table = StepKey(StepKind.TREE), StepKey(StepKind.LEAF_TABLE)
    >>> Plan(Fraction(1), (Step(tree, "choose", third), Step(table, "count", rest)))
    <Plan: ε = 1, 2 steps>
    >>> Plan(Fraction(1), (Step(tree, "choose", third),))
    Traceback (most recent call last):
    redveil.errors.PlanError: the steps cost 1/3, not 1
    """

    price: Price
    steps: tuple[Step, ...]

    def __post_init__(self) -> None:
        cost = total(step.price for step in self.steps)
        if cost != self.price:
            raise PlanError(f"the steps cost {cost}, not {self.price}")
        if any(amount(step.price) <= 0 for step in self.steps):
            raise PlanError("every step must have a positive price")
        if len({step.key for step in self.steps}) != len(self.steps):
            raise PlanError("two steps of the plan are the same")

    def __repr__(self) -> str:
        return f"<Plan: {_unit(self.price)} = {self.price}, {len(self.steps)} steps>"

    def _shown(self) -> Iterator[Listing]:
        yield steps_listing(self.steps)

    def first(self, kind: StepKind) -> Step | None:
        """Return the first step of a kind, or None.

        >>> from fractions import Fraction
        >>> plan = Plan(Fraction(1), (Step(StepKey(StepKind.SIZE), "count", Fraction(1)),))
        >>> plan.first(StepKind.SIZE) is plan.steps[0], plan.first(StepKind.TREE)
        (True, None)
        """
        return next((step for step in self.steps if step.key.kind is kind), None)


class Purse:
    """The budget of one run, opened with its whole price.

    A plan is committed once, and its price must be the purse's. What the plan itself depends on,
    such as the private size, is planned and paid for before that, and must be in the plan.

    >>> from fractions import Fraction
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
