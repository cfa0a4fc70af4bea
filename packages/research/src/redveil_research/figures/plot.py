"""Figures for papers: of a result, of what runs would detect, and of walks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from redveil import Detectable, InputError, Result
from redveil.seam.results import (
    BOTH,
    FAINT,
    LINE,
    MUTED,
    PAPER,
    SHARES,
    Detection,
    RedescriptionPart,
    ResultDocument,
    all_confirmed,
    mixed,
    must_be_listed,
    plural,
)
from redveil_research.figures.canvas import (
    SMALL,
    Sheet,
    check_figure,
    drawing,
    fitted,
    measured,
    promised,
    save,
)
from redveil_research.figures.pair import table
from redveil_research.figures.trees import trees

# In inches.
WIDTH: Final = 6.4
LEFT: Final = 0.62
TOP: Final = 0.42
HEIGHT: Final = 3.6
BELOW: Final = 0.95
# From this ratio of the largest support to the smallest, the scale is logarithmic.
WIDE_RANGE: Final = 25
# Where a number may stand, seen from its point, in inches: beside it, then further away.
_BESIDE: Final = ((1, -1), (-1, -1), (1, 1), (-1, 1), (1, 0), (-1, 0), (0, -1), (0, 1))
_STEPS: Final = (1.0, 1.6, 2.4, 3.4, 4.6, 6.2, 8.0, 10.0, 13.0)
_REACH: Final = 0.075


def scatter(document: ResultDocument) -> Sheet:
    """Draw noisy support against noisy Jaccard index, with intervals and what chance would do."""
    promise, listed = document.certificate, document.redescriptions
    count = str(len(listed)) if listed else "No"
    found = f"{count} redescription{'' if len(listed) < 2 else 's'}"
    title = fitted(
        f"{found} of {promise.schema_name}, {promised(promise)}", WIDTH - 0.3, 9.5, lines=1
    )
    if not listed and not document.pruned:
        sheet = Sheet(WIDTH, 0.75)
        sheet.title(title, "Nothing was found, so there is nothing to draw.")
        return sheet
    sheet = Sheet(WIDTH, TOP + HEIGHT + BELOW)
    sheet.title(title)
    axes = sheet.axes(LEFT, TOP, WIDTH - LEFT - 0.2, HEIGHT)
    unit = plural(promise.unit)
    axes.set_xlabel(fitted(f"{unit} in both (noisy)", WIDTH - 1, lines=1))
    axes.set_ylabel("Jaccard index (noisy)")
    axes.set_ylim(-0.02, 1.04)
    _scale(axes, document)
    if document.pruned:
        xs, ys = zip(*((one.support, one.jaccard) for one in document.pruned), strict=True)
        axes.scatter(
            xs, ys, s=12, marker="x", linewidths=0.7, color=LINE,
            label=f"pruned ({len(document.pruned)})",
        )  # fmt: skip
    _entries(axes, document)
    _numbers(sheet, axes, listed)
    axes.legend(
        loc="upper left", bbox_to_anchor=(-0.02, -0.14), ncols=4, handletextpad=0.4,
        columnspacing=1.4, borderaxespad=0,
    )  # fmt: skip
    return sheet


def _scale(axes: Any, document: ResultDocument) -> None:
    """Choose a scale on which all supports can be told apart."""
    listed = [one.support.both for one in document.redescriptions]
    pruned = [one.support for one in document.pruned]
    points = [*(one.estimate for one in listed), *pruned]
    least = min([*(one.low for one in listed), *pruned])
    most = max([*(one.high for one in listed), *pruned])
    if min(points) > 0 and max(points) / min(points) >= WIDE_RANGE:
        from matplotlib.ticker import FuncFormatter, NullFormatter

        axes.set_xscale("log")
        axes.set_xlim(max(least, min(points) / 2) / 1.2, most * 1.2)
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
        axes.xaxis.set_minor_formatter(NullFormatter())
    else:
        room = max(most - least, 1) * 0.03
        axes.set_xlim(max(0, least - room) if least >= 0 else least - room, most + room)
        axes.xaxis.set_major_formatter("{x:,.0f}")


def _entries(axes: Any, document: ResultDocument) -> None:
    """Draw the points with their intervals, and where unrelated queries would be."""
    listed = document.redescriptions
    pale = mixed(BOTH, 0.38)
    for one in listed:
        x, jaccard, both = one.support.both.estimate, one.jaccard, one.support.both
        axes.plot([x, x], [jaccard.low, jaccard.high], color=pale, linewidth=1.0, zorder=2)
        axes.plot([both.low, both.high], [jaccard.estimate] * 2, color=pale, linewidth=0.5)
    axes.plot(
        [one.support.both.estimate for one in listed],
        [one.expected_jaccard for one in listed],
        linestyle="none", marker="_", markersize=7, markeredgewidth=1.2, color=MUTED,
        label="expected if unrelated",
    )  # fmt: skip
    words = ("listed", "") if all_confirmed(document) else ("confirmed", "not confirmed")
    for word, face, sure in zip(words, (BOTH, PAPER), (True, False), strict=True):
        some = [one for one in listed if (one.confirmed is not False) is sure]
        if some:
            axes.plot(
                [one.support.both.estimate for one in some],
                [one.jaccard.estimate for one in some],
                linestyle="none", marker="o", markersize=4.6, markerfacecolor=face,
                markeredgecolor=BOTH, zorder=3, label=f"{word} ({len(some)}), 95 % intervals",
            )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle on the sheet, in inches."""

    left: float
    top: float
    right: float
    bottom: float

    def meets(self, other: Box) -> bool:
        """Return whether two rectangles overlap."""
        return (
            self.left < other.right
            and other.left < self.right
            and self.top < other.bottom
            and other.top < self.bottom
        )


