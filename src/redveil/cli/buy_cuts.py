"""`redveil schema buy-cuts`: buy cut points for numeric attributes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from redveil.budget.charging import must_be_chargeable
from redveil.budget.place import find_ledger, is_found
from redveil.cli.arguments import (
    Epsilon,
    FewInCommon,
    LedgerFile,
    Quiet,
    SchemaFile,
    Strict,
    naming_options,
)
from redveil.cli.console import display, say
from redveil.cli.ledger import announcing
from redveil.cli.loading import load_tables
from redveil.cli.outputs import check_output, is_standard_output, rescuing, save
from redveil.cli.tables import Left, Right, find_schema_file
from redveil.errors import InputError
from redveil.file_kind import FileKind
from redveil.files import followed, must_be_changeable, sqlite_files, typed
from redveil.privacy.loss import Loss, parse_epsilon
from redveil.schema import Kind, Schema, Side
from redveil.schema.on_disk import SchemaOnDisk
from redveil.schema.reader import must_keep

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
    bool, typer.Option("--again", help="Do not skip columns bought before; pay for them again.")
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
    strict: Strict = False,
    few_in_common: FewInCommon = False,
    quiet: Quiet = False,
) -> None:
    """Buy cut points for numeric attributes.

    The bins between them have about equally many entities. Do this once per data set: the new
    schema is public and records the ε spent. Columns bought before are skipped.
    """
    from redveil import buying

    # Refuse bad requests before reading any data.
    with naming_options():
        price = parse_epsilon(epsilon)
    read = find_schema_file(schema, left)
    declared, path = read.schema, read.path
    if result is None:
        must_be_changeable(path)
    target = result or path
    charges = find_ledger(ledger, path)
    check_output(target, FileKind.SCHEMA, [*left.needed(), *right.needed(), *sqlite_files(charges)])
    if not is_standard_output(target):
        must_keep(target, declared.id, declared.budget)
    names = _names(declared, columns, heavy_tailed)
    buying.checked_count(cuts)
    if not _left_to_buy(declared, names, again, quiet):
        if followed(target) != followed(path):
            kept = save(_text(read.raw), target, FileKind.SCHEMA)
            _say_written(target, kept, quiet=quiet or is_standard_output(target))
        return
    must_be_chargeable(declared, Loss(price), charges)
    dataset = load_tables(
        left, right, declared, path, strict=strict, few_in_common=few_in_common, quiet=quiet
    )
    with announcing():
        new = buying.buy_cuts(
            dataset,
            price,
            names,
            cuts=cuts,
            result_name=None if is_standard_output(target) else target.name,
            ledger=charges,
            again=again,
        )
    kept = save_purchase(new, read, target)
    # Shown when it is safe, because whoever reads standard output may be gone.
    if not quiet and not is_standard_output(target):
        _report(new, charges, target, kept)


def _left_to_buy(schema: Schema, names: list[str] | None, again: bool, quiet: bool) -> bool:
    """Return whether any column is left to buy for, and name those that are skipped."""
    from redveil.buying import chosen_columns

    asked = chosen_columns(schema, names, again=True)
    chosen = chosen_columns(schema, names, again=again)
    skipped = [f"{side}, {a.name}" for side in Side for a in asked[side] if a not in chosen[side]]
    if skipped and not quiet:
        say(f"skipped, bought already: {'; '.join(skipped)} (--again buys new cut points)")
    if any(chosen.values()):
        return True
    if not quiet:
        say("nothing is left to buy; nothing was charged")
    return False


def _text(raw: dict[str, Any]) -> str:
    return json.dumps(raw, indent=2, ensure_ascii=False) + "\n"


def _report(new: Schema, charges: Path, target: Path, kept: Path | None) -> None:
    """Show what was bought, and say where it is, even if it cannot be shown."""
    try:
        _show(new)
    finally:
        say(f"recorded in {charges}")
        if not is_found(charges, target):
            say(f"pass --ledger {typed(charges)} when you mine with the new schema", "bold yellow")
        _say_written(target, kept)


def _say_written(target: Path, kept: Path | None, *, quiet: bool = False) -> None:
    if quiet:
        return
    if kept:
        say(f"previous schema kept as {kept}")
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


def save_purchase(new: Schema, read: SchemaOnDisk, target: Path) -> Path | None:
    """Add bought cut points to a schema file as it is now, and write it to the target.

    Returns where the file that it replaced is kept, None if there was none.

    new:  the schema that was read, with the purchase
    read: the schema file as it was read
    """
    with rescuing(_text(_with_purchase(read.raw, new)), target):
        # Buying takes time, in which a budget may have been declared, or other cut points bought.
        now = read.again()
        _must_fit(new, read, now)
        text, printed = _text(_with_purchase(now.raw, new)), is_standard_output(target)
        if not printed:
            must_keep(target, now.schema.id, now.schema.budget)
        replaces_itself = not printed and followed(target) == followed(read.path)
        content = now.content if replaces_itself else None
        return save(text, target, FileKind.SCHEMA, read=content)


def _must_fit(new: Schema, read: SchemaOnDisk, now: SchemaOnDisk) -> None:
    """Refuse to add cut points to declarations that are no longer those they were bought for."""
    latest = new.bought[-1]
    for side in Side:
        before, after = (
            {a.name: a for a in one.schema.view(side).attributes if a.name in latest.names(side)}
            for one in (read, now)
        )
        if before != after or now.schema.id != read.schema.id:
            raise InputError(
                f"{now.path}: changed while cut points were bought, so they may not fit; add them "
                "by hand"
            )


def _with_purchase(raw: dict[str, Any], new: Schema) -> dict[str, Any]:
    """Return a descriptor with the latest purchase and its cut points; the rest is as it was."""
    from redveil.schema.descriptor import describe_purchase

    changed, latest = json.loads(json.dumps(raw)), new.bought[-1]
    for side, resource in zip(Side, changed["resources"], strict=True):
        points = {a.name: a.cuts for a in new.view(side).attributes}
        for field in resource["schema"]["fields"]:
            if field["name"] in latest.names(side):
                cuts = {"method": "explicit", "values": list(points[field["name"]])}
                field["redveil"] = {**(field.get("redveil") or {}), "cuts": cuts}
    extras = changed.get("redveil") or {}
    bought = [*(extras.get("bought") or []), describe_purchase(latest)]
    changed["redveil"] = {**extras, "bought": bought}
    return dict(changed)


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
