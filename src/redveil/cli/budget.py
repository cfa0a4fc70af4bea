"""`redveil budget`: show a data set's charges and what is left of its budget."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

from redveil.cli.arguments import JsonOutput, LedgerFile, SchemaArgument
from redveil.cli.console import display, say, write, write_json
from redveil.schema import Schema

if TYPE_CHECKING:
    from rich.table import Table

    from redveil.budget.ledger import Charge


def budget(
    schema: SchemaArgument,
    ledger: LedgerFile = None,
    as_json: JsonOutput = False,
) -> None:
    """Show what was charged to a data set's budget, and what is left. Reads no data."""
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
        content = {"dataset": declared.name, **numbers, "charges": len(charges)}
        write_json(content, indent=None)
        return
    if charges:
        display(_table(charges))
    if declared.budget is None:
        say("the schema declares no budget, so runs are neither limited nor recorded")
        return
    write(f"{declared.name}: ε = {left} left of {declared.budget}")
    if declared.budget_delta:
        write(f"{declared.name}: δ = {left_delta} left of {declared.budget_delta}")


def _pair(epsilon: Fraction | None, delta: Fraction) -> dict[str, str | None]:
    return {"epsilon": None if epsilon is None else str(epsilon), "delta": str(delta)}


def _charges(dataset: str, path: Path) -> tuple[Charge, ...]:
    """Read the ledger; without one, nothing was charged, and none is created."""
    if not path.exists():
        return ()
    from redveil.budget.ledger import Ledger

    return Ledger(path).charges(dataset)


def _table(charges: tuple[Charge, ...]) -> Table:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, header_style="bold")
    for name in ("time", "purpose", "ε", "δ"):
        table.add_column(name, justify="right" if name in "εδ" else "left")
    for one in charges:
        loss = one.loss
        # Text, not str: what a file contains may look like markup.
        fields = one.made_at, one.purpose, str(loss.epsilon), str(loss.delta)
        table.add_row(*(Text(field) for field in fields))
    return table
