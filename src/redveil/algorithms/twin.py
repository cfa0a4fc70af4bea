"""Twin trees, the default: two trees grown at once, so that their nodes match.

Every pair of matching splits is one private choice, so the guarantee is exact. Several pairs of
twin trees are grown one after the other. Each avoids the root attributes of those before it and,
below its own roots, the pairs of attributes that they have matched. If nothing is said about their
shape, a first pair of depth 1, the scout, is grown and measured before the shape of the others is
decided; deeper pairs begin with its splits.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from fractions import Fraction
from functools import partial
from typing import ClassVar, Final, Self

import numpy as np

from redveil.algorithms.algorithm import Algorithm, Work, must_be_a_share
from redveil.algorithms.leaf_counts import Grown, table_steps
from redveil.algorithms.trial import Scouted, Trial
from redveil.algorithms.tuning import (
    LEAST_RELATED,
    USUAL,
    Worth,
    affordable,
    fresh_roots,
    needed,
    pair_epsilon,
    scout_share,
    shape_after_scout,
    strength,
)
from redveil.findings.estimate import estimate
from redveil.findings.leaf_table import LeafTable
from redveil.findings.required_budget import Choice, Design
from redveil.growing.pairing import NO_EARLIER, Earlier
from redveil.growing.twin import (
    BY_AGREEMENT,
    BY_CORRESPONDENCE,
    BY_LEVERAGE,
    Matching,
    Twins,
    grow_twins,
)
from redveil.losses.loss import Price
from redveil.losses.plan import Plan, Step, StepKey, StepKind
from redveil.schema import Schema, Side
from redveil.sealed import Released, combine

# How much of a cell's standard error is taken off a leverage: of all splits, the scout's were
# chosen for theirs.
CAUTION: Final = 0.35


class RootScore(StrEnum):
    """The score by which the roots of twin trees are chosen.

    >>> [score.value for score in RootScore]
    ['correspondence', 'leverage', 'agreement']
    """

    CORRESPONDENCE = "correspondence"
    LEVERAGE = "leverage"
    AGREEMENT = "agreement"

    @property
    def matching(self) -> Matching:
        """How pairs of splits are scored."""
        return {
            RootScore.CORRESPONDENCE: BY_CORRESPONDENCE,
            RootScore.LEVERAGE: BY_LEVERAGE,
            RootScore.AGREEMENT: BY_AGREEMENT,
        }[self]


@dataclass(frozen=True, kw_only=True)
class Twin(Algorithm):
    """Twin trees. Each trial grows one pair.

    tree_share: the share of a pair's price that goes to the trees; the rest goes to their table
    root_score: the score of the first choice
    scout:      the share of the price that goes to a first pair of depth 1; 0 for none. With a
                scout, `trials` includes it, and `depth` is that of the others
    again:      whether the pair after the scout may have the scout's splits at its roots

    >>> Twin.of().auto
    ('depth', 'trials')
    >>> [step.name for step in Twin(depth=2).plan(Fraction(1)).steps]
    ['trial 1, twin trees, level 1', 'trial 1, twin trees, level 2', 'trial 1, leaf table 1, cells']
    """

    name: ClassVar[str] = "twin"
    derived: ClassVar[tuple[str, ...]] = ("scout", "again")

    tree_share: Fraction = Fraction(1, 2)
    root_score: RootScore = RootScore.CORRESPONDENCE
    scout: Fraction = Fraction(0)
    again: bool = False

    def __post_init__(self) -> None:
        must_be_a_share("tree_share", self.tree_share)
        super().__post_init__()

    def _left_to_the_rule(self, given: Collection[str]) -> tuple[str, ...]:
        return tuple(name for name in ("depth", "trials") if name not in given)

    # The shape

    def tuned(self, schema: Schema | None, size: float, price: Price) -> Self:
        """Set depth and number of pairs by the tuning rule, as if the views were usually related.

        >>> few = Twin.of().tuned(None, 400, Fraction(1))
        >>> many = Twin.of().tuned(None, 100_000, Fraction(1))
        >>> (few.depth, few.trials, few.scout), (many.depth, many.trials, many.scout)
        ((1, 1, Fraction(0, 1)), (2, 13, Fraction(1, 25)))
        """
        worth = self._worth(schema, size, price)
        if self.auto == ("depth",):
            deep = worth(2, self.trials) >= needed(2, USUAL)
            return replace(self, depth=2 if deep else 1)
        if self.auto == ("trials",):
            roots = fresh_roots(schema, self.steering.required)
            return replace(self, trials=max(affordable(self.depth, USUAL, worth, roots), 1))
        if not self.auto:
            return self
        share = scout_share(worth(1, 1), price)
        if not share:
            return replace(self, depth=1, trials=1, scout=share, again=False)
        return replace(self, scout=share).shaped(schema, size, price, USUAL)

    @property
    def adapts(self) -> bool:
        """Whether there is a scout."""
        return self.scout > 0

    def shaped(self, schema: Schema | None, size: float, price: Price, related: float) -> Self:
        """Return the algorithm with the shape that suits how strongly the views are related."""
        worth = self._worth(schema, size, price * (1 - self.scout))
        shape = shape_after_scout(related, worth, fresh_roots(schema, self.steering.required))
        return replace(self, depth=shape.depth, trials=1 + shape.pairs, again=shape.again)

    def _worth(self, schema: Schema | None, size: float, price: Price) -> Worth:
        """Return what gives the N·ε of each of so many pairs of some depth."""
        entities = strength(schema, size)
        return lambda depth, pairs: entities * pair_epsilon(price / pairs, depth, self.tree_share)

    # The plan

    def _steps(self, price: Price) -> Iterator[Step]:
        first = 1
        yield from self.scout_steps(price)
        if self.scout:
            price, first = price * (1 - self.scout), 2
        for trial in range(first, self.trials + 1):
            yield from self.trial_steps(trial, price / (self.trials + 1 - first))

    def scout_steps(self, price: Price) -> Iterator[Step]:
        """Yield the steps of the scout, if there is one, in a run of a price."""
        if not self.scout:
            return
        price = price * self.scout
        yield Step(_level(1, 1), "choose", price * self.tree_share)
        yield from table_steps(self.counts, 1, 1, price * (1 - self.tree_share))

    def trial_steps(self, trial: int, price: Price) -> Iterator[Step]:
        """Yield a step for each level of the trees, then those of their table."""
        keys = self._levels(trial)
        for key in keys:
            yield Step(key, "choose", price * self.tree_share / len(keys))
        yield from table_steps(self.counts, trial, 1, price * (1 - self.tree_share))

    def _deepens(self, trial: int) -> bool:
        """Return whether a pair begins with the scout's splits, so that its first level is free."""
        return bool(self.scout) and trial == 2 and self.depth > 1

    def _levels(self, trial: int) -> tuple[StepKey, ...]:
        levels = range(2 if self._deepens(trial) else 1, self.depth + 1)
        return tuple(_level(trial, level) for level in levels)

    @property
    def first_depth(self) -> int:
        """The depth of the first trees: a scout's is 1."""
        return 1 if self.scout else self.depth

    def first_choice(self, plan: Plan) -> Choice | None:
        """Return the choice of the first pair of roots."""
        return choice_of(plan.first(StepKind.TWIN_TREES), self.root_score)

    def designs(self, schema: Schema | None, size: float, price: Price) -> tuple[Design, ...]:
        """Return what a run would measure: first, and after a scout that has found nothing.

        >>> [design.depth for design in Twin.of().designs(None, 20_000, Fraction(1))]
        [1, 2]
        """
        first = self.design(schema, size, price)
        tuned = self.tuned(schema, size, price)
        if not tuned.adapts:
            return (first,)
        shaped = tuned.shaped(schema, size, price, LEAST_RELATED)
        steps = shaped.plan(price).steps
        # The pair after the scout may only deepen it.
        roots = _roots_after_a_scout(shaped.trials)
        chosen = next((one for one in steps if one.key in roots), None)
        if chosen is None:
            return (first,)
        counted = next(
            one
            for one in steps
            if (one.key.kind, one.key.trial) == (StepKind.LEAF_TABLE, chosen.key.trial)
        )
        choice = choice_of(chosen, self.root_score)
        return first, Design(shaped.depth, shaped.trials, counted.price, choice)

    # The run

    def run_scout(self, trial: Trial) -> Scouted | None:
        """Grow and measure the scout, if there is one."""
        if not self.scout:
            return None
        twins = grow(trial, self.root_score, NO_EARLIER, (_level(1, 1),))
        return Scouted(twins, trial.measure(grown(twins), self.counts, trial=1))

    def informed(self, schema: Schema, size: float, price: Price, scouted: Scouted) -> Self:
        """Return the algorithm with the shape that suits what the scout has found.

        A shape that was not left to the rule stays as it is.
        """
        if not self.auto:
            return self
        return self.shaped(schema, size, price, related(scouted.table.value))

    @property
    def stages(self) -> int:
        """How many times a run reports progress: twice a pair, from the plan's making on.

        A scout comes before that, when nobody knows how much will follow.
        """
        return 2 * (self.trials - bool(self.scout))

    def work(self, trial: Callable[[int], Trial]) -> list[Work]:
        """Return all trials as one piece of work: each depends on those before it."""
        return [partial(self.run_trial, trial(1))]

    def run_trial(self, trial: Trial) -> list[Released[LeafTable]]:
        """Grow and measure all pairs, one after the other.

        What a pair avoids follows from trees that are released already, so it costs nothing.
        """
        earlier = NO_EARLIER
        tables: list[Released[LeafTable]] = []
        scouted = trial.scouted
        if scouted is not None:
            tables.append(scouted.table)
            if not self.again:
                earlier = _with(earlier, scouted.twins, trial)
        for number in range(len(tables) + 1, self.trials + 1):
            begun = scouted.twins if scouted is not None and self._deepens(number) else None
            twins = grow(trial, self.root_score, earlier, self._levels(number), begun)
            earlier = _with(earlier, twins, trial)
            tables.append(trial.measure(grown(twins), self.counts, trial=number))
        return tables


