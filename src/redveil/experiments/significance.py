"""How many redescriptions are truly significant, and how well the noisy Jaccard index ranks them.

    python -m redveil.experiments.significance LEFT RIGHT --schema S [--paper paper-results.json]

Runs all three algorithms in both profiles with the paper's parameters, pools the runs, and prints
the paper's own numbers beside ours.
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
from redveil import owner
from redveil.cli.console import output, progress

PAPER_NAMES = {"alt-mcmc": "AltMCMC", "alt-expm": "AltExpM", "tree-pair": "MCMCTreePair"}


@dataclass(frozen=True, slots=True)
class Summary:
    """Pooled over runs. Shares are between 0 and 1; nan where there was nothing."""

    algorithm: str
    profile: str
    found: int
    empty: int
    significant: float
    spearman: float
    jaccard: float
    difference: float


def summarise(
    dataset: redveil.Dataset, algorithm: str, profile: str, runs: int, **parameters: Any
) -> Summary:
    """Mine several times and compare with the truth."""
    noisy, true, p_values, empty = [], [], [], 0
    for _ in range(runs):
        result = redveil.mine(dataset, algorithm=algorithm, profile=profile, **parameters)
        evaluated = owner.truth(result, dataset)
        empty += len(evaluated) == 0
        for one in evaluated:
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
    """Return Spearman's rank correlation, nan if a side does not vary.

    >>> spearman(np.array([1.0, 2.0, 3.0]), np.array([1.0, 4.0, 9.0]))
    1.0
    """
    if first.size < 2 or np.ptp(first) == 0 or np.ptp(second) == 0:
        return float("nan")
    return float(np.corrcoef(_ranks(first), _ranks(second))[0, 1])


def _ranks(values: np.ndarray) -> np.ndarray:
    """Return ranks from 1; equal values share the mean of theirs."""
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    return np.asarray((np.cumsum(counts) - (counts - 1) / 2)[place])


def main(
    left: Path,
    right: Path,
    schema: Annotated[Path, typer.Option()],
    paper: Annotated[Path | None, typer.Option(help="The paper's numbers, as JSON.")] = None,
    dataset: Annotated[str, typer.Option(help="Its name in the paper.")] = "MAMMAL",
    epsilon: str = "1",
    runs: int = 10,
    prune: Annotated[str, typer.Option(help="The published pruning threshold.")] = "500",
    depth: Annotated[int, typer.Option(help="Of the published profile's trees.")] = 4,
) -> None:
    """Print the table."""
    loaded = redveil.load(left, right, schema)
    published = json.loads(paper.read_text(encoding="utf-8")) if paper else {}
    table = _table()
    jobs = list(_jobs(prune, depth))
    with progress("experiment") as report:
        for number, (algorithm, profile, given) in enumerate(jobs, start=1):
            line = summarise(loaded, algorithm, profile, runs, epsilon=epsilon, **given)
            table.add_row(*_cells(line, published, dataset, float(epsilon)))
            report(number / len(jobs))
    output().print(table)


def _jobs(prune: str, depth: int) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield what to run: the paper's settings, then our defaults."""
    for algorithm in PAPER_NAMES:
        yield algorithm, "published", {"prune": prune, "depth": depth}
    for algorithm in PAPER_NAMES:
        yield algorithm, "hardened", {}


def _table() -> Any:
    from rich.table import Table

    table = Table(box=None, header_style="bold")
    for name in ("algorithm", "profile", "found", "empty", "significant", "paper"):
        table.add_column(name, justify="left" if name in ("algorithm", "profile") else "right")
    for name in ("Spearman", "paper", "median J", "|ΔJ|"):
        table.add_column(name, justify="right")
    return table


def _cells(line: Summary, paper: dict[str, Any], dataset: str, epsilon: float) -> list[str]:
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
        f"{line.significant:.1%}",
        f"{theirs[0]} %" if shown and theirs else "",
        f"{line.spearman:.2f}",
        f"{ranks['rho']}" if shown and "rho" in ranks else "",
        f"{line.jaccard:.2f}",
        f"{line.difference:.3f}",
    ]


if __name__ == "__main__":
    typer.run(main)
