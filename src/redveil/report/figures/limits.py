"""What runs would detect: the smallest corrected index that is confirmed, and found, against ε."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from redveil.findings.detection import SHARES, Detection
from redveil.report.figures.canvas import Sheet
from redveil.report.palette import BOTH, FAINT, MUTED, mixed

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