def _numbers(sheet: Sheet, axes: Any, listed: Sequence[RedescriptionPart]) -> None:
    """Write each entry's number beside its point, clear of other points and numbers."""
    points = [
        _on_sheet(sheet, axes, one.support.both.estimate, one.jaccard.estimate) for one in listed
    ]
    taken = [Box(x - 0.04, y - 0.04, x + 0.04, y + 0.04) for x, y in points]
    for number, (x, y) in enumerate(points, start=1):
        text = str(number)
        wide, tall = measured(text, SMALL, bold=True), SMALL / 72
        centre = _free_place(sheet, (x, y), wide, tall, taken)
        if centre is None:
            continue
        at, down = centre
        taken.append(Box(at - wide / 2, down - tall / 2, at + wide / 2, down + tall / 2))
        if abs(at - x) > 3 * _REACH or abs(down - y) > 3 * _REACH:
            sheet.page.plot([x, at], [y, down], color=LINE, linewidth=0.5, zorder=1)
        sheet.page.text(
            at, down, text, ha="center", va="center_baseline", fontsize=SMALL, color=BOTH,
            fontweight="bold", zorder=5,
            bbox={"facecolor": PAPER, "edgecolor": "none", "pad": 0.2, "alpha": 0.8},
        )  # fmt: skip


def _free_place(
    sheet: Sheet, point: tuple[float, float], wide: float, tall: float, taken: Sequence[Box]
) -> tuple[float, float] | None:
    """Return the nearest place for a number where nothing is yet; None if all are taken."""
    x, y = point
    for step in _STEPS:
        for across, down in _BESIDE:
            at = x + across * (_REACH * step + wide / 2 - 0.03)
            low = y + down * (_REACH * step + 0.02)
            box = Box(at - wide / 2, low - tall / 2, at + wide / 2, low + tall / 2)
            inside = box.left > LEFT and box.right < sheet.width and box.bottom < TOP + HEIGHT
            if inside and box.top > TOP - 0.1 and not any(box.meets(one) for one in taken):
                return at, low
    return None


def _on_sheet(sheet: Sheet, axes: Any, x: float, y: float) -> tuple[float, float]:
    """Return where a value is on the sheet, in inches from the left and the top."""
    place = sheet.page.transData.inverted().transform(axes.transData.transform((x, y)))
    return float(place[0]), float(place[1])


FigureKind: TypeAlias = Literal["scatter", "trees", "table"]

_OF_PAIR: Final[dict[str, Callable[[ResultDocument, int | None], Sheet]]] = {
    "trees": trees,
    "table": table,
}


