"""Walks against their exact laws, on spaces small enough for every tree to be listed.

Simulations are seeded; the false-alarm rate of every χ² test is one in a million.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property

import numpy as np
import pytest
from numpy.typing import NDArray

from oracle.walk import Candidates, PairScore, TreeScore, base_weight, next_states
from redveil.counting.split_sets import all_entities, split_sets
from redveil.growing.walks import released_tree, walk_to_pair, walk_to_tree
from redveil.kernels.chain import Ending
from redveil.kernels.pair_walk import walk_pair
from redveil.kernels.tree_walk import walk_tree
from redveil.schema import Side
from redveil.sealed import Receipt
from redveil.trees.scores import ASSOCIATION, GRID_BITS, PAIR_PURITY, TREE_GINI
from support.prepared import SOME_STEP, given_target, prepared
from support.seeded import SeededRandomness
from support.surprise import FALSE_ALARM, surprise
from support.tiny import tiny_entities

State = tuple[int, ...]

EPSILON = Fraction(2)
NO_STOP = Ending(np.zeros(1, np.uint8), 0, -1.0)
ROWS = 40
LEFT, RIGHT, SMALL = (
    tiny_entities(ROWS, 2, 3, 1),
    tiny_entities(ROWS, 1, 2, 2),
    tiny_entities(ROWS, 1, 2, 3),
)
TARGET = [-1 if i % 13 == 5 else int(i > 14) for i in range(ROWS)]


@dataclass(frozen=True)
class Chain:
    """A walk by the oracle, and by the kernel."""

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

    def after(self, law: NDArray[np.float64], walk_steps: int) -> NDArray[np.float64]:
        for _ in range(walk_steps):
            law = law @ self.matrix
        return law

    def by_state(self, law: NDArray[np.float64]) -> dict[Hashable, float]:
        return dict(zip(self.states, law.tolist(), strict=True))

    def simulate(self, walk_steps: int, draws: int, seed: int) -> Counter[Hashable]:
        """Run many walks from the first state."""
        generator = np.random.default_rng(seed)
        words = generator.integers(0, 2**64, size=(draws, walk_steps, 3), dtype=np.uint64)
        return Counter(self.run(self.states[0], some) for some in words)


@cache
def tree_chain(depth: int) -> Chain:
    inner, everyone = 2**depth - 1, all_entities(ROWS)
    sets = split_sets(LEFT.packed, LEFT.splits)
    target, rate = np.array(TARGET, np.int32), float(TREE_GINI.rate(EPSILON))

    def run(state: State, words: NDArray[np.uint64]) -> State:
        splits, trace = np.array(state, np.int32), np.zeros(len(words))
        walk_tree(splits, sets, everyone, target, 2, words, rate, GRID_BITS, 0, NO_STOP, trace)
        return tuple(splits.tolist())

    return Chain(
        (LEFT.candidates,) * inner, TreeScore(LEFT.candidates, TARGET, 2, GRID_BITS), rate, run
    )


@cache
def pair_chain(depth: int, classes: int) -> Chain:
    inner, first = 2**depth - 1, LEFT if depth == 1 else SMALL
    score = PAIR_PURITY if classes else ASSOCIATION
    sets = split_sets(first.packed, first.splits), split_sets(RIGHT.packed, RIGHT.splits)
    everyone = all_entities(ROWS)
    target, rate = np.array(TARGET, np.int32), float(score.rate(EPSILON))

    def run(state: State, words: NDArray[np.uint64]) -> State:
        one, two = np.array(state[:inner], np.int32), np.array(state[inner:], np.int32)
        walk_pair(
            (one, two), sets, everyone, ROWS, target, classes, words, rate, GRID_BITS, 1.0,
            NO_STOP, np.zeros(len(words)),
        )  # fmt: skip
        return tuple(one.tolist() + two.tolist())

    units_of = PairScore(first.candidates, RIGHT.candidates, ROWS, TARGET, classes, GRID_BITS)
    return Chain((first.candidates,) * inner + (RIGHT.candidates,) * inner, units_of, rate, run)


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
@pytest.mark.parametrize(
    ("walk_steps", "draws"),
    [
        (1, 2000),
        (10, 3000),
        *(
            pytest.param(*many, marks=pytest.mark.slow)
            for many in ((1, 8000), (3, 10_000), (10, 10_000), (100, 8000))
        ),
    ],
)
def test_walks_follow_the_powers_of_the_transition_matrix(
    name: str, walk_steps: int, draws: int
) -> None:
    chain = CHAINS[name]()
    first = np.eye(len(chain.states))[0]
    law = chain.by_state(chain.after(first, walk_steps))
    assert surprise(chain.simulate(walk_steps, draws, seed=walk_steps), law) > FALSE_ALARM


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
def test_the_distance_from_the_limit_shrinks_to_zero(name: str) -> None:
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
    assert surprise(seen, chain.by_state(right)) > FALSE_ALARM
    assert surprise(seen, chain.by_state(wrong)) < FALSE_ALARM


def released_law(
    chain: Chain, walk_steps: int, release: Callable[[State], Hashable]
) -> dict[Hashable, float]:
    """Return the law of what is released after some steps from a random start."""
    found: dict[Hashable, float] = {}
    law = chain.after(chain.base / chain.base.sum(), walk_steps)
    for state, chance in zip(chain.states, law.tolist(), strict=True):
        found[release(state)] = found.get(release(state), 0.0) + chance
    return found


def test_released_trees_follow_the_walk_s_law() -> None:
    source, data = SeededRandomness(1), prepared(LEFT, RIGHT)
    target = given_target(data, TARGET)
    seen: Counter[Hashable] = Counter(
        walk_to_tree(
            data, Side.LEFT, 2, target, 2, 3, Receipt(SOME_STEP, "walk", EPSILON), source
        ).value
        for _ in range(3000)
    )
    law = released_law(tree_chain(2), 3, lambda state: released_tree(Side.LEFT, LEFT.splits, state))
    assert len(law) < len(tree_chain(2).states)
    assert surprise(seen, law) > FALSE_ALARM


@pytest.mark.parametrize("side", [Side.LEFT, Side.RIGHT, None])
def test_released_pairs_follow_the_walk_s_law(side: Side | None) -> None:
    # The tree that is to predict the target comes first, on whichever side it is.
    first = side or Side.LEFT
    one, two = (LEFT, RIGHT) if first is Side.LEFT else (RIGHT, LEFT)
    source, data = SeededRandomness(2), prepared(one, two)
    classes = given_target(data, TARGET)
    target = (side, classes, 2) if side else None
    seen: Counter[Hashable] = Counter()
    for _ in range(3000):
        pair = walk_to_pair(data, 1, target, 3, Receipt(SOME_STEP, "walk", EPSILON), source)
        seen[pair[first].value.splits + pair[first.other].value.splits] += 1
    law = released_law(pair_chain(1, 2 if side else 0), 3, lambda state: state)
    assert surprise(seen, law) > FALSE_ALARM
