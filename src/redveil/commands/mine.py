"""`redveil mine`: mine two tables."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from redveil.cli.arguments import (
    AlgorithmName,
    Alternations,
    Cluster,
    CountsName,
    Delta,
    Depth,
    Epsilon,
    FewInCommon,
    Ignore,
    LedgerFile,
    MaxDisjuncts,
    MaxLiterals,
    MaxPValue,
    MaxSupport,
    MinJaccard,
    MinSupport,
    NoDisjunction,
    NoNegation,
    Only,
    Output,
    PairScoreName,
    ProfileName,
    Prune,
    Quiet,
    Require,
    RootScoreName,
    SamplerName,
    SchemaFile,
    StartName,
    Steps,
    Strict,
    TreeShare,
    Trials,
    Unmatched,
    VarianceThreshold,
    Within,
    naming_options,
)
from redveil.cli.console import say
from redveil.cli.steering import attribute_wishes
from redveil.commands.paid_run import Destination, Tables, destination, run_and_save
from redveil.commands.tables import Left, Right, find_schema
from redveil.losses.loss import Loss, parse_loss

if TYPE_CHECKING:
    from collections.abc import Callable

    from redveil.data.dataset import Dataset
    from redveil.handover import Keep
    from redveil.report.result import Result
    from redveil.schema import Schema

LIMITS: Final = ("max_p_value", "min_jaccard", "min_support", "max_support", "max_disjuncts")


def mine(
    left: Left,
    right: Right,
    epsilon: Epsilon,
    delta: Delta = None,
    max_p_value: MaxPValue = 0.01,
    min_jaccard: MinJaccard = 0.1,
    min_support: MinSupport = 10,
    max_support: MaxSupport = 0.8,
    ignore: Ignore = None,
    only: Only = None,
    require: Require = None,
    unmatched: Unmatched = None,
    max_literals: MaxLiterals = None,
    no_negation: NoNegation = False,
    no_disjunction: NoDisjunction = False,
    within: Within = None,
    schema: SchemaFile = None,
    result: Output = Path("result.json"),
    ledger: LedgerFile = None,
    strict: Strict = False,
    few_in_common: FewInCommon = False,
    cluster: Cluster = None,
    quiet: Quiet = False,
    profile: ProfileName = None,
    algorithm: AlgorithmName = None,
    depth: Depth = None,
    trials: Trials = None,
    alternations: Alternations = None,
    steps: Steps = None,
    tree_share: TreeShare = None,
    counts: CountsName = None,
    root_score: RootScoreName = None,
    pair_score: PairScoreName = None,
    sampler: SamplerName = None,
    start: StartName = None,
    variance_threshold: VarianceThreshold = None,
    max_disjuncts: MaxDisjuncts = None,
    prune: Prune = None,
) -> None:
    """Mine redescriptions with ε- or (ε, δ)-differential privacy.

    The result file contains released values only, so it can be shared.

    A default from the noisy number of entities costs a hundredth of ε, which buys that number. The
    published profile has other defaults: the paper's, with pruning. Limits on what to report apply
    to the unfavourable end of each interval (hardened profile).
    """
    given: dict[str, Any] = {
        "algorithm": algorithm,
        "profile": profile,
        "depth": depth,
        "trials": trials,
        "alternations": alternations,
        "walk_steps": steps,
        "tree_share": tree_share,
        "counts": counts,
        "pair_score": pair_score,
        "root_score": root_score,
        "sampler": sampler,
        "start": start,
        "variance_threshold": variance_threshold,
    }
    limits = _limits(max_p_value, min_jaccard, min_support, max_support, max_disjuncts)
    says = {"negation": not no_negation, "disjunction": not no_disjunction}
    words = {"max_literals": max_literals, **says}
    # Refuse bad parameters before reading any data.
    with naming_options():
        loss = parse_loss(epsilon, delta)
        _check(given, loss, limits, prune, words)
    tables = Tables(left, right, *find_schema(schema, left), strict, few_in_common, quiet)
    named = attribute_wishes(ignore, only, require, unmatched)
    _check_wishes(tables.schema, named)
    _check_part(within, tables.schema)
    where = destination(result, tables, ledger, loss)
    given |= limits | words | named | {"prune": prune, "within": within, "ledger": where.ledger}
    # Conditions may compare numbers with any value, and the published profile looks at them all.
    packed = within is None and profile in (None, "hardened")
    _run(tables.load(packed=packed, cluster=cluster), loss, given, where)


def _run(dataset: Dataset, loss: Loss, given: dict[str, Any], where: Destination) -> None:
    """Mine, save the result, and show it."""

    def run(report: Callable[[float], None], keep: Keep) -> Result:
        from redveil.api import mine as run_mine

        around: dict[str, Any] = {"result_name": where.name, "progress": report, "keep": keep}
        return run_mine(dataset, loss.epsilon, delta=loss.delta, **given, **around)

    run_and_save("mining", run, where)


def _check_part(within: list[str] | None, declared: Schema) -> None:
    """Refuse a query that the schema does not allow, before reading any data."""
    from redveil.query.condition import read_conditions

    read_conditions(within, declared, "--within")


def _limits(*values: float | None) -> dict[str, Any]:
    return dict(zip(LIMITS, values, strict=True))


def _check(
    given: dict[str, Any],
    loss: Loss,
    limits: dict[str, Any],
    prune: str | None,
    words: dict[str, Any],
) -> None:
    """Refuse parameters, and say what their profile warns of."""
    from redveil.algorithms.catalogue import make_algorithm
    from redveil.findings.reporting import read_prune
    from redveil.findings.taste import Taste

    how = make_algorithm(**given).profile
    how.check_loss(loss)
    how.reporting(how.constraints(**limits), read_prune(prune))
    Taste(**words)
    if how.warning:
        say(how.warning, "bold red")


def _check_wishes(schema: Schema | None, wishes: dict[str, Any]) -> None:
    """Refuse attributes that the schema does not have, before any data is read."""
    from redveil.algorithms.steering import Steering

    with naming_options():
        Steering.of(schema, **wishes)
