"""The two trees of a pair, facing each other, joined by the list's entries."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from redveil.seam.queries import Side
from redveil.seam.results import BOTH, BY_SIDE, LINE, MUTED, PAPER, ResultDocument, mixed, plural
from redveil_research.figures.canvas import LARGE, SMALL, Sheet, fitted, measured
from redveil_research.figures.pair import Pair, Place, drawn_pair

# In inches.
EDGE: Final = 0.12
HEAD: Final = 0.9
FOOT: Final = 0.2
CURVE: Final = 0.26
TEST: Final = 1.36
BAR: Final = 0.09
ENTRIES: Final = 2.4
# Room for a label of two lines.
END: Final = 0.36
ENTRY: Final = 0.25
RADIUS: Final = 0.095
# More circles than this would say nothing.
MOST_ENTRIES: Final = 24


class Span(NamedTuple):
    """From where to where a bar reaches, in inches from the top."""

    top: float
    bottom: float
    middle: float


def trees(document: ResultDocument, number: int | None = None) -> Sheet:
    """Draw two trees, and which of their ends the entries of the list join."""
    pair = drawn_pair(document, number)
    shown = list(pair.redescriptions)[:MOST_ENTRIES]
    most = max(len(root.ends) for root in pair.roots.values())
    height = max(most * END, len(shown) * ENTRY, 1.0)
    width = sum(_columns(pair, side) for side in Side) + 2 * (EDGE + BAR) + ENTRIES
    sheet = Sheet(width, HEAD + height + FOOT)
    spans = {
        side: {
            end: Span(
                *(HEAD + height * (place + share) / len(root.ends) for share in (0.14, 0.86, 0.5))
            )
            for place, end in enumerate(root.ends)
        }
        for side, root in pair.roots.items()
    }
    more = len(pair.redescriptions) - len(shown)
    unit = plural(document.certificate.unit)
    below = f"Leaves with their noisy numbers of {unit}. Circles: entries of the list."
    if not shown:
        below = "No entry of the list was read off this pair."
    _heads(sheet, pair, below + (f" {more} more are not shown." if more else ""))
    for side in Side:
        _tree(sheet, pair, side, spans[side])
        _counts(sheet, pair, side, spans[side])
    _entries(sheet, pair, shown, spans)
    return sheet


def _columns(pair: Pair, side: Side) -> float:
    """Return how wide a tree is."""
    return pair.roots[side].depth * (CURVE + TEST)


def _heads(sheet: Sheet, pair: Pair, below: str) -> None:
    """Write the title, and the names of the views above their trees."""
    which = f"Pair of trees {pair.number}" + (f" of {pair.of}" if pair.of > 1 else "")
    folded = fitted(below, sheet.width - 2 * EDGE, lines=2)
    sheet.text(EDGE, 0.2, which, size=LARGE, bold=True)
    sheet.text(EDGE, 0.33, folded, colour=MUTED, down="top")
    for side in Side:
        room = max(_columns(pair, side), 1.0)
        name = fitted(pair.views[side], room, lines=1)
        at = EDGE if side is Side.LEFT else sheet.width - EDGE
        colour = BY_SIDE[side]
        sheet.text(at, HEAD - 0.12, name, across=side.value, colour=colour, bold=True)


def _inner_edge(sheet: Sheet, pair: Pair, side: Side) -> float:
    """Return where a side's bars end and the middle begins."""
    reach = EDGE + _columns(pair, side) + BAR
    return reach if side is Side.LEFT else sheet.width - reach


def _tree(sheet: Sheet, pair: Pair, side: Side, spans: Mapping[int, Span]) -> None:
    """Draw one tree from its root, at the edge, to the bars of its ends."""
    inner = _inner_edge(sheet, pair, side)
    left = inner - BAR if side is Side.LEFT else inner
    for span in spans.values():
        sheet.box((left, span.top), BAR, max(span.bottom - span.top, 0.008), BY_SIDE[side])
    _branches(sheet, pair.roots[side], 0, pair.roots[side].depth, side, spans)


def _counts(sheet: Sheet, pair: Pair, side: Side, spans: Mapping[int, Span]) -> None:
    """Write beside each bar how many entities come to its end, about."""
    inner = _inner_edge(sheet, pair, side)
    x = inner + 0.05 if side is Side.LEFT else inner - 0.05
    for end, count in enumerate(pair.margin(side)):
        text, colour = f"{count:,.0f}", BY_SIDE[side]
        y = spans[end].middle
        sheet.text(x, y, text, across=side.value, size=SMALL, colour=colour)


