"""The figure of the comparison: true Jaccard indices by ε, one panel per data set."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import redveil
from redveil.experiments.comparison_table import Summary

COLOURS = ("#1f5fa8", "#d1791b", "#5b8c3e", "#9a4f96", "#7a7a7a", "#b03a3a", "#3a9a9a")
FORMATS = (".png", ".svg", ".pdf")
COLUMNS = 3
SOLID = 0.95
NOTE = "hollow: more than 5 % have a true p-value above 0.01"


def draw(summaries: Sequence[Summary], path: Path) -> None:
    """Draw the median true J with its 10 % and 90 % quantiles; no point where nothing was found.

    A point is hollow where more than one in twenty redescriptions has a true p-value above 0.01:
    unrelated queries can have large Jaccard indices too.

    >>> draw([], Path("comparison.gif"))
    Traceback (most recent call last):
    redveil.errors.InputError: comparison.gif: unknown figure format; use .png, .svg, .pdf
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
    figure = Figure(figsize=(3.4 * COLUMNS, 2.5 * rows + 0.5), layout="constrained")
    return figure, list(figure.subplots(rows, COLUMNS, squeeze=False).flat)


def _draw_panel(panel: Any, name: str, summaries: Sequence[Summary]) -> None:
    """Draw one data set: ε in increasing order, algorithms side by side."""
    algorithms = list(dict.fromkeys(one.algorithm for one in summaries))
    here = [one for one in summaries if one.data == name]
    prices = sorted({one.epsilon for one in here}, key=Fraction)
    for number, algorithm in enumerate(algorithms):
        shift = (number - (len(algorithms) - 1) / 2) * 0.7 / len(algorithms)
        mine = [one for one in here if one.algorithm == algorithm and one.found > 0]
        for one in mine:
            low, middle, high = one.jaccard
            panel.errorbar(
                prices.index(one.epsilon) + shift,
                middle,
                yerr=[[middle - low], [high - middle]],
                fmt="o",
                markersize=4.5,
                elinewidth=1.2,
                color=_colour(number),
                markerfacecolor=_colour(number) if one.significant >= SOLID else "white",
            )
    panel.set(title=name, ylim=(0, 1.02), ylabel="true Jaccard index", xlabel="ε")
    panel.set_xticks(range(len(prices)), prices)
    panel.set_xlim(-0.6, max(len(prices), 1) - 0.4)
    panel.spines[["top", "right"]].set_visible(False)


def _colour(number: int) -> str:
    return COLOURS[number % len(COLOURS)]
