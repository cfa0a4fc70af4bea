"""Twin trees against their exact law, and what growing them costs exactly.

An outcome is what was chosen at the root and at the two matched pairs below it: for each whether
the sides cross, the left split and the right split; None where a pair stays as it is.
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
from redveil.counting.joint import count_jointly
from redveil.counting.split_sets import split_sets
from redveil.data.table import pack
from redveil.growing.pairing import NO_EARLIER
from redveil.growing.twin import (
    BY_AGREEMENT,
    BY_CORRESPONDENCE,
    BY_LEVERAGE,
    Matching,
    Twins,
    grow_twins,
)
from redveil.schema import View
from redveil.trees.scores import GRID_BITS
from redveil.trees.scores.correspondence import SHARES
from support.prepared import among, level_keys, prepared, purse_of
from support.seeded import SeededRandomness
from support.surprise import FALSE_ALARM, surprise
from support.tiny import Tiny, Value, tiny_entities, tiny_view

Choice = tuple[int, int, int]  # whether the sides cross, left split, right split
Path = tuple[tuple[int, bool], ...]
Kind = tuple[Value, ...]
Scores = list[list[list[int]]]
Scorer = Callable[[Matching, Sequence[int]], Scores]
Law = dict[Hashable, float]

PRICES = (Fraction(1, 2), Fraction(3, 2))
TOTAL = float(sum(PRICES))
# How each score is defined; choices below the root are made by the first.
BY_HAND = {
    BY_CORRESPONDENCE: joint.correspondence_units(GRID_BITS, SHARES),
    BY_LEVERAGE: joint.leverage_units(GRID_BITS),
    BY_AGREEMENT: joint.agreement_units(1),
}
BELOW = BY_CORRESPONDENCE
ROOTS = pytest.mark.parametrize("root", BY_HAND, ids=lambda one: one.score.name)


@cache
def offered(view: View, path: Path) -> list[int]:
    """Return which splits are allowed after a path."""
    return [split for split, may in enumerate(informative(view, path)) if may]


def choose_law(
    scores: Scores,
    views: tuple[View, View],
    paths: tuple[Path, Path],
    matching: Matching,
    price: Fraction,
) -> dict[Choice | None, float]:
    """Return the exponential mechanism's law over the candidates at a pair of nodes."""
    rate = float(matching.score.rate(price))
    lefts, rights = (offered(view, path) for view, path in zip(views, paths, strict=True))
    units: dict[Choice | None, int] = {
        (crossed, i, j): scores[crossed][i][j]
        for crossed, i, j in itertools.product((0, 1), lefts, rights)
    }
    if not units:
        return {None: 1.0}
    base = dict.fromkeys(units, 1)
    if any(paths):
        base[None], units[None] = len(units), 0
    best = max(units.values())
    weights = {one: base[one] * math.exp(rate * (units[one] - best)) for one in units}
    total = sum(weights.values())
    return {choice: weight / total for choice, weight in weights.items()}


class Entities:
    """Two tiny views of the same entities."""

    def __init__(self, left: Tiny, right: Tiny) -> None:
        self.left, self.right = left, right
        self.views = left.view, right.view

    def by_hand(self, matching: Matching, members: Sequence[int]) -> Scores:
        """Score all candidates by the definitions."""
        return joint.candidate_units(
            self.left.candidates, self.right.candidates, members, BY_HAND[matching]
        )

    def by_kernels(self, matching: Matching, members: Sequence[int]) -> Scores:
        """Score all candidates as growth does."""
        sets = [split_sets(tiny.packed, tiny.splits) for tiny in (self.left, self.right)]
        flags = np.zeros(self.left.rows, np.bool_)
        flags[list(members)] = True
        left, right = (among(one, pack(flags)) for one in sets)
        scores: Scores = matching.units(count_jointly(left, right)).tolist()
        return scores

    def matched(self, choice: Choice) -> Iterator[tuple[list[int], Path, Path]]:
        """Yield the entities in the two matched pairs of children, and the paths to them."""
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
                choose_law(scorer(BELOW, inside), self.views, paths, BELOW, prices[1])
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
    entities = Entities(tiny_entities(40, 1, 3, 1), tiny_entities(40, 2, 2, 2))
    data, price, source = (
        prepared(entities.left, entities.right),
        Fraction(1, 2),
        SeededRandomness(5),
    )
    laws: dict[str, tuple[Counter[Hashable], Law]] = {}
    for root in BY_HAND:
        seen = Counter[Hashable]()
        for _ in range(2000):
            keys = level_keys(1)
            twins = grow_twins(data, root, NO_EARLIER, keys, purse_of(keys, price), source).value
            seen[chosen(twins, 0, 0)] += 1
        laws[root.score.name] = seen, Law(entities.root_law(root, price, entities.by_hand).items())
    for name, (seen, _) in laws.items():
        for other, (_, exact) in laws.items():
            assert sum(exact.values()) == pytest.approx(1, abs=1e-12)
            assert (surprise(seen, exact) > FALSE_ALARM) is (name == other)


