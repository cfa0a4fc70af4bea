"""The evidence for the tuning rule: trees of several shapes on generated data.

    python -m redveil.experiments.tuning [--algorithm twin] [--runs 3] [--table FILE] …

Needs no data: the rule must not be fitted to the data sets that it is judged by. Every generator
runs at several sizes and seeds. Its data is mined at ε = 1 with a fixed depth and a fixed number of
pairs of twin trees, or of alternations.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final

import numpy as np
import typer

import redveil
from redveil.experiments.console import run, tracked
from redveil.experiments.generators import build

GENERATORS: Final = ("gradients", "survey", "claims")
SIZES: Final = (300, 700, 1_500, 3_000, 6_000, 12_000, 30_000, 60_000)
SHAPES: Final = ((1, 1), (2, 1), (3, 1), (2, 2), (3, 2), (3, 4))
ALTERNATION_SIZES: Final = (300, 700, 1_500, 3_000, 4_000, 5_000, 6_000, 8_000, 10_000)
ALTERNATION_SHAPES: Final = ((1, 0), (1, 1), (2, 1), (2, 2))
SEEDS: Final = (1, 2)


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of one shape on generated data of one kind and size, over all seeds and runs.

    repeats: number of pairs of twin trees, or of alternations.
    """

    data: str
    size: int
    depth: int
    repeats: int
    runs: int
    empty: int
    found: float
    median: float
    best: float


def measure(name: str, size: int, depth: int, repeats: int, runs: int, **method: Any) -> Outcome:
    """Mine generated data with a fixed shape, and compare with the truth.

    method: further arguments of `redveil.mine`.

    >>> measure("noise", 60, depth=1, repeats=1, runs=1).empty
    2
    """
    repeated = "trials" if method.get("algorithm", "twin") == "twin" else "alternations"
    shape: dict[str, Any] = {**method, "depth": depth, repeated: repeats}
    true: list[list[float]] = []
    for seed in SEEDS:
        data = build(name, size, seed)
        for _ in range(runs):
            result = redveil.mine(data, 1, **shape)
            compared = redveil.truth(result, data)
            true.append([one.true.jaccard for one in compared if one.true])
    every = [value for run in true for value in run]
    return Outcome(
        name,
        size,
        depth,
        repeats,
        len(true),
        sum(not run for run in true),
        float(np.mean([len(run) for run in true])),
        float(np.median(every)) if every else 0.0,
        float(np.mean([max(run, default=0.0) for run in true])),
    )


def markdown(rows: Iterable[Outcome], repeated: str = "pairs") -> str:
    """Return the table for the documentation.

    >>> print(markdown([Outcome("claims", 300, 1, 1, 6, 0, 1.5, 0.61, 0.7)]))
    | data | entities | depth | pairs | runs | empty | found | median J | best J |
    | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
    | claims | 300 | 1 | 1 | 6 | 0 | 1.5 | 0.61 | 0.70 |
    """
    lines = [
        f"| data | entities | depth | {repeated} | runs | empty | found | median J | best J |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    lines += [
        f"| {r.data} | {r.size} | {r.depth} | {r.repeats} | {r.runs} | {r.empty} | {r.found:.1f} "
        f"| {r.median:.2f} | {r.best:.2f} |"
        for r in rows
    ]
    return "\n".join(lines)


def page(table: str, title: str, runs: int) -> str:
    """Return the table as a page with a title.

    >>> print(page("| data |", "twin", 3).splitlines()[0])
    # All rows of the tuning experiment: twin
    """
    return (
        f"# All rows of the tuning experiment: {title}\n\n"
        f"Generated data, ε = 1, {len(SEEDS)} seeds and {runs} runs with each, fixed shapes. "
        '"found" is per run;\n"best J" is the mean of the best true J of each run, '
        f"0 if it was empty.\n\n{table}\n"
    )


def main(
    algorithm: Annotated[str, typer.Option(help="twin, alt-expm or alt-mcmc")] = "twin",
    runs: Annotated[int, typer.Option(min=1, help="Runs per seed.")] = 3,
    root_score: Annotated[str, typer.Option(help="leverage or agreement")] = "leverage",
    tree_share: Annotated[
        str | None, typer.Option(help="The trees' share of the budget; for twin only.")
    ] = None,
    table: Annotated[Path | None, typer.Option(help="Write the table to this file.")] = None,
) -> None:
    """Mine all generated data with all shapes and print the table."""
    method: dict[str, Any] = {
        "algorithm": algorithm,
        "root_score": root_score,
        "tree_share": tree_share,
    }
    twin = algorithm == "twin"
    sizes, shapes = (SIZES, SHAPES) if twin else (ALTERNATION_SIZES, ALTERNATION_SHAPES)
    cases = [(name, n, *shape) for name in GENERATORS for n in sizes for shape in shapes]
    rows = [measure(*case, runs, **method) for case in tracked(cases, "tuning")]
    text = markdown(rows, "pairs" if twin else "alternations")
    typer.echo(text)
    if table:
        title = ", ".join(value for value in method.values() if value)
        table.write_text(page(text, title, runs), encoding="utf-8")


if __name__ == "__main__":
    run(main)
