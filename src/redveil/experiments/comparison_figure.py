"""The comparison as a picture: true Jaccard indices by ε, a panel for each data set."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from io import BytesIO
from pathlib import Path
from typing import Any

from redveil.errors import InputError
from redveil.experiments.comparison_table import Summary
from redveil.files import write_bytes

COLOURS = ("#1f5fa8", "#d1791b", "#5b8c3e", "#9a4f96", "#7a7a7a", "#b03a3a", "#3a9a9a")
FORMATS = (".png", ".svg", ".pdf")
COLUMNS = 3
SOLID = 0.95
NOTE = "hollow: more than 5 % are not truly significant"


def draw(summaries: Sequence[Summary], path: Path) -> None:
    """Draw median true J with its 10 and 90 % quantiles; nothing where nothing was found.

    Points are hollow where more than one in twenty redescriptions is not truly significant: their
    Jaccard indices are large by chance.

    >>> draw([], Path("comparison.gif"))
    Traceback (most recent call last):
    redveil.errors.InputError: comparison.gif: unknown kind of figure; use .png, .svg, .pdf
    """
    if path.suffix not in FORMATS:
        raise InputError(f"{path}: unknown kind of figure; use {', '.join(FORMATS)}")
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
    content = BytesIO()
    figure.savefig(content, format=path.suffix[1:], dpi=160)
    write_bytes(path, content.getvalue())


def _panels(count: int) -> tuple[Any, list[Any]]:
    """Return a figure and its panels, drawn without a screen."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise InputError(
            "figures need Matplotlib; install it with: pip install 'redveil[plots]'"
        ) from None
    rows = math.ceil(count / COLUMNS)
    figure = Figure(figsize=(3.4 * COLUMNS, 2.5 * rows + 0.5), layout="constrained")
    return figure, list(figure.subplots(rows, COLUMNS, squeeze=False).flat)


def _draw_panel(panel: Any, name: str, summaries: Sequence[Summary]) -> None:
    """Draw one data set: ε from small to large, algorithms side by side."""
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
