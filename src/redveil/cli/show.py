"""`redveil show`: print a result as a table or in another format."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from redveil.cli.arguments import ResultFile
from redveil.cli.console import display, output, say, write_file
from redveil.cli.outputs import check_output, is_standard_output
from redveil.file_kind import FileKind


class Format(StrEnum):
    """Output formats of a result."""

    TABLE = "table"
    CSV = "csv"
    LATEX = "latex"
    HTML = "html"


def show(
    result: ResultFile,
    form: Annotated[Format, typer.Option("--format", "-f", help="Output format.")] = Format.TABLE,
    plan: Annotated[
        bool, typer.Option("--plan", help="Also list every step of the plan and its price.")
    ] = False,
    queries: Annotated[
        Path | None,
        typer.Option(
            help="Also write the queries to this file, in clired's format; - prints them."
        ),
    ] = None,
) -> None:
    """Show a result: redescriptions and privacy certificate."""
    from redveil.csv_text import csv_text
    from redveil.report.html import fragment
    from redveil.report.latex import latex_table
    from redveil.report.queries_file import write_result_queries
    from redveil.report.result import Result
    from redveil.report.text import result_view

    read = Result.read(result)
    if queries is not None and is_standard_output(queries):
        write_result_queries(read.document, Path("/dev/stdout"))
        return
    if queries is not None:
        check_output(queries, FileKind.QUERIES, [result])
        # Before anything is shown, because whoever reads standard output may be gone.
        listed, kept = write_result_queries(read.document, queries)
    if read.document.warning and form is not Format.TABLE:
        say(read.document.warning, "bold red")
    if form is Format.CSV:
        write_file(csv_text(read.to_arrow()).removesuffix("\n"))
    elif form is Format.LATEX:
        write_file(latex_table(read.document))
    elif form is Format.HTML:
        write_file(fragment(read.document))
    else:
        display(result_view(read.document, steps=plan, width=output().width))
    if queries is not None:
        if kept:
            say(f"previous queries kept as {kept}")
        say(f"written to {queries}")
        if listed is not None:
            say(f"names that clired cannot read are numbered; {listed} lists them")
