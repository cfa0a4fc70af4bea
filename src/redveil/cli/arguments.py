"""Arguments and options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from redveil.errors import InputError
from redveil.schema import Schema

Left = Annotated[Path, typer.Argument(help="Left table: CSV, CSV.gz, Parquet or ARFF.")]
Right = Annotated[Path, typer.Argument(help="Right table, over the same entities.")]
SchemaFile = Annotated[
    Path | None,
    typer.Option("--schema", "-s", help="datapackage.json [default: beside the left table]"),
]
Epsilon = Annotated[
    str, typer.Option("--epsilon", "-e", help="Privacy loss of the run: 1, 0.25 or 1/3.")
]
Delta = Annotated[
    str | None,
    typer.Option(
        "--delta", help="Chance of a larger loss, as 1e-6; accounts in rho [default: 0, pure]"
    ),
]
AlgorithmName = Annotated[
    str | None, typer.Option("--algorithm", help="twin (default), alt-expm, alt-mcmc or tree-pair.")
]
ProfileName = Annotated[
    str | None,
    typer.Option("--profile", help="hardened (default), or published: NOT for sensitive data."),
]
Depth = Annotated[
    int | None, typer.Option(help="Depth of the trees [default: by the private size, else 2]")
]
Trials = Annotated[
    int | None, typer.Option(help="Pairs of trees [default: twin by the private size, else 1]")
]
Alternations = Annotated[
    int | None,
    typer.Option(help="alt-*: trees after the first; 0: start alone [default: by size, else 2]"),
]
Steps = Annotated[int | None, typer.Option(help="Steps of each walk [default: 10000]")]
TreeShare = Annotated[
    str | None, typer.Option(help="twin, tree-pair: share of ε for the trees [default: 1/2]")
]
CountsName = Annotated[
    str | None,
    typer.Option("--counts", help="cells (default), least-squares (margins too) or two-pass."),
]
SamplerName = Annotated[
    str | None,
    typer.Option("--sampler", help="alt-mcmc: exact (default up to depth 2) or walk."),
]
StartName = Annotated[
    str | None, typer.Option("--start", help="alt-*: private (default) or random.")
]
RootScoreName = Annotated[
    str | None,
    typer.Option(help="First choice of twins and starts: leverage or agreement [default: by size]"),
]
PairScoreName = Annotated[
    str | None,
    typer.Option("--pair-score", help="tree-pair: association (default) or purity."),
]
Prune = Annotated[str | None, typer.Option(help="Drop smaller noisy supports: a number, or auto.")]
MaxPValue = Annotated[float, typer.Option(help="Largest p-value, pessimistic.")]
MinJaccard = Annotated[float, typer.Option(help="Smallest Jaccard index, pessimistic.")]
MinSupport = Annotated[int, typer.Option(help="Fewest entities, pessimistic.")]
MaxSupport = Annotated[float, typer.Option(help="Largest share that a query may cover.")]
MaxDisjuncts = Annotated[
    int | None, typer.Option(help="Most leaves joined in one query [default: 3]")
]
Output = Annotated[Path, typer.Option("--output", "-o", help="Where the result is written.")]
LedgerFile = Annotated[
    Path | None,
    typer.Option(
        "--ledger", help="Where charges are kept [default: beside the schema, if it has a budget]"
    ),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Only write the file.")]


def find_schema(given: Path | None, left: Path) -> tuple[Schema, Path]:
    """Read the schema that was named, or the one beside the left table."""
    path = given or left.parent / "datapackage.json"
    if given is None and not path.exists():
        raise InputError(
            f"{path}: no schema there; name one with --schema, "
            f"or propose one with `redveil schema draft {left} RIGHT`"
        )
    return Schema.read(path), path
