"""The widths of the scores of walks: never exceeded, and approached at both ends.

Changes are in units of each score's grid. A change may exceed an end of the proof's interval by
the rounding that is paid for: twice `Score.rounding`.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from oracle.walk import Candidates, Splits, candidates, leaves, tabulate
from redveil.kernels.pair_score import association_units, pair_units
from redveil.kernels.subtree import purity_of_leaves
from redveil.losses.score import Score
from redveil.trees.scores import ASSOCIATION, GRID_BITS, PAIR_PURITY, TREE_GINI

Counts = NDArray[np.int64]
Entity = tuple[int | None, ...]
Kind = tuple[int, int, int]  # leaf in the first tree, leaf in the second, class; -1 for none

# The intervals of changes that the proofs state for one more entity.
ENDS = {
    TREE_GINI.name: (Fraction(-2), Fraction(0)),
    PAIR_PURITY.name: (Fraction(-2), Fraction(1)),
    ASSOCIATION.name: (Fraction(-3, 2), Fraction(2)),
}


def in_units(value: Fraction, score: Score) -> Fraction:
    return value * (1 << score.grid_bits)


def allowed(score: Score) -> tuple[Fraction, Fraction]:
    """Return the interval that holds every change, rounding included."""
    low, high = ENDS[score.name]
    return (
        in_units(low - 2 * score.rounding, score),
        in_units(high + 2 * score.rounding, score),
    )


def tree_units(table: Counts) -> int:
    """Return Σ over leaves of Σ_c n_c² / n."""
    return int(purity_of_leaves(0, table.shape[0] - 1, table, GRID_BITS, 0))


def additions(table: Counts, units: Callable[[Counts], int]) -> Iterator[int]:
    """Yield the change of a score for one more entity in each cell."""
    before = units(table)
    for cell in np.ndindex(table.shape):
        table[cell] += 1
        yield units(table) - before
        table[cell] -= 1


def small_tables(shape: tuple[int, int], most: int) -> Iterator[Counts]:
    """Yield every table with counts of at most `most`."""
    for cells in itertools.product(range(most + 1), repeat=shape[0] * shape[1]):
        yield np.array(cells, np.int64).reshape(shape)


@pytest.mark.parametrize("score", [TREE_GINI, PAIR_PURITY, ASSOCIATION], ids=lambda s: s.name)
def test_the_ends_are_as_far_apart_as_the_score_says(score: Score) -> None:
    low, high = ENDS[score.name]
    assert high - low == score.change
    assert allowed(score)[1] - allowed(score)[0] == in_units(score.width, score)
    assert score.monotone is (high <= 0)


@pytest.mark.parametrize(("shape", "most"), [((1, 2), 40), ((1, 3), 9), ((2, 2), 5), ((3, 2), 2)])
def test_no_small_tree_moves_further_than_its_width(shape: tuple[int, int], most: int) -> None:
    low, high = allowed(TREE_GINI)
    unit = 1 << GRID_BITS
    for table in small_tables(shape, most):
        changes = list(additions(table, tree_units))
        # N grows by one; an entity that reaches no leaf, or has no class, does that alone.
        assert low < min(changes) - unit
        assert max(changes) - unit < high
        assert low < -unit < high


@pytest.mark.parametrize(("shape", "most"), [((2, 2), 9), ((2, 3), 3), ((3, 3), 2)])
def test_no_small_pair_s_association_moves_further(shape: tuple[int, int], most: int) -> None:
    low, high = allowed(ASSOCIATION)
    for table in small_tables(shape, most):
        changes = list(additions(table, lambda one: int(association_units(one, GRID_BITS))))
        assert low < min(changes)
        assert max(changes) < high


class Counted:
    """Entities of all kinds in the leaves of two trees."""

    def __init__(self, leaves: int = 2, classes: int = 2) -> None:
        self.by_class: Counts = np.zeros((leaves, classes), np.int64)
        self.table: Counts = np.zeros((leaves, leaves), np.int64)
        self.entities = 0

    def add(self, entity: Kind, times: int = 1) -> None:
        first, second, label = entity
        self.entities += times
        if first >= 0 and label >= 0:
            self.by_class[first, label] += times
        if first >= 0 and second >= 0:
            self.table[second, first] += times

    def units(self) -> int:
        return int(pair_units(self.by_class, self.table, self.entities, GRID_BITS))

    def change(self, entity: Kind) -> int:
        """Return the change for one more entity."""
        before = self.units()
        self.add(entity)
        after = self.units()
        self.add(entity, -1)
        return after - before


THREE = (-1, 0, 1)
KINDS: tuple[Kind, ...] = tuple(itertools.product(THREE, THREE, THREE))


def test_no_small_pair_s_purity_moves_further() -> None:
    low, high = allowed(PAIR_PURITY)
    for size in range(4):
        for members in itertools.combinations_with_replacement(KINDS, size):
            counted = Counted()
            for member in members:
                counted.add(member)
            changes = [counted.change(kind) for kind in KINDS]
            assert low < min(changes)
            assert max(changes) < high


def climb(
    value: Callable[[list[int]], int], cells: int, seed: int, steps: int = 1500
) -> tuple[int, list[int]]:
    """Return the largest value reached by changing one count at a time."""
    generator = np.random.default_rng(seed)
    counts = [int(2**e) - 1 for e in generator.uniform(0, 8, cells)]
    best = value(counts)
    for _ in range(steps):
        cell, kind = int(generator.integers(cells)), int(generator.integers(5))
        tried = list(counts)
        n = tried[cell]
        tried[cell] = [0, n // 2, min(2 * n + 1, 10**5), n + 1, max(n - 1, 0)][kind]
        if (found := value(tried)) >= best:
            best, counts = found, tried
    return best, counts


def best_of(value: Callable[[list[int]], int], cells: int) -> int:
    return max(climb(value, cells, seed)[0] for seed in range(4))


@pytest.mark.parametrize("sign", [1, -1])
def test_climbing_brings_tree_gini_close_to_its_ends(sign: int) -> None:
    low, high = allowed(TREE_GINI)
    unit = 1 << GRID_BITS

    def value(counts: list[int]) -> int:
        table = np.array(counts, np.int64).reshape(1, 3)
        change = next(additions(table, tree_units)) - unit
        assert low < change < high
        return sign * change

    near = in_units(TREE_GINI.change, TREE_GINI) * Fraction(2, 100)
    assert best_of(value, 3) >= (high if sign > 0 else -low) - near


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("shape", [(2, 2), (3, 3)])
def test_climbing_brings_association_close_to_its_ends(sign: int, shape: tuple[int, int]) -> None:
    low, high = allowed(ASSOCIATION)

    def value(counts: list[int]) -> int:
        table = np.array(counts, np.int64).reshape(shape)
        change = next(additions(table, lambda one: int(association_units(one, GRID_BITS))))
        assert low < change < high
        return sign * change

    end = high if sign > 0 else -low
    assert best_of(value, shape[0] * shape[1]) >= end * Fraction(98, 100)


@pytest.mark.parametrize("sign", [1, -1])
def test_climbing_brings_pair_purity_close_to_its_ends(sign: int) -> None:
    low, high = allowed(PAIR_PURITY)
    newcomer = (0, 0, 0)

    def value(counts: list[int]) -> int:
        counted = Counted()
        for kind, times in zip(KINDS, counts, strict=True):
            counted.add(kind, times)
        change = counted.change(newcomer)
        assert low < change < high
        return sign * change

    end = high if sign > 0 else -low
    assert best_of(value, len(KINDS)) >= end * Fraction(98, 100)


# Every tree of depth 1 and 2 over two Booleans on either side, with values that may be missing,
# and a class. An entity: left a, left b, right a, right b, class.
VIEW = 2
TREES: tuple[Splits, ...] = (
    *((split,) for split in range(VIEW)),
    *itertools.product(range(VIEW), repeat=3),
)
entities = st.tuples(*[st.sampled_from((0, 1, None))] * 4, st.sampled_from((0, 1, None)))


def view_of(members: Sequence[Entity], first: int) -> Candidates:
    columns = [[entity[first + i] for entity in members] for i in range(VIEW)]
    return candidates(columns, [(i, 1, 1) for i in range(VIEW)])


def all_scores(members: Sequence[Entity]) -> dict[str, list[int]]:
    """Return every score of every tree, or of every pair of trees of one depth."""
    n, classes = len(members), [-1 if e[-1] is None else e[-1] for e in members]
    left, right = (
        {tree: leaves(tree, view_of(members, first), n) for tree in TREES} for first in (0, VIEW)
    )
    found: dict[str, list[int]] = {score: [] for score in ENDS}
    for tree, at in left.items():
        width = len(tree) + 1
        by_class = np.array(tabulate(at, classes, width, 2), np.int64)
        found[TREE_GINI.name].append(tree_units(by_class))
        for other, there in right.items():
            if len(other) == len(tree):
                table = np.array(tabulate(there, at, width, width), np.int64)
                found[PAIR_PURITY.name].append(int(pair_units(by_class, table, n, GRID_BITS)))
                found[ASSOCIATION.name].append(int(association_units(table, GRID_BITS)))
    return found


def spreads(members: Sequence[Entity], newcomer: Entity) -> dict[str, int]:
    """Return, for every score, how far apart the candidates' changes are."""
    before, after = all_scores(members), all_scores([*members, newcomer])
    changes = {
        name: [b - a for a, b in zip(before[name], after[name], strict=True)] for name in ENDS
    }
    return {name: max(moved) - min(moved) for name, moved in changes.items()}


