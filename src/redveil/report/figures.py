"""Figures for files: supports and indices, traces of walks, and what runs would detect."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from redveil.errors import InputError
from redveil.file_kind import FIGURE_MARK, FileKind
from redveil.files import replace_bytes
from redveil.findings.detection import SHARES, Detection
from redveil.report.document import ResultDocument

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# Told apart by those who confuse red and green, too.
LIMIT_COLOURS = ("#1f5fa8", "#d9822b", "#555555")
KEPT_COLOUR, RANGE_COLOUR, PRUNED_COLOUR = "#1f5fa8", "#b9cde3", "#c9c9c9"
FORMATS = (".png", ".svg", ".pdf")


def scatter(document: ResultDocument, path: Path) -> Path | None:
    """Draw noisy support against noisy Jaccard index: what was kept, and what was pruned.

    Returns where the figure that it replaced is kept, None if there was none.
    """
    figure, axes = _figure()
    if document.pruned:
        axes.scatter(
            [point.support for point in document.pruned],
            [point.jaccard for point in document.pruned],
            s=14,
            color=PRUNED_COLOUR,
            label=f"pruned ({len(document.pruned)})",
        )
    kept = document.redescriptions
    if kept:
        axes.errorbar(
            [one.support.both.estimate for one in kept],
            [one.jaccard.estimate for one in kept],
            yerr=[
                [one.jaccard.estimate - one.jaccard.low for one in kept],
                [one.jaccard.high - one.jaccard.estimate for one in kept],
            ],
            fmt="o",
            markersize=4,
            elinewidth=0.8,
            color=KEPT_COLOUR,
            ecolor=RANGE_COLOUR,
            label=f"reported ({len(kept)})",
        )
    axes.set(xlabel="noisy support (entities)", ylabel="noisy Jaccard index", ylim=(0, 1.02))
    axes.set_title(f"{document.certificate.promise}, {document.certificate.algorithm}")
    if kept or document.pruned:
        axes.legend(frameon=False, loc="lower right")
    return _save(figure, path)


def traces(scores: NDArray[np.float64], path: Path) -> Path | None:
    """Draw the scores of parallel walks, float64[walks, walk_steps]. NOT private.

    Returns where the figure that it replaced is kept, None if there was none.
    """
    figure, axes = _figure()
    for walk in scores:
        axes.plot(walk, linewidth=0.7)
    axes.set(xlabel="step", ylabel="score")
    axes.set_title("NOT PRIVATE: scores of parallel walks")
    return _save(figure, path)


def detection_limits(detections: Sequence[Detection], entities: int, path: Path) -> None:
    """Draw the smallest corrected index that is confirmed, and found, against ε."""
    figure, axes = _figure()
    for number, word in enumerate(SHARES):
        colour = LIMIT_COLOURS[number % len(LIMIT_COLOURS)]
        for what, line in (("confirmed", "-"), ("found", ":")):
            points = [
                (float(one.loss.epsilon), match.corrected)
                for one in detections
                if (match := getattr(one.limits[word], what)) is not None
            ]
            label = f"{word} ({SHARES[word]:.0%})" if what == "confirmed" else None
            if points:
                style = {"marker": "o", "markersize": 3, "color": colour, "label": label}
                axes.plot(*zip(*points, strict=True), line, **style)
    axes.set(xscale="log", xlabel="ε", ylabel="smallest chance-corrected index", ylim=(0, 1.02))
    axes.set_title(f"What a run with {entities:,} entities would confirm (dotted: find)")
    if axes.lines:
        axes.legend(frameon=False, title="each query covers")
    _save(figure, path)


def check_figure(path: Path) -> None:
    """Refuse a path whose suffix is no kind of figure.

    >>> check_figure(Path("scatter.gif"))
    Traceback (most recent call last):
    redveil.errors.InputError: scatter.gif: unknown kind of figure; use .png, .svg, .pdf
    """
    if path.suffix not in FORMATS:
        raise InputError(f"{path}: unknown kind of figure; use {', '.join(FORMATS)}")


def _figure() -> tuple[Any, Any]:
    """Return a figure and its axes, drawn without a screen."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise InputError(
            "figures need Matplotlib; install it with: pip install 'redveil[plots]'"
        ) from None
    figure = Figure(figsize=(6.4, 4.4), layout="constrained")
    axes = figure.subplots()
    axes.spines[["top", "right"]].set_visible(False)
    return figure, axes


def _save(figure: Any, path: Path) -> Path | None:
    """Write a figure in the format of its suffix, atomically; keep an earlier one.

    The earlier one may have been edited by hand, for a paper.
    """
    from io import BytesIO

    check_figure(path)
    content = BytesIO()
    # By the mark we know our own figures again, which are all that we replace.
    mark = {"Software" if path.suffix == ".png" else "Creator": FIGURE_MARK}
    figure.savefig(content, format=path.suffix[1:], dpi=160, metadata=mark)
    return replace_bytes(path, content.getvalue(), FileKind.FIGURE)
