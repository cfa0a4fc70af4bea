"""Trees grown level by level against their exact law, and what growing them costs exactly."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from fractions import Fraction
from functools import cache, partial

import numpy as np
import pytest

from oracle.purity import units
from oracle.splits import informative, splits_of
from redveil.counting.columns import count_at_nodes, route, score_splits, start
from redveil.growing.levelwise import grow_levelwise
from redveil.schema import Side, View
from redveil.trees.scores import GRID_BITS, SPLIT_GINI
from redveil.trees.tree import Tree
from support.prepared import given_target, level_keys, prepared, purse_of
from support.seeded import SeededRandomness
from support.surprise import FALSE_ALARM, surprise
from support.tiny import Tiny, tiny_entities, tiny_view

Path = tuple[tuple[int, bool], ...]
Scores = Mapping[Path, Sequence[int]]  # of every split, at the end of each path
Law = dict[Hashable, float]

PRICES = (Fraction(1, 2), Fraction(3, 2))
ROWS = 40
TARGET = [-1 if i % 13 == 5 else int(i > 14) for i in range(ROWS)]


def paths(view: View) -> list[Path]:
    """Return the paths to the root and to the next level."""
    below = itertools.product(range(view.split_count), (True, False))
    return [(), *((step,) for step in below)]


@cache
def offered(view: View, path: Path) -> list[bool]:
    """Return which splits are allowed after a path."""
    return informative(view, path)


def weighed(scores: Sequence[int], may: Sequence[bool], price: Fraction) -> dict[int, float]:
    """Return the exponential mechanism's law over the allowed candidates."""
    rate, best = float(SPLIT_GINI.rate(price)), max(scores)
    weights = {s: math.exp(rate * (scores[s] - best)) for s in range(len(may)) if may[s]}
    total = sum(weights.values())
    return {split: weight / total for split, weight in weights.items()}


def growth_law(view: View, scores: Scores, prices: Sequence[Fraction]) -> Law:
    """Return the law of a tree of two levels: (root, split where it holds, split where not)."""
    law: Law = {}
    for root, chance in weighed(scores[()], offered(view, ()), prices[0]).items():
        yes, no = (
            weighed(scores[path], offered(view, path), prices[1])
            for path in (((root, True),), ((root, False),))
        )
        for (a, left), (b, right) in itertools.product(yes.items(), no.items()):
            law[root, a, b] = chance * left * right
    return law


def scores_by_hand(tiny: Tiny, target: Sequence[int]) -> Scores:
    """Score all splits among the entities that take each path, by exact fractions."""
    found: dict[Path, list[int]] = {}
    for path in paths(tiny.view):
        answer = tiny.candidates.answer
        here = [
            i
            for i in range(tiny.rows)
            if target[i] >= 0 and all(answer(split, i) is held for split, held in path)
        ]
        found[path] = []
        for one in splits_of(tiny.view):
            table = [[0, 0] for _ in range(tiny.view.attributes[one.attribute].bins)]
            for i in here:
                value = tiny.values[one.attribute][i]
                if value is not None:
                    table[value][target[i]] += 1
            found[path].append(units(table, min(one.holds), max(one.holds), GRID_BITS))
    return found


def scores_of_kernels(tiny: Tiny, target: Sequence[int]) -> Scores:
    """Score all splits at the end of each path as growth does."""
    classes, at_root = np.array(target, np.int32), start(tiny.rows)
    count = partial(count_at_nodes, tiny.packed, tiny.splits, target=classes, classes=2)
    root = score_splits(count(at_root, np.array([0])), tiny.splits, 1, 2)
    found: dict[Path, list[int]] = {(): root[0].tolist()}
    for split in range(len(tiny.splits)):
        at = route(tiny.packed, tiny.splits, Tree(Side.LEFT, (split,)))
        both = score_splits(count(at, np.array([1, 2])), tiny.splits, 2, 2)
        found[((split, True),)], found[((split, False),)] = both.tolist()
    return found


def test_trees_grown_level_by_level_follow_their_exact_law() -> None:
    left, right = tiny_entities(ROWS, 2, 3, 1), tiny_entities(ROWS, 1, 2, 2)
    data = prepared(left, right)
    target = given_target(data, TARGET)
    keys = level_keys(2)
    source, seen = SeededRandomness(3), Counter[Hashable]()
    for _ in range(6000):
        purse = purse_of(keys, PRICES)
        tree = grow_levelwise(data, Side.LEFT, target, 2, keys, purse, source)
        seen[tree.value.splits] += 1
    scores = scores_by_hand(left, TARGET)
    assert scores == scores_of_kernels(left, TARGET)
    law = growth_law(left.view, scores, PRICES)
    assert sum(law.values()) == pytest.approx(1, abs=1e-12)
    assert surprise(seen, law) > FALSE_ALARM
    # The two levels' prices are not interchangeable.
    assert surprise(seen, growth_law(left.view, scores, PRICES[::-1])) < FALSE_ALARM


# One Boolean and one number of three bins, both may be missing, and two classes.
TOY = tiny_view(1, 2)
KINDS = tuple(itertools.product((0, 1, None), (0, 1, 2, None), (0, 1)))


def toy_law(kinds: Sequence[int]) -> Law:
    """Return the law for entities of these kinds, from the scores that the kernels give."""
    flags, numbers, target = ([KINDS[kind][i] for kind in kinds] for i in range(3))
    tiny = Tiny(TOY, [flags, numbers])
    return growth_law(TOY, scores_of_kernels(tiny, [c for c in target if c is not None]), PRICES)


def loss(some: Law, other: Law) -> float:
    """Return the largest log-ratio of two laws over the same trees."""
    assert some.keys() == other.keys()
    return max(abs(math.log(some[tree] / other[tree])) for tree in some)


def test_growth_costs_at_most_its_price_for_every_small_pair_of_neighbours() -> None:
    kinds = range(len(KINDS))
    laws = {
        few: toy_law(few)
        for size in range(4)
        for few in itertools.combinations_with_replacement(kinds, size)
    }
    worst = max(
        loss(law, laws[tuple(sorted((*few, one_more)))])
        for few, law in laws.items()
        if len(few) < 3
        for one_more in kinds
    )
    assert 0 < worst <= float(sum(PRICES))


def test_growth_costs_at_most_its_price_on_more_entities() -> None:
    generator = np.random.default_rng(4)
    worst = 0.0
    for _ in range(100):
        times = generator.integers(0, 40, 5)
        many = np.repeat(generator.integers(0, len(KINDS), 5), times).tolist()
        before = toy_law(many)
        for newcomer in generator.integers(0, len(KINDS), 5).tolist():
            worst = max(worst, loss(before, toy_law([*many, newcomer])))
    assert 0.9 * float(sum(PRICES)) < worst <= float(sum(PRICES))
