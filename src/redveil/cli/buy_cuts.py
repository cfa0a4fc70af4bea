"""`redveil schema buy-cuts`: learn cut points from the data, for a price."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from redveil.cli.arguments import Epsilon, LedgerFile, Left, Quiet, Right, SchemaFile, find_schema
from redveil.cli.console import output, progress, say
from redveil.errors import InputError
from redveil.files import keep_earlier, must_be_writable, write_text
from redveil.privacy.loss import parse_epsilon
from redveil.schema import Kind, Schema, Side, Status

Columns = Annotated[
    list[str] | None,
    typer.Option("--columns", help="Numeric attributes, separated by commas, or one at a time."),
]
HeavyTailed = Annotated[
    bool, typer.Option("--heavy-tailed", help="All attributes with cut points like decades.")
]
Cuts = Annotated[int, typer.Option("--cuts", help="Most cut points of an attribute.")]
Again = Annotated[bool, typer.Option("--again", help="Pay anew for what was bought already.")]
SchemaOutput = Annotated[
    Path | None,
    typer.Option("--output", "-o", help="Where the new schema is written [default: in its place]"),
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
    """Buy cut points for numeric attributes with ε: bins of about equally many entities.

    Once per data set: the new schema is public, and holds what was paid.
    """
    from redveil import buying
    from redveil.data.loading import load

    # What can be refused without the data is refused before it is read.
    price = parse_epsilon(epsilon)
    declared, path = find_schema(schema, left)
    raw: dict[str, Any] = json.loads(path.read_text(encoding="utf-8-sig"))
    target = result or path
    must_be_writable(target)
    names = _names(declared, columns, heavy_tailed)
    buying.checked_count(cuts)
    buying.chosen_columns(declared, names, again=again)
    charges = ledger or path.with_suffix(".ledger.sqlite")
    if declared.status is Status.DRAFT:
        say("warning: the schema is a draft; what it read off the data is not private.", "yellow")
    with progress("loading") as report:
        dataset = load(left, right, declared, progress=lambda _, share: report(share))
    new = buying.buy_cuts(dataset, price, names, cuts=cuts, ledger=charges, again=again)
    _write_into(raw, new)
    kept = keep_earlier(target)
    write_text(target, json.dumps(raw, indent=2, ensure_ascii=False) + "\n")
    if not quiet:
        _show(new)
        if kept:
            say(f"an earlier schema was kept as {kept}")
        if declared.budget is not None and target != path:
            say(f"charges are kept in {charges}: name it with --ledger when you mine")
        say(f"written to {target}")


def _names(schema: Schema, columns: list[str] | None, heavy_tailed: bool) -> list[str] | None:
    """Return the names that were asked for; None asks for all heavy-tailed attributes."""
    if (columns is not None) == heavy_tailed:
        raise InputError("say which attributes: either --columns a,b,c or --heavy-tailed")
    if columns is None:
        return None
    known = {*schema.left.names, *schema.right.names}
    # A name may hold a comma; then it is given by itself.
    listed = [[one] if one in known else one.split(",") for one in columns]
    return [name if name in known else name.strip() for names in listed for name in names]


def _write_into(raw: dict[str, Any], new: Schema) -> None:
    """Put the cut points and the record into a descriptor, and leave the rest as it is written."""
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
    """Print the new cut points, and what they cost."""
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
    output().print(table)
    say(
        f"bought for epsilon = {latest.epsilon}: every certificate made under this schema says so, "
        "to be added to its own epsilon"
    )
