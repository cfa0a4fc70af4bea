"""`redveil budget`: what has been spent of a data set's budget, on what, and what is left."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from redveil.cli.arguments import LedgerFile
from redveil.cli.console import output, say, write
from redveil.schema import Schema

if TYPE_CHECKING:
    from rich.table import Table

    from redveil.budget.ledger import Charge


def budget(
    schema: Annotated[Path, typer.Argument(help="The data set's datapackage.json.")],
    ledger: LedgerFile = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Show what is left of a data set's budget. Looks at the ledger, not at the data."""
    declared = Schema.read(schema)
    path = ledger or schema.with_suffix(".ledger.sqlite")
    charges = _charges(declared.name, path)
    epsilon = sum((one.loss.epsilon for one in charges), Fraction(0))
    delta = sum((one.loss.delta for one in charges), Fraction(0))
    left = None if declared.budget is None else declared.budget - epsilon
    left_delta = declared.budget_delta - delta
    if as_json:
        numbers = {
            "budget": _pair(declared.budget, declared.budget_delta),
            "spent": _pair(epsilon, delta),
            "left": _pair(left, left_delta),
        }
        typer.echo(json.dumps({"dataset": declared.name, **numbers, "charges": len(charges)}))
        return
    if charges:
        output().print(_table(charges))
    if declared.budget is None:
        say("the schema has no budget: nothing is refused, and nothing is written down from now on")
        return
    write(f"{declared.name}: {left} left of epsilon = {declared.budget}")
    if declared.budget_delta:
        write(f"{declared.name}: {left_delta} left of delta = {declared.budget_delta}")


def _pair(epsilon: Fraction | None, delta: Fraction) -> dict[str, str | None]:
    return {"epsilon": None if epsilon is None else str(epsilon), "delta": str(delta)}


def _charges(dataset: str, path: Path) -> tuple[Charge, ...]:
    """Read the ledger; where there is none, nothing was charged, and none is made."""
    if not path.exists():
        return ()
    from redveil.budget.ledger import Ledger

    return Ledger(path).charges(dataset)


def _table(charges: tuple[Charge, ...]) -> Table:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, header_style="bold")
    for name in ("when", "what for", "ε", "δ"):
        table.add_column(name, justify="right" if name in "εδ" else "left")
    for one in charges:
        loss = one.loss
        # Text, not str: what a file says may look like markup.
        cells = one.made_at, one.purpose, str(loss.epsilon), str(loss.delta)
        table.add_row(*(Text(cell) for cell in cells))
    return table
