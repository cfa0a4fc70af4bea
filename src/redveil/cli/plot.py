"""`redveil plot`: figures of a result."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from redveil.cli.arguments import ResultFile
from redveil.cli.console import say

plot = typer.Typer(help="Plot a result (PNG, SVG or PDF).", no_args_is_help=True)


@plot.callback()
def drawings() -> None:
    """Plot a result (PNG, SVG or PDF)."""


@plot.command()
def scatter(
    result: ResultFile,
    picture: Annotated[
        Path, typer.Option("--output", "-o", help="Write the figure to this file.")
    ] = Path("scatter.png"),
) -> None:
    """Plot support against Jaccard index, reported and pruned."""
    from redveil.report.figures import scatter as draw
    from redveil.report.result import Result

    draw(Result.read(result).document, picture)
    say(f"written to {picture}")