def check_spreads(members: Sequence[Entity], newcomer: Entity) -> dict[str, int]:
    found = spreads(members, newcomer)
    for score in (TREE_GINI, PAIR_PURITY, ASSOCIATION):
        assert found[score.name] <= in_units(score.width, score)
    return found


@given(st.lists(st.tuples(entities, st.integers(0, 15)), max_size=5), entities)
def test_the_changes_of_candidates_differ_by_at_most_the_width(
    groups: list[tuple[Entity, int]], newcomer: Entity
) -> None:
    check_spreads([entity for entity, times in groups for _ in range(times)], newcomer)


@pytest.mark.parametrize(
    ("score", "groups"),
    [
        # Tree a: the newcomer joins its own kind, no change. Tree b: it joins the other class.
        (TREE_GINI, [(1, 0, None, None, 0), (0, 1, None, None, 1)]),
        # Trees a: it joins its own kind twice. Trees b: another class, then another leaf.
        (PAIR_PURITY, [(1, 0, 1, 1, 0), (0, 1, 0, 0, 1)]),
        # Trees a: all are alike, the newcomer is not. Trees b: it breaks a perfect match.
        (ASSOCIATION, [(0, 1, 0, 0, 0), (0, 0, 0, 1, 0)]),
    ],
    ids=lambda value: value.name if isinstance(value, Score) else None,
)
def test_the_width_is_approached(score: Score, groups: list[Entity]) -> None:
    found = check_spreads([entity for entity in groups for _ in range(300)], (1, 1, 1, 1, 0))
    assert found[score.name] >= in_units(score.width, score) * Fraction(98, 100)
