"""`redveil plot`, `redveil latex` and `redveil clired`: results for papers and for other tools."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from redveil.seam.commands import (
    Delta,
    Epsilon,
    ReadableCommand,
    ReadableGroup,
    ResultFile,
    check_output,
    is_standard_output,
    naming_options,
    read_listed,
    save,
    say,
    write_file,
)
from redveil.seam.results import FileKind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from redveil_research.figures.plot import FigureKind


plot = typer.Typer(help="Draw figures for papers.", no_args_is_help=True, cls=ReadableGroup)

Picture = Annotated[
    Path, typer.Option("--output", "-o", help="Write the figure to this file: .png, .svg or .pdf.")
]
TreePair = Annotated[
    int | None,
    typer.Option(
        "--pair",
        metavar="<number>",
        help="Which pair of trees, counted from 1 [default: that of the first entry]",
    ),
]


@plot.callback()
def drawings() -> None:
    """Draw figures for papers: PNG, SVG or PDF."""


@plot.command(cls=ReadableCommand)
def scatter(result: ResultFile, picture: Picture = Path("scatter.png")) -> None:
    """Draw support against Jaccard index, with intervals, chance and the entries' numbers."""
    _draw(result, "scatter", picture)


@plot.command(cls=ReadableCommand)
def trees(result: ResultFile, picture: Picture = Path("trees.png"), pair: TreePair = None) -> None:
    """Draw two trees that face each other, and which of their leaves the entries join."""
    _draw(result, "trees", picture, pair)


@plot.command(cls=ReadableCommand)
def table(result: ResultFile, picture: Picture = Path("table.png"), pair: TreePair = None) -> None:
    """Draw a leaf table as a heat map, with intervals."""
    _draw(result, "table", picture, pair)


@plot.command(cls=ReadableCommand)
def detect(
    epsilon: Epsilon,
    entities: Annotated[int, typer.Option(min=1, help="About how many entities the data has.")],
    delta: Delta = None,
    schema: Annotated[
        Path | None,
        typer.Option("--schema", "-s", help="Draw it for this schema's number of splits."),
    ] = None,
    picture: Picture = Path("detect.png"),
) -> None:
    """Draw what runs would detect, by ε. Needs no data; redveil plan --detect prints the same."""
    from redveil import Schema, detectable
    from redveil_research.figures.plot import plot_detectable

    _check(picture, [] if schema is None else [schema])
    declared = None if schema is None else Schema.read(schema)
    with naming_options():
        found = detectable(epsilon, entities, declared, delta=delta)
    _say(plot_detectable(found, picture), picture)


def _draw(result: Path, kind: FigureKind, picture: Path, pair: int | None = None) -> None:
    from redveil_research.figures.plot import plot as draw

    _check(picture, [result])
    read = read_listed(result)
    with naming_options():
        kept = draw(read, kind, picture, pair=pair)
    _say(kept, picture)


def _check(picture: Path, inputs: Sequence[Path]) -> None:
    """Refuse a figure that could not be written, before anything is read."""
    from redveil_research.figures.canvas import check_figure

    check_figure(picture)
    check_output(picture, FileKind.FIGURE, inputs)


def _say(kept: Path | None, picture: Path) -> None:
    if kept:
        say(f"previous figure kept as {kept}")
    say(f"written to {picture}")


def latex(
    result: ResultFile,
    target: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write the table to this file.")
    ] = None,
    full: Annotated[
        bool, typer.Option("--full", help="With all supports, and the leaf table of each entry.")
    ] = False,
) -> None:
    """Print a result as a LaTeX table, for amsmath and booktabs.

    For another choice or order, list it first: redveil show result.json --top 5 -o list.json
    """
    from redveil_research.latex import latex_table

    if target is not None:
        check_output(target, FileKind.LIST, [result])
    read = read_listed(result)
    if read.document.warning:
        say(read.document.warning, "bold red")
    text = latex_table(read, full=full)
    if target is None:
        write_file(text)
        return
    # An earlier list may have been edited.
    if kept := save(f"{text}\n", target, FileKind.LIST):
        say(f"previous list kept as {kept}")
    if not is_standard_output(target):
        say(f"written to {target}")


def clired(
    result: ResultFile,
    target: Annotated[
        Path, typer.Option("--output", "-o", help="Write to this file; - prints.")
    ] = Path("-"),
) -> None:
    """Write a result's queries in the format of clired and Siren.

    For another choice or order, list it first: redveil show result.json --top 5 -o list.json
    """
    from redveil_research.clired import write_clired

    printed = is_standard_output(target)
    if not printed:
        check_output(target, FileKind.QUERIES, [result])
    read = read_listed(result)
    listed, kept = write_clired(read, Path("/dev/stdout") if printed else target)
    if printed:
        return
    if kept:
        say(f"previous queries kept as {kept}")
    say(f"written to {target}")
    if listed is not None:
        say(f"names that clired cannot read are numbered; {listed} lists them")
