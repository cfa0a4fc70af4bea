"""`redveil plot`: pictures of a result."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from redveil.cli.console import say

plot = typer.Typer(help="Draw a result (PNG, SVG or PDF).", no_args_is_help=True)


@plot.callback()
def drawings() -> None:
    """Draw a result (PNG, SVG or PDF)."""


@plot.command()
def scatter(
    result: Annotated[Path, typer.Argument(help="A file that redveil mine wrote.")],
    picture: Annotated[
        Path, typer.Option("--output", "-o", help="Where the figure is written.")
    ] = Path("scatter.png"),
) -> None:
    """Noisy support against noisy Jaccard index: what is reported, and what was pruned."""
    from redveil.report.figures import scatter as draw
    from redveil.report.result import Result

    draw(Result.read(result).document, picture)
    say(f"written to {picture}")
