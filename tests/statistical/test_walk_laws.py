"""Walks and level-wise growth against their exact laws, on spaces small enough to enumerate.

Simulations are seeded; the false-alarm rate of every χ² test is one in a million.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import chi2

from oracle import splits as spelled
from oracle.purity import units
from oracle.walk import Candidates, PairScore, TreeScore, base_weight, candidates, next_states
from redveil.data.binning import BinnedTable, bin_view
from redveil.data.table import CodedColumn, Column, NumericColumn
from redveil.kernels.chain import Ending
from redveil.kernels.pair_walk import walk_pair
from redveil.kernels.tree_walk import walk_tree
from redveil.privacy.plan import Plan, Step
from redveil.privacy.score import Score
from redveil.schema import Attribute, Kind, Side, View
from redveil.sealed import Receipt, Sealed
from redveil.trees.counting import route, score_splits, start
from redveil.trees.levelwise import grow
from redveil.trees.scores import ASSOCIATION, GRID_BITS, PAIR_PURITY, SPLIT_GINI, TREE_GINI
from redveil.trees.split_sets import everybody, split_sets
from redveil.trees.splits import Splits
from redveil.trees.tree import Tree
from redveil.trees.walks import Ground, released_tree, walk_to_pair, walk_to_tree
from support.seeded import SeededRandomness

Law = Mapping[Hashable, float]
State = tuple[int, ...]
Value = int | None

FALSE_ALARM = 1e-6
EPSILON = Fraction(2)
NO_STOP = Ending(np.zeros(1, np.uint8), 0, -1.0)


def surprise(seen: Counter[Hashable], law: Law) -> float:
    """Return the χ² p-value of outcomes under a law; cells that expect fewer than 5 are pooled."""
    if any(law.get(outcome, 0.0) <= 0 for outcome in seen):
        return 0.0
    draws, cells, pool = seen.total(), [], [0.0, 0.0]
    for outcome, chance in sorted(law.items(), key=lambda item: item[1]):
        pool[0] += seen[outcome]
        pool[1] += draws * chance
        if pool[1] >= 5:
            cells.append(pool)
            pool = [0.0, 0.0]
    cells[-1] = [a + b for a, b in zip(cells[-1], pool, strict=True)]
    statistic = sum((found - expected) ** 2 / expected for found, expected in cells)
    return float(chi2.sf(statistic, len(cells) - 1))


# ---- A tiny pair of tables. The numeric attributes have more splits than the others, so that the
# base measure matters.


def view(booleans: int, cuts: int) -> View:
    flags = [Attribute(f"flag {i}", Kind.BOOLEAN) for i in range(booleans)]
    points = tuple(float(c) for c in range(1, cuts + 1))
    number = Attribute("number", Kind.NUMERIC, minimum=0, maximum=cuts + 1, cuts=points)
    return View("view", "id", (*flags, number))


@dataclass(frozen=True)
class Tiny:
    """One view with its values, values[attribute][entity] as bins; None is missing."""

    view: View
    values: Sequence[Sequence[Value]]

    @property
    def rows(self) -> int:
        return len(self.values[0])

    @cached_property
    def splits(self) -> Splits:
        return Splits.of(self.view)

    @cached_property
    def twin(self) -> Candidates:
        listed = spelled.splits_of(self.view)
        runs = [(one.attribute, min(one.holds), max(one.holds)) for one in listed]
        return candidates(self.values, runs)

    @cached_property
    def columns(self) -> dict[str, Column]:
        found: dict[str, Column] = {}
        for attribute, values in zip(self.view.attributes, self.values, strict=True):
            if attribute.kind is Kind.BOOLEAN:
                codes = np.array([255 if v is None else v for v in values], np.uint8)
                found[attribute.name] = CodedColumn(attribute, codes)
            else:
                numbers = np.array([math.nan if v is None else v + 0.5 for v in values])
                found[attribute.name] = NumericColumn(attribute, numbers)
        return found


def table_of(left: Tiny, right: Tiny) -> BinnedTable:
    packed = [bin_view(one.columns, one.view, one.rows) for one in (left, right)]
    return BinnedTable(left.rows, *packed)


ROWS = 40


def people(booleans: int, cuts: int, seed: int) -> Tiny:
    """Values that depend on the entity's number, hence on the class and on the other view."""
    generator = np.random.default_rng(seed)
    hidden = np.arange(ROWS) / ROWS

    def column(bins: int) -> list[Value]:
        noisy = hidden + generator.normal(0, 0.35, ROWS)
        bins_of = np.clip((noisy * bins).astype(int), 0, bins - 1).tolist()
        absent = generator.random(ROWS) < 0.1
        return [None if gone else v for v, gone in zip(bins_of, absent, strict=True)]

    return Tiny(view(booleans, cuts), [column(2) for _ in range(booleans)] + [column(cuts + 1)])


LEFT, RIGHT = people(2, 3, seed=1), people(1, 2, seed=2)
SMALL = people(1, 2, seed=3)
TARGET = [-1 if i % 13 == 5 else int(i > 14) for i in range(ROWS)]


# ---- Chains


