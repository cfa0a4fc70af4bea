"""`redveil schema`: draft, edit, check and accept a schema."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from redveil.base.file_kind import FileKind
from redveil.base.files import (
    is_stream,
    must_be_changeable,
    must_be_writable,
    replace_text,
    sqlite_files,
    typed,
)
from redveil.budget.place import default_schema, find_ledger
from redveil.cli.arguments import SchemaArgument
from redveil.cli.console import display, progress, say, write
from redveil.cli.help import ReadableCommand, ReadableGroup
from redveil.cli.outputs import check_output, is_standard_output, save
from redveil.commands.edit import edit
from redveil.commands.tables import Left, Right
from redveil.data.address import Address
from redveil.errors import InputError, LoadError, SchemaError
from redveil.schema import Schema
from redveil.schema.model import FILE_NAME
from redveil.schema.on_disk import SchemaOnDisk
from redveil.schema.reader import Package, read_package

if TYPE_CHECKING:
    from rich.table import Table

    from redveil.schema.acceptance import FromData

schema = typer.Typer(
    help="Draft, edit, check and accept schemas.",
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
    ] = Path(FILE_NAME),
) -> None:
    """Draft a schema from the data, for its owner to edit. A draft is NOT private."""
    from redveil.data.draft import draft as propose

    printed = is_standard_output(result)
    # What is no file has no folder that is about the data.
    place = Path(FILE_NAME) if printed or is_stream(result) else result
    files = [*left.needed(), *right.needed(), *sqlite_files(find_ledger(None, place))]
    check_output(result, FileKind.SCHEMA, files)
    # Refuse before reading any data; what is known by then may be more.
    _earlier(place)
    with progress("reading"):
        proposal = propose(left, right, key=key, right_key=right_key)
    earlier, said = _earlier(place)
    proposal = replace(proposal, schema=_continued(proposal.schema, earlier))
    kept = save(proposal.to_json(), result, FileKind.SCHEMA)
    name = "FILE" if printed else typed(result)
    if not printed:
        for listing in proposal.listings():
            display(listing.rich())
    for note in proposal.notes:
        say(str(note), "bold yellow" if note.is_warning else "")
    say(
        "This draft contains values taken from the data. Replace them with what you know from "
        f"elsewhere, then run `redveil schema check {name} {typed(left)} {typed(right)}` and "
        f"`redveil schema accept {name}`.",
        "bold yellow",
    )
    if said:
        say(said, "bold yellow")
    if kept:
        say(f"previous schema kept as {kept}")
    if not printed:
        say(f"written to {result}")


def _earlier(target: Path) -> tuple[Package | None, str | None]:
    """Return what is known of the data set that a draft is for, and what to say about it.

    A draft has an id before it is accepted, so that runs with it are added to later ones. It keeps
    the id, name, unit and budget of the schema that it replaces, or else of the default schema in
    its folder. If neither has an id or a budget, it keeps the name and id of the only data set in
    the folder's ledger.
    """
    from redveil.budget.ledger import Ledger

    replaced = read_package(target)
    # A file without an id and a budget says nothing of the data set, so it must not hide what does.
    if replaced is not None and replaced.is_known:
        return replaced, None
    ledger = find_ledger(None, target)
    beside = default_schema(target)
    other = "if this is another data set, change its name and id"
    default = read_package(beside)
    if default is not None and default.is_known:
        return default, f"id, name, unit and budget are those of {beside}; {other}"
    found = replaced or default
    charged = Ledger(ledger).data_sets()
    if len(charged) == 1:
        ((name, identifier),) = charged
        said = (
            f"name and id are those of {name}, the only data set in {ledger}; {other} (no budget "
            "is declared)"
        )
        return replace(found or Package(name), name=name, id=identifier), said
    names = ", ".join(sorted({name for name, _ in charged}))
    said = (
        f"{ledger} has charges to {names}; if this is one of them, copy its name and id from its "
        "schema, or earlier runs are not added up"
    )
    return found, said if charged else None


def _continued(drafted: Schema, earlier: Package | None) -> Schema:
    """Return a drafted schema with what is known of the data set that it is for."""
    if earlier is None:
        return drafted
    return replace(
        drafted,
        id=earlier.id or drafted.id,
        name=earlier.name,
        unit=earlier.unit,
        budget=earlier.budget,
        budget_delta=earlier.budget_delta,
    )


LeftData = Annotated[
    Address | None,
    typer.Argument(
        metavar="LEFT", parser=Address.of, help="Also check this left table against it."
    ),
]
RightData = Annotated[
    Address | None,
    typer.Argument(metavar="RIGHT", parser=Address.of, help="And this right table."),
]


@schema.command(cls=ReadableCommand)
def check(
    path: SchemaArgument,
    left: LeftData = None,
    right: RightData = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="Fail if any row does not fit the schema.")
    ] = False,
) -> None:
    """List every problem of a schema, and how to fix it.

    With two tables, also list what would be left out or read as missing, by line and column. That
    is for the data owner only. Nothing is charged.
    """
    from redveil.schema.reader import check as list_problems

    if left is not None and right is None:
        raise InputError("check takes two tables, left and right, or none")

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
    if left is not None and right is not None:
        _check_tables(left, right, read, strict=strict)


def _check_tables(left: Address, right: Address, declared: Schema, *, strict: bool) -> None:
    """Print where rows do not fit the schema. For the data owner only."""
    from redveil.commands.loading import warn
    from redveil.data.loading import examine

    with progress("loading") as show:
        report = examine(left, right, declared, progress=lambda _, share: show(share))
    say("NOT PRIVATE: what follows depends on the data. For the data owner only.", "bold red")
    details = report.details()
    for line in (*report.lines(), *details):
        write(f"owner only: {line}")
    warn(report, "correct the tables or the schema before you mine; nothing was charged")
    if strict and (details or not report.joined):
        raise LoadError(f"{left} and {right}: rows do not fit the schema; correct them")


@schema.command(cls=ReadableCommand)
def accept(
    path: SchemaArgument,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation.")] = False,
) -> None:
    """Declare a reviewed draft. Its owner vouches for every bound, category and cut point.

    Lists what still equals the data, and asks for confirmation. Gives the data set an id, by which
    a ledger knows it.
    """
    from redveil.schema.acceptance import accepted, from_data

    must_be_changeable(path)
    read = SchemaOnDisk.read(path)
    must_be_writable(path, FileKind.SCHEMA)
    listed = from_data(read.raw)
    if listed and not yes:
        _confirm(path, listed)
    text = json.dumps(accepted(read.raw), indent=2, ensure_ascii=False) + "\n"
    # The question may have been open for long, and the file been edited meanwhile.
    kept = replace_text(path, text, FileKind.SCHEMA, read=read.content)
    try:
        if listed and yes:
            display(_listing(listed))
    finally:
        say(f"{path}: declared. You vouch for every bound, category and cut point in it.")
        if kept:
            say(f"previous schema kept as {kept}")
        say("next: redveil mine LEFT RIGHT --epsilon 1")


def _listing(listed: Sequence[FromData]) -> Table:
    """Return a table of what still equals the data."""
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, header_style="bold")
    for name in ("view", "attribute", "still as taken from the data"):
        table.add_column(name, overflow="fold")
    for one in listed:
        table.add_row(one.side.value, Text(one.attribute), Text(one.text))
    return table


def _confirm(path: Path, listed: Sequence[FromData]) -> None:
    """List what still equals the data, and refuse to go on unless its owner confirms it."""
    display(_listing(listed))
    if sys.stdin is None or not sys.stdin.isatty():
        raise InputError(
            f"{path}: some declarations still equal the data; edit them, or confirm them with --yes"
        )
    if not typer.confirm(
        "These values were taken from the data, and will be public. Did you know them before?",
        err=True,
    ):
        raise InputError(f"{path}: not accepted; edit it, then accept it")


schema.command(cls=ReadableCommand)(edit)