def _with(earlier: Earlier, twins: Released[Twins], trial: Trial) -> Earlier:
    """Return what has been asked, with one more pair of trees."""
    splits = trial.data.splits
    return earlier.and_also(twins.value.roots(splits), twins.value.matched(splits))


def related(table: LeafTable) -> float:
    """Return how strongly the views are related, judged by the table of a pair of splits.

    It is the leverage of the two splits per entity, less a little for the luck of the noise.
    """
    fitted = estimate(table)
    half = np.arange(len(table.left.ends)) == 0, np.arange(len(table.right.ends)) == 0
    m = fitted.moments(half[0][None], half[1][None])
    size = max(fitted.size, 1.0)
    leverage = abs(float(m.both[0]) - float(m.left[0]) * float(m.right[0]) / size)
    return (leverage - CAUTION * fitted.cell_deviation) / size


def _roots_after_a_scout(trials: int) -> set[StepKey]:
    return {_level(trial, 1) for trial in range(2, trials + 1)}


def _level(trial: int, level: int) -> StepKey:
    return StepKey(StepKind.TWIN_TREES, trial, level=level)


def grow(
    trial: Trial,
    root_score: RootScore,
    earlier: Earlier,
    steps: Sequence[StepKey],
    begun: Released[Twins] | None = None,
) -> Released[Twins]:
    """Grow a pair of twin trees, one level for each step, and report progress."""
    matching, sources = root_score.matching, (trial.purse, trial.randomness)
    twins = grow_twins(trial.data, matching, earlier, steps, *sources, trial.required, begun)
    trial.progress()
    return twins


def grown(twins: Released[Twins]) -> dict[Side, Grown]:
    """Return both trees of a pair."""
    return {side: combine(lambda both, s=side: both.tree(s), twins) for side in Side}


def choice_of(step: Step | None, root_score: RootScore) -> Choice | None:
    """Return the choice that a step pays for."""
    return None if step is None else Choice(step.price, root_score.matching.score)
