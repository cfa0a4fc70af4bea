"""`redveil plot`: figures of a result."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from redveil.cli.arguments import ResultFile
from redveil.cli.console import say
from redveil.cli.help import ReadableCommand, ReadableGroup
from redveil.cli.outputs import check_output
from redveil.file_kind import FileKind

plot = typer.Typer(help="Plot a result (PNG, SVG or PDF).", no_args_is_help=True, cls=ReadableGroup)


@plot.callback()
def drawings() -> None:
    """Plot a result (PNG, SVG or PDF)."""


@plot.command(cls=ReadableCommand)
def scatter(
    result: ResultFile,
    picture: Annotated[
        Path, typer.Option("--output", "-o", help="Write the figure to this file.")
    ] = Path("scatter.png"),
) -> None:
    """Plot support against Jaccard index, reported and pruned."""
    from redveil.report.figures import check_figure
    from redveil.report.figures import scatter as draw
    from redveil.report.result import Result

    check_figure(picture)
    check_output(picture, FileKind.FIGURE, [result])
    kept = draw(Result.read(result).document, picture)
    if kept:
        say(f"previous figure kept as {kept}")
    say(f"written to {picture}")
