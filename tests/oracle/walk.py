"""Walks over trees from the definitions: sets of entities, exact fractions, full recounts.

A full tree is the list of its inner nodes' splits in heap order; an entity with a missing value is
stuck at the node that tests it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from oracle.purity import purity
from oracle.route import child

Values = Sequence[Sequence[int | None]]  # values[attribute][entity], None where missing
Run = tuple[int, int, int]  # attribute, first and last bin for which a split holds
Splits = tuple[int, ...]
Table = list[list[int]]


@dataclass(frozen=True)
class Candidates:
    """The splits of a view: where each holds, where its value is known, and the attributes."""

    holds: tuple[frozenset[int], ...]
    known: tuple[frozenset[int], ...]
    of_attribute: tuple[range, ...]

    def answer(self, split: int, entity: int) -> bool | None:
        """Return what one entity answers, None when its value is missing."""
        return entity in self.holds[split] if entity in self.known[split] else None


def holding(values: Values, run: Run) -> frozenset[int]:
    """Return the entities whose value lies in a run of bins."""
    attribute, low, high = run
    return frozenset(
        entity
        for entity, value in enumerate(values[attribute])
        if value is not None and low <= value <= high
    )


def candidates(values: Values, runs: Sequence[Run]) -> Candidates:
    """Return the sets of entities of a view's splits, which are listed attribute by attribute."""
    attributes = [attribute for attribute, _, _ in runs]
    return Candidates(
        tuple(holding(values, run) for run in runs),
        tuple(frozenset(i for i, v in enumerate(values[a]) if v is not None) for a in attributes),
        tuple(
            range(attributes.index(a), attributes.index(a) + attributes.count(a))
            for a in range(len(values))
        ),
    )


def reached(splits: Sequence[int], view: Candidates, entities: int) -> list[set[int]]:
    """Return for every node, leaves included, the entities that reach it."""
    nodes: list[set[int]] = [set(range(entities))] + [set() for _ in range(2 * len(splits))]
    for node, split in enumerate(splits):
        for entity in nodes[node]:
            following = child(node, answer=view.answer(split, entity))
            if following != node:
                nodes[following].add(entity)
    return nodes


def leaves(splits: Sequence[int], view: Candidates, entities: int) -> list[int]:
    """Return every entity's leaf, numbered from 0, and -1 for those that are stuck."""
    found = [-1] * entities
    for leaf, members in enumerate(reached(splits, view, entities)[len(splits) :]):
        for entity in members:
            found[entity] = leaf
    return found


def tabulate(rows: Sequence[int], columns: Sequence[int], height: int, width: int) -> Table:
    """Count entities by row and column; those with -1 in either are left out."""
    table = [[0] * width for _ in range(height)]
    for row, column in zip(rows, columns, strict=True):
        if row >= 0 and column >= 0:
            table[row][column] += 1
    return table


def turned(table: Table) -> Table:
    """Return the table with rows as columns."""
    return [list(column) for column in zip(*table, strict=True)]


def purity_units(table: Table, grid_bits: int, cost: int) -> int:
    """Return Σ over rows of Σ_c n_c² / n − cost · n in units, each row rounded down."""
    return sum(math.floor(purity(row) * 2**grid_bits) - cost * sum(row) for row in table)


def association_units(table: Table, grid_bits: int) -> int:
    """Return twice the association in units; rows, columns and the last term rounded down."""
    rows, columns = [sum(row) for row in table], [sum(column) for column in turned(table)]
    total, unit = sum(rows), 2**grid_bits
    if total == 0:
        return 0
    parts = purity_units(table, grid_bits, 0) + purity_units(turned(table), grid_bits, 0)
    return parts - math.floor(Fraction(sum(n * n for n in rows + columns) * unit, total))


def pair_share(classes: Table, table: Table, entities: int, grid_bits: int) -> Fraction:
    """Return G₁ · (N + G₂) / (2N) in units, not rounded; G₁ and G₂ are rounded down by leaves."""
    if entities == 0:
        return Fraction(0)
    first, second = purity_units(classes, grid_bits, 0), purity_units(table, grid_bits, 0)
    return Fraction(first * ((entities << grid_bits) + second), 2 * entities << grid_bits)


def pair_units(classes: Table, table: Table, entities: int, grid_bits: int) -> int:
    """Return N times the published score of a pair, to the nearest unit.

    Half-way between two units both are nearest; double precision decides, as in the kernel.
    """
    true_units = pair_share(classes, table, entities, grid_bits)
    if true_units.denominator != 2:
        return round(true_units)
    first, second = purity_units(classes, grid_bits, 0), purity_units(table, grid_bits, 0)
    return round(first * (0.5 + second / (entities * 2.0 ** (grid_bits + 1))))


def association(table: Table) -> Fraction:
    """Return the association itself, exactly."""
    rows, columns = [sum(row) for row in table], [sum(column) for column in turned(table)]
    if not any(rows):
        return Fraction(0)
    pure = sum(map(purity, table)) + sum(map(purity, turned(table)))
    return (pure - purity(rows) - purity(columns)) / 2


