"""Whole trees drawn at once against their exact law, and what drawing one costs exactly.

Simulations are seeded; the false-alarm rate of every χ² test is one in a million.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Hashable, Sequence
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from mpmath import mp

from oracle.splits import informative
from oracle.two_level import Law, Shape, normalised, tree_law
from oracle.walk import TreeScore, base_weight
from redveil.counting.split_sets import split_sets
from redveil.growing.whole_tree import draw_tree, tree_base
from redveil.kernels.two_level import two_level_units
from redveil.schema import Side
from redveil.sealed import Receipt
from redveil.trees.scores import GRID_BITS, TREE_GINI
from support.prepared import SOME_STEP, counts_by_class, given_target, prepared
from support.seeded import SeededRandomness
from support.surprise import FALSE_ALARM, surprise
from support.tiny import Tiny, Value, tiny_entities, tiny_view

EPSILON = Fraction(2)
ROWS, DRAWS = 40, 2_000
TARGET = [-1 if i % 13 == 5 else int(i > 14) for i in range(ROWS)]
DATA = {"more flags": tiny_entities(ROWS, 2, 3, 1), "one number": tiny_entities(ROWS, 0, 4, 2)}


@cache
def simulated(name: str, depth: int) -> Counter[Hashable]:
    """Draw many trees."""
    tiny = DATA[name]
    data = prepared(tiny, tiny)
    target, source = given_target(data, TARGET), SeededRandomness(depth)

    def tree() -> Shape:
        receipt = Receipt(SOME_STEP, "choose", EPSILON)
        drawn = draw_tree(data, Side.LEFT, depth, target, 2, receipt, source).value
        return tuple(drawn.split(node) for node in range(2**depth - 1))

    return Counter(tree() for _ in range(DRAWS))


def law_by_hand(tiny: Tiny, depth: int, epsilon: Fraction) -> dict[Hashable, float]:
    rate = TREE_GINI.rate(epsilon)
    law = tree_law(tiny.view, tiny.candidates, TARGET, depth, rate, GRID_BITS)
    return {tree: float(chance) for tree, chance in law.items()}


@pytest.mark.parametrize("name", DATA)
@pytest.mark.parametrize("depth", [1, 2])
def test_drawn_trees_follow_the_law_over_all_trees(name: str, depth: int) -> None:
    law = law_by_hand(DATA[name], depth, EPSILON)
    assert sum(law.values()) == pytest.approx(1)
    assert surprise(simulated(name, depth), law) > FALSE_ALARM


def test_half_the_price_would_be_noticed() -> None:
    other = law_by_hand(DATA["more flags"], 2, EPSILON / 2)
    assert surprise(simulated("more flags", 2), other) < FALSE_ALARM


def test_the_law_is_the_limit_of_the_walk_given_that_every_split_divides() -> None:
    tiny, rate = DATA["more flags"], TREE_GINI.rate(EPSILON)
    views = (tiny.candidates,) * 3
    score = TreeScore(tiny.candidates, TARGET, 2, GRID_BITS)
    divides = [
        (root, a, b)
        for root, a, b in itertools.product(range(len(tiny.splits)), repeat=3)
        if informative(tiny.view, ((root, True),))[a]
        and informative(tiny.view, ((root, False),))[b]
    ]
    limit = normalised(
        {tree: base_weight(tree, views) for tree in divides},
        {tree: score(tree) for tree in divides},
        rate,
    )
    found = law_by_hand(tiny, 2, EPSILON)
    assert set(found) == set(limit)
    assert all(found[tree] == pytest.approx(float(limit[tree]), rel=1e-12) for tree in limit)


Entity = tuple[Value, ...]  # its values, and then its class, None for none


def law_of_kernels(entities: Sequence[Entity], epsilon: Fraction) -> Law:
    """Return the law over all trees as the package's own scores and base measure give it."""
    *values, labels = (list(column) for column in zip(*entities, strict=True))
    tiny = Tiny(tiny_view(1, 2), values)
    target = np.array([-1 if label is None else label for label in labels], np.int32)
    sets = split_sets(tiny.packed, tiny.splits)
    units = two_level_units(counts_by_class(sets, target, 2), GRID_BITS)
    base = tree_base(tiny.splits)
    weights: dict[Shape, Fraction] = {}
    scores: dict[Shape, int] = {}
    for root in range(len(tiny.splits)):
        for a, b in itertools.product(*map(np.flatnonzero, base.open[root])):
            tree = (root, int(a), int(b))
            weights[tree] = Fraction(int(base.root[root]) * int(base.below[a] * base.below[b]))
            scores[tree] = int(units[root, 0, a] + units[root, 1, b])
    return normalised(weights, scores, TREE_GINI.rate(epsilon))


EVERY_KIND: list[Entity] = list(itertools.product((0, 1, None), (0, 1, 2, None), (0, 1, None)))
# Entities of one class in one leaf: a newcomer of the other class lowers the score by almost 2
# there, and not at all where it is alone.
ONE_CLASS: list[Entity] = [(1, 0, 0)] * 60


def tables() -> list[list[Entity]]:
    generator = np.random.default_rng(4)
    sizes = (1, 2, 5, 12, 40)
    some = [[EVERY_KIND[k] for k in generator.integers(0, len(EVERY_KIND), n)] for n in sizes]
    return [*some, ONE_CLASS, [*ONE_CLASS, (0, 2, 1)], [*ONE_CLASS, *EVERY_KIND]]


@pytest.mark.parametrize("epsilon", [Fraction(1, 2), Fraction(3), Fraction(100)])
def test_the_laws_of_neighbours_differ_by_at_most_the_price(epsilon: Fraction) -> None:
    with mp.workdps(60):
        price = mp.mpf(epsilon.numerator) / epsilon.denominator
        largest = mp.mpf(0)
        for entities in tables():
            before = law_of_kernels(entities, epsilon)
            for newcomer in EVERY_KIND:
                after = law_of_kernels([*entities, newcomer], epsilon)
                assert set(after) == set(before)
                losses = [abs(mp.log(after[tree] / before[tree])) for tree in before]
                largest = max(largest, *losses)
        assert largest <= price
        # But not by much: the price is about what is lost.
        assert largest > price * mp.mpf("0.6")
