"""`redveil schema`: draft, check and accept a schema; buy cut points for it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from redveil.cli.arguments import Left, Right, SchemaArgument
from redveil.cli.buy_cuts import buy_cuts
from redveil.cli.console import display, progress, say, write
from redveil.cli.help import ReadableCommand, ReadableGroup
from redveil.cli.outputs import check_output, is_standard_output, save
from redveil.errors import SchemaError
from redveil.file_kind import FileKind
from redveil.files import write_text
from redveil.schema import Schema

schema = typer.Typer(
    help="Draft, check and accept schemas; buy cut points.",
    no_args_is_help=True,
    cls=ReadableGroup,
)


@schema.command(cls=ReadableCommand)
def draft(
    left: Left,
    right: Right,
    key: Annotated[
        str | None, typer.Option(help="Column with the entity key [default: detect it]")
    ] = None,
    right_key: Annotated[
        str | None, typer.Option(help="Key column of the right table, if its name differs.")
    ] = None,
    result: Annotated[
        Path,
        typer.Option("--output", "-o", help="Write the draft to this file; - is standard output."),
    ] = Path("datapackage.json"),
) -> None:
    """Draft a schema from the data, for its owner to edit. A draft is NOT private."""
    from rich.table import Table
    from rich.text import Text

    from redveil.data.draft import draft as propose

    check_output(result, FileKind.SCHEMA, [left, right])
    with progress("reading"):
        proposal = propose(left, right, key=key, right_key=right_key)
    kept = save(proposal.to_json(), result, FileKind.SCHEMA)
    table = Table(box=None, header_style="bold")
    for name in ("view", "attribute", "taken from the data"):
        table.add_column(name, overflow="fold")
    for remark in proposal.remarks:
        table.add_row(remark.side.value, Text(remark.attribute), Text(remark.text))
    printed = is_standard_output(result)
    if not printed:
        display(table)
    say(
        "This draft contains values taken from the data. Replace them with what you know from "
        f"elsewhere, then run `redveil schema accept {'FILE' if printed else result}`.",
        "bold yellow",
    )
    if kept:
        say(f"previous schema kept as {kept}")
    if not printed:
        say(f"written to {result}")


@schema.command(cls=ReadableCommand)
def check(path: SchemaArgument) -> None:
    """List every problem of a schema, and how to fix it."""
    from redveil.schema.reader import check as list_problems

    read, problems = list_problems(path, Schema)
    for problem in problems:
        write(str(problem))
    if read is None:
        raise SchemaError(f"{path}: {len(problems)} problem{'s' if len(problems) > 1 else ''}")
    for view in (read.left, read.right):
        write(
            f"{view.name}: key {view.key}, {len(view.attributes)} attributes, "
            f"{view.split_count} candidate splits"
        )
    write(f"{path}: valid ({read.status.value}), {read.digest}")


@schema.command(cls=ReadableCommand)
def accept(path: SchemaArgument) -> None:
    """Declare a reviewed draft. Its owner vouches for every bound, category and cut point."""
    Schema.read(path)
    raw: dict[str, Any] = json.loads(path.read_text(encoding="utf-8-sig"))
    raw["redveil"] = {**(raw.get("redveil") or {}), "status": "declared"}
    for resource in raw["resources"]:
        for field in resource["schema"]["fields"]:
            (field.get("redveil") or {}).pop("draft", None)
    write_text(path, json.dumps(raw, indent=2, ensure_ascii=False) + "\n", FileKind.SCHEMA)
    say(f"{path}: declared. You vouch for every bound, category and cut point in it.")


schema.command("buy-cuts", cls=ReadableCommand)(buy_cuts)