@pytest.mark.parametrize(
    "root",
    [
        BELOW,
        *(pytest.param(one, marks=pytest.mark.slow) for one in BY_HAND if one is not BELOW),
    ],
    ids=lambda one: one.score.name,
)
def test_twins_of_two_levels_follow_their_exact_law(root: Matching) -> None:
    entities = Entities(tiny_entities(60, 1, 1, 3), tiny_entities(60, 1, 2, 4))
    data, source = prepared(entities.left, entities.right), SeededRandomness(6)
    prices = (Fraction(1), Fraction(1, 4))
    keys = level_keys(2)
    seen = Counter[Hashable]()
    for _ in range(2000):
        seen[
            outcome(grow_twins(data, root, NO_EARLIER, keys, purse_of(keys, prices), source).value)
        ] += 1
    law = entities.law(root, prices, entities.by_hand)
    assert sum(law.values()) == pytest.approx(1, abs=1e-12)
    assert surprise(seen, law) > FALSE_ALARM
    # The two levels' prices are not interchangeable.
    assert surprise(seen, entities.law(root, prices[::-1], entities.by_hand)) < FALSE_ALARM


# On either side a Boolean and a number of two bins; all may be missing.
TOY = tiny_view(1, 1)
KINDS: tuple[Kind, ...] = tuple(itertools.product((0, 1, None), repeat=4))


def toy(kinds: Sequence[int]) -> Entities:
    """Return entities of these kinds."""
    columns: list[list[Value]] = [[KINDS[kind][i] for kind in kinds] for i in range(4)]
    return Entities(Tiny(TOY, columns[:2]), Tiny(TOY, columns[2:]))


def loss(some: Law, other: Law) -> float:
    """Return the largest log-ratio of two laws over the same outcomes."""
    assert some.keys() == other.keys()
    return max(abs(math.log(some[key] / other[key])) for key in some)


def law_of(root: Matching, kinds: Sequence[int]) -> Law:
    entities = toy(kinds)
    return entities.law(root, PRICES, entities.by_hand)


# Kinds whose numbers are known, and all of them.
FEW = [kind for kind, values in enumerate(KINDS) if None not in (values[1], values[3])]


@ROOTS
@pytest.mark.parametrize(
    "kinds", [FEW, pytest.param(range(len(KINDS)), marks=pytest.mark.slow)], ids=("few", "all")
)
def test_growth_costs_at_most_its_price_for_every_small_pair_of_neighbours(
    root: Matching, kinds: Sequence[int]
) -> None:
    laws = {
        few: law_of(root, few)
        for size in range(3)
        for few in itertools.combinations_with_replacement(kinds, size)
    }
    worst = max(
        loss(law, laws[tuple(sorted((*few, one_more)))])
        for few, law in laws.items()
        if len(few) < 2
        for one_more in kinds
    )
    assert 0 < worst <= TOTAL * (1 + 1e-12)


@ROOTS
def test_growth_costs_at_most_its_price_on_more_entities(root: Matching) -> None:
    generator = np.random.default_rng(4)
    worst = 0.0
    for _ in range(60):
        times = generator.integers(0, 40, 6)
        many = np.repeat(generator.integers(0, len(KINDS), 6), times).tolist()
        before = law_of(root, many)
        for newcomer in generator.integers(0, len(KINDS), 4).tolist():
            worst = max(worst, loss(before, law_of(root, [*many, newcomer])))
    assert 0.5 * TOTAL < worst <= TOTAL * (1 + 1e-12)


# Left flag, left number, right flag, right number; and the number of such entities. The newcomer
# raises an unlikely candidate at the root, stays in a matched pair, and does the same below.
WORST: dict[str, tuple[dict[Kind, int], Kind]] = {
    "correspondence": (
        {
            (0, 0, 0, 1): 40,
            (0, 0, 0, None): 5,
            (0, 1, 0, 1): 5,
            (0, 1, 1, 1): 41,
            (0, None, 0, 0): 135,
            (1, 0, 0, 0): 362,
            (1, 1, 1, 0): 175,
            (1, 1, 1, 1): 257,
            (1, 1, None, 1): 20,
            (1, None, 0, 1): 2,
            (None, 1, 0, None): 21,
            (None, 1, None, 0): 1,
        },
        (0, 0, 1, 1),
    ),
    "leverage": (
        {
            (0, 0, None, 1): 18,
            (0, 1, 0, 1): 1080,
            (1, 1, 1, 1): 11,
            (1, 1, 1, None): 14,
            (None, 0, 0, 1): 170,
            (None, 0, None, 1): 59,
            (None, 0, None, None): 147,
            (None, None, 0, 0): 1,
        },
        (1, 1, 1, 1),
    ),
    "agreement 1/2": (
        {
            (0, 0, 0, 1): 25,
            (0, 1, 0, 0): 25,
            (1, 0, 1, 1): 20,
            (1, 1, 1, 0): 20,
            (1, 1, 1, 1): 1,
            (None, 0, None, 1): 100,
            (None, 1, None, 0): 100,
        },
        (1, 0, 1, 0),
    ),
}


# Leverage and agreement at the root pull another way than correspondence below it.
REACHED = {"correspondence": 0.96, "leverage": 0.86, "agreement 1/2": 0.86}


@ROOTS
def test_growth_comes_close_to_its_price(root: Matching) -> None:
    times, newcomer = WORST[root.score.name]
    before = [KINDS.index(kind) for kind, count in times.items() for _ in range(count)]
    found = loss(law_of(root, before), law_of(root, [*before, KINDS.index(newcomer)]))
    assert REACHED[root.score.name] * TOTAL < found <= TOTAL * (1 + 1e-12)


@ROOTS
def test_kernels_score_all_matched_pairs_as_the_definitions_do(root: Matching) -> None:
    entities = toy(np.random.default_rng(7).integers(0, len(KINDS), 150).tolist())
    assert entities.law(root, PRICES, entities.by_kernels) == entities.law(
        root, PRICES, entities.by_hand
    )
