"""Refine: twin trees whose roots are a given pair of queries.

The roots are public, so they cost nothing; the levels below them are chosen as those of other twin
trees are. The given queries are the last attributes of their views (`algorithms/derived.py`).
Proof: algorithms/refine.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from redveil.algorithms.algorithm import Algorithm, must_be_a_share
from redveil.algorithms.leaf_counts import table_steps
from redveil.algorithms.trial import Trial
from redveil.algorithms.tuning import USUAL, needed, pair_epsilon, strength
from redveil.algorithms.twin import RootScore, choice_of, grown
from redveil.errors import InputError
from redveil.findings.leaf_table import LeafTable
from redveil.findings.required_budget import Choice
from redveil.growing.pairing import NO_EARLIER
from redveil.growing.twin import BY_CORRESPONDENCE, Twins, grow_twins
from redveil.losses.loss import Price
from redveil.losses.plan import Plan, Step, StepKey, StepKind
from redveil.schema import Schema, Side
from redveil.sealed import Released
from redveil.trees.splits import Splits
from redveil.trees.tree import Tree

# A given pair has one level already.
SHALLOWEST = 2


@dataclass(frozen=True, kw_only=True)
class Refine(Algorithm):
    """A pair of twin trees with given roots.

    depth:      of the trees, the given level included
    tree_share: the share of the price that goes to the trees; the rest goes to their table

    >>> [step.name for step in Refine(depth=3).plan(Fraction(1)).steps]
    ['trial 1, twin trees, level 2', 'trial 1, twin trees, level 3', 'trial 1, leaf table 1, cells']
    """

    name: ClassVar[str] = "refine"

    tree_share: Fraction = Fraction(1, 2)

    def __post_init__(self) -> None:
        must_be_a_share("tree_share", self.tree_share)
        if self.depth < SHALLOWEST:
            raise InputError(f"depth must be {SHALLOWEST} or more: the given pair is level 1")
        if self.trials != 1:
            raise InputError("refine grows one pair of trees; leave out trials")
        super().__post_init__()

    def trial_steps(self, trial: int, price: Price) -> Iterator[Step]:
        """Yield a step for each level below the roots, then those of the table."""
        levels = self._levels(trial)
        for key in levels:
            yield Step(key, "choose", price * self.tree_share / len(levels))
        yield from table_steps(self.counts, trial, 1, price * (1 - self.tree_share))

    def _levels(self, trial: int) -> tuple[StepKey, ...]:
        levels = range(SHALLOWEST, self.depth + 1)
        return tuple(StepKey(StepKind.TWIN_TREES, trial, level=level) for level in levels)

    def first_choice(self, plan: Plan) -> Choice | None:
        """Return the choice below the roots."""
        return choice_of(plan.first(StepKind.TWIN_TREES), RootScore.CORRESPONDENCE)

    def run_trial(self, trial: Trial) -> list[Released[LeafTable]]:
        """Grow the given pair and measure it."""
        twins = grow_twins(
            trial.data,
            BY_CORRESPONDENCE,
            NO_EARLIER,
            self._levels(trial.number),
            trial.purse,
            trial.randomness,
            start=given_twins(trial.data.splits),
        )
        trial.progress()
        return [trial.measure(grown(twins), self.counts)]


def given_twins(splits: Mapping[Side, Splits]) -> Twins:
    """Return the trees of the last split of each view, matched where both hold and where none does.

    Public: it follows from the given queries alone.
    """
    left, right = (_stump(side, splits[side]) for side in Side)
    return Twins(left, right, ((1, 1), (2, 2)))


def _stump(side: Side, splits: Splits) -> Tree:
    inner = {0: len(splits) - 1}
    return Tree.of(side, inner, splits.stops(inner))


def refining_depth(schema: Schema, size: float, price: Price, tree_share: Fraction) -> int:
    """Return the depth that the tuning rule sets. The size is one that was released before.

    >>> from redveil.data.synthetic import clinic_schema
    >>> [refining_depth(clinic_schema(), n, Fraction(1), Fraction(1, 2)) for n in (100, 10**5)]
    [2, 3]
    """
    worth = strength(schema, size) * pair_epsilon(price, SHALLOWEST, tree_share)
    return SHALLOWEST + (worth >= needed(SHALLOWEST + 1, USUAL))
