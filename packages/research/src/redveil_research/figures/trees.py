"""The two trees of a pair, facing each other: joined by the list's entries, or by ribbons."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from redveil.seam.queries import Side
from redveil.seam.results import BOTH, BY_SIDE, LINE, MUTED, PAPER, ResultDocument, mixed, plural
from redveil_research.figures.canvas import LARGE, SMALL, Sheet
from redveil_research.figures.pair import Pair, Place, drawn_pair
from redveil_research.figures.words import fitted, measured, numbers

# In inches.
EDGE: Final = 0.12
HEAD: Final = 0.9
FOOT: Final = 0.2
CURVE: Final = 0.26
TEST: Final = 1.36
BAR: Final = 0.09
RIBBONS: Final = 2.2
ENTRIES: Final = 2.4
# Room for a label of two lines.
END: Final = 0.36
ENTRY: Final = 0.25
RADIUS: Final = 0.095
# All bars together, at least.
BARS: Final = 2.6
# More circles than this would say nothing.
MOST_ENTRIES: Final = 24


@dataclass(frozen=True, slots=True)
class Span:
    """From where to where a bar reaches, in inches from the top."""

    top: float
    bottom: float

    @property
    def middle(self) -> float:
        """Halfway."""
        return (self.top + self.bottom) / 2


def trees(document: ResultDocument, number: int | None = None) -> Sheet:
    """Draw two trees, and which of their ends the entries of the list join."""
    pair = drawn_pair(document, number)
    shown = list(pair.redescriptions)[:MOST_ENTRIES]
    most = max(len(root.ends) for root in pair.roots.values())
    height = max(most * END, len(shown) * ENTRY, 1.0)
    sheet = _sheet(pair, ENTRIES, height)
    spans = {
        side: {
            end: Span(
                HEAD + height * (place + 0.14) / len(root.ends),
                HEAD + height * (place + 0.86) / len(root.ends),
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


def ribbons(document: ResultDocument, number: int | None = None) -> Sheet:
    """Draw two trees whose ends are joined by ribbons as wide as the noisy counts."""
    pair = drawn_pair(document, number)
    most = max(len(root.ends) for root in pair.roots.values())
    height = max(BARS, most * END * 1.15)
    sheet = _sheet(pair, RIBBONS, height)
    # All ribbons on one scale: that of the side with more gaps.
    whole = max(float(pair.cells.sum()), 1.0)
    scale = (height - END * most * 0.5) / whole
    spans = {side: _stacked(pair, side, height, scale) for side in Side}
    unit = plural(document.certificate.unit)
    legend = f"Ribbons are as wide as the noisy number of {unit}"
    _heads(sheet, pair, f"{legend}; dark: overlaps of entries, with their numbers.")
    _ribbons(sheet, pair, spans, scale)
    for side in Side:
        _tree(sheet, pair, side, spans[side])
    return sheet


def _stacked(pair: Pair, side: Side, height: float, scale: float) -> dict[int, Span]:
    """Put the bars of a side below each other, as high as their counts, with room for labels."""
    ends, margin = pair.roots[side].ends, pair.margin(side)
    sizes = [float(margin[end]) * scale for end in ends]
    # A low bar still needs the height of its label; the rest of the room is divided evenly.
    rooms = [max(size, END * 0.8) for size in sizes]
    gap = max(0.0, height - sum(rooms)) / max(1, len(ends))
    shrink = min(1.0, height / sum(rooms))
    spans, top = {}, HEAD
    for end, size, room in zip(ends, sizes, rooms, strict=True):
        middle = top + (gap + room) * shrink / 2
        spans[end] = Span(middle - size / 2, middle + size / 2)
        top += (gap + room) * shrink
    return spans


def _columns(pair: Pair, side: Side) -> float:
    """Return how wide a tree is."""
    return pair.roots[side].depth * (CURVE + TEST)


def _sheet(pair: Pair, middle: float, height: float) -> Sheet:
    width = sum(_columns(pair, side) for side in Side) + 2 * (EDGE + BAR) + middle
    return Sheet(width, HEAD + height + FOOT)


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
            _line(sheet, side, [reach, ends_at - 0.03], [y, y], dotted=True)
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


def _line(sheet: Sheet, side: Side, xs: list[float], ys: list[float], *, dotted: bool) -> None:
    places = [x if side is Side.LEFT else sheet.width - x for x in xs]
    style = (0, (1, 2)) if dotted else "-"
    sheet.page.plot(places, ys, color=LINE, linewidth=0.8, linestyle=style, scalex=False)


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


def _ribbons(
    sheet: Sheet, pair: Pair, spans: Mapping[Side, Mapping[int, Span]], scale: float
) -> None:
    """Draw a ribbon for each cell, those of entries in front."""
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path as Outline

    near, far = (_inner_edge(sheet, pair, side) for side in Side)
    half = (near + far) / 2
    used = {side: {end: span.top for end, span in spans[side].items()} for side in Side}
    for left in pair.roots[Side.LEFT].ends:
        for right in pair.roots[Side.RIGHT].ends:
            wide = float(pair.cells[left, right]) * scale
            a, b = used[Side.LEFT][left], used[Side.RIGHT][right]
            used[Side.LEFT][left], used[Side.RIGHT][right] = a + wide, b + wide
            entries = pair.entries(left, right)
            upper = [(near, a), (half, a), (half, b), (far, b)]
            lower = [(far, b + wide), (half, b + wide), (half, a + wide), (near, a + wide)]
            curve = [Outline.CURVE4] * 3
            codes = [Outline.MOVETO, *curve, Outline.LINETO, *curve, Outline.CLOSEPOLY]
            outline = Outline([*upper, *lower, (near, a)], codes)
            colour, alpha = (BOTH, 0.62) if entries else ("#9aa5ad", 0.32)
            patch = PathPatch(outline, facecolor=colour, alpha=alpha, linewidth=0)
            patch.set_zorder(1.5 if entries else 1)
            sheet.page.add_patch(patch)
            if entries and wide > 0.1:
                _number(sheet, near + 0.06, a + wide / 2, entries)


def _number(sheet: Sheet, x: float, y: float, entries: list[int]) -> None:
    """Write the numbers of entries at the beginning of their ribbon."""
    sheet.page.text(
        x, y, numbers(entries, 4), ha="left", va="center_baseline", fontsize=SMALL, color=PAPER,
        fontweight="bold", zorder=4,
    )  # fmt: skip