@dataclass(frozen=True)
class Chain:
    """A walk as its twin has it, and as the kernel runs it."""

    views: tuple[Candidates, ...]
    score: Callable[[State], int]
    rate: float
    run: Callable[[State, NDArray[np.uint64]], State]

    @cached_property
    def states(self) -> list[State]:
        return list(itertools.product(*(range(len(view.holds)) for view in self.views)))

    @cached_property
    def matrix(self) -> NDArray[np.float64]:
        number = {state: i for i, state in enumerate(self.states)}
        matrix = np.zeros((len(number), len(number)))
        for state, i in number.items():
            for following, chance in next_states(state, self.views, self.score, self.rate).items():
                matrix[i, number[following]] = chance
        return matrix

    @property
    def base(self) -> NDArray[np.float64]:
        return np.array([float(base_weight(state, self.views)) for state in self.states])

    def limit(self, base: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the exponential mechanism's law."""
        scores = np.array([self.score(state) for state in self.states], np.float64)
        weights = base * np.exp(self.rate * (scores - scores.max()))
        return np.asarray(weights / weights.sum())

    def after(self, law: NDArray[np.float64], steps: int) -> NDArray[np.float64]:
        for _ in range(steps):
            law = law @ self.matrix
        return law

    def simulate(self, steps: int, draws: int, seed: int) -> Counter[Hashable]:
        """Run many walks from the first state."""
        generator = np.random.default_rng(seed)
        words = generator.integers(0, 2**64, size=(draws, steps, 3), dtype=np.uint64)
        return Counter(self.run(self.states[0], some) for some in words)


@cache
def tree_chain(depth: int) -> Chain:
    inner, binned = 2**depth - 1, bin_view(LEFT.columns, LEFT.view, ROWS)
    sets, everyone = split_sets(binned, LEFT.splits), everybody(ROWS)
    target, rate = np.array(TARGET, np.int32), float(TREE_GINI.rate(EPSILON))

    def run(state: State, words: NDArray[np.uint64]) -> State:
        splits, trace = np.array(state, np.int32), np.zeros(len(words))
        walk_tree(splits, sets, everyone, target, 2, words, rate, GRID_BITS, 0, NO_STOP, trace)
        return tuple(splits.tolist())

    return Chain((LEFT.twin,) * inner, TreeScore(LEFT.twin, TARGET, 2, GRID_BITS), rate, run)


@cache
def pair_chain(depth: int, classes: int) -> Chain:
    inner, first = 2**depth - 1, LEFT if depth == 1 else SMALL
    score = PAIR_PURITY if classes else ASSOCIATION
    sets = [split_sets(bin_view(one.columns, one.view, ROWS), one.splits) for one in (first, RIGHT)]
    both, everyone = (sets[0], sets[1]), everybody(ROWS)
    target, rate = np.array(TARGET, np.int32), float(score.rate(EPSILON))

    def run(state: State, words: NDArray[np.uint64]) -> State:
        one, two = np.array(state[:inner], np.int32), np.array(state[inner:], np.int32)
        walk_pair(
            (one, two), both, everyone, ROWS, target, classes, words, rate, GRID_BITS, 1.0,
            NO_STOP, np.zeros(len(words)),
        )  # fmt: skip
        return tuple(one.tolist() + two.tolist())

    units_of = PairScore(first.twin, RIGHT.twin, ROWS, TARGET, classes, GRID_BITS)
    return Chain((first.twin,) * inner + (RIGHT.twin,) * inner, units_of, rate, run)


CHAINS = {
    "tree, depth 1": lambda: tree_chain(1),
    "tree, depth 2": lambda: tree_chain(2),
    "purity, depth 1": lambda: pair_chain(1, 2),
    "purity, depth 2": lambda: pair_chain(2, 2),
    "association, depth 1": lambda: pair_chain(1, 0),
    "association, depth 2": lambda: pair_chain(2, 0),
}
every_chain = pytest.mark.parametrize("name", CHAINS)


@every_chain
@pytest.mark.parametrize(("steps", "draws"), [(1, 5000), (3, 10_000), (10, 10_000), (100, 8000)])
def test_walks_follow_the_powers_of_the_transition_matrix(
    name: str, steps: int, draws: int
) -> None:
    chain = CHAINS[name]()
    first = np.eye(len(chain.states))[0]
    law = dict(zip(chain.states, chain.after(first, steps).tolist(), strict=True))
    assert surprise(chain.simulate(steps, draws, seed=steps), law) > FALSE_ALARM


@every_chain
def test_the_limit_is_the_exponential_mechanism_with_its_base_measure(name: str) -> None:
    chain = CHAINS[name]()
    matrix, limit = chain.matrix, chain.limit(chain.base)
    np.testing.assert_allclose(matrix.sum(axis=1), 1, atol=1e-12)
    flow = limit[:, None] * matrix
    np.testing.assert_allclose(flow, flow.T, atol=1e-15)
    np.testing.assert_allclose(limit @ matrix, limit, atol=1e-14)
    # It is not the law without the base measure, nor the base measure alone.
    even = chain.limit(np.ones(len(limit)))
    assert np.abs(even @ matrix - even).sum() > 1e-4
    assert np.abs(chain.base / chain.base.sum() - limit).sum() > 1e-2


@every_chain
def test_the_distance_from_the_limit_shrinks_to_nothing(name: str) -> None:
    chain = CHAINS[name]()
    power, limit = chain.matrix, chain.limit(chain.base)
    distances = []
    for _ in range(16):
        distances.append(float(np.abs(power - limit).sum(axis=1).max()) / 2)
        power = power @ power
    assert distances[0] > 0.1
    # From the worst start, after 1, 2, 4, … steps.
    assert all(b <= a + 1e-12 for a, b in itertools.pairwise(distances))
    assert distances[-1] < 1e-6


def test_a_walk_that_forgets_the_base_measure_would_be_noticed() -> None:
    chain = tree_chain(1)
    seen = chain.simulate(100, 10_000, seed=9)
    right, wrong = chain.limit(chain.base), chain.limit(np.ones(len(chain.states)))
    assert surprise(seen, dict(zip(chain.states, right.tolist(), strict=True))) > FALSE_ALARM
    assert surprise(seen, dict(zip(chain.states, wrong.tolist(), strict=True))) < FALSE_ALARM
