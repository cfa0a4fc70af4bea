"""A pair of trees in the order in which it is drawn, and its leaf table as a heat map."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from redveil import InputError
from redveil.seam.queries import Query, Side, attributes, negate, simplified
from redveil.seam.results import (
    BOTH,
    BY_SIDE,
    INK,
    MUTED,
    PAPER,
    RedescriptionPart,
    ReleasedTree,
    ResultDocument,
    cell_intervals,
    lightness,
    mixed,
    node_query,
    plural,
    released_tables,
)
from redveil_research.figures.canvas import (
    LARGE,
    SMALL,
    Sheet,
    Titles,
    conjunction_words,
    fitted,
    in_words,
    measured,
    missing_words,
    numbers,
)

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


# In inches.
EDGE: Final = 0.12
HEAD: Final = 0.85
LABEL: Final = 1.9
LONG_LABEL: Final = 2.9
CELL: Final = (1.06, 0.5)
WIDEST: Final = 1.5
GAP: Final = 0.035
LINE_HEIGHT: Final = 0.135
# Larger tables have narrower cells, with the count alone, and then nothing but its colour.
MOST_WITH_INTERVALS: Final = 9
MOST_WITH_COUNTS: Final = 20
SMALL_CELL: Final = (0.5, 0.26)
TINY_CELL: Final = (0.16, 0.16)


def table(document: ResultDocument, number: int | None = None) -> Sheet:
    """Draw the leaf table of a pair of trees."""
    pair = drawn_pair(document, number)
    rows, columns = pair.roots[Side.LEFT].ends, pair.roots[Side.RIGHT].ends
    most = max(len(rows), len(columns))
    wide, tall = _cell_size(pair, most)
    heads = [_lines(pair, Side.RIGHT, end, wide, most) for end in columns]
    sides = [_lines(pair, Side.LEFT, end, LABEL, most) for end in rows]
    turned = most > MOST_WITH_INTERVALS
    longest = max(measured(head[0]) for head in heads)
    over = longest if turned else max(_height(head) for head in heads)
    heights = [max(tall, _height(side) + 0.08) for side in sides]
    label = max(measured("\n".join(side)) for side in sides) + 0.1
    top, left = HEAD + over + 0.1, EDGE + label
    width = left + len(columns) * (wide + GAP) + EDGE
    sheet = Sheet(max(width, 4.6), top + sum(heights) + GAP * len(rows) + EDGE)
    _heads(sheet, document, pair, most)
    for place, head in enumerate(heads):
        x = left + place * (wide + GAP) + wide / 2
        colour = BY_SIDE[Side.RIGHT]
        text = ", ".join(head) if turned else "\n".join(head)
        sheet.text(
            x, top - 0.06, text, across="center", down="bottom", colour=colour, turned=turned
        )
    for place, side in enumerate(sides):
        y = top + sum(heights[:place]) + GAP * place
        middle, colour = y + heights[place] / 2, BY_SIDE[Side.LEFT]
        text = (", " if turned else "\n").join(side)
        sheet.text(left - 0.08, middle, text, across="right", colour=colour)
        for column, end in enumerate(columns):
            x = left + column * (wide + GAP)
            _cell(sheet, pair, (rows[place], end), (x, y, wide, heights[place]), most)
    return sheet


def _cell_size(pair: Pair, most: int) -> tuple[float, float]:
    """Return how large a cell is; heads of few columns should not be divided."""
    if most > MOST_WITH_INTERVALS:
        return SMALL_CELL if most <= MOST_WITH_COUNTS else TINY_CELL
    widest = max(measured(test) for tests in pair.words[Side.RIGHT] for test in tests)
    return min(max(widest + 0.08, CELL[0]), WIDEST), CELL[1]


def _lines(pair: Pair, side: Side, end: int, width: float, most: int) -> list[str]:
    """Return the tests that lead to an end, fitted to a width."""
    tests = pair.words[side][end]
    if most > MOST_WITH_INTERVALS:
        return [fitted(", ".join(tests), LONG_LABEL, lines=1)]
    return [line for test in tests for line in fitted(test, width, lines=2).split("\n")]


def _height(lines: Sequence[str]) -> float:
    return LINE_HEIGHT * len(lines)


def _heads(sheet: Sheet, document: ResultDocument, pair: Pair, most: int) -> None:
    which = f"Leaf table {pair.number}" + (f" of {pair.of}" if pair.of > 1 else "")
    unit = plural(document.certificate.unit)
    text = f"Noisy numbers of {unit}; framed: overlaps of entries of the list."
    if most <= MOST_WITH_INTERVALS:
        text = f"Noisy numbers of {unit}, with 95 % intervals that hold together; # is an entry."
    sheet.text(EDGE, 0.2, which, size=LARGE, bold=True)
    below = fitted(text, sheet.width - 2 * EDGE, lines=2)
    sheet.text(EDGE, 0.33, below, colour=MUTED, down="top")


def _cell(
    sheet: Sheet,
    pair: Pair,
    cell: tuple[int, int],
    box: tuple[float, float, float, float],
    most: int,
) -> None:
    """Draw a cell: the darker, the more entities."""
    x, y, wide, tall = box
    count = float(pair.cells[cell])
    fill = mixed(BOTH, 0.05 + 0.87 * count / max(float(pair.cells.max()), 1.0))
    colour = PAPER if lightness(fill) < 0.3 else INK
    entries = pair.entries(*cell)
    sheet.box((x, y), wide, tall, fill, edge=BOTH, line=1.1 if entries else 0)
    middle = x + wide / 2, y + tall / 2
    if most > MOST_WITH_COUNTS:
        return
    if most > MOST_WITH_INTERVALS:
        sheet.text(*middle, f"{count:,.0f}", across="center", size=SMALL, colour=colour)
        return
    low, high = pair.low[cell], pair.high[cell]
    up = middle[1] - 0.075
    sheet.text(middle[0], up, f"{count:,.0f}", across="center", colour=colour, bold=True)
    interval, at = f"{low:,.0f} to {high:,.0f}", middle[1] + 0.09
    sheet.text(middle[0], at, interval, across="center", size=SMALL, colour=colour)
    if entries:
        which = f"#{numbers(entries, 3)}"
        sheet.text(x + 0.04, y + 0.03, which, down="top", size=SMALL - 1, colour=colour)