def plot(
    result: Result, kind: FigureKind, path: str | Path, *, pair: int | None = None
) -> Path | None:
    """Draw a figure of a result for a paper: PNG, SVG or PDF, as the path ends.

    An earlier figure is kept under a numbered name, which is returned. Everything is labelled with
    the numbers of the list's entries.

    kind: scatter (support against Jaccard index), trees (two trees that face each other) or table
          (a leaf table as a heat map)
    path: where to write it
    pair: which pair of trees, counted from 1; by default the one of the first entry

    >>> from redveil.data.synthetic import wide_dataset
    >>> import redveil
    >>> plot(redveil.mine(wide_dataset(500), 1, depth=1, trials=1), "pie", "pie.png")
    Traceback (most recent call last):
    redveil.errors.InputError: there is no figure of this kind; use one of scatter, trees, table
    """
    target, document = Path(path), result.document
    must_be_listed(document)
    check_figure(target)
    if kind not in get_args(FigureKind):
        known = ", ".join(get_args(FigureKind))
        raise InputError(f"there is no figure of this kind; use one of {known}")
    of_pair = _OF_PAIR.get(kind)
    if pair is not None and of_pair is None:
        raise InputError(f"{kind} shows the whole result; leave pair out")
    with drawing():
        sheet = scatter(document) if of_pair is None else of_pair(document, pair)
        return save(sheet.figure, target)


def plot_traces(scores: NDArray[np.float64], path: Path) -> Path | None:
    """Draw the scores of parallel walks, float64[walks, walk_steps]. NOT private."""
    with drawing():
        sheet = Sheet(6.4, 4.4)
        sheet.title("NOT PRIVATE: scores of parallel walks")
        axes = sheet.axes(0.7, 0.42, 5.5, 3.4)
        for walk in scores:
            axes.plot(walk, linewidth=0.7)
        axes.set(xlabel="step", ylabel="score")
        return save(sheet.figure, path)


def plot_detectable(found: Detectable, path: str | Path) -> Path | None:
    """Draw what runs would detect: the smallest corrected index against ε.

    An earlier figure is kept under a numbered name, which is returned.

    >>> import redveil
    >>> plot_detectable(redveil.detectable(1, entities=5_000), "detect.gif")
    Traceback (most recent call last):
    redveil.errors.InputError: detect.gif: unknown kind of figure; use .png, .svg, .pdf
    """
    check_figure(Path(path))
    with drawing():
        return save(detection_limits(found.detections, found.entities).figure, Path(path))


# By how common a match is; told apart by their marks, too.
_STRENGTH: Final = (0.5, 0.75, 1.0)
_MARKS: Final = ("o", "s", "^")


def detection_limits(detections: Sequence[Detection], entities: int) -> Sheet:
    """Draw the smallest corrected index that is confirmed, and found, against ε."""
    top, height = 0.72, 3.2
    sheet = Sheet(WIDTH, top + height + 0.85)
    sheet.title(
        f"What a run with {entities:,} entities would detect",
        "The smallest match that is confirmed (solid line) or found (dotted), by how many entities "
        "each query covers",
    )
    axes = sheet.axes(LEFT, top, WIDTH - LEFT - 0.2, height)
    axes.set(xscale="log", xlabel="ε", ylabel="smallest chance-corrected index", ylim=(0, 1.03))
    axes.grid(axis="y", color=FAINT, linewidth=0.6)
    for word in SHARES:
        _line(axes, detections, word)
    anything = bool(axes.lines)
    if not anything:
        nothing = "Nothing, at any of these ε."
        sheet.text(LEFT + 0.2, top + height / 2, nothing, colour=MUTED)
    losses = [float(one.loss.epsilon) for one in detections]
    axes.set_xlim(min(losses) / 1.25, max(losses) * 1.25)
    axes.set_xticks(losses, [f"{one:g}" for one in losses])
    axes.minorticks_off()
    if anything:
        axes.legend(
            loc="upper left", bbox_to_anchor=(-0.02, -0.15), ncols=3, borderaxespad=0,
            columnspacing=1.4,
        )  # fmt: skip
    return sheet


def _line(axes: Any, detections: Sequence[Detection], word: str) -> None:
    """Draw the limits for matches of one share, if there are any."""
    place = list(SHARES).index(word)
    colour, mark = mixed(BOTH, _STRENGTH[place]), _MARKS[place]
    for what, line in (("found", ":"), ("confirmed", "-")):
        points = [
            (float(one.loss.epsilon), match.corrected)
            for one in detections
            if (match := getattr(one.limits[word], what)) is not None
        ]
        if points:
            label = (
                f"{word}: each covers {100 * SHARES[word]:.0f} %" if what == "confirmed" else None
            )
            axes.plot(
                *zip(*points, strict=True), linestyle=line, color=colour, label=label,
                marker=mark, markersize=4.5, linewidth=1.2,
                markerfacecolor=colour if what == "confirmed" else "white",
            )  # fmt: skip
