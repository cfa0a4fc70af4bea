"""`redveil evaluate`: the owner looks how close the noisy numbers came."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from redveil.cli.arguments import Left, Right, SchemaFile, find_schema
from redveil.cli.console import output, progress, say
from redveil.files import keep_earlier


def evaluate(
    result: Annotated[Path, typer.Argument(help="A file that redveil mine wrote.")],
    left: Left,
    right: Right,
    schema: SchemaFile = None,
    evaluated: Annotated[
        Path | None, typer.Option("--output", "-o", help="Where to write the evaluated result.")
    ] = None,
) -> None:
    """Compare a result with the truth. NOT PRIVATE: for the data's owner only."""
    from redveil import owner
    from redveil.data.loading import load
    from redveil.report.result import Result
    from redveil.report.text import result_view

    read = Result.read(result)
    declared, _ = find_schema(schema, left)
    with progress("loading") as report:
        dataset = load(left, right, declared, progress=lambda _, share: report(share))
    say("NOT PRIVATE: true values follow. They are for the data's owner only.", "bold red")
    truth = owner.evaluate(read, dataset)
    console = output()
    console.print(result_view(truth.document, width=console.width))
    if evaluated is not None:
        keep_earlier(evaluated)
        truth.save(evaluated)
        say(f"written to {evaluated} (NOT PRIVATE)", "bold red")
