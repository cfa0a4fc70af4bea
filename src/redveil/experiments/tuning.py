"""The evidence behind the tuning rule: trees of every shape on generated worlds.

    python -m redveil.experiments.tuning [--algorithm twin] [--runs 3] [--table FILE] …

Nobody's data is looked at: the rule must not be fitted to what it will be judged by. Every world is
generated at several sizes and seeds, and mined at ε = 1 with fixed depth and number of twin pairs,
or of alternations.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final

import numpy as np
import typer

import redveil
from redveil import owner
from redveil.cli.console import progress
from redveil.experiments.worlds import build
from redveil.files import write_text

WORLDS: Final = ("gradients", "survey", "claims")
SIZES: Final = (300, 700, 1_500, 3_000, 6_000, 12_000, 30_000, 60_000)
SHAPES: Final = ((1, 1), (2, 1), (3, 1), (2, 2), (3, 2), (3, 4))
ALTERNATION_SIZES: Final = (300, 700, 1_500, 3_000, 4_000, 5_000, 6_000, 8_000, 10_000)
ALTERNATION_SHAPES: Final = ((1, 0), (1, 1), (2, 1), (2, 2))
SEEDS: Final = (1, 2)


@dataclass(frozen=True, slots=True)
class Trialled:
    """How one shape did on one world at one size, over all seeds and runs.

    repeats: pairs of twins, or alternations.
    """

    world: str
    size: int
    depth: int
    repeats: int
    runs: int
    empty: int
    found: float
    median: float
    best: float


def trialled(world: str, size: int, depth: int, repeats: int, runs: int, **method: Any) -> Trialled:
    """Mine generated data with a fixed shape, and look at the truth.

    method: what else `redveil.mine` is told.

    >>> trialled("noise", 60, depth=1, repeats=1, runs=1).empty
    2
    """
    repeated = "trials" if method.get("algorithm", "twin") == "twin" else "alternations"
    shape: dict[str, Any] = {**method, "depth": depth, repeated: repeats}
    true: list[list[float]] = []
    for seed in SEEDS:
        data = build(world, size, seed)
        for _ in range(runs):
            result = redveil.mine(data, 1, **shape)
            evaluated = owner.truth(result, data)
            true.append([one.true.jaccard for one in evaluated if one.true])
    every = [value for run in true for value in run]
    return Trialled(
        world,
        size,
        depth,
        repeats,
        len(true),
        sum(not run for run in true),
        float(np.mean([len(run) for run in true])),
        float(np.median(every)) if every else 0.0,
        float(np.mean([max(run, default=0.0) for run in true])),
    )


def markdown(rows: Iterable[Trialled], repeated: str = "pairs") -> str:
    """Return the table for the documentation.

    >>> print(markdown([Trialled("claims", 300, 1, 1, 6, 0, 1.5, 0.61, 0.7)]))
    | world | entities | depth | pairs | runs | empty | found | median J | best J |
    | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
    | claims | 300 | 1 | 1 | 6 | 0 | 1.5 | 0.61 | 0.70 |
    """
    lines = [
        f"| world | entities | depth | {repeated} | runs | empty | found | median J | best J |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    lines += [
        f"| {r.world} | {r.size} | {r.depth} | {r.repeats} | {r.runs} | {r.empty} | {r.found:.1f} "
        f"| {r.median:.2f} | {r.best:.2f} |"
        for r in rows
    ]
    return "\n".join(lines)


def page(table: str, title: str, runs: int) -> str:
    """Return the table under a heading, for a file of its own.

    >>> print(page("| world |", "twin", 3).splitlines()[0])
    # All rows of the tuning experiment: twin
    """
    return (
        f"# All rows of the tuning experiment: {title}\n\n"
        f"Generated worlds, ε = 1, {len(SEEDS)} seeds and {runs} runs with each, shapes given. "
        '"found" is per run;\n"best J" averages the best true J of each run, 0 if it was empty.'
        f"\n\n{table}\n"
    )


def main(
    algorithm: Annotated[str, typer.Option(help="twin, alt-expm or alt-mcmc")] = "twin",
    runs: Annotated[int, typer.Option(min=1, help="Runs for each seed.")] = 3,
    root_score: Annotated[str, typer.Option(help="leverage or agreement")] = "leverage",
    tree_share: Annotated[str | None, typer.Option(help="twin: share of the trees")] = None,
    table: Annotated[Path | None, typer.Option(help="Write a page with the table here.")] = None,
) -> None:
    """Mine all worlds with all shapes and print the table."""
    method: dict[str, Any] = {
        "algorithm": algorithm,
        "root_score": root_score,
        "tree_share": tree_share,
    }
    twin = algorithm == "twin"
    sizes, shapes = (SIZES, SHAPES) if twin else (ALTERNATION_SIZES, ALTERNATION_SHAPES)
    cases = [(w, n, depth, repeats) for w in WORLDS for n in sizes for depth, repeats in shapes]

    def rows() -> Iterator[Trialled]:
        with progress("tuning") as report:
            for number, case in enumerate(cases, start=1):
                yield trialled(*case, runs, **method)
                report(number / len(cases))

    text = markdown(rows(), "pairs" if twin else "alternations")
    typer.echo(text)
    if table:
        write_text(table, page(text, ", ".join(said for said in method.values() if said), runs))


if __name__ == "__main__":
    typer.run(main)