def pair_purity(classes: Table, table: Table, entities: int) -> Fraction:
    """Return N times the published score itself, exactly."""
    if entities == 0:
        return Fraction(0)
    first, second = Fraction(sum(map(purity, classes))), Fraction(sum(map(purity, table)))
    return first * (entities + second) / (2 * entities)


def below(half: int, bound: int) -> int:
    """Return 32 random bits scaled to 0 … bound − 1."""
    return half * bound // 2**32


def proposed_split(word: int, view: Candidates) -> int:
    """Return a split: its attribute by the word's high half, which one by the low half."""
    offered = view.of_attribute[below(word >> 32, len(view.of_attribute))]
    return offered[below(word % 2**32, len(offered))]


def accepted(word: int, rate: float, change: int) -> bool:
    """Decide with the word's first 53 bits: worse proposals pass with chance exp(rate · change)."""
    return change >= 0 or (word >> 11) * 2.0**-53 < math.exp(rate * change)


def has_settled(scores: Sequence[float], window: int, threshold: float) -> bool:
    """Return whether the last `window` scores vary less than the threshold; never if it is -1."""
    if threshold < 0 or len(scores) < window:
        return False
    last = [Fraction(score) for score in scores[len(scores) - window :]]
    mean = sum(last) / window
    return sum((score - mean) ** 2 for score in last) / window < Fraction(threshold)


@dataclass
class Walked:
    """The state of a walk.

    trace: the score before each step, and before the end if it was early.
    """

    splits: Splits
    walk_steps: int = 0
    accepted: int = 0
    trace: list[float] = field(default_factory=list)


@dataclass(frozen=True)
class Walk:
    """A chain over trees, or over pairs of trees written end to end.

    views: for every inner node, the splits it chooses from; score: in units, of all splits.
    scale: the value of a unit in the trace.
    """

    views: Sequence[Candidates]
    score: Callable[[Splits], int]
    rate: float
    scale: float
    window: int = 0
    threshold: float = -1.0

    def run(self, start: Splits, words: Sequence[Sequence[int]]) -> Walked:
        """Take a step for every three words: the node, its new split, whether it is accepted."""
        walked = Walked(start)
        for which, what, whether in words:
            before = self.score(walked.splits)
            walked.trace.append(before * self.scale)
            # A score counts once a step has been taken from it.
            if has_settled(walked.trace[:-1], self.window, self.threshold):
                break
            walked.walk_steps += 1
            node = below(which % 2**32, len(start))
            changed = list(walked.splits)
            changed[node] = proposed_split(what, self.views[node])
            proposal = tuple(changed)
            if accepted(whether, self.rate, self.score(proposal) - before):
                walked.accepted += 1
                walked.splits = proposal
        return walked


@dataclass(frozen=True)
class TreeScore:
    """Scores a tree by how well its leaves predict a target, recounting it each time."""

    view: Candidates
    target: Sequence[int]
    classes: int
    grid_bits: int
    cost: int = 0
    known: dict[Splits, int] = field(default_factory=dict)

    def __call__(self, splits: Splits) -> int:
        if splits not in self.known:
            at = leaves(splits, self.view, len(self.target))
            table = tabulate(at, self.target, len(splits) + 1, self.classes)
            self.known[splits] = purity_units(table, self.grid_bits, self.cost)
        return self.known[splits]


@dataclass(frozen=True)
class PairScore:
    """Scores two trees, the splits of the first before those of the second.

    With classes = 0 the score is twice the association of their leaves.
    """

    first: Candidates
    second: Candidates
    entities: int
    target: Sequence[int]
    classes: int
    grid_bits: int
    known: dict[Splits, int] = field(default_factory=dict)

    def __call__(self, splits: Splits) -> int:
        if splits not in self.known:
            inner = len(splits) // 2
            one = leaves(splits[:inner], self.first, self.entities)
            two = leaves(splits[inner:], self.second, self.entities)
            table = tabulate(two, one, inner + 1, inner + 1)
            self.known[splits] = (
                pair_units(
                    tabulate(one, self.target, inner + 1, self.classes),
                    table,
                    self.entities,
                    self.grid_bits,
                )
                if self.classes
                else association_units(table, self.grid_bits)
            )
        return self.known[splits]


def base_weight(splits: Splits, views: Sequence[Candidates]) -> Fraction:
    """Return the product over nodes of 1 / the number of splits of the node's attribute."""
    weight = Fraction(1)
    for split, view in zip(splits, views, strict=True):
        weight /= next(len(offered) for offered in view.of_attribute if split in offered)
    return weight


def next_states(
    splits: Splits, views: Sequence[Candidates], score: Callable[[Splits], int], rate: float
) -> dict[Splits, float]:
    """Return the exact law of the state after one step."""
    law = {splits: 0.0}
    for node, view in enumerate(views):
        for offered in view.of_attribute:
            chance = 1 / (len(views) * len(view.of_attribute) * len(offered))
            for split in offered:
                proposal = (*splits[:node], split, *splits[node + 1 :])
                passes = math.exp(min(0.0, rate * (score(proposal) - score(splits))))
                law[proposal] = law.get(proposal, 0.0) + chance * passes
                law[splits] += chance * (1 - passes)
    return law
