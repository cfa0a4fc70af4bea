"""What a run promises: its loss, its guarantee, and the conditions on which the promise rests."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from redveil.losses.loss import Loss, legible
from redveil.losses.plan import Plan
from redveil.schema import Schema, Side, Status
from redveil.schema.view import plural

if TYPE_CHECKING:
    from redveil.query.condition import Condition

# A public parameter of a run, as a plain value.
Parameter: TypeAlias = (
    bool | int | float | str | tuple[str, ...] | tuple[tuple[str, ...], ...] | None
)
Guarantee = Literal["exact", "asymptotic", "as published; see known limits"]
AS_PUBLISHED: Final = "as published; see known limits"

# Above this ε, a factor of e^ε protects hardly anyone.
LARGE_EPSILON: Final = 10
# Above this product of δ and the number of entities, δ may fail for someone rather than for no one.
LARGE_DELTA_SHARE: Final = 0.1
NOT_MET: Final = "NOT MET"
UNRECORDED: Final = (
    "whoever adds up results about the same entities counts this one by hand: no ledger recorded it"
)
# From the strongest to the weakest.
STRENGTH: Final[tuple[Guarantee, ...]] = ("exact", "asymptotic", AS_PUBLISHED)


@dataclass(frozen=True, slots=True)
class Method:
    """How a run was carried out: public names and numbers only.

    conditions: what the promise rests on because of the method
    """

    algorithm: str
    profile: str
    guarantee: Guarantee
    parameters: dict[str, Parameter]
    conditions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Source:
    """The earlier result that a run takes its queries from, and what that one does not promise.

    A run takes queries for released. If they were not released with privacy, what it says of them
    repeats that.

    unmet:    why its promise is not met, if it is not
    datasets: the ids of all data sets that the queries come from, None for one that is not known
    others:   whether the owner vouches that the run is about none of the entities in these

    >>> Source("exact", ("the schema is a draft",)).conditions
    ('NOT MET: the queries come from a result whose promise is not met: the schema is a draft',)
    >>> Source("asymptotic").conditions
    ('the queries come from a result whose guarantee is asymptotic',)
    """

    guarantee: Guarantee
    unmet: tuple[str, ...] = ()
    datasets: tuple[str | None, ...] = ()
    others: bool = False

    @property
    def conditions(self) -> tuple[str, ...]:
        """What the promise of a run rests on because of its source."""
        start = "the queries come from a result whose"
        said = [f"{NOT_MET}: {start} promise is not met: {one}" for one in self.unmet]
        if self.guarantee == "asymptotic":
            said.append(f"{start} guarantee is asymptotic")
        return tuple(said)


@dataclass(frozen=True, slots=True)
class Promise:
    """What a run promises about the entities of a declared schema.

    entities: the noisy number of entities as (estimate, upper bound), if it was released
    part:     the queries that hold for every entity that the run is about, if not for all
    given:    the queries that a person gave to start from, if any
    source:   the earlier result that queries come from, if any
    recorded: whether a ledger recorded the loss
    """

    schema: Schema
    loss: Loss
    plan: Plan
    method: Method
    entities: tuple[float, float] | None = None
    part: tuple[Condition, ...] = ()
    given: tuple[Condition, ...] = ()
    source: Source | None = None
    recorded: bool = True

    @property
    def guarantee(self) -> Guarantee:
        """How far the proof carries: no farther than that of the result that queries come from."""
        own = self.method.guarantee
        return own if self.source is None else max(own, self.source.guarantee, key=STRENGTH.index)

    @property
    def conditions(self) -> tuple[str, ...]:
        """What the promise rests on; conditions that are not met come first."""
        schema, loss = self.schema, self.loss
        adds = "ε and δ to these" if loss.delta else "ε to this one"
        conditions = [
            f"each {schema.unit} has one row in each view, as the entity key declares",
            "nothing in the schema was learned from these rows without being paid for",
            "parameters, and the decision to publish this run, were not chosen by looking at the "
            "data",
            f"other results about the same entities add their own {adds}",
            "the assumptions of the privacy guarantee hold for loading, randomness and observers",
        ]
        if not self.recorded:
            conditions.append(UNRECORDED)
        if loss.delta:
            conditions.append(self._delta_condition())
        if loss.epsilon > LARGE_EPSILON:
            conditions.append(f"an ε above {LARGE_EPSILON} protects hardly anyone")
        if schema.bought:
            price = legible(sum((one.epsilon for one in schema.bought), Fraction(0)))
            names = {(side, n) for one in schema.bought for side in Side for n in one.names(side)}
            conditions.append(
                f"add ε = {price}, already spent on the cut points of {len(names)} "
                f"attribute{'s' if len(names) > 1 else ''}"
            )
        conditions += self.method.conditions
        if self.source is not None:
            conditions += self.source.conditions
            if self.source.others:
                conditions.append(
                    f"the {plural(schema.unit)} are others than those that the list was found on, "
                    "or nothing is confirmed"
                )
        if schema.status is Status.DRAFT:
            conditions.append(
                f"{NOT_MET}: the schema is a draft whose bounds or categories were taken from "
                "the data; review it, then run `redveil schema accept`"
            )
        return tuple(sorted(conditions, key=lambda one: not one.startswith(NOT_MET)))

    def _delta_condition(self) -> str:
        """Compare δ with the number of entities, as far as that was released."""
        delta = float(self.loss.delta)
        start = f"δ = {delta:g} is"
        if self.entities is not None and delta * self.entities[1] > LARGE_DELTA_SHARE:
            return (
                f"{NOT_MET}: {start} not far below one over the number of entities, about "
                f"{self.entities[0]:,.0f}; use a smaller one"
            )
        return f"{start} far below one over the number of entities"
