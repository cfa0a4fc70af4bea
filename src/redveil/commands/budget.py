"""`redveil budget`: show a data set's charges and what is left of its budget."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from redveil.budget.place import find_ledger
from redveil.cli.arguments import JsonOutput, LedgerFile, SchemaArgument
from redveil.cli.console import display, say, write, write_json
from redveil.commands.ledger import announcing
from redveil.losses.loss import exact, legible
from redveil.schema import Schema

if TYPE_CHECKING:
    from rich.table import Table

    from redveil.budget.charges import Charge
    from redveil.losses.loss import Loss

AddBought = Annotated[
    bool,
    typer.Option(
        "--add-bought",
        help="Record bought cut points that the schema lists and the ledger lacks.",
    ),
]


def budget(
    schema: SchemaArgument,
    ledger: LedgerFile = None,
    add_bought: AddBought = False,
    as_json: JsonOutput = False,
) -> None:
    """Show what was charged to a data set, and what is left of its budget. Reads no data."""
    from redveil.budget.charges import missing_purchases, total
    from redveil.budget.charging import must_be_identified
    from redveil.budget.ledger import Ledger

    declared = Schema.read(schema)
    path = find_ledger(ledger, schema)
    book = Ledger(path)
    if add_bought:
        must_be_identified(declared)
        with announcing():
            added = book.add_purchases(declared.name, declared.id, declared.bought)
        say(f"{len(added)} recorded in {path}")
    charges = book.charges(declared.name, declared.id)
    spent = total(charges)
    if as_json:
        write_json(_plain(declared, path, spent, charges), indent=None)
        return
    if charges:
        display(_table(charges))
    _say_what_to_know(declared, path, charges)
    missing = missing_purchases(declared.bought, charges)
    if missing:
        price = legible(sum((one.epsilon for one in missing), Fraction(0)))
        say(
            f"the schema lists cut points bought for ε = {price} that are not in {path}; name "
            "the ledger that was charged with --ledger, or add them with --add-bought",
            "bold yellow",
        )
    _write_sums(declared, spent)


def _say_what_to_know(declared: Schema, path: Path, charges: Sequence[Charge]) -> None:
    from redveil.budget.charges import taken_over_by

    if not path.exists():
        say(f"{path}: no such ledger yet")
    server = taken_over_by(charges)
    if server is not None:
        say(
            f"a server, whose ledger is {server}, has taken over these charges; what is left is "
            "spent there",
            "bold yellow",
        )
    others = {one.identifier for one in charges} - {None, declared.id}
    if others:
        say(
            f"charges to {len(others)} other data set{'s' * (len(others) > 1)} named "
            f"{declared.name} count, too; if they are about other data, rename this one",
            "bold yellow",
        )


def _write_sums(declared: Schema, spent: Loss) -> None:
    """Write what is left; without a budget, what the charges add up to."""
    name = declared.name
    if declared.budget is None:
        write(f"{name}: ε = {legible(spent.epsilon)} spent; the schema declares no budget")
    else:
        left = legible(declared.budget - spent.epsilon)
        write(f"{name}: ε = {left} left of {legible(declared.budget)}")
    if declared.budget is not None and declared.budget_delta:
        left = legible(declared.budget_delta - spent.delta)
        write(f"{name}: δ = {left} left of {legible(declared.budget_delta)}")
    elif spent.delta:
        write(f"{name}: δ = {legible(spent.delta)} spent; the schema declares no budget_delta")


def _plain(declared: Schema, path: Path, spent: Loss, charges: Sequence[Charge]) -> dict[str, Any]:
    left: tuple[Fraction | None, Fraction | None] = (None, None)
    if declared.budget is not None:
        left = (declared.budget - spent.epsilon, declared.budget_delta - spent.delta)
    return {
        "dataset": declared.name,
        "id": declared.id,
        "ledger": str(path),
        "budget": _pair(declared.budget, declared.budget_delta),
        "spent": _pair(spent.epsilon, spent.delta),
        "left": _pair(*left),
        "charges": [
            {
                "made_at": one.made_at,
                "purpose": one.paid_for.purpose,
                "result": one.paid_for.result,
                "algorithm": one.paid_for.algorithm,
                "parameters": dict(one.paid_for.parameters),
                **_pair(one.loss.epsilon, one.loss.delta),
            }
            for one in charges
        ],
    }


def _pair(epsilon: Fraction | None, delta: Fraction | None) -> dict[str, str | None]:
    pair = {"epsilon": epsilon, "delta": delta}
    return {name: None if value is None else exact(value) for name, value in pair.items()}


def _table(charges: Sequence[Charge]) -> Table:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, header_style="bold")
    for name in ("time", "purpose", "result", "what was paid for", "ε", "δ"):
        table.add_column(
            name,
            justify="right" if name in "εδ" else "left",
            overflow="fold",
            no_wrap=name == "time",
        )
    for one in charges:
        paid_for, loss = one.paid_for, one.loss
        details = _in_words(paid_for.algorithm, paid_for.parameters)
        fields = (one.made_at, paid_for.purpose, paid_for.result or "–", details)
        # Text, not str: what a file contains may look like markup.
        amounts = legible(loss.epsilon), legible(loss.delta)
        table.add_row(*(Text(field) for field in (*fields, *amounts)))
    return table


# What is reported of a run costs nothing; --json lists it.
_REPORTED: Final = (
    "max_p_value",
    "min_jaccard",
    "min_support",
    "max_support",
    "max_disjuncts",
    "prune",
    "max_literals",
    "negation",
    "disjunction",
)


def _listed(value: object) -> str:
    """Return a parameter as text; names of attributes, and groups of them, as a list."""
    if not isinstance(value, list | tuple):
        return str(value)
    return ", ".join(f"({_listed(one)})" if isinstance(one, list) else str(one) for one in value)


def _in_words(algorithm: str | None, parameters: Mapping[str, Any]) -> str:
    """Return what a charge paid for, in one line."""
    columns = parameters.get("columns")
    if isinstance(columns, Mapping):
        names = [str(name) for side in ("left", "right") for name in columns.get(side) or ()]
        return f"cut points of {', '.join(names)}"
    shown = [
        f"{name} {_listed(value)}"
        for name, value in parameters.items()
        if value is not None and name not in (*_REPORTED, "auto", "profile")
    ]
    if parameters.get("profile") not in (None, "hardened"):
        shown.insert(0, str(parameters["profile"]))
    return ", ".join([algorithm or "–", *shown])
