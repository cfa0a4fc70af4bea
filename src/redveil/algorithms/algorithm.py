"""What every algorithm is: public parameters, a plan that follows from them, and a run.

Each algorithm is a class in a module of its own (`twin`, `alternation`, `tree_pair`). Its fields
are its parameters. Its price and its plan follow from them alone, never from the data.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from enum import StrEnum
from fractions import Fraction
from functools import partial
from typing import Any, ClassVar, Final, Self

from redveil.algorithms.leaf_counts import Counts
from redveil.algorithms.profile import HARDENED, Profile
from redveil.algorithms.steering import NO_STEERING, Steering
from redveil.algorithms.trial import Scouted, Trial
from redveil.errors import InputError, PlanError
from redveil.findings.leaf_table import LeafTable
from redveil.findings.required_budget import Choice, Design
from redveil.losses.loss import Price, how_long, read_count, read_fraction
from redveil.losses.plan import Plan, Step, StepKey, StepKind
from redveil.losses.promise import Method, Parameter
from redveil.schema import Schema
from redveil.sealed import Released

# A piece of work that is independent of all others of its run.
Work = Callable[[], list[Released[LeafTable]]]

DEEPEST: Final = 6
MOST_REPETITIONS: Final = 1000
MOST_WALK_STEPS: Final = 10_000_000
# The share of a run's price that buys the noisy number of entities, if the tuning rule needs it.
SIZE_SHARE: Final = Fraction(1, 100)


def size_step(price: Price) -> Step:
    """Return the step that measures the number of entities in a run of a price.

    >>> size_step(Fraction(1)).price
    Fraction(1, 100)
    """
    return Step(StepKey(StepKind.SIZE), "count", price * SIZE_SHARE)


@dataclass(frozen=True, kw_only=True)
class Algorithm(ABC):
    """An algorithm with its public parameters.

    depth:  the depth of the trees
    trials: how many times trees are grown
    counts: what is measured of leaf tables
    auto:   the parameters that the tuning rule sets once the private size is known

    steering: which attributes are left out, required, or may not be matched
    """

    name: ClassVar[str]
    # Fields that follow from others and cannot be given.
    derived: ClassVar[tuple[str, ...]] = ()

    profile: Profile = HARDENED
    steering: Steering = NO_STEERING
    depth: int = 2
    trials: int = 1
    counts: Counts = Counts.CELLS
    auto: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        must_lie_within("depth", self.depth, 1, DEEPEST)
        must_lie_within("trials", self.trials, 1, MOST_REPETITIONS)
        self.profile.check(self)

    # Parameters

    @classmethod
    def parameter_names(cls) -> tuple[str, ...]:
        """Return the names of the parameters that can be given.

        >>> Algorithm.parameter_names()
        ('depth', 'trials', 'counts')
        """
        others = ("profile", "steering", "auto", *cls.derived)
        return tuple(one.name for one in fields(cls) if one.name not in others)

    @classmethod
    def of(cls, profile: Profile = HARDENED, **given: Any) -> Self:
        """Return the algorithm with some parameters given; the profile and the rule set the rest.

        Numbers and choices may be given as text.
        """
        kinds = {one.name: type(one.default) for one in fields(cls)}
        read = {name: _read(name, value, kinds[name]) for name, value in given.items()}
        asked = cls(profile=profile, **(profile.defaults(cls) | cls._implied(read) | read))
        return replace(asked, auto=asked._left_to_the_rule(read) if profile.tunes else ())

    @classmethod
    def _implied(cls, _given: dict[str, Any]) -> dict[str, Any]:
        """Return parameters that follow from what was given."""
        return {}

    def _left_to_the_rule(self, _given: Collection[str]) -> tuple[str, ...]:
        """Return the parameters that the tuning rule sets."""
        return ()

    def public(self) -> dict[str, Parameter]:
        """Return the parameters as plain values, for a certificate."""
        own = {name: getattr(self, name) for name in (*self.parameter_names(), *self.derived)}
        own |= self.profile.public() | {"auto": ", ".join(self.auto) or None}
        own |= self.steering.public()
        return {k: str(v) if isinstance(v, Fraction | StrEnum) else v for k, v in own.items()}

    def method(self, reported: Mapping[str, Parameter]) -> Method:
        """Return how runs are carried out, for a certificate.

        reported: the public parameters of what is reported
        """
        return Method(
            algorithm=self.name,
            profile=self.profile.name,
            guarantee=self.profile.guarantee(walks=self.walks),
            parameters=self.public() | dict(reported),
            conditions=self.profile.conditions(self),
        )

    @property
    def walks(self) -> bool:
        """Whether trees come from a Markov chain, whose privacy is that of its limit."""
        return False

    @property
    def walk_length(self) -> int:
        """The number of steps of each Markov chain; 0 if there is none."""
        return 0

    # The plan

    def plan(self, price: Price) -> Plan:
        """Divide a price over the steps of a run: a pure function of public values.

        The size comes first, if anything is left to the tuning rule.
        """
        size = (size_step(price),) if self.auto else ()
        return Plan(price, (*size, *self._steps(self.after_size(price))))

    def after_size(self, price: Price) -> Price:
        """Return what is left of a price for everything but the size."""
        return price * (1 - SIZE_SHARE) if self.auto else price

    def _steps(self, price: Price) -> Iterator[Step]:
        for trial in range(1, self.trials + 1):
            yield from self.trial_steps(trial, price / self.trials)

    @abstractmethod
    def trial_steps(self, trial: int, price: Price) -> Iterator[Step]:
        """Yield the steps of one trial in the order in which they are taken."""

    def tuned(self, _schema: Schema | None, _size: float, _price: Price) -> Self:
        """Return the algorithm with everything set that is left to the tuning rule."""
        return self

    @property
    def adapts(self) -> bool:
        """Whether what is released first decides how the rest of the price is spent."""
        return False

    def shaped(self, _schema: Schema | None, _size: float, _price: Price, _related: float) -> Self:
        """Return the algorithm with the shape that suits how strongly the views are related."""
        return self

    def scout_steps(self, _price: Price) -> Iterator[Step]:
        """Yield the steps that are taken before the plan is made, if there are any."""
        return iter(())

    @property
    def tables(self) -> int:
        """How many leaf tables a trial measures."""
        return 1

    @property
    def first_depth(self) -> int:
        """The depth of the first trees."""
        return self.depth

    @abstractmethod
    def first_choice(self, plan: Plan) -> Choice | None:
        """Return the private choice on which all others build, if there is one."""

    def designs(self, schema: Schema | None, size: float, price: Price) -> tuple[Design, ...]:
        """Return what a run would measure, given a number of entities and a price.

        There is one design for each way in which the only match in the data can be found.
        """
        return (self.design(schema, size, price),)

    def design(self, schema: Schema | None, size: float, price: Price) -> Design:
        """Return what a run would measure first."""
        tuned = self.tuned(schema, size, price)
        plan = tuned.plan(price)
        table = plan.first(StepKind.LEAF_TABLE)
        if table is None:
            raise PlanError(f"the plan of {self.name} measures no leaf table")
        return Design(
            depth=tuned.first_depth,
            tables=tuned.trials * tuned.tables,
            cells_price=table.price,
            choice=tuned.first_choice(plan),
        )

    # The run

    def run_scout(self, _trial: Trial) -> Scouted | None:
        """Take the steps before the plan is made, and return what they released."""
        return None

    def informed(self, _schema: Schema, _size: float, _price: Price, _scouted: Scouted) -> Self:
        """Return the algorithm with everything set that depends on what was released early."""
        return self

    @property
    def stages(self) -> int:
        """How many times a run reports progress: once a tree or pair of trees, once a table."""
        return 2 * self.trials

    def work(self, trial: Callable[[int], Trial]) -> list[Work]:
        """Return the trials as independent pieces of work.

        trial: makes a trial, given its number from 1 on
        """
        numbers = range(1, self.trials + 1)
        return [partial(self.run_trial, trial(number)) for number in numbers]

    @abstractmethod
    def run_trial(self, trial: Trial) -> list[Released[LeafTable]]:
        """Run one trial and return its leaf tables."""


def must_lie_within(name: str, value: float, least: float, most: float, unless: str = "") -> None:
    """Refuse a parameter outside its range.

    >>> must_lie_within("depth", 0, 1, 6)
    Traceback (most recent call last):
    redveil.errors.InputError: depth must lie between 1 and 6
    """
    if not least <= value <= most:
        raise InputError(f"{name} must lie between {least} and {most}{unless}")


def must_be_a_share(name: str, value: Fraction) -> None:
    """Refuse a share that leaves nothing for one of two parts."""
    if not 0 < value < 1:
        raise InputError(f"{name} must lie between 0 and 1, both excluded")


def _read(name: str, value: object, kind: type) -> Any:
    """Read a given parameter as the kind of its default."""
    if issubclass(kind, StrEnum):
        if value not in list(kind):
            raise InputError(f"unknown {name}; use one of {', '.join(kind)}")
        return kind(str(value))
    number = read_fraction(value) if kind is Fraction else read_count(value)
    if number is None:
        wanted = "a number, as in 0.5 or 1/2" if kind is Fraction else "a whole number"
        raise InputError(f"{name} must be {wanted}{how_long(value)}")
    return number
