"""`redveil diagnose`: the owner looks whether the walks settle."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from redveil.cli.arguments import (
    Depth,
    Epsilon,
    Left,
    PairScoreName,
    Right,
    SchemaFile,
    Steps,
    find_schema,
)
from redveil.cli.console import progress, say


def diagnose(
    left: Left,
    right: Right,
    epsilon: Epsilon,
    schema: SchemaFile = None,
    algorithm: Annotated[str, typer.Option(help="tree-pair, alt-mcmc")] = "tree-pair",
    depth: Depth = None,
    steps: Steps = None,
    pair_score: PairScoreName = None,
    walks: Annotated[int, typer.Option(min=2, max=64, help="Parallel walks.")] = 4,
    picture: Annotated[
        Path | None, typer.Option("--plot", help="Draw the scores (PNG, SVG or PDF).")
    ] = None,
) -> None:
    """See whether walks settle on this data. NOT PRIVATE: for the data's owner only."""
    from redveil.algorithms.parameters import Parameters
    from redveil.data.loading import load
    from redveil.diagnosis import diagnose as run
    from redveil.privacy.loss import parse_epsilon
    from redveil.report.figures import traces

    price = parse_epsilon(epsilon)
    # At small depths alt-mcmc would draw exactly, and there would be nothing to diagnose.
    sampler = "walk" if algorithm == "alt-mcmc" else None
    parameters = Parameters.of(
        algorithm=algorithm, depth=depth, steps=steps, pair_score=pair_score, sampler=sampler
    )
    declared, _ = find_schema(schema, left)
    with progress("loading") as report:
        dataset = load(left, right, declared, progress=lambda _, share: report(share))
    say("NOT PRIVATE: this looks at the data. It is for the data's owner only.", "bold red")
    found = run(dataset, parameters, price, walks)
    for line in found.lines():
        typer.echo(line)
    if picture is not None:
        traces(found.traces, picture)
        say(f"written to {picture} (NOT PRIVATE)", "bold red")
