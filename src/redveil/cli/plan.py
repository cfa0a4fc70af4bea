"""`redveil plan`: show how a run would spend its ε, without any data."""

from __future__ import annotations

import json
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
    JsonOutput,
    ProfileName,
    RootScoreName,
    SamplerName,
    StartName,
    TreeShare,
    Trials,
)
from redveil.cli.console import output
from redveil.schema import Schema

if TYPE_CHECKING:
    from redveil.algorithms.parameters import Parameters
    from redveil.algorithms.tuning import Tuned
    from redveil.privacy.loss import Loss
    from redveil.privacy.plan import Plan


def plan(
    epsilon: Epsilon,
    delta: Delta = None,
    entities: Annotated[
        int | None, typer.Option(min=0, help="Show the plan for about this many entities.")
    ] = None,
    schema: Annotated[
        Path | None,
        typer.Option("--schema", "-s", help="Plan for this schema's number of splits."),
    ] = None,
    algorithm: AlgorithmName = None,
    profile: ProfileName = None,
    depth: Depth = None,
    trials: Trials = None,
    alternations: Alternations = None,
    tree_share: TreeShare = None,
    counts: CountsName = None,
    sampler: SamplerName = None,
    start: StartName = None,
    root_score: RootScoreName = None,
    as_json: JsonOutput = False,
) -> None:
    """Show how a run would spend its ε. Needs no data; the prices add up exactly.

    Defaults 'by size' follow from a noisy count of the entities, which a run buys first. Without
    --entities, all cases are listed.
    """
    from redveil.algorithms.parameters import Parameters
    from redveil.algorithms.tuning import cases, tune, tuned_plan
    from redveil.privacy.loss import parse_loss
    from redveil.privacy.score import MOST_ENTITIES
    from redveil.report.text import cases_table, steps_table

    wanted = Parameters.of(
        algorithm=algorithm,
        profile=profile,
        depth=depth,
        trials=trials,
        alternations=alternations,
        tree_share=tree_share,
        counts=counts,
        sampler=sampler,
        start=start,
        root_score=root_score,
    )
    loss = parse_loss(epsilon, delta)
    wanted.must_allow(loss)
    declared = Schema.read(schema) if schema else None
    if wanted.auto and entities is None:
        found = cases(wanted, declared, loss.price, MOST_ENTITIES)
        if as_json:
            _print_json(_promise(loss) | {"cases": [_case(one) for one in found]})
        else:
            output().print(cases_table(found))
        return
    made = tuned_plan(tuned := tune(wanted, declared, entities or 0, loss.price), loss.price)
    if as_json:
        _print_json(_promise(loss) | _shape(tuned) | {"steps": _steps(made)})
    else:
        output().print(steps_table(made.steps))


def _print_json(content: dict[str, Any]) -> None:
    typer.echo(json.dumps(content, indent=1))


def _promise(loss: Loss) -> dict[str, Any]:
    pure = {"epsilon": str(loss.epsilon)}
    return pure | ({"delta": str(loss.delta), "rho": str(loss.price)} if loss.delta else {})


def _steps(made: Plan) -> list[dict[str, str]]:
    from redveil.privacy.loss import Rho

    currency = "rho" if isinstance(made.price, Rho) else "epsilon"
    return [
        {"name": step.name, "mechanism": step.mechanism, currency: str(step.price)}
        for step in made.steps
    ]


def _case(one: Tuned) -> dict[str, Any]:
    return {"entities_from": one.size, **_shape(one.parameters), "steps": _steps(one.plan)}


def _shape(tuned: Parameters) -> dict[str, Any]:
    return {
        "depth": tuned.depth,
        "trials": tuned.trials,
        **({"alternations": tuned.alternations} if tuned.algorithm.alternates else {}),
        **({"root_score": tuned.root_score.value} if tuned.needs_soil else {}),
    }
