"""A leaf table as a heat map: the noisy count of each pair of ends, with its interval."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from redveil.seam.queries import Side
from redveil.seam.results import (
    BOTH,
    BY_SIDE,
    INK,
    MUTED,
    PAPER,
    ResultDocument,
    lightness,
    mixed,
    plural,
)
from redveil_research.figures.canvas import LARGE, SMALL, Sheet
from redveil_research.figures.pair import Pair, drawn_pair
from redveil_research.figures.words import fitted, measured, numbers

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
