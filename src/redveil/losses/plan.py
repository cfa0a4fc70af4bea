"""The plan of a run, step by step: exact prices, from public and released values alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, Protocol

from redveil.base.display import Displayed, Listing
from redveil.errors import PlanError
from redveil.losses.loss import Price, Rho, amount, total

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
