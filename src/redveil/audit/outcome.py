"""What an adversary reads in a result who knows everybody but one entity.

Only what goes into the result file is read; the file is made from `Mined` alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from redveil.audit.pairs import Pair
from redveil.data.binning import bin_view
from redveil.mining.interpretation import Mined
from redveil.mining.leaf_query import split_literal
from redveil.mining.leaf_table import LeafTable
from redveil.mining.query_text import to_text
from redveil.schema import View
from redveil.trees.counting import Positions, cross_tabulate, route
from redveil.trees.splits import Splits
from redveil.trees.tree import Tree


@dataclass(frozen=True, slots=True)
class Outcome:
    """One result, seen by the adversary.

    facts:   what holds of the result, in words.
    numbers: every noisy count that the entity would be in, less the others, whom the adversary
             knows: the entity's own 1 or 0 and the noise are left.

    >>> Outcome(frozenset({"depth is 1"}), {"its cell (table 1)": 1.0}).numbers
    {'its cell (table 1)': 1.0}
    """

    facts: frozenset[str]
    numbers: Mapping[str, float]


# A run that fails on one data set and not on the other tells them apart, too.
REFUSED = Outcome(frozenset({"the run is refused"}), {})


@dataclass(frozen=True, slots=True)
class Observer:
    """Reads results that were mined from either data set of a pair.

    >>> from redveil.audit.pairs import pair
    >>> Observer(pair("nobody")).pair.name
    'nobody'
    """

    pair: Pair
    _ends: dict[tuple[View, Tree], Positions] = field(default_factory=dict)
    _splits: dict[View, Splits] = field(default_factory=dict)

    def outcome(self, mined: Mined) -> Outcome:
        """Return what the adversary sees."""
        numbers: dict[str, float] = {}
        for place, measured in enumerate(mined.tables, start=1):
            for name, number in self._numbers(mined, measured):
                numbers[f"{name} (table {place})"] = number
        return Outcome(frozenset(self._facts(mined)), numbers)

    def _facts(self, mined: Mined) -> Iterator[str]:
        for name, value in mined.parameters.public().items():
            yield f"{name} is {value}"
        yield f"{len(mined.redescriptions)} redescriptions are reported"
        yield f"{len(mined.pruned)} redescriptions are pruned"
        for measured in mined.tables:
            for tree in (measured.left, measured.right):
                view = mined.schema.view(tree.side)
                for node in tree.inner:
                    split = tree.splits[node]
                    assert split is not None
                    literal = split_literal(self._splits_of(view), split, held=True)
                    text = f"the {tree.side} tree asks {to_text(literal)}"
                    yield text
                    if node == 0:
                        yield f"{text} first"

    def _numbers(self, mined: Mined, measured: LeafTable) -> Iterator[tuple[str, float]]:
        left, right = measured.left, measured.right
        at_left = self._where(mined.schema.view(left.side), left)
        at_right = self._where(mined.schema.view(right.side), right)
        others = cross_tabulate(left, right, at_left[:-1], at_right[:-1])
        row, column = left.cells.index(int(at_left[-1])), right.cells.index(int(at_right[-1]))
        yield "its cell", float(measured.cells[row, column] - others[row, column])
        yield "everybody", float(np.sum(measured.cells) - others.sum())
        if measured.left_margin is not None:
            yield "its left leaf", float(measured.left_margin[row] - others[row].sum())
        if measured.right_margin is not None:
            yield "its right leaf", float(measured.right_margin[column] - others[:, column].sum())

    def _where(self, view: View, tree: Tree) -> Positions:
        """Return the node at which each of the people ends, the entity last."""
        known = self._ends.get((view, tree))
        if known is None:
            table = self.pair.table()
            packed = bin_view(table.view(tree.side), view, table.rows)
            known = self._ends[view, tree] = route(packed, self._splits_of(view), tree)
        return known

    def _splits_of(self, view: View) -> Splits:
        if view not in self._splits:
            self._splits[view] = Splits.of(view)
        return self._splits[view]
