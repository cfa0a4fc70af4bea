"""`redveil schema buy-cuts`: buy cut points for numeric attributes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from redveil.cli.arguments import (
    Epsilon,
    LedgerFile,
    Left,
    Quiet,
    Right,
    SchemaFile,
    find_schema,
    naming_options,
)
from redveil.cli.console import display, progress, say
from redveil.cli.outputs import check_output, is_standard_output, save_paid
from redveil.errors import InputError
from redveil.file_kind import FileKind
from redveil.privacy.loss import parse_epsilon
from redveil.schema import Kind, Schema, Side, Status

Columns = Annotated[
    list[str] | None,
    typer.Option(
        "--columns",
        metavar="<names>",
        help="Numeric attributes, separated by commas; repeatable.",
    ),
]
HeavyTailed = Annotated[
    bool,
    typer.Option(
        "--heavy-tailed",
        help="Every numeric attribute whose cut points are spaced as for a heavy tail.",
    ),
]
Cuts = Annotated[int, typer.Option("--cuts", help="Most cut points per attribute.")]
Again = Annotated[
    bool, typer.Option("--again", help="Allow columns bought before, and pay for them again.")
]
SchemaOutput = Annotated[
    Path | None,
    typer.Option("--output", "-o", help="Write the new schema to this file [default: replace it]"),
]


def buy_cuts(
    left: Left,
    right: Right,
    epsilon: Epsilon,
    schema: SchemaFile = None,
    columns: Columns = None,
    heavy_tailed: HeavyTailed = False,
    cuts: Cuts = 15,
    result: SchemaOutput = None,
    ledger: LedgerFile = None,
    again: Again = False,
    quiet: Quiet = False,
) -> None:
    """Buy cut points for numeric attributes.

    The bins between them have about equally many entities. Do this once per data set: the new
    schema is public and records the ε spent.
    """
    from redveil import buying
    from redveil.data.loading import load

    # Refuse bad requests before reading any data.
    with naming_options():
        price = parse_epsilon(epsilon)
    declared, path = find_schema(schema, left)
    raw: dict[str, Any] = json.loads(path.read_text(encoding="utf-8-sig"))
    target = result or path
    charges = ledger or path.with_suffix(".ledger.sqlite")
    check_output(target, FileKind.SCHEMA, [left, right, charges])
    names = _names(declared, columns, heavy_tailed)
    buying.checked_count(cuts)
    buying.chosen_columns(declared, names, again=again)
    if declared.status is Status.DRAFT:
        say("warning: the schema is a draft; values from the data in it are not private", "yellow")
    with progress("loading") as report:
        dataset = load(left, right, declared, progress=lambda _, share: report(share))
    new = buying.buy_cuts(dataset, price, names, cuts=cuts, ledger=charges, again=again)
    _write_into(raw, new)
    text = json.dumps(raw, indent=2, ensure_ascii=False) + "\n"
    kept = save_paid(text, target, FileKind.SCHEMA)
    if not quiet and not is_standard_output(target):
        _show(new)
        if kept:
            say(f"previous schema kept as {kept}")
        if declared.budget is not None and target != path:
            say(f"charges are recorded in {charges}; pass it as --ledger when you mine")
        say(f"written to {target}")


def _names(schema: Schema, columns: list[str] | None, heavy_tailed: bool) -> list[str] | None:
    """Return the requested names, or None for all heavy-tailed attributes."""
    if (columns is not None) == heavy_tailed:
        raise InputError("choose attributes with either --columns a,b,c or --heavy-tailed")
    if columns is None:
        return None
    known = {*schema.left.names, *schema.right.names}
    # A name that contains a comma has an option of its own.
    listed = [[one] if one in known else one.split(",") for one in columns]
    return [name if name in known else name.strip() for names in listed for name in names]


def _write_into(raw: dict[str, Any], new: Schema) -> None:
    """Add the cut points and the purchase to a descriptor; leave the rest as it is."""
    from redveil.schema.descriptor import describe_purchase

    latest = new.bought[-1]
    for side, resource in zip(Side, raw["resources"], strict=True):
        points = {a.name: a.cuts for a in new.view(side).attributes}
        for field in resource["schema"]["fields"]:
            if field["name"] in latest.names(side):
                cuts = {"method": "explicit", "values": list(points[field["name"]])}
                field["redveil"] = {**(field.get("redveil") or {}), "cuts": cuts}
    bought = [describe_purchase(one) for one in new.bought]
    raw["redveil"] = {**(raw.get("redveil") or {}), "bought": bought}


def _show(new: Schema) -> None:
    """Print the new cut points and their price."""
    from rich.table import Table
    from rich.text import Text

    latest = new.bought[-1]
    table = Table(box=None, header_style="bold")
    for name in ("view", "attribute", "cut points"):
        table.add_column(name, overflow="fold")
    for side in Side:
        for a in new.view(side).attributes:
            if a.kind is Kind.NUMERIC and a.name in latest.names(side):
                points = ", ".join(f"{cut:.12g}" for cut in a.cuts)
                table.add_row(side.value, Text(a.name), points)
    display(table)
    say(
        f"bought for ε = {latest.epsilon}, on top of the ε of every run with this schema; "
        "certificates say so"
    )
