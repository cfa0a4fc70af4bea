"""`redveil confirm`: measure the list of a result again."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from redveil.cli.arguments import (
    PRIVACY,
    Delta,
    Epsilon,
    FewInCommon,
    LedgerFile,
    Output,
    Quiet,
    ResultFile,
    SchemaFile,
    Strict,
    naming_options,
)
from redveil.cli.console import agrees, can_be_asked
from redveil.cli.listing import read_listed
from redveil.commands.paid_run import Tables, destination, run_and_save
from redveil.commands.tables import Left, Right, find_schema
from redveil.losses.loss import parse_loss
from redveil.schema.view import plural

if TYPE_CHECKING:
    from collections.abc import Callable

    from redveil.handover import Keep
    from redveil.report.result import Result

Others = Annotated[
    bool | None,
    typer.Option(
        "--others/--perhaps-same",
        help="Whether you vouch that none of these entities are among those that the list was "
        "found on [default: ask on a terminal]",
        rich_help_panel=PRIVACY,
    ),
]


def confirm(
    result: ResultFile,
    left: Left,
    right: Right,
    epsilon: Epsilon,
    delta: Delta = None,
    schema: SchemaFile = None,
    output: Output = Path("confirmed.json"),
    ledger: LedgerFile = None,
    others: Others = None,
    strict: Strict = False,
    few_in_common: FewInCommon = False,
    quiet: Quiet = False,
) -> None:
    """Measure the redescriptions of a result again, with differential privacy.

    LEFT and RIGHT are a new cohort, or a part that was set aside. All of ε goes to counts. The new
    result has the same list, and how each Jaccard index differs from before. What it confirms holds
    only if these entities are others than those that the list was found on: you are asked for that.
    """
    with naming_options():
        loss = parse_loss(epsilon, delta)
    first = read_listed(result)
    tables = Tables(left, right, *find_schema(schema, left), strict, few_in_common, quiet)
    where = destination(output, tables, ledger, loss, [result])
    if others is None:
        others = _asked_for_others(tables.schema.unit)
    dataset = tables.load()

    def run(report: Callable[[float], None], keep: Keep) -> Result:
        from redveil.conversation import confirm as ask

        return ask(
            first,
            dataset,
            loss.epsilon,
            delta=loss.delta,
            others=others,
            result_name=where.name,
            ledger=where.ledger,
            progress=report,
            keep=keep,
        )

    run_and_save("confirming", run, where)


def _asked_for_others(unit: str) -> bool:
    """Return whether the owner vouches for other entities; nobody does if nobody can be asked."""
    if not can_be_asked():
        return False
    these = f"these {plural(unit)}"
    return agrees(
        f"Are {these} others than those that the list was found on, without exception? The "
        "certificate will say that you vouch for it."
    )
