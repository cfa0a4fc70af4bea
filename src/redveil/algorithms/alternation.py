"""Alternation: trees on either side in turn, each predicting the leaves of the one before.

AltExpM (`alt-expm`) chooses every split by itself. AltMCMC (`alt-mcmc`) draws whole trees: exactly
up to depth 2, otherwise by a Markov chain. Each pair of consecutive trees yields a leaf table.

The first tree predicts a random attribute, as in the paper, or one side of a pair of splits that
was chosen privately because the two go together (a private start). Where there is too little for
trees of their own, those two splits are reported.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from fractions import Fraction
from typing import Any, ClassVar, Final, Self

from redveil.algorithms.algorithm import (
    MOST_REPETITIONS,
    MOST_WALK_STEPS,
    Algorithm,
    must_lie_within,
)
from redveil.algorithms.leaf_counts import Grown, table_steps
from redveil.algorithms.targets import Target, leaf_target, random_attribute
from redveil.algorithms.trial import Trial
from redveil.algorithms.tuning import (
    ALTERNATION_DEPTHS,
    ALTERNATIONS,
    pair_epsilon,
    reached,
    strength,
)
from redveil.algorithms.twin import RootScore, choice_of, grow, grown
from redveil.errors import InputError
from redveil.findings.leaf_table import LeafTable
from redveil.findings.required_budget import Choice
from redveil.growing.levelwise import grow_levelwise
from redveil.growing.pairing import NO_EARLIER
from redveil.growing.twin import Twins
from redveil.growing.walks import walk_to_tree
from redveil.growing.whole_tree import DEEPEST as DEEPEST_EXACT
from redveil.growing.whole_tree import draw_tree
from redveil.losses.loss import Price
from redveil.losses.plan import Mechanism, Plan, Step, StepKey, StepKind
from redveil.schema import Schema, Side
from redveil.sealed import Released

# The tuning rule measures strength by a pair of twin trees that spends half on its trees.
_TREE_SHARE: Final = Fraction(1, 2)


class Start(StrEnum):
    """What the first tree of an alternation predicts.

    >>> [start.value for start in Start]
    ['private', 'random']
    """

    PRIVATE = "private"
    RANDOM = "random"


class Sampler(StrEnum):
    """How alt-mcmc draws its trees: exactly from their law, or by a walk towards it.

    >>> [sampler.value for sampler in Sampler]
    ['exact', 'walk']
    """

    EXACT = "exact"
    WALK = "walk"


@dataclass(frozen=True, kw_only=True)
class Alternation(Algorithm):
    """What both alternation algorithms share.

    alternations: how many trees follow the first one; 0 for a private start alone
    start:        what the first tree predicts
    root_score:   the score of a private start
    """

    alternations: int = 2
    start: Start = Start.PRIVATE
    root_score: RootScore = RootScore.CORRESPONDENCE

    def __post_init__(self) -> None:
        least = 0 if self.starts_privately and not self.walks else 1
        unless = ", or be 0 for a private start alone" if least else ""
        must_lie_within("alternations", self.alternations, least, MOST_REPETITIONS, unless)
        if not self.alternations and self.depth > 1:
            raise InputError("without alternations there is one split on each side; use depth 1")
        super().__post_init__()

    @classmethod
    def of(cls, *args: Any, **given: Any) -> Self:
        """Return the algorithm with some parameters given."""
        asked = super().of(*args, **given)
        if "root_score" in given and not asked.starts_privately:
            raise InputError("root_score does nothing without a private start")
        return asked

    @classmethod
    def _implied(cls, given: dict[str, Any]) -> dict[str, Any]:
        # A start has one split on each side.
        return {"depth": 1} if given.get("alternations") == 0 else {}

    def _left_to_the_rule(self, given: Collection[str]) -> tuple[str, ...]:
        # A random start, or a walk, has a fixed shape.
        shaped = {"depth", "alternations"} <= set(given)
        if shaped or self.walks or not self.starts_privately:
            return ()
        known = set(given) if self.alternations else {*given, "depth"}
        return tuple(n for n in ("depth", "alternations") if n not in known)

    def tuned(self, schema: Schema | None, size: float, price: Price) -> Self:
        """Set depth and number of alternations by the tuning rule."""
        entities = strength(schema, size)

        def worth(depth: int) -> float:
            return entities * pair_epsilon(price / self.trials, depth, _TREE_SHARE)

        depth, alternations = self.depth, self.alternations
        if "depth" in self.auto:
            depth = reached(ALTERNATION_DEPTHS, worth)
        if "alternations" in self.auto:
            alternations = reached(ALTERNATIONS, lambda _: worth(DEEPEST_EXACT)) - 1
            # Trees deeper than a start's have to be grown.
            alternations = max(alternations, int(depth > 1))
        return replace(self, depth=depth, alternations=alternations)

    @property
    def starts_privately(self) -> bool:
        """Whether an alternation pays for a good start."""
        return self.start is Start.PRIVATE

    @property
    def trees(self) -> int:
        """How many trees a trial grows: none if a private start is all there is."""
        return self.alternations + 1 if self.alternations else 0

    @property
    def tables(self) -> int:
        """How many leaf tables a trial measures."""
        return max(self.alternations, 1)

    def trial_steps(self, trial: int, price: Price) -> Iterator[Step]:
        """Yield a trial's steps: start, trees and tables have equal shares."""
        share = price / (self.starts_privately + self.trees + self.tables)
        if self.starts_privately:
            yield Step(_start_key(trial), "choose", share)
        for tree in range(1, self.trees + 1):
            keys = self.tree_keys(trial, tree)
            for key in keys:
                yield Step(key, self.tree_mechanism, share / len(keys))
            if tree > 1:
                yield from table_steps(self.counts, trial, tree - 1, share)
        if not self.trees:
            yield from table_steps(self.counts, trial, 1, share)

    def first_choice(self, plan: Plan) -> Choice | None:
        """Return the choice of a private start."""
        return choice_of(plan.first(StepKind.START), self.root_score)

    @property
    def tree_mechanism(self) -> Mechanism:
        """The mechanism that releases a tree."""
        return "choose"

    def tree_keys(self, trial: int, tree: int) -> tuple[StepKey, ...]:
        """Return the steps of a tree: a single one, unless it is chosen level by level."""
        return (StepKey(StepKind.TREE, trial, tree),)

    @property
    def stages(self) -> int:
        """How many times a run reports progress: once a start, tree or table."""
        return self.trials * (self.starts_privately + self.trees + self.tables)

    def run_trial(self, trial: Trial) -> list[Released[LeafTable]]:
        """Grow trees in turn, and measure each pair of consecutive ones."""
        side, target = Side.LEFT, None
        if self.starts_privately:
            stumps = self._grow_start(trial)
            if not self.trees:
                return [trial.measure(grown(stumps), self.counts)]
            side, target = Side.RIGHT, leaf_target(stumps.value.right)
        else:
            its_side, number = random_attribute(trial.data.schema, trial.randomness)
            target = trial.targets(trial.data, its_side, number)
            side = self.profile.first_side(its_side).other
        latest: dict[Side, Grown] = {}
        tables: list[Released[LeafTable]] = []
        for tree_number in range(1, self.trees + 1):
            if trial.data.stop[0]:
                raise KeyboardInterrupt
            side = side.other
            latest[side] = self.grow_tree(trial, side, target, tree_number)
            trial.progress()
            target = leaf_target(latest[side].value)
            if tree_number > 1:
                tables.append(trial.measure(latest, self.counts, tree_number - 1))
        return tables

    def _grow_start(self, trial: Trial) -> Released[Twins]:
        """Choose the two splits of a private start: twin trees of depth 1."""
        return grow(trial, self.root_score, NO_EARLIER, (_start_key(trial.number),))

    @abstractmethod
    def grow_tree(self, trial: Trial, side: Side, target: Target, number: int) -> Grown:
        """Grow one tree on a side, the first of a trial being number 1."""


