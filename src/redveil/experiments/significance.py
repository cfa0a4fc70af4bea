"""The share of truly significant redescriptions, and how well noisy Jaccard indices rank them.

    python -m redveil.experiments.significance DATA [--dataset MAMMAL] [--paper paper-results.json]

Runs the paper's three algorithms in both profiles, the published one with the paper's parameters,
pools the runs, and prints the paper's numbers next to ours. DATA is the folder of the data sets.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

import redveil
from redveil.experiments import datasets
from redveil.experiments.console import run, show, tracked

HEADS = (
    *("algorithm", "profile", "found", "empty", "significant", "paper", "Spearman", "paper"),
    *("median J", "|ΔJ|"),
)
PAPER_NAMES = {"alt-mcmc": "AltMCMC", "alt-expm": "AltExpM", "tree-pair": "MCMCTreePair"}


@dataclass(frozen=True, slots=True)
class Summary:
    """One algorithm and profile, pooled over runs. Shares lie between 0 and 1; NaN if empty."""

    algorithm: str
    profile: str
    found: int
    empty: int
    significant: float
    spearman: float
    jaccard: float
    difference: float


def summarise(
    dataset: redveil.Dataset, algorithm: Any, profile: Any, runs: int, **parameters: Any
) -> Summary:
    """Mine several times, pool the runs and compare them with the truth."""
    noisy, true, p_values, empty = [], [], [], 0
    for _ in range(runs):
        result = redveil.mine(dataset, algorithm=algorithm, profile=profile, **parameters)
        compared = redveil.truth(result, dataset)
        empty += len(compared) == 0
        for one in compared:
            assert one.true is not None
            noisy.append(one.jaccard.estimate)
            true.append(one.true.jaccard)
            p_values.append(one.true.p_value)
    return Summary(
        algorithm,
        profile,
        len(true),
        empty,
        float(np.mean(np.array(p_values) <= 0.01)) if true else float("nan"),
        spearman(np.array(noisy), np.array(true)),
        float(np.median(true)) if true else float("nan"),
        float(np.median(np.abs(np.array(noisy) - np.array(true)))) if true else float("nan"),
    )


def spearman(first: np.ndarray, second: np.ndarray) -> float:
    """Return Spearman's rank correlation, NaN if one side is constant.

    >>> spearman(np.array([1.0, 2.0, 3.0]), np.array([1.0, 4.0, 9.0]))
    1.0
    """
    if first.size < 2 or np.ptp(first) == 0 or np.ptp(second) == 0:
        return float("nan")
    return float(np.corrcoef(_ranks(first), _ranks(second))[0, 1])


def _ranks(values: np.ndarray) -> np.ndarray:
    """Return ranks from 1; equal values get the mean of their ranks."""
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    return np.asarray((np.cumsum(counts) - (counts - 1) / 2)[place])


def main(
    data: Annotated[Path, typer.Argument(help="Folder of the data sets.")],
    dataset: Annotated[str, typer.Option(help="Name of the data set.")] = "MAMMAL",
    paper: Annotated[Path | None, typer.Option(help="The paper's numbers, as JSON.")] = None,
    epsilon: str = "1",
    runs: Annotated[int, typer.Option(min=1)] = 10,
    prune: Annotated[str, typer.Option(help="Pruning threshold of the published profile.")] = "500",
    depth: Annotated[int, typer.Option(help="Depth of the published profile's trees.")] = 4,
) -> None:
    """Print the table."""
    subject = datasets.find(dataset)
    loaded = subject.load(data)
    published = _read_paper(paper) if paper else {}
    rows = []
    for algorithm, profile, given in tracked(list(_jobs(prune, depth)), "mining"):
        line = summarise(loaded, algorithm, profile, runs, epsilon=epsilon, **given)
        rows.append(_fields(line, published, subject.name, float(epsilon)))
    show(HEADS, rows, texts=2)


def _read_paper(path: Path) -> dict[str, Any]:
    try:
        return dict(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        raise redveil.InputError(f"{path}: cannot be read as JSON; check the path") from None


def _jobs(prune: str, depth: int) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield the paper's settings, then redveil's defaults."""
    for algorithm in PAPER_NAMES:
        yield algorithm, "published", {"prune": prune, "depth": depth}
    for algorithm in PAPER_NAMES:
        yield algorithm, "hardened", {}


def _fields(line: Summary, paper: dict[str, Any], dataset: str, epsilon: float) -> list[str]:
    name = PAPER_NAMES[line.algorithm]
    theirs = [
        row["significant_percent"].get(dataset)
        for row in paper.get("percent_significant", [])
        if row["algorithm"] == name and row["epsilon"] == epsilon
    ]
    ranks = paper.get("spearman_noisy_true_jaccard", {}).get(dataset, {}).get(name, {})
    shown = line.profile == "published"
    return [
        line.algorithm,
        line.profile,
        str(line.found),
        str(line.empty),
        f"{100 * line.significant:.1f} %",
        f"{theirs[0]} %" if shown and theirs else "",
        f"{line.spearman:.2f}",
        f"{ranks['rho']}" if shown and "rho" in ranks else "",
        f"{line.jaccard:.2f}",
        f"{line.difference:.3f}",
    ]


if __name__ == "__main__":
    run(main)
