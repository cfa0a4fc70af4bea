"""The law of one tree that predicts a target: grown by levels, drawn whole, or walked to."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from oracle.entities import LEFT, RIGHT, Entities, Entity, Shape, Target, grafted, path_to, split_at
from oracle.law import (
    ASSOCIATION,
    GRID,
    PAIR_PURITY,
    SPLIT_GINI,
    TREE_GINI,
    Law,
    Outcome,
    Scored,
    exponential,
    merged,
    rate,
    together,
)
from oracle.walk import Candidates, PairScore, TreeScore, base_weight, next_states

GRID_BITS = GRID.bit_length() - 1
# In place of a number of steps: the limit of the walk.
LIMIT = None


def grown_law(entities: Entities, side: int, target: Target, prices: Sequence[Fraction]) -> Law:
    """Return the law of a tree grown level by level, with one price per level."""
    law: Law = {(): 0.0}
    for level, price in enumerate(prices):
        nodes = range(2**level - 1, 2 ** (level + 1) - 1)
        grown: Law = {}
        for tree, log in law.items():
            laws = [node_law(entities, side, target, tree, node, price) for node in nodes]
            for chosen, more in together(laws).items():
                grown[grafted(tree, dict(zip(nodes, chosen, strict=True)))] = log + more
        law = grown
    return law


def node_law(
    entities: Entities, side: int, target: Target, tree: Shape, node: int, price: Fraction
) -> Law:
    """Return the law of the split at one node of the lowest level."""
    path = path_to(tree, node)
    here = entities.at(side, tree, node)

    def units(split: int) -> int:
        sides = (
            [one for one in here if entities.views.answer(side, split, one) is held]
            for held in (True, False)
        )
        return sum(purity_units(target, each) for each in sides)

    may = [] if path is None else entities.views.offered(side, path)
    return exponential({split: units(split) for split in may}, SPLIT_GINI, price)


def drawn_law(
    entities: Entities,
    side: int,
    target: Target,
    depth: int,
    price: Fraction,
    used: Collection[int] = (),
) -> Law:
    """Return the law of a tree drawn from all trees at once.

    used: attributes that the root avoids, unless there are no others.
    """

    def units(tree: Shape) -> int:
        ends: dict[int, list[Entity]] = {}
        for one in entities.members:
            ends.setdefault(entities.views.end(side, tree, one), []).append(one)
        leaves = [each for node, each in ends.items() if split_at(tree, node) is None]
        return sum(purity_units(target, each) for each in leaves)

    base = entities.views.trees(side, depth)
    fresh = {
        tree: weight
        for tree, weight in base.items()
        if tree
        and (root := tree[0]) is not None
        and entities.views.attribute(side, root) not in used
    }
    base = fresh or base
    return exponential({tree: units(tree) for tree in base}, TREE_GINI, price, base)


def purity_units(target: Target, members: Iterable[Entity]) -> int:
    """Return Σ_c n_c² / n in units, rounded down."""
    classes = Counter(found for one in members if (found := target(one)) is not None)
    squares, n = sum(count * count for count in classes.values()), classes.total()
    return GRID * squares // n if n else 0


@dataclass(frozen=True)
class Walk:
    """The depth, length and price of walks; `LIMIT` in place of a length is their limit."""

    depth: int
    walk_steps: int | None
    price: Fraction

    @property
    def inner(self) -> int:
        """The number of splits of a full tree."""
        return (1 << self.depth) - 1

    def tree_law(self, entities: Entities, side: int, target: Target) -> Law:
        """Return the law of the tree at which a walk ends."""
        view, classes = entities.candidates(side), numbered(target, entities.members)
        score = TreeScore(view, classes, max(classes, default=0) + 1, GRID_BITS)
        law = self._law([view] * self.inner, score, TREE_GINI)
        return merged(law, lambda full: entities.views.simplified(side, full))

    def pair_law(self, entities: Entities, first: int, target: Target | None, classes: int) -> Law:
        """Return the law of (left tree, right tree) at which a walk over pairs ends.

        first: the side of the tree that predicts the target, if there is one.
        """
        sides = first, RIGHT - first
        one, two = (entities.candidates(side) for side in sides)
        goal = numbered(target, entities.members) if target else []
        score = PairScore(one, two, len(entities.members), goal, classes, GRID_BITS)
        scored = PAIR_PURITY if target else ASSOCIATION
        law = self._law([one] * self.inner + [two] * self.inner, score, scored)

        def released(full: tuple[int, ...]) -> Outcome:
            halves = full[: self.inner], full[self.inner :]
            trees = [
                entities.views.simplified(s, half) for s, half in zip(sides, halves, strict=True)
            ]
            return tuple(trees if first == LEFT else trees[::-1])

        return merged(law, released)

    def _law(
        self, views: Sequence[Candidates], score: Callable[[tuple[int, ...]], int], scored: Scored
    ) -> Law:
        states = list(itertools.product(*(range(len(view.holds)) for view in views)))
        base = {state: float(base_weight(state, views)) for state in states}
        if self.walk_steps is LIMIT:
            return exponential({s: score(s) for s in states}, scored, self.price, base)
        number = {state: i for i, state in enumerate(states)}
        step = rate(scored, self.price)
        matrix = np.zeros((len(states), len(states)))
        for state, i in number.items():
            for following, chance in next_states(state, views, score, step).items():
                matrix[i, number[following]] = chance
        law = np.array(list(base.values())) / math.fsum(base.values())
        for _ in range(self.walk_steps):
            law = law @ matrix
        return dict(zip(states, np.log(law).tolist(), strict=True))


def numbered(target: Target, entities: Iterable[Entity]) -> list[int]:
    """Return the class of every entity, -1 for none."""
    return [-1 if (found := target(one)) is None else found for one in entities]
