"""The evidence behind the tuning rule: twin trees of every shape on generated worlds.

    python -m redveil.experiments.tuning [--runs 3] [--table FILE]

Nobody's data is looked at: the rule must not be fitted to what it will be judged by. Every world is
generated at several sizes and seeds, and mined at ε = 1 with fixed depth and number of twin pairs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final

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
SEEDS: Final = (1, 2)


@dataclass(frozen=True, slots=True)
class Trialled:
    """How one shape did on one world at one size, over all seeds and runs."""

    world: str
    size: int
    depth: int
    trials: int
    runs: int
    empty: int
    found: float
    median: float
    best: float


def trialled(world: str, size: int, depth: int, trials: int, runs: int) -> Trialled:
    """Mine generated data with a fixed shape, and look at the truth.

    >>> trialled("noise", 60, depth=1, trials=1, runs=1).empty
    2
    """
    true: list[list[float]] = []
    for seed in SEEDS:
        data = build(world, size, seed)
        for _ in range(runs):
            result = redveil.mine(data, 1, depth=depth, trials=trials)
            evaluated = owner.evaluate(result, data)
            true.append([one.true.jaccard for one in evaluated if one.true])
    every = [value for run in true for value in run]
    return Trialled(
        world,
        size,
        depth,
        trials,
        len(true),
        sum(not run for run in true),
        float(np.mean([len(run) for run in true])),
        float(np.median(every)) if every else 0.0,
        float(np.mean([max(run, default=0.0) for run in true])),
    )


def markdown(rows: Iterable[Trialled]) -> str:
    """Return the table for the documentation.

    >>> print(markdown([Trialled("claims", 300, 1, 1, 6, 0, 1.5, 0.61, 0.7)]))
    | world | entities | depth | pairs | runs | empty | found | median J | best J |
    | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
    | claims | 300 | 1 | 1 | 6 | 0 | 1.5 | 0.61 | 0.70 |
    """
    lines = [
        "| world | entities | depth | pairs | runs | empty | found | median J | best J |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    lines += [
        f"| {r.world} | {r.size} | {r.depth} | {r.trials} | {r.runs} | {r.empty} | {r.found:.1f} "
        f"| {r.median:.2f} | {r.best:.2f} |"
        for r in rows
    ]
    return "\n".join(lines)


def main(
    runs: Annotated[int, typer.Option(min=1, help="Runs for each seed.")] = 3,
    table: Annotated[Path | None, typer.Option(help="Write the table here.")] = None,
) -> None:
    """Mine all worlds with all shapes and print the table."""
    cases = [(w, n, d, t) for w in WORLDS for n in SIZES for d, t in SHAPES]

    def rows() -> Iterator[Trialled]:
        with progress("tuning") as report:
            for number, case in enumerate(cases, start=1):
                yield trialled(*case, runs)
                report(number / len(cases))

    text = markdown(rows())
    typer.echo(text)
    if table:
        write_text(table, text + "\n")


if __name__ == "__main__":
    typer.run(main)