def _branches(
    sheet: Sheet, place: Place, level: int, depth: int, side: Side, spans: Mapping[int, Span]
) -> None:
    """Draw what follows a place, recursively."""
    at = EDGE + level * (CURVE + TEST)
    for one in place.below:
        label = fitted(one.test, TEST - 0.1)
        y = _height(one, spans)
        # Labels end where what follows them begins.
        reach = at + CURVE + TEST
        start = reach - 0.05 - measured(label)
        _curve(sheet, side, (at, _height(place, spans)), (at + CURVE, y), start - 0.05)
        x = reach - 0.05 if side is Side.LEFT else sheet.width - reach + 0.05
        across = side.other.value
        sheet.text(x, y, label, across=across)
        if one.end is not None and level + 1 < depth:
            ends_at = EDGE + depth * (CURVE + TEST)
            _dotted(sheet, side, (reach, ends_at - 0.03), y)
        _branches(sheet, one, level + 1, depth, side, spans)


def _height(place: Place, spans: Mapping[int, Span]) -> float:
    """Return the height of a place: in the middle of what follows it."""
    if place.end is not None:
        return spans[place.end].middle
    heights = [_height(one, spans) for one in place.below]
    return (min(heights) + max(heights)) / 2


def _curve(
    sheet: Sheet, side: Side, start: tuple[float, float], end: tuple[float, float], to: float
) -> None:
    """Draw a branch: a curve, and a straight line up to its label."""
    (x, y), (far, below) = start, end
    half = (x + far) / 2
    points = [(x, y), (half, y), (half, below), (far, below), (max(to, far), below)]
    _path(sheet, side, points, color=LINE, linewidth=1.0, fill=False, capstyle="round")


def _dotted(sheet: Sheet, side: Side, ends: tuple[float, float], y: float) -> None:
    places = [x if side is Side.LEFT else sheet.width - x for x in ends]
    style = (0, (1, 2))
    sheet.page.plot(places, [y, y], color=LINE, linewidth=0.8, linestyle=style, scalex=False)


def _path(sheet: Sheet, side: Side, points: list[tuple[float, float]], **style: Any) -> None:
    """Draw a cubic curve through four points, then straight lines; mirrored on the right."""
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path as Outline

    places = [(x if side is Side.LEFT else sheet.width - x, y) for x, y in points]
    codes = [Outline.MOVETO, *[Outline.CURVE4] * 3, *[Outline.LINETO] * (len(points) - 4)]
    sheet.page.add_patch(PathPatch(Outline(places, codes), **style))


def _entries(
    sheet: Sheet, pair: Pair, shown: list[int], spans: Mapping[Side, Mapping[int, Span]]
) -> None:
    """Draw a circle for each entry, joined to the ends that it covers."""
    from matplotlib.patches import Circle

    # Curves begin after the counts.
    room = {
        side: 0.09 + max(measured(f"{count:,.0f}", SMALL) for count in pair.margin(side))
        for side in Side
    }
    edges = {
        Side.LEFT: _inner_edge(sheet, pair, Side.LEFT) + room[Side.LEFT],
        Side.RIGHT: _inner_edge(sheet, pair, Side.RIGHT) - room[Side.RIGHT],
    }
    x = sum(edges.values()) / 2
    for entry, y in _spread(pair, shown, spans, sheet).items():
        confirmed = pair.redescriptions[entry].confirmed is not False
        for side in Side:
            for end in pair.covers(side, entry):
                at, half = edges[side], (edges[side] + x) / 2
                ends = spans[side][end].middle
                points = [(at, ends), (half, ends), (half, y), (x, y)]
                style = {"linewidth": 1.0, "linestyle": "-" if confirmed else (0, (3, 2))}
                _path(sheet, Side.LEFT, points, color=mixed(BOTH, 0.55), fill=False, **style)
        face = BOTH if confirmed else PAPER
        circle = Circle((x, y), RADIUS, facecolor=face, edgecolor=BOTH, linewidth=1, zorder=3)
        sheet.page.add_patch(circle)
        colour = PAPER if confirmed else BOTH
        sheet.page.text(
            x, y, str(entry), ha="center", va="center_baseline", fontsize=SMALL, color=colour,
            fontweight="bold", zorder=4,
        )  # fmt: skip


def _spread(
    pair: Pair, shown: list[int], spans: Mapping[Side, Mapping[int, Span]], sheet: Sheet
) -> dict[int, float]:
    """Return the height of each entry: near its ends, and clear of the others."""
    wished = {}
    for entry in shown:
        heights = [
            sum(spans[side][end].middle for end in pair.covers(side, entry))
            / max(1, len(pair.covers(side, entry)))
            for side in Side
        ]
        wished[entry] = sum(heights) / 2
    order = sorted(shown, key=lambda entry: (wished[entry], entry))
    low, high = HEAD + ENTRY / 2, sheet.height - FOOT - ENTRY / 2
    placed: list[float] = []
    for entry in order:
        placed.append(max(wished[entry], placed[-1] + ENTRY if placed else low))
    # Push back up what went over the lower edge.
    limit = high
    for number in reversed(range(len(placed))):
        placed[number] = min(placed[number], limit)
        limit = placed[number] - ENTRY
    return dict(zip(order, placed, strict=True))
