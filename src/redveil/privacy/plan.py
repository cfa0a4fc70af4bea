"""A plan: what a run will spend, step by step, and never more."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from redveil.errors import PlanError
from redveil.privacy.loss import Price, Rho, amount, total
from redveil.sealed import Receipt

Mechanism = Literal["choose", "count", "walk"]


@dataclass(frozen=True, slots=True)
class Step:
    """One named release and its price.

    >>> from fractions import Fraction
    >>> Step("trial 1: leaf table, cells", "count", Fraction(1, 4)).price
    Fraction(1, 4)
    """

    name: str
    mechanism: Mechanism
    price: Price


@dataclass(frozen=True, slots=True)
class Plan:
    """Named steps whose prices add up exactly. Depends on public and released values only.

    Prices are in ε, or all of them in ρ (`Rho`).

    >>> from fractions import Fraction
    >>> Plan(Fraction(1), (Step("a", "choose", Fraction(1, 3)), Step("b", "count", Fraction(2, 3))))
    Plan(ε = 1, 2 steps)
    >>> Plan(Fraction(1), (Step("a", "choose", Fraction(1, 3)),))
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
        if len({step.name for step in self.steps}) != len(self.steps):
            raise PlanError("two steps have the same name")

    def __repr__(self) -> str:
        unit = "ρ" if isinstance(self.price, Rho) else "ε"
        return f"Plan({unit} = {self.price}, {len(self.steps)} steps)"

    def purse(self) -> Purse:
        """Return a purse that holds exactly this plan's budget, for one run."""
        return Purse(self.steps)


class Purse:
    """The budget of one run: each step can be paid for once, and only as planned.

    >>> from fractions import Fraction
    >>> purse = Plan(Fraction(1), (Step("a", "choose", Fraction(1)),)).purse()
    >>> purse.pay("a", "choose").price
    Fraction(1, 1)
    >>> purse.pay("a", "choose")
    Traceback (most recent call last):
    redveil.errors.PlanError: step 'a' is not in the plan, or is paid for already
    """

    __slots__ = ("_open",)

    def __init__(self, steps: Iterable[Step]) -> None:
        self._open = {step.name: step for step in steps}

    def pay(self, name: str, mechanism: Mechanism) -> Receipt:
        """Take a step's price out of the purse and return the receipt a mechanism asks for."""
        step = self._open.pop(name, None)
        if step is None:
            raise PlanError(f"step {name!r} is not in the plan, or is paid for already")
        if step.mechanism != mechanism:
            raise PlanError(f"step {name!r} pays for {step.mechanism}, not {mechanism}")
        return Receipt(step.name, step.mechanism, step.price)

    @property
    def is_empty(self) -> bool:
        """Whether everything planned has been spent."""
        return not self._open
