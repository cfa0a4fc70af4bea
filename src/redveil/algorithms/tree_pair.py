"""MCMCTreePair (`tree-pair`): one Markov chain over pairs of trees, then their leaf table."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import ClassVar

from redveil.algorithms.algorithm import (
    MOST_WALK_STEPS,
    Algorithm,
    must_be_a_share,
    must_lie_within,
)
from redveil.algorithms.leaf_counts import table_steps
from redveil.algorithms.targets import random_attribute
from redveil.algorithms.trial import Trial
from redveil.counting.labels import Labels
from redveil.findings.leaf_table import LeafTable
from redveil.findings.required_budget import Choice
from redveil.growing.walks import walk_to_pair
from redveil.losses.loss import Price
from redveil.losses.plan import Plan, Step, StepKey, StepKind
from redveil.schema import Side
from redveil.sealed import Released


class PairScore(StrEnum):
    """The score that the walk over pairs of trees follows.

    >>> [score.value for score in PairScore]
    ['association', 'purity']
    """

    ASSOCIATION = "association"
    PURITY = "purity"


@dataclass(frozen=True, kw_only=True)
class TreePair(Algorithm):
    """Pairs of trees, each drawn by one Markov chain.

    tree_share: the share of a trial's price that goes to the pair; the rest goes to its table
    pair_score: the score of a pair
    walk_steps: the length of each walk

    >>> [step.name for step in TreePair(trials=1).plan(Fraction(1)).steps]
    ['trial 1, tree pair', 'trial 1, leaf table 1, cells']
    """

    name: ClassVar[str] = "tree-pair"

    tree_share: Fraction = Fraction(1, 2)
    pair_score: PairScore = PairScore.ASSOCIATION
    walk_steps: int = 10_000

    def __post_init__(self) -> None:
        must_lie_within("walk_steps", self.walk_steps, 1, MOST_WALK_STEPS)
        must_be_a_share("tree_share", self.tree_share)
        super().__post_init__()

    @property
    def walks(self) -> bool:
        """Whether trees come from a Markov chain: always."""
        return True

    @property
    def walk_length(self) -> int:
        """The number of steps of each Markov chain."""
        return self.walk_steps

    def trial_steps(self, trial: int, price: Price) -> Iterator[Step]:
        """Yield the step of the pair, then those of its table."""
        yield Step(_pair_key(trial), "walk", price * self.tree_share)
        yield from table_steps(self.counts, trial, 1, price * (1 - self.tree_share))

    def first_choice(self, _plan: Plan) -> Choice | None:
        """Return nothing: a walk makes no single choice."""
        return None

    def run_trial(self, trial: Trial) -> list[Released[LeafTable]]:
        """Draw a pair of trees and measure its table."""
        trees = walk_to_pair(
            trial.data,
            self.depth,
            self._target(trial),
            self.walk_steps,
            trial.purse.pay(_pair_key(trial.number), "walk"),
            trial.randomness,
            self.profile.rules,
        )
        trial.progress()
        return [trial.measure(trees, self.counts)]

    def _target(self, trial: Trial) -> tuple[Side, Labels, int] | None:
        """Return what the first tree predicts: an attribute of the other view, or nothing."""
        if self.pair_score is PairScore.ASSOCIATION:
            return None
        side, number = random_attribute(trial.data.schema, trial.randomness)
        target = trial.targets(trial.data, side, number)
        return side.other, target.labels, target.number


def _pair_key(trial: int) -> StepKey:
    return StepKey(StepKind.TREE_PAIR, trial)
