"""A pair of trees with its leaf table, in the order in which it is drawn."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from redveil import InputError
from redveil.seam.queries import Query, Side, attributes, negate, simplified
from redveil.seam.results import (
    RedescriptionPart,
    ReleasedTree,
    ResultDocument,
    cell_intervals,
    node_query,
    released_tables,
)
from redveil_research.figures.words import Titles, conjunction_words, in_words, missing_words

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Place:
    """Where a path can lead: a node below the root, or where a value is missing.

    test:  what leads here from the node above
    end:   the number of the end in the leaf table; None if there are tests below
    below: the places that follow
    """

    test: str
    end: int | None
    below: tuple[Place, ...] = ()

    @property
    def ends(self) -> list[int]:
        """The ends at or below this place, from top to bottom."""
        if self.end is not None:
            return [self.end]
        return [end for one in self.below for end in one.ends]

    @property
    def depth(self) -> int:
        """How many tests lead from here to the furthest end."""
        return max((1 + one.depth for one in self.below), default=0)


@dataclass(frozen=True, slots=True, eq=False)
class Pair:
    """What is drawn of a pair of trees.

    number:         counted from 1, of so many
    roots:          by side; their own test is empty
    cells:          estimates, never negative, float64[left ends, right ends]; low and high likewise
    redescriptions: those of the list that were read off this table, by their numbers
    """

    number: int
    of: int
    views: Mapping[Side, str]
    roots: Mapping[Side, Place]
    words: Mapping[Side, Sequence[Sequence[str]]]
    cells: Floats
    low: Floats
    high: Floats
    redescriptions: Mapping[int, RedescriptionPart]

    def covers(self, side: Side, entry: int) -> tuple[int, ...]:
        """Return the ends that an entry covers."""
        source = self.redescriptions[entry].source
        return source.left_ends if side is Side.LEFT else source.right_ends

    def entries(self, left: int, right: int) -> list[int]:
        """Return the numbers of the entries whose overlap a cell is part of."""
        return [
            number
            for number in self.redescriptions
            if left in self.covers(Side.LEFT, number) and right in self.covers(Side.RIGHT, number)
        ]

    def margin(self, side: Side) -> Floats:
        """Return how many entities come to each end, about."""
        return np.asarray(self.cells.sum(axis=1 if side is Side.LEFT else 0))


def drawn_pair(document: ResultDocument, number: int | None = None) -> Pair:
    """Return a pair of trees as it is drawn.

    number: counted from 1; by default, the pair that the first entry was read off
    """
    tables = released_tables(document)
    if not tables:
        raise InputError("the result holds no pair of trees, so there is nothing to draw")
    if number is None:
        listed = document.redescriptions
        number = listed[0].source.tree_pair + 1 if listed else 1
    if not 1 <= number <= len(tables):
        some = f"1 to {len(tables)}" if len(tables) > 1 else "1, the only one"
        raise InputError(f"there is no pair of trees {number}; choose {some}")
    table, part = tables[number - 1], document.tree_pairs[number - 1]
    cells, low, high = cell_intervals(table.counts, len(tables))
    titles = {
        Side.LEFT: {one.name: one.title for one in document.attributes.left},
        Side.RIGHT: {one.name: one.title for one in document.attributes.right},
    }
    left, right = (_root(table.tree(side), titles[side]) for side in Side)
    return Pair(
        number,
        len(tables),
        {Side.LEFT: part.left.view, Side.RIGHT: part.right.view},
        {Side.LEFT: left, Side.RIGHT: _untangled(right, left.ends, cells)},
        {side: _end_words(table.tree(side), titles[side]) for side in Side},
        cells,
        low,
        high,
        {
            place: one
            for place, one in enumerate(document.redescriptions, start=1)
            if one.source.tree_pair == number - 1
        },
    )


def _root(released: ReleasedTree, titles: Titles) -> Place:
    return Place("", None, tuple(_below(released, 0, titles)))


def _below(released: ReleasedTree, node: int, titles: Titles) -> Iterator[Place]:
    """Yield what follows a node: where its split holds, does not hold, and is unknown."""
    tree, split = released.tree, released.splits[node]
    assert split is not None, "there is nothing below a leaf"
    for child, test in ((2 * node + 1, split), (2 * node + 2, negate(split))):
        if tree.split(child) is None:
            yield Place(in_words(test, titles), tree.ends.index(child))
        else:
            yield Place(in_words(test, titles), None, tuple(_below(released, child, titles)))
    if node in tree.stuck:
        yield Place(_missing(split, titles), tree.ends.index(node))


def _missing(split: Query, titles: Titles) -> str:
    names = attributes(split)
    return missing_words(names[0], titles) if len(names) == 1 else "unknown"


def _end_words(released: ReleasedTree, titles: Titles) -> list[list[str]]:
    """Return the tests that lead to each end."""
    words = []
    for end in released.tree.ends:
        tests = conjunction_words(_short(released, end), titles) if end else []
        split = released.splits[end] if end in released.tree.stuck else None
        words.append([*tests, *([] if split is None else [_missing(split, titles)])])
    return words


def _short(released: ReleasedTree, node: int) -> Query:
    """Return the path to a node without tests that follow from others."""
    return simplified(node_query(released, node), released.always_known, released.orders)


def _untangled(place: Place, facing: Sequence[int], cells: Floats) -> Place:
    """Put the branches of a tree in the order in which what joins them crosses least.

    facing: the ends of the other tree, from top to bottom
    """
    if place.end is not None:
        return place
    heights = np.argsort(facing)

    def middle(one: Place) -> float:
        weights = cells[:, one.ends].sum(axis=1) + 1e-9
        return float(weights @ heights / weights.sum())

    below = [_untangled(one, facing, cells) for one in place.below]
    return Place(place.test, None, tuple(sorted(below, key=middle)))
