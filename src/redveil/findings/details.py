"""Details: which pairs add something to the stories that their table has told.

A table's trees yield a rule and many variations of it. What follows a story has to say more than
it: about a part of the entities, on which the story says too little, in words that each count.
Everything is read off released counts, so it costs nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from redveil.findings.candidates import disjunctions, mentioned, outline
from redveil.findings.complement import complement_ends
from redveil.findings.extraction import Candidate
from redveil.findings.released_table import ReleasedTable
from redveil.query.coverage import ReleasedTree
from redveil.query.leaves import term_ends, term_nodes

Flags = NDArray[np.bool_]
Floats = NDArray[np.float64]

# A condition that more than so many satisfy of those who satisfy the others is a rider.
RIDER: Final = 0.9
# The least corrected index, among those whom a story or its complement is about, of a pair that
# divides them once more.
LEAST_WITHIN_STORY: Final = 0.1
LEAST_WITHIN_COMPLEMENT: Final = 0.25


class Details:
    """Which candidates of a table add something to its stories.

    adds:   bool[candidates]
    riders: bool[candidates], whether the last condition of a query is a rider

    cells: the estimated counts, none of them negative
    table: the released table they are from, if its trees are to be looked at

    A detail is about at most half of the entities and has no "or", and no condition of it is a
    rider.
    """

    def __init__(
        self, candidates: Sequence[Candidate], cells: Floats, table: ReleasedTable | None
    ) -> None:
        self._cells = cells
        self._trees = None if table is None else (table.left, table.right)
        self._names = [(mentioned(one.left), mentioned(one.right)) for one in candidates]
        self._outlines = [(outline(one.left), outline(one.right)) for one in candidates]
        self._left = _flags([one.left_ends for one in candidates], cells.shape[0])
        self._right = _flags([one.right_ends for one in candidates], cells.shape[1])
        self.adds: Flags = np.array([_is_plain(one) for one in candidates], np.bool_)
        self.riders: Flags = np.zeros(len(candidates), np.bool_)
        if self._trees is not None:
            for tree, covered, axis in zip(
                self._trees, (self._left, self._right), (1, 0), strict=True
            ):
                self.riders |= _ends_in_rider(tree, covered, cells.sum(axis=axis))
        self.adds &= ~self.riders

    def mention(self, place: int) -> None:
        """Take note of an entry: the same with other cut points, or less, is no detail any more."""
        told = [
            mine == self._outlines[place] or self._says_less(number, place)
            for number, mine in enumerate(self._outlines)
        ]
        self.adds &= ~np.array(told, np.bool_)

    def tell(self, place: int) -> None:
        """Take note of a story: what only says the same of a part of it is no detail any more."""
        left, right = self._left[place], self._right[place]
        self._compare(left, right, LEAST_WITHIN_STORY)
        self._compare(*self._complement(left, right), LEAST_WITHIN_COMPLEMENT)

    def _says_less(self, number: int, entry: int) -> bool:
        """Return whether a candidate is about some of an entry's attributes, and no others."""
        mine, told = self._names[number], self._names[entry]
        return mine[0] <= told[0] and mine[1] <= told[1] and mine != told

    def _compare(self, left: Flags, right: Flags, least: float) -> None:
        """Drop what is about a part of these two supports, and hardly says more about it.

        It says more if it divides both supports, and the two parts belong together.
        """
        parts = ~(self._left & ~left).any(axis=1) & ~(self._right & ~right).any(axis=1)
        among = self._cells * np.outer(left, right)
        lefts, rights = self._cells.sum(axis=1), self._cells.sum(axis=0)
        for one in np.flatnonzero(self.adds & parts):
            divides = (
                lefts[self._left[one]].sum() <= RIDER * lefts[left].sum()
                and rights[self._right[one]].sum() <= RIDER * rights[right].sum()
            )
            within = _corrected(among, self._left[one], self._right[one])
            self.adds[one] = divides and within >= least

    def _complement(self, left: Flags, right: Flags) -> tuple[Flags, Flags]:
        if self._trees is None:
            return ~left, ~right
        lefts, rights = (
            _flags([complement_ends(tree.tree, np.flatnonzero(ends).tolist())], ends.size)[0]
            for tree, ends in zip(self._trees, (left, right), strict=True)
        )
        return lefts, rights


def _is_plain(one: Candidate) -> bool:
    """Return whether a pair is about at most half of the entities, and has no "or"."""
    return one.half <= 0.5 and disjunctions(one.left) + disjunctions(one.right) == 0


def _ends_in_rider(tree: ReleasedTree, covered: Flags, counts: Floats) -> Flags:
    """Return which queries are the path to a node that nearly all below its parent go to.

    covered: bool[queries, ends]
    counts:  float64[ends]
    """
    nodes = term_nodes(tree.tree, inner=True)
    below = dict(zip(nodes, term_ends(tree.tree, inner=True), strict=False))
    found = np.zeros(len(covered), np.bool_)
    for node, ends in below.items():
        parent = below.get((node - 1) // 2)
        # A query that nearly everybody satisfies has no value in the first place.
        if parent is not None and counts[ends].sum() > RIDER * counts[parent].sum():
            found |= (covered == ends).all(axis=1)
    return found


def _flags(ends: Sequence[Sequence[int]], size: int) -> Flags:
    flags = np.zeros((len(ends), size), np.bool_)
    for row, places in zip(flags, ends, strict=True):
        row[list(places)] = True
    return flags


def _corrected(cells: Floats, left: Flags, right: Flags) -> float:
    """Return the chance-corrected index of two supports.

    >>> cells = np.array([[30.0, 10.0], [10.0, 50.0]])
    >>> first = np.array([True, False])
    >>> round(_corrected(cells, first, first), 3)
    0.467
    """
    size, both = float(cells.sum()), float(cells[np.ix_(left, right)].sum())
    lefts, rights = float(cells[left].sum()), float(cells[:, right].sum())
    if lefts + rights <= 0:
        return 0.0
    chance = lefts * rights / size
    expected = chance / (lefts + rights - chance)
    index = both / (lefts + rights - both)
    return (index - expected) / (1 - expected) if expected < 1 else 0.0
