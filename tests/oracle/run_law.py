"""The law of whole runs: everything they can release before counting, with its probability.

The division of the price is written here from the documentation, not taken from the package.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Final

from oracle.entities import (
    BOTH,
    LEFT,
    RIGHT,
    Entities,
    Shape,
    Target,
    attribute_target,
    leaf_target,
)
from oracle.law import (
    AGREEMENT,
    CORRESPONDENCE,
    LEVERAGE,
    Law,
    Outcome,
    Scored,
    renamed,
    then,
    together,
    uniform,
)
from oracle.splits import splits_of
from oracle.tree_law import LIMIT, Walk, drawn_law, grown_law
from oracle.twin_law import NOTHING, Rule, Twins, Used, trials_law, twin_law
from redveil.algorithms.algorithm import Algorithm
from redveil.algorithms.alternation import Alternation, AltExpM, AltMCMC, Sampler
from redveil.algorithms.describe import Describe, TreeScore
from redveil.algorithms.leaf_counts import Counts
from redveil.algorithms.refine import Refine
from redveil.algorithms.tree_pair import PairScore, TreePair
from redveil.algorithms.twin import RootScore, Twin
from redveil.schema import Side

Pair = tuple[Shape, Shape]  # left, right

# How the price of a table is divided among its cells, its left margin and its right margin.
PERCENT: Final = {
    Counts.CELLS: (100,),
    Counts.TWO_PASS: (50, 50),
    Counts.LEAST_SQUARES: (50, 25, 25),
}


SCORES: Final = {
    RootScore.CORRESPONDENCE: CORRESPONDENCE,
    RootScore.LEVERAGE: LEVERAGE,
    RootScore.AGREEMENT: AGREEMENT,
}


@dataclass(frozen=True)
class Costs:
    """The prices of a trial's parts: its start if it has one, each tree and each table.

    tree:  one price for each level, if a tree or a pair of trees is paid for level by level.
    table: the cells, then the left and the right margin if they are counted too.
    """

    start: tuple[Fraction, ...]
    tree: tuple[Fraction, ...]
    trees: int
    table: tuple[Fraction, ...]
    tables: int

    @property
    def chosen(self) -> Fraction:
        """The price of everything before the counts."""
        return sum(self.start, Fraction(0)) + self.trees * sum(self.tree, Fraction(0))

    @property
    def counted(self) -> Fraction:
        """The price of all counts."""
        return self.tables * sum(self.table, Fraction(0))


def all_costs(how: Algorithm, epsilon: Fraction) -> list[Costs]:
    """Return the prices of the parts of every trial.

    They are the same for all, but for a scout. It gets its share, for one level; the others share
    the rest equally. The pair that deepens a scout has one level less to pay for.
    """
    if not isinstance(how, Twin) or not how.scout:
        return [costs(how, epsilon)] * how.trials
    scout = costs(replace(how, scout=Fraction(0), trials=1, depth=1), epsilon * how.scout)
    rest, others = epsilon * (1 - how.scout), how.trials - 1
    other = costs(replace(how, scout=Fraction(0), trials=others), rest)
    second = other
    if how.depth > 1:
        levels = how.depth - 1
        second = replace(other, tree=(sum(other.tree, Fraction(0)) / levels,) * levels)
    return [scout, second, *[other] * (others - 1)]


def costs(how: Algorithm, epsilon: Fraction) -> Costs:
    """Return the prices of one trial's parts in a run of price ε.

    Pairs of trees get `tree_share` and their table the rest. In an alternation every tree, every
    table and a private start cost the same; without alternations, the start is followed by one
    table. Only twins and alt-expm choose level by level. Cells cost as much as the margins that
    are counted with them.
    """
    share = epsilon / how.trials
    by_level = isinstance(how, Twin | AltExpM | Refine)
    levels = how.depth if by_level else 1
    if isinstance(how, Refine):
        # The first level is given.
        levels -= 1

    def table(price: Fraction) -> tuple[Fraction, ...]:
        return tuple(price * percent / 100 for percent in PERCENT[how.counts])

    if isinstance(how, Twin | TreePair | Describe | Refine):
        trees = share * how.tree_share
        return Costs((), (trees / levels,) * levels, 1, table(share - trees), 1)
    assert isinstance(how, Alternation)
    starts, turns = int(how.start == "private"), how.alternations
    if turns == 0:
        # A start, and a table of the two stumps that it chose.
        return Costs((share / 2,), (), 0, table(share / 2), 1)
    part = share / (starts + (turns + 1) + turns)
    return Costs((part,) * starts, (part / levels,) * levels, turns + 1, table(part), turns)


@dataclass(frozen=True)
class Run:
    """A run on some entities for a price.

    endless: walks have reached their limit, instead of taking their number of steps.
    A trial's outcome is a pair of twins, or a sequence of releases, each with a word for its kind:
    an attribute, two stumps, a tree, a pair.
    """

    entities: Entities
    how: Algorithm
    epsilon: Fraction
    endless: bool = False
    _known: dict[Outcome, Law] = field(default_factory=dict)

    @cached_property
    def costs(self) -> Costs:
        """The prices of a trial's parts, which are the same for all trials but with a scout."""
        return costs(self.how, self.epsilon)

    @property
    def root(self) -> Scored:
        """The score of the first choice of twins."""
        assert isinstance(self.how, Twin | Alternation)
        return SCORES[self.how.root_score]

    @property
    def rule(self) -> Rule:
        """What steering allows, by the numbers of attributes."""
        names = [self.entities.views.view(side).names for side in BOTH]
        wanted = [{name for side, name in self.how.steering.require if side == at} for at in Side]
        left, right = (
            [number for number, name in enumerate(names[side]) if name in wanted[side]]
            for side in BOTH
        )
        apart = [
            (names[LEFT].index(one), names[RIGHT].index(other))
            for group in self.how.steering.unmatched
            for one in group.left
            for other in group.right
        ]
        return Rule((left, right), apart)

    def law(self) -> Law:
        """Return the law of all trials."""
        if isinstance(self.how, Twin):
            deepens = self.how.scout > 0 and self.how.depth > 1
            levels = [one.tree for one in all_costs(self.how, self.epsilon)]
            return trials_law(
                self.entities,
                self.root,
                levels,
                self.rule,
                deepens=deepens,
                again=self.how.again,
            )
        if isinstance(self.how, Refine):
            return then({(): 0.0}, self._refining)
        if isinstance(self.how, Describe):
            law: Law = {(): 0.0}
            for _ in range(self.how.trials):
                law = then(law, self._describing)
            return law
        return together([self.trial()] * self.how.trials)

    def _refining(self, _before: Sequence[Outcome]) -> Law:
        """Return the law of twin trees that are grown from the last split of each view."""
        last = [len(splits_of(self.entities.views.view(side))) - 1 for side in BOTH]
        start = Twins(((last[LEFT],), (last[RIGHT],)), ((1, 1), (2, 2)))
        return twin_law(self.entities, CORRESPONDENCE, self.costs.tree, NOTHING, self.rule, start)

    def _describing(self, before: Sequence[Outcome]) -> Law:
        """Return the law of a tree on the right that describes the only split on the left."""
        assert isinstance(self.how, Describe)
        assert len(self.entities.views.view(LEFT).attributes) == 1
        (price,) = self.costs.tree
        roots = [pair[RIGHT][0] for one in before for pair in _tables_of_trial(one)]
        used = {self.entities.views.attribute(RIGHT, root) for root in roots if root is not None}
        if self.how.tree_score is TreeScore.AGREEMENT:
            return twin_law(self.entities, AGREEMENT, (price,), Used(((), used)))
        target = attribute_target(LEFT, 0)
        law = drawn_law(self.entities, RIGHT, target, self.how.depth, price, used)
        return renamed(law, lambda tree: (("pair", (0,), tree),))

    def trial(self) -> Law:
        """Return the law of one trial of an algorithm whose trials are independent."""
        if isinstance(self.how, TreePair):
            start: Law = {(): 0.0}
            if self.how.pair_score is PairScore.PURITY:
                start = self._attribute()
            return then(start, self._pair)
        assert isinstance(self.how, Alternation)
        law = self._stumps() if self.how.start == "private" else self._attribute()
        for _ in range(self.costs.trees):
            law = then(law, self._next_tree)
        return law

    def _attribute(self) -> Law:
        """Return the law of a random attribute of either view."""
        views = [self.entities.views.view(side) for side in BOTH]
        listed = [("attribute", s, a) for s in BOTH for a in range(len(views[s].attributes))]
        return uniform([(one,) for one in listed])

    def _stumps(self) -> Law:
        """Return the law of a private start."""
        law = twin_law(self.entities, self.root, self.costs.start, NOTHING, self.rule)
        return renamed(law, lambda twins: (("stumps", twins),))

    def _next_tree(self, before: Sequence[Outcome]) -> Law:
        """Return the law of a tree on the other side that predicts the latest release."""
        last = before[-1]
        if last[0] == "stumps":
            last = ("tree", RIGHT, last[1].trees[RIGHT])
        if last not in self._known:
            kind, side, what = last
            target = (
                attribute_target(side, what)
                if kind == "attribute"
                else leaf_target(self.entities.views, side, what)
            )
            law = self._tree_law(RIGHT - side, target)
            self._known[last] = renamed(law, lambda tree: ("tree", RIGHT - side, tree))
        return self._known[last]

    def _tree_law(self, side: int, target: Target) -> Law:
        prices = self.costs.tree
        if isinstance(self.how, AltExpM):
            return grown_law(self.entities, side, target, prices)
        assert isinstance(self.how, AltMCMC)
        if self.how.sampler is Sampler.EXACT:
            return drawn_law(self.entities, side, target, self.how.depth, prices[0])
        return self._walk.tree_law(self.entities, side, target)

    def _pair(self, before: Sequence[Outcome]) -> Law:
        """Return the law of the pair of trees at which a walk ends."""
        if not before:
            law = self._walk.pair_law(self.entities, LEFT, None, 0)
        else:
            _, side, number = before[0]
            classes = self.entities.views.view(side).attributes[number].bins
            target = attribute_target(side, number)
            law = self._walk.pair_law(self.entities, RIGHT - side, target, classes)
        return renamed(law, lambda pair: ("pair", *pair))

    @property
    def _walk(self) -> Walk:
        return Walk(
            self.how.depth, LIMIT if self.endless else self.how.walk_length, self.costs.tree[0]
        )


def table_prices(how: Algorithm, epsilon: Fraction) -> list[tuple[Fraction, ...]]:
    """Return the prices of the parts of every table of a run, in order."""
    return [one.table for one in all_costs(how, epsilon) for _ in range(one.tables)]


def tables_of(outcome: Outcome) -> tuple[Pair, ...]:
    """Return the pairs of trees whose cells a run counts, trial by trial."""
    return tuple(pair for trial in outcome for pair in _tables_of_trial(trial))


def _tables_of_trial(trial: Outcome) -> list[Pair]:
    if isinstance(trial, Twins):
        return [trial.trees]
    if trial[-1][0] == "pair":
        return [trial[-1][1:]]
    if trial[-1][0] == "stumps":
        return [trial[-1][1].trees]
    trees = [one[1:] for one in trial if one[0] == "tree"]
    pairs = [dict(trees[i : i + 2]) for i in range(len(trees) - 1)]
    return [(pair[LEFT], pair[RIGHT]) for pair in pairs]
