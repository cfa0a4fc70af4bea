"""`redveil diagnose`: check whether Markov chains converge."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from redveil.seam.commands import (
    Epsilon,
    Left,
    PairScoreName,
    ProfileName,
    Right,
    SchemaFile,
    Steps,
    check_output,
    find_schema,
    load_tables,
    naming_options,
    say,
    write,
)
from redveil.seam.results import FileKind
from redveil_research.diagnosis import WalkingName


def diagnose(
    left: Left,
    right: Right,
    epsilon: Epsilon,
    schema: SchemaFile = None,
    algorithm: Annotated[WalkingName, typer.Option(help="Algorithm to diagnose.")] = "tree-pair",
    profile: ProfileName = None,
    depth: Annotated[
        int | None, typer.Option(help="Depth of the trees, 1 to 6 [default: 2; published: 4]")
    ] = None,
    steps: Steps = None,
    pair_score: PairScoreName = None,
    walks: Annotated[int, typer.Option(min=2, max=64, help="Number of parallel walks.")] = 4,
    picture: Annotated[
        Path | None, typer.Option("--plot", help="Plot the scores to this file (PNG, SVG or PDF).")
    ] = None,
) -> None:
    """Check whether Markov chains converge on this data. NOT PRIVATE: for the data owner only."""
    from redveil.seam.walks import walking
    from redveil_research.diagnosis import diagnose as run
    from redveil_research.figures.canvas import check_figure
    from redveil_research.figures.plot import plot_traces

    given: dict[str, Any] = {
        "profile": profile,
        "depth": depth,
        "walk_steps": steps,
        "pair_score": pair_score,
    }
    # Refuse bad parameters before reading any data.
    with naming_options():
        walking(algorithm, epsilon, walks, **given)
    declared, schema_path = find_schema(schema, left)
    if picture is not None:
        check_figure(picture)
        check_output(picture, FileKind.FIGURE, [*left.needed(), *right.needed(), schema_path])
    dataset = load_tables(left, right, declared, schema_path, quiet=True)
    say("NOT PRIVATE: computed from the data without noise. For the data owner only.", "bold red")
    found = run(dataset, epsilon, algorithm=algorithm, walks=walks, **given)
    # Before anything is shown, because whoever reads standard output may be gone.
    if picture is not None:
        kept = plot_traces(found.traces, picture)
    for line in found.lines():
        write(line)
    if picture is not None:
        if kept:
            say(f"previous figure kept as {kept}")
        say(f"written to {picture} (NOT PRIVATE)", "bold red")
