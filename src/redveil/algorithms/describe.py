"""Describe: the best queries on one view for a query on the other, which a person gives.

The given query is the only attribute of its view (`algorithms/derived.py`), so that the choices are
among one view's splits only. With little to spend, one split is chosen by how well it agrees with
the given query. With more, a whole tree of up to two levels is drawn by how well it predicts it.
Proof: algorithms/describe.md.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from fractions import Fraction
from functools import partial
from typing import ClassVar, Self

from redveil.algorithms.algorithm import Algorithm, Work, must_be_a_share
from redveil.algorithms.leaf_counts import Given, Grown, table_steps
from redveil.algorithms.targets import attribute_target
from redveil.algorithms.trial import Trial
from redveil.algorithms.tuning import (
    DESCRIBING_DEPTHS,
    DESCRIBING_TREES,
    GINI_FROM,
    HALF_FOR_TREES_FROM,
    SMALLER_TREE_SHARE,
    pair_epsilon,
    reached,
    strength,
)
from redveil.algorithms.twin import RootScore, grow, grown
from redveil.errors import InputError
from redveil.findings.leaf_table import LeafTable
from redveil.findings.required_budget import Choice
from redveil.growing.pairing import Earlier
from redveil.growing.whole_tree import DEEPEST as DEEPEST_EXACT
from redveil.growing.whole_tree import draw_tree
from redveil.losses.loss import Price
from redveil.losses.plan import Plan, Step, StepKey, StepKind
from redveil.schema import Schema, Side
from redveil.sealed import Released
from redveil.trees.scores import TREE_GINI, agreement
from redveil.trees.tree import Tree

# The number of the given query among the splits of its view.
GIVEN_SPLIT = 0


class TreeScore(StrEnum):
    """The score by which a tree that describes a given query is chosen.

    >>> [score.value for score in TreeScore]
    ['agreement', 'gini']
    """

    AGREEMENT = "agreement"
    GINI = "gini"


@dataclass(frozen=True, kw_only=True)
class Describe(Algorithm):
    """Trees on one view that describe the only split of the other.

    depth:      of the trees, 1 or 2
    trials:     how many trees there are; each begins with attributes that the others do not
    tree_share: the share of a trial's price that goes to the tree; the rest goes to its table
    tree_score: the score of a tree; agreement is for trees of one split
    given_side: the side of the given query

    >>> Describe.of().auto
    ('depth', 'trials', 'tree_score', 'tree_share')
    >>> [step.name for step in Describe(depth=2).plan(Fraction(1)).steps]
    ['trial 1, tree 1', 'trial 1, leaf table 1, cells']
    """

    name: ClassVar[str] = "describe"

    depth: int = 1
    tree_share: Fraction = Fraction(1, 2)
    tree_score: TreeScore = TreeScore.GINI
    given_side: Side = Side.LEFT

    def __post_init__(self) -> None:
        must_be_a_share("tree_share", self.tree_share)
        if self.depth > DEEPEST_EXACT:
            raise InputError(f"describe draws trees exactly, up to depth {DEEPEST_EXACT}")
        if self.depth > 1 and self.tree_score is TreeScore.AGREEMENT:
            raise InputError("agreement is for trees of one split; use depth 1")
        super().__post_init__()

    def _left_to_the_rule(self, given: Collection[str]) -> tuple[str, ...]:
        ruled = "depth", "trials", "tree_score", "tree_share"
        return tuple(name for name in ruled if name not in given)

    def tuned(self, schema: Schema | None, size: float, price: Price) -> Self:
        """Set depth, number of trees, score and the trees' share by the tuning rule.

        >>> few = Describe.of().tuned(None, 200, Fraction(1))
        >>> many = Describe.of().tuned(None, 10_000, Fraction(1))
        >>> (few.depth, few.tree_score.value), (many.depth, many.tree_score.value, many.trials)
        ((1, 'agreement'), (2, 'gini', 2))
        """
        entities = strength(schema, size)

        def worth(trials: int) -> float:
            return entities * pair_epsilon(price / trials, 1, self.tree_share)

        depth, trials, score = self.depth, self.trials, self.tree_score
        if "trials" in self.auto:
            trials = reached(DESCRIBING_TREES, lambda number: number * worth(number))
            trials = min(trials, self._fresh_roots(schema))
        if "depth" in self.auto:
            depth = reached(DESCRIBING_DEPTHS, lambda _: worth(trials))
        if "tree_score" in self.auto:
            weak = depth == 1 and worth(trials) < GINI_FROM
            score = TreeScore.AGREEMENT if weak else TreeScore.GINI
        share = self.tree_share
        if "tree_share" in self.auto and depth == 1 and worth(trials) < HALF_FOR_TREES_FROM:
            share = SMALLER_TREE_SHARE
        return replace(self, depth=depth, trials=trials, tree_score=score, tree_share=share)

    def _fresh_roots(self, schema: Schema | None) -> int:
        """Return how many trees can each begin with an attribute not used before."""
        if schema is None:
            return len(DESCRIBING_TREES)
        offered = schema.view(self.given_side.other).attributes
        return max(sum(one.splits > 0 for one in offered), 1)

    def trial_steps(self, trial: int, price: Price) -> Iterator[Step]:
        """Yield the step that chooses a tree, then those of its table."""
        yield Step(_key(trial), "choose", price * self.tree_share)
        yield from table_steps(self.counts, trial, 1, price * (1 - self.tree_share))

    def first_choice(self, plan: Plan) -> Choice | None:
        """Return the choice of the first tree."""
        step = plan.first(StepKind.TREE)
        score = agreement(1) if self.tree_score is TreeScore.AGREEMENT else TREE_GINI
        return None if step is None else Choice(step.price, score)

    def work(self, trial: Callable[[int], Trial]) -> list[Work]:
        """Return all trials as one piece of work: each depends on those before it."""
        return [partial(self.run_trial, trial(1))]

    def run_trial(self, trial: Trial) -> list[Released[LeafTable]]:
        """Choose and measure all trees, one after the other.

        What a tree avoids follows from trees that are released already, so it costs nothing.
        """
        used: set[int] = set()
        tables: list[Released[LeafTable]] = []
        for number in range(1, self.trials + 1):
            described = self._grow(trial, number, used)
            used.add(_root(trial, described.value))
            stump = given_stump(trial, self.given_side, GIVEN_SPLIT)
            both: dict[Side, Grown | Given] = {
                self.given_side: stump,
                self.given_side.other: described,
            }
            tables.append(trial.measure(both, self.counts, trial=number))
        return tables

    def _grow(self, trial: Trial, number: int, used: Collection[int]) -> Grown:
        """Choose a tree that describes the given query."""
        side = self.given_side.other
        if self.tree_score is TreeScore.AGREEMENT:
            # The given query is the only split of its side, so it is one of every pair.
            pair = grow(
                trial, RootScore.AGREEMENT, Earlier({side: frozenset(used)}), (_key(number),)
            )
            return grown(pair)[side]
        target = attribute_target(trial.data, self.given_side, GIVEN_SPLIT)
        tree = draw_tree(
            trial.data,
            side,
            self.depth,
            target.labels,
            target.number,
            trial.purse.pay(_key(number), "choose"),
            trial.randomness,
            avoid=used,
        )
        trial.progress()
        return tree


def given_stump(trial: Trial, side: Side, split: int) -> Given:
    """Return the tree whose only split is a given query. It is public, so it costs nothing."""
    inner = {0: split}
    return Tree.of(side, inner, trial.data.splits[side].stops(inner))


def _root(trial: Trial, tree: Tree) -> int:
    """Return the attribute that a tree asks for first."""
    split = tree.split(0)
    assert split is not None, "a chosen tree has a split at its root"
    return int(trial.data.splits[tree.side].attribute[split])


def _key(trial: int) -> StepKey:
    return StepKey(StepKind.TREE, trial, 1)
