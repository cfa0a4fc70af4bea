"""What an adversary who knows all entities but one can observe in a result.

It depends only on `Mined`, from which alone the result file is made.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from redveil.seam.neighbours import (
    Algorithm,
    LeafTable,
    Mined,
    Positions,
    Reporting,
    Splits,
    Tree,
    bin_view,
    cross_tabulate,
    derived_column,
    route,
    split_literal,
)
from redveil.seam.queries import Query, View, to_text
from redveil_research.audit.pairs import Pair

TOTAL: Final = "the total"


@dataclass(frozen=True, slots=True)
class Outcome:
    """The adversary's observations in one result.

    facts:   true statements about the result.
    numbers: every noisy count that would include the entity, less the other entities, which the
             adversary knows: the entity's own 1 or 0 plus noise.
    company: for each table, the number of other entities in the entity's left leaf, right leaf and
             cell. An entity changes scores by how many others share its leaf, so this is most of
             what trees leak.

    >>> Outcome(frozenset({"depth is 1"}), {"its cell (table 1)": 1.0}).numbers
    {'its cell (table 1)': 1.0}
    """

    facts: frozenset[str]
    numbers: Mapping[str, float]
    company: tuple[tuple[int, int, int], ...] = ()

    def signs(self) -> Iterator[str]:
        """Yield the signs of the entity's presence or absence: one per table and one per number.

        The total is omitted: it is the sum of the cells, and says less than the entity's own.

        >>> list(Outcome(frozenset(), {"its cell (table 1)": -2.0}, ((0, 8, 0),)).signs())
        ['0, 8, 0 (table 1)', 'its cell (table 1) below 1']
        """
        for place, (left, right, cell) in enumerate(self.company, start=1):
            yield f"{left}, {right}, {cell} (table {place})"
        for name, number in self.numbers.items():
            if not name.startswith(TOTAL):
                yield f"{name} {'from' if number >= 1 else 'below'} 1"


# A run that fails on only one of the data sets distinguishes them, too.
REFUSED = Outcome(frozenset({"the run is refused"}), {})


@dataclass(frozen=True, slots=True)
class Observer:
    """Extracts outcomes from results mined on either data set of a pair.

    >>> from redveil_research.audit.pairs import pair
    >>> Observer(pair("nobody")).pair.name
    'nobody'
    """

    pair: Pair
    # Caches: the same parameters and trees occur in thousands of results.
    _splits: dict[View, Splits] = field(default_factory=dict)
    _parameters: dict[tuple[Algorithm, Reporting], frozenset[str]] = field(default_factory=dict)
    _trees: dict[tuple[View, Tree], tuple[Positions, frozenset[str]]] = field(default_factory=dict)

    def outcome(self, mined: Mined) -> Outcome:
        """Return the adversary's observations."""
        facts = {
            f"{len(mined.findings.redescriptions)} redescriptions are reported",
            f"{len(mined.findings.pruned)} redescriptions are pruned",
            *self._parameter_facts(mined.run.algorithm, mined.reporting),
        }
        numbers: dict[str, float] = {}
        company: list[tuple[int, int, int]] = []
        for place, measured in enumerate(mined.run.tables, start=1):
            sides = (mined.run.schema.left, measured.left), (mined.run.schema.right, measured.right)
            meanings = mined.origin.meanings
            (at_left, left_facts), (at_right, right_facts) = (
                self._tree_facts(view, tree, meanings[tree.side]) for view, tree in sides
            )
            beside = at_left[:-1] == at_left[-1], at_right[:-1] == at_right[-1]
            left, right = (int(np.count_nonzero(same)) for same in beside)
            company.append((left, right, int(np.count_nonzero(beside[0] & beside[1]))))
            facts |= left_facts | right_facts
            facts.add(f"its left leaf has {left} others (table {place})")
            facts.add(f"its right leaf has {right} others (table {place})")
            for name, number in _numbers(measured, at_left, at_right):
                numbers[f"{name} (table {place})"] = number
        return Outcome(frozenset(facts), numbers, tuple(company))

    def _parameter_facts(self, algorithm: Algorithm, reporting: Reporting) -> frozenset[str]:
        key = algorithm, reporting
        if key not in self._parameters:
            public = algorithm.public() | reporting.public()
            facts = frozenset(f"{name} is {value}" for name, value in public.items())
            self._parameters[key] = facts
        return self._parameters[key]

    def _tree_facts(
        self, view: View, tree: Tree, meanings: Mapping[str, Query]
    ) -> tuple[Positions, frozenset[str]]:
        """Return the end of every entity's path, the added entity last, and facts about splits."""
        if (view, tree) not in self._trees:
            splits = self._splits.setdefault(view, Splits.of(view))
            table = self.pair.table()
            declared = table.view(tree.side)
            columns = dict(declared)
            for one in view.attributes:
                if one.name in meanings:
                    columns[one.name] = derived_column(one, meanings[one.name], declared)
            packed = bin_view(columns, view, table.rows)
            facts = frozenset(_split_facts(splits, tree))
            self._trees[view, tree] = route(packed, splits, tree), facts
        return self._trees[view, tree]


def _split_facts(splits: Splits, tree: Tree) -> Iterator[str]:
    for node in tree.inner:
        split = tree.splits[node]
        assert split is not None
        text = to_text(split_literal(splits, split, held=True))
        yield f"the {tree.side} tree splits at {text}"
        if node == 0:
            yield f"the {tree.side} tree first splits at {text}"


def _numbers(
    measured: LeafTable, at_left: Positions, at_right: Positions
) -> Iterator[tuple[str, float]]:
    left, right = measured.left, measured.right
    others = cross_tabulate(left, right, at_left[:-1], at_right[:-1])
    row, column = left.ends.index(int(at_left[-1])), right.ends.index(int(at_right[-1]))
    yield "its cell", float(measured.cells[row, column] - others[row, column])
    yield TOTAL, float(np.sum(measured.cells) - others.sum())
    if measured.left_margin is not None:
        yield "its left leaf", float(measured.left_margin[row] - others[row].sum())
    if measured.right_margin is not None:
        yield "its right leaf", float(measured.right_margin[column] - others[:, column].sum())
