"""`redveil refine`: search below one redescription of a result."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from redveil.cli.arguments import (
    Delta,
    Epsilon,
    FewInCommon,
    LedgerFile,
    Levels,
    MaxDisjuncts,
    MaxPValue,
    MaxSupport,
    MinJaccard,
    MinSupport,
    Of,
    Output,
    Quiet,
    ResultFile,
    SchemaFile,
    Strict,
    TreeShare,
    naming_options,
)
from redveil.cli.listing import read_listed
from redveil.commands.paid_run import Tables, destination, run_and_save
from redveil.commands.tables import Left, Right, find_schema
from redveil.losses.loss import parse_loss

if TYPE_CHECKING:
    from collections.abc import Callable

    from redveil.handover import Keep
    from redveil.report.result import Result


def refine(
    result: ResultFile,
    left: Left,
    right: Right,
    epsilon: Epsilon,
    of: Of = 1,
    delta: Delta = None,
    max_p_value: MaxPValue = 0.01,
    min_jaccard: MinJaccard = 0.1,
    min_support: MinSupport = 10,
    max_support: MaxSupport = 0.8,
    schema: SchemaFile = None,
    output: Output = Path("refined.json"),
    ledger: LedgerFile = None,
    strict: Strict = False,
    few_in_common: FewInCommon = False,
    quiet: Quiet = False,
    depth: Levels = None,
    tree_share: TreeShare = None,
    max_disjuncts: MaxDisjuncts = None,
) -> None:
    """Search below the two queries of a redescription, with differential privacy.

    The two queries are known, so that all of ε goes to what is below them, and to counts.
    """
    given: dict[str, Any] = {
        "of": of,
        "depth": depth,
        "tree_share": tree_share,
        "max_p_value": max_p_value,
        "min_jaccard": min_jaccard,
        "min_support": min_support,
        "max_support": max_support,
        "max_disjuncts": max_disjuncts,
    }
    with naming_options():
        loss = parse_loss(epsilon, delta)
    first = read_listed(result)
    tables = Tables(left, right, *find_schema(schema, left), strict, few_in_common, quiet)
    where = destination(output, tables, ledger, loss, [result])
    dataset = tables.load()

    def run(report: Callable[[float], None], keep: Keep) -> Result:
        from redveil.conversation import refine as ask

        around: dict[str, Any] = {"ledger": where.ledger, "result_name": where.name}
        with naming_options():
            return ask(
                first,
                dataset,
                loss.epsilon,
                delta=loss.delta,
                progress=report,
                keep=keep,
                **given,
                **around,
            )

    run_and_save("refining", run, where)
