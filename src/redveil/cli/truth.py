"""`redveil truth`: compare a result with the data it came from."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from redveil.cli.arguments import Left, ResultFile, Right, SchemaFile, find_schema
from redveil.cli.console import output, say
from redveil.cli.loading import load_tables
from redveil.files import keep_earlier


def truth(
    result: ResultFile,
    left: Left,
    right: Right,
    schema: SchemaFile = None,
    target: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Write the result with its true values to this file."),
    ] = None,
) -> None:
    """Show a result's true values beside its noisy ones. NOT PRIVATE: for the data owner only."""
    from redveil import owner
    from redveil.report.result import Result
    from redveil.report.text import result_view

    read = Result.read(result)
    declared, schema_path = find_schema(schema, left)
    dataset = load_tables(left, right, declared, schema_path, quiet=True)
    compared = owner.truth(read, dataset)
    console = output()
    console.print(result_view(compared.document, width=console.width))
    if target is not None:
        keep_earlier(target)
        compared.save(target)
        say(f"written to {target} (NOT PRIVATE)", "bold red")
