"""`redveil describe`: describe a query of one table by queries of the other."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from redveil.cli.arguments import (
    Delta,
    Depth,
    Epsilon,
    FewInCommon,
    LedgerFile,
    MaxDisjuncts,
    MaxPValue,
    MaxSupport,
    MinJaccard,
    MinSupport,
    Output,
    Query,
    Quiet,
    SchemaFile,
    Strict,
    TreeShare,
    Trials,
    Within,
    naming_options,
)
from redveil.commands.paid_run import Tables, destination, run_and_save
from redveil.commands.tables import Left, Right, find_schema
from redveil.losses.loss import parse_loss

if TYPE_CHECKING:
    from collections.abc import Callable

    from redveil.handover import Keep
    from redveil.report.result import Result


def describe(
    query: Query,
    left: Left,
    right: Right,
    epsilon: Epsilon,
    delta: Delta = None,
    max_p_value: MaxPValue = 0.01,
    min_jaccard: MinJaccard = 0.1,
    min_support: MinSupport = 10,
    max_support: MaxSupport = 0.8,
    within: Within = None,
    schema: SchemaFile = None,
    result: Output = Path("result.json"),
    ledger: LedgerFile = None,
    strict: Strict = False,
    few_in_common: FewInCommon = False,
    quiet: Quiet = False,
    depth: Depth = None,
    trials: Trials = None,
    tree_share: TreeShare = None,
    max_disjuncts: MaxDisjuncts = None,
) -> None:
    """Describe your own query by queries of the other table, with differential privacy.

    Only one table is searched, so that much less ε is needed than for mining. The query is public.
    """
    given: dict[str, Any] = {"depth": depth, "trials": trials, "tree_share": tree_share}
    limits: dict[str, Any] = {
        "max_p_value": max_p_value,
        "min_jaccard": min_jaccard,
        "min_support": min_support,
        "max_support": max_support,
        "max_disjuncts": max_disjuncts,
    }
    with naming_options():
        loss = parse_loss(epsilon, delta)
        _check(given, limits)
    tables = Tables(left, right, *find_schema(schema, left), strict, few_in_common, quiet)
    _check_queries(query, within, tables)
    where = destination(result, tables, ledger, loss)
    dataset = tables.load()

    def run(report: Callable[[float], None], keep: Keep) -> Result:
        from redveil.conversation import describe as ask

        around: dict[str, Any] = {"ledger": where.ledger, "result_name": where.name}
        return ask(
            dataset,
            query,
            loss.epsilon,
            delta=loss.delta,
            within=within,
            progress=report,
            keep=keep,
            **given,
            **limits,
            **around,
        )

    run_and_save("describing", run, where)


def _check(given: dict[str, Any], limits: dict[str, Any]) -> None:
    """Refuse parameters before reading anything."""
    from redveil.algorithms.describe import Describe

    made = Describe.of(**{name: value for name, value in given.items() if value is not None})
    made.profile.constraints(**limits)


def _check_queries(query: str, within: list[str] | None, tables: Tables) -> None:
    """Refuse queries that the schema does not allow, or answers, before reading any data."""
    from redveil.query.condition import must_be_open, read_condition, read_conditions

    asked = read_condition(query, tables.schema, "QUERY")
    part = read_conditions(within, tables.schema, "--within")
    must_be_open(asked, part, tables.schema, "QUERY")
