"""Twin trees against their exact law, and what growing them costs exactly.

An outcome is what was chosen at the root and at the two matched pairs below it: for each whether
the sides cross, the left split and the right split; None where nothing could be chosen.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from fractions import Fraction
from functools import cache

import numpy as np
import pytest

from oracle import joint
from oracle.splits import informative
from redveil.data.binning import pack
from redveil.privacy.plan import Plan, Step
from redveil.schema import View
from redveil.trees.joint import count_jointly
from redveil.trees.scores import GRID_BITS
from redveil.trees.split_sets import split_sets
from redveil.trees.twin import BY_LEVERAGE, BY_MARGIN, Matching, Twins, grow_twins
from support.seeded import SeededRandomness
from support.soil import tiny_soil
from support.surprise import FALSE_ALARM, surprise
from support.tiny import Tiny, Value, people, tiny_view

Choice = tuple[int, int, int]  # whether the sides cross, left split, right split
Path = tuple[tuple[int, bool], ...]
Scores = list[list[list[int]]]
Scorer = Callable[[Matching, Sequence[int]], Scores]
Law = dict[Hashable, float]

PRICES = (Fraction(1, 2), Fraction(3, 2))
TOTAL = float(sum(PRICES))
ROOTS = pytest.mark.parametrize("root", [BY_LEVERAGE, BY_MARGIN], ids=("leverage", "margin"))


@cache
def offered(view: View, path: Path) -> list[int]:
    """Return which splits may still be chosen after a path."""
    return [split for split, may in enumerate(informative(view, path)) if may]


def choose_law(
    scores: Scores,
    views: tuple[View, View],
    paths: tuple[Path, Path],
    matching: Matching,
    price: Fraction,
) -> dict[Choice | None, float]:
    """Return the exponential mechanism's law over what is offered at a pair of nodes."""
    rate = float(matching.score.rate(price))
    lefts, rights = (offered(view, path) for view, path in zip(views, paths, strict=True))
    units = {
        (crossed, i, j): scores[crossed][i][j]
        for crossed, i, j in itertools.product((0, 1), lefts, rights)
    }
    if not units:
        return {None: 1.0}
    best = max(units.values())
    weights = {choice: math.exp(rate * (value - best)) for choice, value in units.items()}
    total = sum(weights.values())
    return {choice: weight / total for choice, weight in weights.items()}


class Crowd:
    """Two tiny views of the same entities."""

    def __init__(self, left: Tiny, right: Tiny) -> None:
        self.left, self.right = left, right
        self.views = left.view, right.view

    def by_hand(self, matching: Matching, members: Sequence[int]) -> Scores:
        """Score all candidates by the definitions."""
        score = (
            joint.leverage_units(GRID_BITS)
            if matching.halves is None
            else joint.margin_units(matching.halves)
        )
        return joint.candidate_units(self.left.candidates, self.right.candidates, members, score)

    def by_kernels(self, matching: Matching, members: Sequence[int]) -> Scores:
        """Score all candidates as growth does."""
        sets = [split_sets(tiny.packed, tiny.splits) for tiny in (self.left, self.right)]
        flags = np.zeros(self.left.rows, np.bool_)
        flags[list(members)] = True
        scores: Scores = matching.units(count_jointly(sets[0], sets[1], pack(flags))).tolist()
        return scores

    def matched(self, choice: Choice) -> Iterator[tuple[list[int], Path, Path]]:
        """Yield who is in the two matched pairs of children, and the paths to them."""
        crossed, i, j = choice
        for held in (True, False):
            other = held != bool(crossed)
            inside = [
                entity
                for entity in range(self.left.rows)
                if self.left.candidates.answer(i, entity) is held
                and self.right.candidates.answer(j, entity) is other
            ]
            yield inside, ((i, held),), ((j, other),)

    def root_law(self, root: Matching, price: Fraction, scorer: Scorer) -> dict[Choice, float]:
        """Return the law of the first choice."""
        scores = scorer(root, range(self.left.rows))
        law = choose_law(scores, self.views, ((), ()), root, price)
        return {choice: chance for choice, chance in law.items() if choice is not None}

    def law(self, root: Matching, prices: Sequence[Fraction], scorer: Scorer) -> Law:
        """Return the law of twins of two levels."""
        found: Law = {}
        for choice, chance in self.root_law(root, prices[0], scorer).items():
            below = [
                choose_law(scorer(BY_MARGIN, inside), self.views, paths, BY_MARGIN, prices[1])
                for inside, *both in self.matched(choice)
                for paths in [(both[0], both[1])]
            ]
            for (a, first), (b, second) in itertools.product(*(law.items() for law in below)):
                found[choice, a, b] = chance * first * second
        return found


def child_of(twins: Twins, left: int) -> int:
    """Return the node that matches a left node: where leaves below match, so do their parents."""
    for one, other in twins.matches:
        here, there = one, other
        while here > left:
            here, there = (here - 1) // 2, (there - 1) // 2
        if here == left:
            return there
    raise AssertionError("every left node has a match")


def chosen(twins: Twins, left: int, right: int) -> Choice | None:
    """Return what was chosen at a matched pair of nodes."""
    i, j = twins.left.split(left), twins.right.split(right)
    if i is None or j is None:
        assert i is j is None
        return None
    return int(child_of(twins, 2 * left + 1) != 2 * right + 1), i, j


def outcome(twins: Twins) -> tuple[Choice | None, ...]:
    """Return what was chosen at the root and below, where it holds on the left and where not."""
    return tuple(chosen(twins, left, child_of(twins, left)) for left in range(3))


def test_the_first_choice_follows_the_exponential_mechanism() -> None:
    crowd = Crowd(people(40, 1, 3, 1), people(40, 2, 2, 2))
    soil, price, source = tiny_soil(crowd.left, crowd.right), Fraction(4), SeededRandomness(5)
    laws = {}
    for root in (BY_LEVERAGE, BY_MARGIN):
        seen = Counter[Hashable]()
        for _ in range(4000):
            purse = Plan(price, (Step("1", "choose", price),)).purse()
            twins = grow_twins(soil, root, {}, ["1"], purse, source).value
            seen[chosen(twins, 0, 0)] += 1
        laws[root.score.name] = seen, dict(crowd.root_law(root, price, crowd.by_hand))
    for name, (seen, _) in laws.items():
        for other, (_, law) in laws.items():
            assert sum(law.values()) == pytest.approx(1, abs=1e-12)
            assert (surprise(seen, dict(law)) > FALSE_ALARM) is (name == other)


@ROOTS
def test_twins_of_two_levels_follow_their_exact_law(root: Matching) -> None:
    crowd = Crowd(people(60, 1, 1, 3), people(60, 1, 2, 4))
    soil, source = tiny_soil(crowd.left, crowd.right), SeededRandomness(6)
    prices = (Fraction(3), Fraction(1))
    plan = Plan(sum(prices), tuple(Step(n, "choose", p) for n, p in zip("12", prices, strict=True)))
    seen = Counter[Hashable]()
    for _ in range(3000):
        seen[outcome(grow_twins(soil, root, {}, "12", plan.purse(), source).value)] += 1
    law = crowd.law(root, prices, crowd.by_hand)
    assert sum(law.values()) == pytest.approx(1, abs=1e-12)
    assert surprise(seen, law) > FALSE_ALARM
    # The two levels' prices are not interchangeable.
    assert surprise(seen, crowd.law(root, prices[::-1], crowd.by_hand)) < FALSE_ALARM
