"""`redveil confirm`: measure the list of a result again, on other entities."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from redveil.cli.arguments import (
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
from redveil.cli.listing import read_listed
from redveil.cli.paid_run import Tables, destination, run_and_save
from redveil.cli.tables import Left, Right, find_schema
from redveil.privacy.loss import parse_loss

if TYPE_CHECKING:
    from collections.abc import Callable

    from redveil.handover import Keep
    from redveil.report.result import Result


def confirm(
    result: ResultFile,
    left: Left,
    right: Right,
    epsilon: Epsilon,
    delta: Delta = None,
    schema: SchemaFile = None,
    output: Output = Path("confirmed.json"),
    ledger: LedgerFile = None,
    strict: Strict = False,
    few_in_common: FewInCommon = False,
    quiet: Quiet = False,
) -> None:
    """Measure the redescriptions of a result again, with differential privacy.

    LEFT and RIGHT are a new cohort, or a part that was set aside. All of ε goes to counts. The new
    result has the same list, and how each Jaccard index differs from before.
    """
    with naming_options():
        loss = parse_loss(epsilon, delta)
    first = read_listed(result)
    tables = Tables(left, right, *find_schema(schema, left), strict, few_in_common, quiet)
    where = destination(output, tables, ledger, loss, [result])
    dataset = tables.load()

    def run(report: Callable[[float], None], keep: Keep) -> Result:
        from redveil.conversation import confirm as ask

        return ask(
            first,
            dataset,
            loss.epsilon,
            delta=loss.delta,
            result_name=where.name,
            ledger=where.ledger,
            progress=report,
            keep=keep,
        )

    run_and_save("confirming", run, where)
