"""Twin trees, the default: two trees grown at once, so that their nodes match.

Every pair of matching splits is one private choice, so the guarantee is exact. Several pairs of
twin trees are grown one after the other; each avoids the root attributes of those before it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from fractions import Fraction
from functools import partial
from typing import ClassVar, Self

from redveil.algorithms.algorithm import Algorithm, Work, must_be_a_share
from redveil.algorithms.leaf_counts import Grown, table_steps
from redveil.algorithms.trial import Trial
from redveil.algorithms.tuning import (
    TWIN_DEPTHS,
    TWIN_TRIALS,
    fresh_roots,
    is_weak,
    pair_epsilon,
    reached,
    strength,
)
from redveil.findings.leaf_table import LeafTable
from redveil.findings.required_budget import Choice
from redveil.privacy.loss import Price
from redveil.privacy.plan import Plan, Step, StepKey, StepKind
from redveil.schema import Schema, Side
from redveil.sealed import Released, combine
from redveil.trees.prepared import Needs
from redveil.trees.twin import BY_AGREEMENT, BY_LEVERAGE, Avoid, Matching, Twins, grow_twins


class RootScore(StrEnum):
    """The score by which the roots of twin trees are chosen.

    >>> [score.value for score in RootScore]
    ['leverage', 'agreement']
    """

    LEVERAGE = "leverage"
    AGREEMENT = "agreement"

    @property
    def matching(self) -> Matching:
        """How pairs of splits are scored."""
        return BY_AGREEMENT if self is RootScore.AGREEMENT else BY_LEVERAGE


@dataclass(frozen=True, kw_only=True)
class Twin(Algorithm):
    """Twin trees. Each trial grows one pair.

    tree_share: the share of a trial's price that goes to the trees; the rest goes to their table
    root_score: the score of the first choice

    >>> Twin.of().auto
    ('depth', 'trials', 'root_score')
    >>> [step.name for step in Twin(depth=2).plan(Fraction(1)).steps]
    ['trial 1, twin trees, level 1', 'trial 1, twin trees, level 2', 'trial 1, leaf table 1, cells']
    """

    name: ClassVar[str] = "twin"

    tree_share: Fraction = Fraction(1, 2)
    root_score: RootScore = RootScore.LEVERAGE

    def __post_init__(self) -> None:
        must_be_a_share("tree_share", self.tree_share)
        super().__post_init__()

    def _left_to_the_rule(self, given: Collection[str]) -> tuple[str, ...]:
        return tuple(name for name in ("depth", "trials", "root_score") if name not in given)

    def tuned(self, schema: Schema | None, size: float, price: Price) -> Self:
        """Set depth, number of pairs and root score by the tuning rule.

        >>> few = Twin.of().tuned(None, 1_000, Fraction(1))
        >>> many = Twin.of().tuned(None, 100_000, Fraction(1))
        >>> (few.depth, few.trials), (many.depth, many.trials)
        ((1, 1), (3, 4))
        """
        entities = strength(schema, size)

        def worth(trials: int, depth: int) -> float:
            return entities * pair_epsilon(price / trials, depth, self.tree_share)

        depth, trials, root_score = self.depth, self.trials, self.root_score
        if "trials" in self.auto:
            deepest = len(TWIN_DEPTHS) if "depth" in self.auto else depth
            trials = reached(TWIN_TRIALS, lambda number: number * worth(number, deepest))
            trials = min(trials, fresh_roots(schema, self.steering.required))
        if "depth" in self.auto:
            depth = reached(TWIN_DEPTHS, lambda deep: worth(trials, deep))
        if "root_score" in self.auto:
            root_score = root_score_for(worth(trials, depth))
        return replace(self, depth=depth, trials=trials, root_score=root_score)

    def trial_steps(self, trial: int, price: Price) -> Iterator[Step]:
        """Yield a step for each level of the trees, then those of their table."""
        for key in self._levels(trial):
            yield Step(key, "choose", price * self.tree_share / self.depth)
        yield from table_steps(self.counts, trial, 1, price * (1 - self.tree_share))

    def _levels(self, trial: int) -> tuple[StepKey, ...]:
        levels = range(1, self.depth + 1)
        return tuple(StepKey(StepKind.TWIN_TREES, trial, level=level) for level in levels)

    def first_choice(self, plan: Plan) -> Choice | None:
        """Return the choice of the first pair of roots."""
        return choice_of(plan.first(StepKind.TWIN_TREES), self.root_score)

    @property
    def needs(self) -> Needs:
        """Joint counts of all pairs of splits."""
        return Needs(sets=True, joint=True)

    def work(self, trial: Callable[[int], Trial]) -> list[Work]:
        """Return all trials as one piece of work: each depends on those before it."""
        return [partial(self.run_trial, trial(1))]

    def run_trial(self, trial: Trial) -> list[Released[LeafTable]]:
        """Grow and measure all pairs, one after the other.

        What a pair avoids follows from trees that are released already, so it costs nothing.
        """
        used: dict[Side, set[int]] = {side: set() for side in Side}
        tables: list[Released[LeafTable]] = []
        for number in range(1, self.trials + 1):
            twins = grow(trial, self.root_score, used, self._levels(number))
            for side, attribute in twins.value.roots(trial.data.splits).items():
                used[side].add(attribute)
            tables.append(trial.measure(grown(trial, twins), self.counts, trial=number))
        return tables


def root_score_for(worth: float) -> RootScore:
    """Return the root score that the tuning rule takes.

    >>> root_score_for(100.0)
    <RootScore.AGREEMENT: 'agreement'>
    """
    return RootScore.AGREEMENT if is_weak(worth) else RootScore.LEVERAGE


def grow(
    trial: Trial, root_score: RootScore, avoid: Avoid, steps: Sequence[StepKey]
) -> Released[Twins]:
    """Grow a pair of twin trees, one level for each step, and report progress."""
    matching, sources = root_score.matching, (trial.purse, trial.randomness)
    twins = grow_twins(trial.data, matching, avoid, steps, *sources, trial.required)
    trial.progress()
    return twins


def grown(trial: Trial, twins: Released[Twins]) -> dict[Side, Grown]:
    """Return both trees of a pair, and where each entity ends in them."""
    return {
        side: (
            combine(lambda both, s=side: both.tree(s), twins),
            trial.data.positions(twins.value.tree(side)),
        )
        for side in Side
    }


def choice_of(step: Step | None, root_score: RootScore) -> Choice | None:
    """Return the choice that a step pays for."""
    return None if step is None else Choice(step.price, root_score.matching.score)
