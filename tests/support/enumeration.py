"""Runs of the package that take every way they can take, one after the other.

Where a run would choose at random, a guide chooses and notes how likely that was. So the
law of all that it releases is found exactly, without drawing anything.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from oracle.entities import Entities, Shape, Views, trimmed
from oracle.law import Law
from redveil.algorithms.algorithm import Algorithm
from redveil.algorithms.describe import Describe
from redveil.algorithms.refine import Refine
from redveil.algorithms.run import run
from redveil.algorithms.twin import Twin
from redveil.data.dataset import Dataset
from redveil.data.report import LoadReport
from redveil.data.table import MISSING, CodedColumn, Column, Table
from redveil.findings.leaf_table import LeafTable
from redveil.losses.loss import Price, Rho, amount, total
from redveil.losses.plan import Plan
from redveil.privacy.randomness import Randomness
from redveil.privacy.two_level_selection import TwoLevelBase
from redveil.schema import Schema
from redveil.sealed import Sealed

Integers = NDArray[np.int64]
Choices = tuple[Any, ...]
Sources = Callable[[int], Randomness]
Pair = tuple[Shape, Shape]

# Algorithms that have one trial, or whose trials know of each other.
ONE_BY_ONE = (Twin, Describe, Refine)


@dataclass(frozen=True)
class Ran:
    """What a run has released, as it comes out of the package."""

    algorithm: Algorithm
    plan: Plan
    tables: tuple[LeafTable, ...]

    @property
    def pairs(self) -> tuple[Pair, ...]:
        """The pairs of trees, as the slow twins write them."""
        return tuple((trimmed(t.left.splits), trimmed(t.right.splits)) for t in self.tables)


def schema_of(views: Views) -> Schema:
    """Return the schema that declares two views."""
    return Schema("toy", views.left, views.right)


def dataset_of(entities: Entities) -> Dataset:
    """Seal some entities; all their attributes are Booleans or categories."""
    sides = []
    for side in (0, 1):
        columns: dict[str, Column] = {}
        for number, attribute in enumerate(entities.views.view(side).attributes):
            values = [entity[side][number] for entity in entities.members]
            codes = np.array([MISSING if v is None else v for v in values], np.uint8)
            columns[attribute.name] = CodedColumn(attribute, codes)
        sides.append(columns)
    rows = len(entities.members)
    table = Table(rows, sides[0], sides[1])
    return Dataset(schema_of(entities.views), Sealed(table), Sealed(LoadReport(rows)))


def release(dataset: Dataset, how: Algorithm, price: Price, sources: Sources) -> Ran:
    """Run in one thread."""
    ran = run(dataset, how, price, sources, workers=1)
    return Ran(ran.algorithm, ran.plan, ran.tables)


class Guide:
    """In the place of randomness: says what is chosen, and after that takes whatever comes first.

    taken:   what was chosen.
    log:     how likely that was, as a logarithm.
    others:  the ways that branch off after the given choices.
    noises:  the noise that was asked for, as (price, how often); there is none, but what is
             added to the first and last count of the first table.
    """

    def __init__(self, choices: Choices, steered: int = 0) -> None:
        self._choices = choices
        self._steered = steered
        self.taken: Choices = ()
        self.log = 0.0
        self.others: list[Choices] = []
        self.noises: list[tuple[Price, int]] = []

    def choose(self, law: Mapping[Any, float]) -> Any:
        """Choose from a law."""
        ahead = len(self.taken) >= len(self._choices)
        chosen = next(iter(law)) if ahead else self._choices[len(self.taken)]
        if ahead:
            self.others += [(*self.taken, other) for other in law if other != chosen]
        self.taken += (chosen,)
        self.log += law[chosen]
        return chosen

    def words(self, count: int) -> NDArray[np.uint64]:
        """Refuse: nothing may be random but what is chosen from a law that is known here."""
        raise AssertionError(f"{count} words were drawn past the guide")

    def laplace(self, epsilon: Fraction, count: int) -> Integers:
        """Return no noise, and take note."""
        self.noises.append((epsilon, count))
        return self._noise(count)

    def gaussian(self, rho: Fraction, count: int) -> Integers:
        """Return no noise, and take note."""
        self.noises.append((Rho(rho), count))
        return self._noise(count)

    def _noise(self, count: int) -> Integers:
        noise = np.zeros(count, dtype=np.int64)
        if len(self.noises) == 1:
            noise[[0, -1]] += self._steered
        return noise


def _normalised(logs: Mapping[Any, float]) -> Law:
    best = max(logs.values())
    whole = best + math.log(math.fsum(math.exp(log - best) for log in logs.values()))
    return {one: log - whole for one, log in logs.items()}


def guided_draw(units: Integers, rate: Fraction, base: Integers, guide: Guide) -> int:
    """Stand in for `draw`."""
    logs = {
        i: math.log(base[i]) + float(rate * int(units[i])) for i in np.flatnonzero(base).tolist()
    }
    return int(guide.choose(_normalised(logs)))


def guided_draw_two_level(
    units: Integers, rate: Fraction, base: TwoLevelBase, guide: Guide
) -> tuple[int, int, int]:
    """Stand in for `draw_two_level`."""
    logs: dict[tuple[int, int, int], float] = {}
    for root in np.flatnonzero(base.roots).tolist():
        held, not_held = (np.flatnonzero(base.open[root, side]).tolist() for side in (0, 1))
        for a in held:
            for b in not_held:
                weight = int(base.root[root]) * int(base.below[a]) * int(base.below[b])
                score = int(units[root, 0, a] + units[root, 1, b])
                logs[root, a, b] = math.log(weight) + float(rate * score)
    root, a, b = guide.choose(_normalised(logs))
    return root, a, b


def guided_below(guide: Guide, bound: int) -> int:
    """Stand in for `below`."""
    return int(guide.choose(dict.fromkeys(range(bound), -math.log(bound))))


@dataclass(frozen=True)
class Way:
    """One way through a run: what is chosen, how likely that is, and what is released on it."""

    choices: Choices
    log: float
    pairs: tuple[Pair, ...]
    tables: tuple[LeafTable, ...]
    noises: tuple[tuple[Price, int], ...]
    algorithm: Algorithm


def all_ways(entities: Entities, how: Algorithm, whole: Price, steered: int = 0) -> list[Way]:
    """Return every way through a run of an exact algorithm.

    Trials that do not know of each other go many ways at once: a way is that of one trial then.
    steered: noise in the first and last count of the first table
    """
    dataset, found, pending = dataset_of(entities), list[Way](), [Choices()]
    at_once = 1 if isinstance(how, ONE_BY_ONE) else 1000
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("redveil.privacy.mechanisms.draw", guided_draw)
        patch.setattr("redveil.privacy.mechanisms.draw_two_level", guided_draw_two_level)
        patch.setattr("redveil.algorithms.targets.below", guided_below)
        while pending:
            guides = [Guide(choices, steered) for choices in pending[:at_once]]
            del pending[:at_once]
            many, price = how, whole
            if at_once > 1:
                assert how.trials == 1
                many, price = replace(how, trials=len(guides)), whole * len(guides)
            # Stream 0 is that of the size, which gets no noise.
            streams = dict(enumerate((Guide(()), *guides)))
            ran = release(dataset, many, price, streams.__getitem__)
            each = len(ran.tables) // len(guides)
            for number, guide in enumerate(guides):
                own = slice(number * each, (number + 1) * each)
                released = ran.pairs[own], ran.tables[own], tuple(guide.noises)
                found.append(Way(guide.taken, guide.log, *released, ran.algorithm))
                pending += guide.others
    return found


def nodes_counted(table: LeafTable) -> Counter[tuple[int, int]]:
    """Return the counts of a leaf table by the nodes that they are of."""
    return Counter(
        {
            (left, right): int(table.cells[i, j])
            for i, left in enumerate(table.left.ends)
            for j, right in enumerate(table.right.ends)
        }
    )


def price_of(how: Algorithm, whole: Price, mechanism: str) -> Fraction:
    """Return what all steps of one mechanism cost in a run's plan."""
    plan = how.plan(whole)
    return amount(total(step.price for step in plan.steps if step.mechanism == mechanism))
