"""`redveil truth`: compare a result with the data it came from."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from redveil.base.file_kind import FileKind
from redveil.cli.arguments import ResultFile, SchemaFile
from redveil.cli.console import display, output, say
from redveil.cli.listing import read_listed
from redveil.cli.outputs import check_output, is_standard_output, save
from redveil.commands.loading import load_tables
from redveil.commands.tables import Left, Right, find_schema


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
    from redveil.report.text import result_view

    read = read_listed(result)
    declared, schema_path = find_schema(schema, left)
    if target is not None:
        check_output(
            target, FileKind.RESULT, [result, *left.needed(), *right.needed(), schema_path]
        )
    dataset = load_tables(left, right, declared, schema_path, quiet=True)
    compared = owner.truth(read, dataset)
    kept = None if target is None else save(compared.to_json(), target, FileKind.RESULT)
    if target is not None and is_standard_output(target):
        return
    display(result_view(compared.document, width=output().width))
    if kept:
        say(f"previous result kept as {kept}")
    if target is not None:
        say(f"written to {target} (NOT PRIVATE)", "bold red")
