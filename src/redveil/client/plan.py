"""A plan that a server has made: what a question would cost, and whether it can be paid for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from redveil.base.display import Block, Displayed, Listing
from redveil.wire import answers


@dataclass(frozen=True, slots=True)
class RemotePlan(Displayed):
    """The steps of a question with their prices, which add up to what is charged.

    price:      what is charged
    left:       what you can still spend
    is_covered: whether that is enough
    unit:       of the steps' prices, ε or ρ
    """

    price: answers.Loss
    left: answers.Loss
    is_covered: bool
    unit: str
    steps: Sequence[answers.Step]

    @classmethod
    def of(cls, plan: answers.Plan) -> RemotePlan:
        """Return a plan as it was answered."""
        unit = "ρ" if plan.unit == "rho" else "ε"
        return cls(plan.price, plan.left, plan.is_covered, unit, tuple(plan.steps))

    def __repr__(self) -> str:
        covered = "covered" if self.is_covered else "NOT covered"
        steps = f"{len(self.steps)} step{'s' * (len(self.steps) != 1)}"
        return f"<RemotePlan: {in_words(self.price)}, {steps}, {covered}>"

    def _shown(self) -> Iterator[Block]:
        yield self.listing()
        enough = "enough" if self.is_covered else "NOT enough"
        yield f"{in_words(self.price)} would be charged; {in_words(self.left)} left: {enough}"

    def listing(self) -> Listing:
        """Return the steps as a table."""
        return Listing(
            ("step", "mechanism", self.unit),
            [(step.name, step.mechanism, step.price) for step in self.steps],
            right=(2,),
        )


def in_words(loss: answers.Loss) -> str:
    """Return an amount as people write it.

    >>> in_words(answers.Loss(epsilon="1")), in_words(answers.Loss(epsilon="1", delta="0.000001"))
    ('ε = 1', 'ε = 1, δ = 0.000001')
    """
    return f"ε = {loss.epsilon}" + ("" if loss.delta == "0" else f", δ = {loss.delta}")
