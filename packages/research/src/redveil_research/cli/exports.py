"""`redveil latex` and `redveil clired`: results in the notations of papers and of other tools."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from redveil.seam.commands import (
    ResultFile,
    check_output,
    is_standard_output,
    read_listed,
    save,
    say,
    write_file,
)
from redveil.seam.results import FileKind


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
