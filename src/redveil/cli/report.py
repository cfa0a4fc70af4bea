"""`redveil report`: a result as a page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from redveil.base.file_kind import FileKind
from redveil.cli.arguments import ResultFile
from redveil.cli.console import say, write_file
from redveil.cli.listing import read_listed
from redveil.cli.outputs import check_output, is_standard_output
from redveil.errors import InputError

Page = Annotated[
    Path | None,
    typer.Option(
        "--output", "-o", help="Write the page to this file [default: as the result, with .html]"
    ),
]
Open = Annotated[bool, typer.Option("--open", help="Open the page in a browser.")]


def report(result: ResultFile, output: Page = None, open_: Open = False) -> None:
    """Write a result as one page to read, forward and print.

    The page says in sentences what was found and what was promised. Questions about the released
    tables are answered in it. It needs no network, and nothing is spent.
    """
    from redveil.base.files import write_text

    target = output or result.with_suffix(".html")
    if open_ and is_standard_output(target):
        raise InputError("--open: name a file with --output, such as report.html")
    check_output(target, FileKind.REPORT, [result])
    read = read_listed(result)
    if read.document.warning:
        say(read.document.warning, "bold red")
    if is_standard_output(target):
        write_file(read.report().removesuffix("\n"))
        return
    write_text(target, read.report(), FileKind.REPORT)
    say(f"written to {target}")
    if open_ and typer.launch(target.resolve().as_uri()):
        raise InputError(f"no browser was found; open {target} yourself")
