"""Do the scores of a walk depend on ε? The published pair score compared with redveil's.

    python -m redveil.experiments.convergence DATA [--dataset MAMMAL]

The published score lies in [0, 1] and is charged a sensitivity of 1, so that its walk is nearly
uniform at any reasonable ε. N times that score, and association, change by about 1 per entity. The
target attribute of purity is drawn at random for every diagnosis, so several are averaged. DATA is
the folder of the data sets. For data that is not sensitive: the scores are not private.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal, TypeAlias

import numpy as np
import typer

import redveil
from redveil.experiments import datasets
from redveil.experiments.console import run, show, tracked

Setting: TypeAlias = tuple[Literal["published", "hardened"], Literal["purity", "association"]]
SETTINGS: tuple[Setting, ...] = (
    ("published", "purity"),
    ("hardened", "purity"),
    ("hardened", "association"),
)
HIGH, LOW = "10", "0.0001"
HEADS = ("profile", "score", f"ε = {HIGH}", f"ε = {LOW}", "gain", "its standard error")


def main(
    data: Annotated[Path, typer.Argument(help="Folder of the data sets.")],
    dataset: Annotated[str, typer.Option(help="Name of the data set.")] = "MAMMAL",
    depth: Annotated[int, typer.Option(help="Depth of the trees.")] = 4,
    walk_steps: Annotated[int, typer.Option(help="Length of a walk.")] = 10_000,
    walks: Annotated[int, typer.Option(min=2, help="Walks per diagnosis.")] = 4,
    repeats: Annotated[int, typer.Option(min=2, help="Diagnoses per row and ε.")] = 20,
) -> None:
    """Print mean scores of the second halves of walks, and the gain in standard deviations."""
    loaded = datasets.find(dataset).load(data)
    rows = []
    for profile, score in tracked(SETTINGS, "walking"):
        late = {}
        for epsilon in (HIGH, LOW):
            late[epsilon] = [
                redveil.diagnose(
                    loaded,
                    epsilon,
                    profile=profile,
                    pair_score=score,
                    depth=depth,
                    walk_steps=walk_steps,
                    walks=walks,
                ).traces[:, walk_steps // 2 :]
                for _ in range(repeats)
            ]
        rows.append((profile, score, *summarise(late[HIGH], late[LOW])))
    show(HEADS, rows, texts=2)


def summarise(high: Sequence[np.ndarray], low: Sequence[np.ndarray]) -> tuple[str, str, str, str]:
    """Return the mean scores at both ε, the gain and its standard error, as texts.

    Scores are given per diagnosis. The unit of the gain is the standard deviation of the scores
    within the diagnoses at the smaller ε.

    >>> summarise([np.array([5.0, 7.0]), np.array([6.0, 8.0])], [np.array([1.0, 3.0])] * 2)
    ('6.500 ± 1.000', '2.000 ± 1.000', '4.5', '0.5')
    """
    means = [np.array([one.mean() for one in side]) for side in (high, low)]
    within = [math.sqrt(np.mean([one.var() for one in side])) for side in (high, low)]
    unit = max(within[1], 1e-12)
    gain = (means[0].mean() - means[1].mean()) / unit
    error = math.sqrt(sum(one.var(ddof=1) / one.size for one in means)) / unit
    scores = [f"{one.mean():.3f} ± {spread:.3f}" for one, spread in zip(means, within, strict=True)]
    return scores[0], scores[1], f"{gain:.1f}", f"{error:.1f}"


if __name__ == "__main__":
    run(main)