@dataclass(frozen=True, kw_only=True)
class AltExpM(Alternation):
    """Alternation in which every split is one private choice.

    >>> plan = AltExpM(depth=1, alternations=1).plan(Fraction(1))
    >>> [step.name for step in plan.steps][1:3]
    ['trial 1, tree 1, level 1', 'trial 1, tree 2, level 1']
    """

    name: ClassVar[str] = "alt-expm"

    def tree_keys(self, trial: int, tree: int) -> tuple[StepKey, ...]:
        """Return the steps of a tree, one for each level."""
        levels = range(1, self.depth + 1)
        return tuple(StepKey(StepKind.TREE, trial, tree, level) for level in levels)

    def grow_tree(self, trial: Trial, side: Side, target: Target, number: int) -> Grown:
        """Grow a tree level by level."""
        return grow_levelwise(
            trial.data,
            side,
            target.labels,
            target.number,
            self.tree_keys(trial.number, number),
            trial.purse,
            trial.randomness,
            self.profile.rules,
        )


@dataclass(frozen=True, kw_only=True)
class AltMCMC(Alternation):
    """Alternation in which whole trees are drawn at once.

    sampler:    exactly (up to depth 2), or by a walk
    walk_steps: the length of each walk

    >>> AltMCMC.of(depth=3).sampler
    <Sampler.WALK: 'walk'>
    """

    name: ClassVar[str] = "alt-mcmc"

    sampler: Sampler = Sampler.EXACT
    walk_steps: int = 10_000

    def __post_init__(self) -> None:
        must_lie_within("walk_steps", self.walk_steps, 1, MOST_WALK_STEPS)
        if not self.walks and self.depth > DEEPEST_EXACT:
            raise InputError(
                f"alt-mcmc draws trees exactly up to depth {DEEPEST_EXACT}; use sampler = walk"
            )
        super().__post_init__()

    @classmethod
    def _implied(cls, given: dict[str, Any]) -> dict[str, Any]:
        walks = "walk_steps" in given or given.get("depth", 0) > DEEPEST_EXACT
        return super()._implied(given) | ({"sampler": Sampler.WALK} if walks else {})

    @property
    def walks(self) -> bool:
        """Whether trees come from a Markov chain."""
        return self.sampler is Sampler.WALK

    @property
    def walk_length(self) -> int:
        """The number of steps of each Markov chain."""
        return self.walk_steps if self.walks else 0

    @property
    def tree_mechanism(self) -> Mechanism:
        """The mechanism that releases a tree."""
        return "walk" if self.walks else "choose"

    def grow_tree(self, trial: Trial, side: Side, target: Target, number: int) -> Grown:
        """Draw a whole tree."""
        (key,) = self.tree_keys(trial.number, number)
        receipt = trial.purse.pay(key, self.tree_mechanism)
        if self.walks:
            tree = walk_to_tree(
                trial.data,
                side,
                self.depth,
                target.labels,
                target.number,
                self.walk_steps,
                receipt,
                trial.randomness,
                self.profile.rules,
            )
        else:
            tree = draw_tree(
                trial.data,
                side,
                self.depth,
                target.labels,
                target.number,
                receipt,
                trial.randomness,
            )
        return tree


def _start_key(trial: int) -> StepKey:
    return StepKey(StepKind.START, trial)
