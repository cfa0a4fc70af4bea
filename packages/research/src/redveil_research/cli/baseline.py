"""`redveil baseline` and `redveil diagnose`: for the data owner only."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from redveil.seam.commands import (
    FILES,
    Epsilon,
    Left,
    MaxPValue,
    MaxSupport,
    MinJaccard,
    MinSupport,
    PairScoreName,
    ProfileName,
    Right,
    SchemaFile,
    Steps,
    check_output,
    display,
    find_schema,
    is_standard_output,
    load_tables,
    naming_options,
    progress,
    rich_text,
    save,
    say,
    write,
)
from redveil.seam.results import FileKind
from redveil_research.baselines import BaselineName
from redveil_research.diagnosis import WalkingName

if TYPE_CHECKING:
    from redveil_research.baselines.baseline import Baseline


GROWTH = "Trees"


def baseline(
    method: Annotated[
        BaselineName,
        typer.Argument(metavar="METHOD", help="split-trees, layered-trees or cartwheels."),
    ],
    left: Left,
    right: Right,
    schema: SchemaFile = None,
    depth: Annotated[
        int, typer.Option(help="Depth of the trees, 1 to 10.", rich_help_panel=GROWTH)
    ] = 4,
    starts: Annotated[
        int,
        typer.Option(help="Attributes to start from, best first.", rich_help_panel=GROWTH),
    ] = 100,
    min_leaf: Annotated[
        int | None,
        typer.Option(
            help="Fewest entities in a leaf [default: a fifth of --min-support]",
            rich_help_panel=GROWTH,
        ),
    ] = None,
    max_p_value: MaxPValue = 0.01,
    min_jaccard: MinJaccard = 0.1,
    min_support: MinSupport = 10,
    max_support: MaxSupport = 0.8,
    target: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="Write what is found to this file; - prints it.",
            rich_help_panel=FILES,
        ),
    ] = None,
) -> None:
    """Mine without privacy, to compare with. NOT PRIVATE: for the data owner only.

    It grows pairs of scikit-learn's trees and reports true values, as in

    redveil baseline split-trees diagnoses.csv laboratory.csv --depth 3
    """
    from redveil.seam.truth import Constraints
    from redveil_research.baselines.baseline import baseline as mine
    from redveil_research.baselines.baseline import read_parameters

    # Refuse bad parameters before reading any data.
    with naming_options():
        limits = Constraints(max_p_value, min_jaccard, min_support, max_support)
        read_parameters(method, depth, starts, min_leaf, limits)
    declared, schema_path = find_schema(schema, left)
    if target is not None:
        check_output(target, FileKind.BASELINE, [*left.needed(), *right.needed(), schema_path])
    dataset = load_tables(left, right, declared, schema_path, quiet=True)
    with progress(method) as report:
        found = mine(
            dataset,
            method,
            depth=depth,
            starts=starts,
            min_leaf=min_leaf,
            max_p_value=max_p_value,
            min_jaccard=min_jaccard,
            min_support=min_support,
            max_support=max_support,
            progress=report,
        )
    kept = None if target is None else save(found.to_json(), target, FileKind.BASELINE)
    if target is not None and is_standard_output(target):
        return
    show(found)
    if kept:
        say(f"previous baseline kept as {kept}")
    if target is not None:
        say(f"written to {target} (NOT PRIVATE)", "bold red")


def show(found: Baseline) -> None:
    """Print a baseline, the warning first."""
    from rich.text import Text

    from redveil.seam.results import Listing

    warning, *rest = found.blocks()
    display(Text(str(warning), style="bold red"))
    for block in rest:
        display(block.rich() if isinstance(block, Listing) else rich_text(str(block)))


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
