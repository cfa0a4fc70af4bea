"""`redveil plan`: what a run would spend on what, without any data."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from redveil.cli.arguments import (
    AlgorithmName,
    Alternations,
    CountsName,
    Depth,
    Epsilon,
    ProfileName,
    TreeShare,
    Trials,
)
from redveil.cli.console import output


def plan(
    epsilon: Epsilon,
    algorithm: AlgorithmName = None,
    profile: ProfileName = None,
    depth: Depth = None,
    trials: Trials = None,
    alternations: Alternations = None,
    tree_share: TreeShare = None,
    counts: CountsName = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Show what a run would spend on what. Needs no data; the prices add up exactly."""
    from redveil.api import plan as make_plan
    from redveil.report.document import StepPart
    from redveil.report.text import steps_table

    made = make_plan(
        epsilon,
        algorithm=algorithm,
        profile=profile,
        depth=depth,
        trials=trials,
        alternations=alternations,
        tree_share=tree_share,
        counts=counts,
    )
    steps = [
        StepPart(name=s.name, mechanism=s.mechanism, epsilon=str(s.epsilon)) for s in made.steps
    ]
    if as_json:
        listed = [step.model_dump() for step in steps]
        typer.echo(json.dumps({"epsilon": str(made.epsilon), "steps": listed}, indent=1))
    else:
        output().print(steps_table(steps, str(made.epsilon)))
