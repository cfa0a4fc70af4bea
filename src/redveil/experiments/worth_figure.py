"""The figure of the worth experiment: worth by ε, one panel per data set."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import redveil
from redveil.experiments.worth_table import Summary
from redveil.experiments.worth_targets import DEFAULT, target_of

COLOURS = ("#1f5fa8", "#d1791b", "#5b8c3e", "#9a4f96", "#7a7a7a", "#b03a3a", "#3a9a9a")
FORMATS = (".png", ".svg", ".pdf")
COLUMNS = 3
SOLID = 0.95
# Lists of guesses are worth −1 for each; what is below this is drawn here.
LOWEST = -1.0
NOTE = (
    "hollow: more than 5 % have a true p-value above 0.01; at the bottom: worth −1 or less\n"
    "dashes: first release (grey) and target (black) of the default"
)


def draw(summaries: Sequence[Summary], path: Path) -> None:
    """Draw the mean worth with two standard errors.

    A point is hollow where more than one in twenty redescriptions has a true p-value above 0.01.

    >>> draw([], Path("worth.gif"))
    Traceback (most recent call last):
    redveil.errors.InputError: worth.gif: unknown figure format; use .png, .svg, .pdf
    """
    if path.suffix not in FORMATS:
        raise redveil.InputError(f"{path}: unknown figure format; use {', '.join(FORMATS)}")
    data = list(dict.fromkeys(one.data for one in summaries))
    figure, panels = _panels(max(len(data), 1))
    for panel, name in zip(panels, data, strict=False):
        _draw_panel(panel, name, summaries)
    for panel in panels[len(data) :]:
        panel.set_axis_off()
    algorithms = list(dict.fromkeys(one.algorithm for one in summaries))
    if algorithms:
        handles = [
            panels[0].errorbar([], [], fmt="o", color=_colour(i), label=name)
            for i, name in enumerate(algorithms)
        ]
        figure.legend(
            handles=handles, loc="outside lower center", ncols=4, frameon=False, title=NOTE
        )
    figure.savefig(path, dpi=160)


def _panels(count: int) -> tuple[Any, list[Any]]:
    """Return a figure and its panels; needs no display."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise redveil.InputError(
            "figures need Matplotlib; install it with: pip install 'redveil[plots]'"
        ) from None
    rows = math.ceil(count / COLUMNS)
    figure = Figure(figsize=(3.4 * COLUMNS, 2.5 * rows + 0.9), layout="constrained")
    return figure, list(figure.subplots(rows, COLUMNS, squeeze=False).flat)


def _draw_panel(panel: Any, name: str, summaries: Sequence[Summary]) -> None:
    """Draw one data set: ε in increasing order, algorithms side by side."""
    algorithms = list(dict.fromkeys(one.algorithm for one in summaries))
    here = [one for one in summaries if one.data == name]
    prices = sorted({one.epsilon for one in here}, key=Fraction)
    panel.axhline(0, color="#cccccc", linewidth=0.8, zorder=0)
    for one in here:
        number = algorithms.index(one.algorithm)
        shift = (number - (len(algorithms) - 1) / 2) * 0.7 / len(algorithms)
        _draw_point(panel, one, prices.index(one.epsilon) + shift, _colour(number))
    for place, epsilon in enumerate(prices):
        if known := target_of(name, DEFAULT, epsilon):
            for level, colour in ((known.first, "#999999"), (known.target, "black")):
                panel.plot([place - 0.4, place + 0.4], [level] * 2, "--", color=colour, lw=0.9)
    panel.set(title=name, ylabel="worth", xlabel="ε")
    panel.set_ylim(bottom=LOWEST - 0.1)
    panel.set_xticks(range(len(prices)), prices)
    panel.set_xlim(-0.6, max(len(prices), 1) - 0.4)
    panel.spines[["top", "right"]].set_visible(False)


def _draw_point(panel: Any, one: Summary, place: float, colour: str) -> None:
    """Draw the worth of one row; a row without redescriptions has all of them significant."""
    mean, error = one.worth
    low = mean < LOWEST
    solid = math.isnan(one.significant) or one.significant >= SOLID
    panel.errorbar(
        place,
        max(mean, LOWEST),
        yerr=None if low or math.isnan(error) else 2 * error,
        fmt="v" if low else "o",
        markersize=4.5,
        elinewidth=1.2,
        color=colour,
        markerfacecolor=colour if solid else "white",
    )


def _colour(number: int) -> str:
    return COLOURS[number % len(COLOURS)]
