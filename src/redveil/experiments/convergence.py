"""Do the walk's scores depend on ε? The published pair score, and ours.

    python -m redveil.experiments.convergence LEFT RIGHT --schema S

The published score lies in [0, 1] and is charged a sensitivity of 1, so that its walk is nearly a
uniform one at any sensible ε. N times that score, and association, move by about 1 per entity.
"""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

import redveil
from redveil.algorithms.parameters import Parameters
from redveil.cli.console import output, progress
from redveil.diagnosis import diagnose
from redveil.schema import Side

SETTINGS = (
    ("published", "purity"),
    ("hardened", "purity"),
    ("hardened", "association"),
)


def main(
    left: Path,
    right: Path,
    schema: Annotated[Path, typer.Option()],
    depth: int = 4,
    steps: int = 10_000,
    walks: int = 4,
) -> None:
    """Print mean scores of the second halves of walks at ε = 10 and ε = 0.0001."""
    from rich.table import Table

    dataset = redveil.load(left, right, schema)
    table = Table(box=None, header_style="bold")
    for name in ("profile", "score", "ε = 10", "ε = 0.0001", "gain in standard deviations"):
        table.add_column(name)
    with progress("walking") as report:
        for number, (profile, score) in enumerate(SETTINGS, start=1):
            late = {}
            for epsilon in (Fraction(10), Fraction(1, 10_000)):
                parameters = Parameters.of(
                    algorithm="tree-pair",
                    profile=profile,
                    pair_score=score,
                    depth=depth,
                    steps=steps,
                    trials=1,
                )
                # One initial target for all: an attribute in the middle of the right view.
                target = Side.RIGHT, len(dataset.schema.right.attributes) // 2
                traces = diagnose(dataset, parameters, epsilon, walks, target).traces
                late[epsilon] = traces[:, steps // 2 :]
            high, low = late.values()
            gain = (high.mean() - low.mean()) / max(float(np.std(low)), 1e-12)
            cells = (f"{x.mean():.3f} ± {x.std():.3f}" for x in (high, low))
            table.add_row(profile, score, *cells, f"{gain:.1f}")
            report(number / len(SETTINGS))
    output().print(table)


if __name__ == "__main__":
    typer.run(main)
