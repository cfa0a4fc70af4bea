"""How far apart runs on neighbouring data sets are, over everything they can release."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from oracle.entities import LEFT, RIGHT, Entities, Entity
from oracle.law import Outcome
from oracle.run_law import Pair, Run, table_prices, tables_of
from support.toys import Toy

Members = tuple[Entity, ...]
Cell = tuple[int, int]  # a left and a right node

# What the parts of a leaf table count by: cells, left margin, right margin.
GROUPS: Final[tuple[Callable[[Cell], Hashable], ...]] = (
    lambda cell: cell,
    lambda cell: cell[LEFT],
    lambda cell: cell[RIGHT],
)


class Losses(NamedTuple):
    """The largest losses over all outcomes: of start and trees, and of these and all counts."""

    trees: float
    total: float


def neighbours(kinds: Sequence[Entity], most: int) -> Iterator[tuple[Members, Members]]:
    """Yield all data sets of some kinds, and each with one entity more, up to some size."""
    for size in range(most):
        for fewer in itertools.combinations_with_replacement(range(len(kinds)), size):
            for newcomer in range(len(kinds)):
                more = sorted((*fewer, newcomer))
                yield tuple(kinds[k] for k in fewer), tuple(kinds[k] for k in more)


@dataclass
class Neighbourhood:
    """Runs for one price on any entities; laws are cached.

    endless: walks have reached their limit.
    """

    toy: Toy
    epsilon: Fraction
    endless: bool = False
    _laws: dict[Members, NDArray[np.float64]] = field(default_factory=dict)
    _cells: dict[tuple[Members, Pair], Counter[Cell]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        prices = table_prices(self.toy.how, self.epsilon)
        self._prices = prices[0]
        # All tables divide their price over their parts in the same way.
        weights = [float(sum(one) / sum(self._prices)) for one in prices]
        self.outcomes: list[Outcome] = list(self._run(()).law())
        tables = [tables_of(outcome) for outcome in self.outcomes]
        self.pairs: list[Pair] = sorted({pair for each in tables for pair in each}, key=repr)
        number = {pair: i for i, pair in enumerate(self.pairs)}
        # How often each outcome has each pair of trees counted, at the price of the first.
        self._counted = np.zeros((len(self.outcomes), len(self.pairs)))
        for row, each in zip(self._counted, tables, strict=True):
            for pair, weight in zip(each, weights, strict=True):
                row[number[pair]] += weight

    def losses(self, some: Members, other: Members) -> Losses:
        """Return the largest losses between two data sets.

        Noise P(k) ∝ exp(−ε·|k|) on counts loses at most ε times the sum of their differences, and
        exactly that where all noisy counts lie beyond those of one of the data sets.
        """
        trees = np.abs(self._law(some) - self._law(other))
        counts = np.array([self._distance(some, other, pair) for pair in self.pairs])
        return Losses(float(trees.max()), float((trees + self._counted @ counts).max()))

    def largest(self, kinds: Sequence[Entity], most: int) -> Losses:
        """Return the largest losses over all neighbours up to some size."""
        found = [self.losses(*both) for both in neighbours(kinds, most)]
        return Losses(max(one.trees for one in found), max(one.total for one in found))

    def _run(self, members: Members) -> Run:
        entities = Entities(self.toy.views, members)
        return Run(entities, self.toy.how, self.epsilon, endless=self.endless)

    def _law(self, members: Members) -> NDArray[np.float64]:
        if members not in self._laws:
            law = self._run(members).law()
            assert len(law) == len(self.outcomes), "what can be released is public"
            self._laws[members] = np.array([law[outcome] for outcome in self.outcomes])
        return self._laws[members]

    def _distance(self, some: Members, other: Members, pair: Pair) -> float:
        """Return what counting a pair of trees loses: cells, and the margins that are counted."""
        one, two = self._count(some, pair), self._count(other, pair)
        changes = {cell: one[cell] - two[cell] for cell in one.keys() | two.keys()}
        parts = []
        for group in GROUPS[: len(self._prices)]:
            sums = Counter[Hashable]()
            for cell, change in changes.items():
                sums[group(cell)] += change
            parts.append(sum(map(abs, sums.values())))
        return sum(float(price) * part for price, part in zip(self._prices, parts, strict=True))

    def _count(self, members: Members, pair: Pair) -> Counter[Cell]:
        if (members, pair) not in self._cells:
            self._cells[members, pair] = Entities(self.toy.views, members).cells(*pair)
        return self._cells[members, pair]
