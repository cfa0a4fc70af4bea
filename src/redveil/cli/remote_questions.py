"""`redveil remote plan`, `mine`, `describe`, `refine` and `confirm`: questions to a server."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from redveil.cli.arguments import (
    AlgorithmName,
    Alternations,
    CountsName,
    Delta,
    Depth,
    Epsilon,
    Ignore,
    JsonOutput,
    Levels,
    MaxDisjuncts,
    MaxLiterals,
    MaxPValue,
    MaxSupport,
    MinJaccard,
    MinSupport,
    NoDisjunction,
    NoNegation,
    Of,
    Only,
    Output,
    PairScoreName,
    Prune,
    Query,
    Require,
    ResultFile,
    RootScoreName,
    SamplerName,
    StartName,
    Steps,
    TreeShare,
    Trials,
    Unmatched,
    Within,
    naming_options,
)
from redveil.cli.console import display, write, write_json
from redveil.cli.help import ReadableCommand
from redveil.cli.remote_access import DatasetName, TokenFile, Where, access
from redveil.cli.remote_run import Key, NoWait, Quiet, Wanted, answer
from redveil.cli.steering import attribute_wishes

if TYPE_CHECKING:
    from redveil.report.result import Result
    from redveil.wire.questions import Question

Entities = Annotated[int, typer.Option("--entities", min=1, help="About how many you expect.")]
QueryOption = Annotated[
    str | None, typer.Option("--query", metavar="<query>", help="Plan to describe this query.")
]


def plan(
    dataset: DatasetName,
    epsilon: Epsilon,
    delta: Delta = None,
    entities: Entities = 10_000,
    query: QueryOption = None,
    algorithm: AlgorithmName = None,
    depth: Depth = None,
    trials: Trials = None,
    as_json: JsonOutput = False,
    server: Where = None,
    token_file: TokenFile = None,
) -> None:
    """Show what a question would cost, on what it would be spent, and what is left. Free."""
    given = {"algorithm": algorithm, "depth": depth, "trials": trials}
    with access(server, token_file) as there, naming_options():
        found = there.dataset(dataset).plan(
            epsilon, entities, query=query, delta=delta, **_given(given)
        )
    if as_json:
        write_json(
            {
                "price": found.price.model_dump(),
                "left": found.left.model_dump(),
                "is_covered": found.is_covered,
                "steps": [step.model_dump() for step in found.steps],
            }
        )
        return
    from redveil.client.plan import in_words

    display(found.listing().rich())
    enough = "enough" if found.is_covered else "NOT enough"
    write(f"{in_words(found.price)} would be charged; {in_words(found.left)} left: {enough}")


def mine(
    dataset: DatasetName,
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
    result: Output = Path("result.json"),
    quiet: Quiet = False,
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
    max_disjuncts: MaxDisjuncts = None,
    prune: Prune = None,
    key: Key = None,
    no_wait: NoWait = False,
    server: Where = None,
    token_file: TokenFile = None,
) -> None:
    """Mine redescriptions of a data set on a server, and save the signed result."""
    given: dict[str, Any] = {
        "epsilon": epsilon,
        "delta": delta,
        "max_p_value": max_p_value,
        "min_jaccard": min_jaccard,
        "min_support": min_support,
        "max_support": max_support,
        "max_literals": max_literals,
        "negation": not no_negation,
        "disjunction": not no_disjunction,
        "within": within,
        "algorithm": algorithm,
        "depth": depth,
        "trials": trials,
        "alternations": alternations,
        "walk_steps": steps,
        "tree_share": tree_share,
        "counts": counts,
        "root_score": root_score,
        "pair_score": pair_score,
        "sampler": sampler,
        "start": start,
        "max_disjuncts": max_disjuncts,
        "prune": prune,
    }
    given |= attribute_wishes(ignore, only, require, unmatched)
    _ask(dataset, _question("mine", given), Wanted(result, quiet, no_wait, key), server, token_file)


def describe(
    query: Query,
    dataset: DatasetName,
    epsilon: Epsilon,
    delta: Delta = None,
    max_p_value: MaxPValue = 0.01,
    min_jaccard: MinJaccard = 0.1,
    min_support: MinSupport = 10,
    max_support: MaxSupport = 0.8,
    within: Within = None,
    result: Output = Path("result.json"),
    quiet: Quiet = False,
    depth: Depth = None,
    trials: Trials = None,
    tree_share: TreeShare = None,
    max_disjuncts: MaxDisjuncts = None,
    key: Key = None,
    no_wait: NoWait = False,
    server: Where = None,
    token_file: TokenFile = None,
) -> None:
    """Describe your own query by queries of the other view, on a server."""
    given = {
        "query": query,
        "epsilon": epsilon,
        "delta": delta,
        "max_p_value": max_p_value,
        "min_jaccard": min_jaccard,
        "min_support": min_support,
        "max_support": max_support,
        "within": within,
        "depth": depth,
        "trials": trials,
        "tree_share": tree_share,
        "max_disjuncts": max_disjuncts,
    }
    wanted = Wanted(result, quiet, no_wait, key)
    _ask(dataset, _question("describe", given), wanted, server, token_file)


def refine(
    result: ResultFile,
    dataset: DatasetName,
    epsilon: Epsilon,
    of: Of = 1,
    delta: Delta = None,
    max_p_value: MaxPValue = 0.01,
    min_jaccard: MinJaccard = 0.1,
    min_support: MinSupport = 10,
    max_support: MaxSupport = 0.8,
    output: Output = Path("refined.json"),
    quiet: Quiet = False,
    depth: Levels = None,
    tree_share: TreeShare = None,
    max_disjuncts: MaxDisjuncts = None,
    key: Key = None,
    no_wait: NoWait = False,
    server: Where = None,
    token_file: TokenFile = None,
) -> None:
    """Search below the two queries of a redescription that the server has found."""
    given = {
        "job": _job(result),
        "of": of,
        "epsilon": epsilon,
        "delta": delta,
        "max_p_value": max_p_value,
        "min_jaccard": min_jaccard,
        "min_support": min_support,
        "max_support": max_support,
        "depth": depth,
        "tree_share": tree_share,
        "max_disjuncts": max_disjuncts,
    }
    wanted = Wanted(output, quiet, no_wait, key)
    _ask(dataset, _question("refine", given), wanted, server, token_file, result)


def confirm(
    result: ResultFile,
    dataset: DatasetName,
    epsilon: Epsilon,
    delta: Delta = None,
    output: Output = Path("confirmed.json"),
    quiet: Quiet = False,
    key: Key = None,
    no_wait: NoWait = False,
    server: Where = None,
    token_file: TokenFile = None,
) -> None:
    """Measure the redescriptions of a server's result again, on another of its data sets."""
    given = {"job": _job(result), "epsilon": epsilon, "delta": delta}
    wanted = Wanted(output, quiet, no_wait, key)
    _ask(dataset, _question("confirm", given), wanted, server, token_file, result)


def add_questions(group: typer.Typer) -> None:
    """Add the commands to a group."""
    for command in (plan, mine, describe, refine, confirm):
        group.command(cls=ReadableCommand)(command)


def _ask(
    dataset: str,
    asked: Question,
    wanted: Wanted,
    server: str | None,
    token_file: Path | None,
    *inputs: Path,
) -> None:
    wanted.check(inputs)
    with access(server, token_file, charges=True) as there, naming_options():
        answer(there, there.dataset(dataset).id, asked, wanted)


def _question(kind: str, given: dict[str, Any]) -> Question:
    from redveil.client.questions import question

    with naming_options():
        return question(kind, given)


def _job(path: Path) -> str:
    """Return the job that a result file is of."""
    from redveil.client.questions import job_of
    from redveil.report.result import Result as Kind

    read: Result = Kind.read(path)
    return job_of(read)


def _given(parameters: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in parameters.items() if value is not None}
