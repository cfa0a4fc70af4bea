"""Figures for papers: of a result, of what runs would detect, and of walks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from redveil import Detectable, InputError, Result
from redveil.seam.results import (
    BOTH,
    FAINT,
    MUTED,
    SHARES,
    Detection,
    ResultDocument,
    mixed,
    must_be_listed,
)
from redveil_research.figures.canvas import Sheet, check_figure, drawing, save
from redveil_research.figures.scatter import scatter
from redveil_research.figures.table import table
from redveil_research.figures.trees import trees

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


# In inches.
WIDTH: Final = 6.4
LEFT: Final = 0.62
TOP: Final = 0.72
HEIGHT: Final = 3.2
BELOW: Final = 0.85
# By how common a match is; told apart by their marks, too.
_STRENGTH: Final = (0.5, 0.75, 1.0)
_MARKS: Final = ("o", "s", "^")


def detection_limits(detections: Sequence[Detection], entities: int) -> Sheet:
    """Draw the smallest corrected index that is confirmed, and found, against ε."""
    sheet = Sheet(WIDTH, TOP + HEIGHT + BELOW)
    sheet.title(
        f"What a run with {entities:,} entities would detect",
        "The smallest match that is confirmed (solid line) or found (dotted), by how many entities "
        "each query covers",
    )
    axes = sheet.axes(LEFT, TOP, WIDTH - LEFT - 0.2, HEIGHT)
    axes.set(xscale="log", xlabel="ε", ylabel="smallest chance-corrected index", ylim=(0, 1.03))
    axes.grid(axis="y", color=FAINT, linewidth=0.6)
    for word in SHARES:
        _line(axes, detections, word)
    anything = bool(axes.lines)
    if not anything:
        nothing = "Nothing, at any of these ε."
        sheet.text(LEFT + 0.2, TOP + HEIGHT / 2, nothing, colour=MUTED)
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
