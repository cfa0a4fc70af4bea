"""All three algorithms with the paper's parameters on generated data of growing size.

    python benchmarks/published_work.py [--rows 7200 --rows 14400 …] [--history FILE]

Data: rows × (100 Boolean + 40 numeric). CPU seconds of the whole process are counted, not the
clock, and every figure comes from one run, so that ratios can be compared. Each line is appended
to a history file when one is named.
"""

from __future__ import annotations

import json
import os
import platform
import resource
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

# Trials fill the cores; waiting linear-algebra threads would only be counted as work.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import typer
from rich.console import Console
from rich.table import Table

import redveil
from redveil.data.synthetic import wide_dataset
from redveil.version import software

# trials and alternations as the paper's comparison of running times has them
# fmt: off
WORK: dict[str, dict[str, Any]] = {
    "tree-pair": {
        "trials": 20, "depth": 4, "steps": 10_000, "pair_score": "purity",
        "counts": "least-squares",
    },
    "alt-mcmc": {
        "trials": 1, "alternations": 20, "depth": 4, "steps": 10_000, "start": "random",
        "counts": "least-squares",
    },
    "alt-expm": {
        "trials": 1, "alternations": 20, "depth": 4, "start": "random", "counts": "least-squares",
    },
}
# fmt: on
# CPU seconds of the authors' program at 7 200 rows, measured on two shared cores
AUTHORS = {"tree-pair": (216, 337), "alt-mcmc": (150, 209), "alt-expm": (239, 239)}


def walk_facts(algorithm: str, rows: int, cpu: float) -> tuple[float, float]:
    """Return steps per CPU second and bytes of entity sets touched per step, on average."""
    walks = {"tree-pair": 20, "alt-mcmc": 21, "alt-expm": 0}[algorithm]
    if not walks:
        return float("nan"), float("nan")
    # A node at level l has 2^(4 - l) leaves below it; each node below is read and written once.
    words = -(-rows // 64)
    nodes_below = sum(2**level * (2 ** (5 - level) - 1) for level in range(4)) / 15
    return walks * 10_000 / cpu, nodes_below * words * 8 * 3


def main(
    rows: Annotated[list[int], typer.Option()] = [7_200, 14_400, 28_800, 57_600, 115_200],  # noqa: B006
    history: Annotated[Path | None, typer.Option()] = None,
) -> None:
    """Print a table of CPU seconds, steps per second, bytes per step and memory."""
    table = Table(box=None, header_style="bold")
    for name in (
        "algorithm", "rows", "CPU s", "× first", "steps / CPU s", "bytes / step", "peak MB",
        "authors / ours",
    ):  # fmt: skip
        table.add_column(name, justify="right")
    small = wide_dataset(500)
    for algorithm, given in WORK.items():
        short = {"trials": 1} | ({"alternations": 1} if "alternations" in given else {})
        redveil.mine(small, 1, algorithm=algorithm, **(given | short))
    first: dict[str, float] = {}
    for size in rows:
        dataset = wide_dataset(size)
        for algorithm, given in WORK.items():
            begin = time.process_time()
            redveil.mine(dataset, 1, algorithm=algorithm, **given)
            cpu = time.process_time() - begin
            first.setdefault(algorithm, cpu)
            speed, touched = walk_facts(algorithm, size, cpu)
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            low, high = AUTHORS[algorithm]
            ratio = f"{low / cpu:.0f}–{high / cpu:.0f}" if size == 7_200 else ""
            cells = (
                f"{cpu:.2f}",
                f"{cpu / first[algorithm]:.1f}",
                f"{speed:,.0f}",
                f"{touched:,.0f}",
            )
            table.add_row(algorithm, f"{size:,}", *cells, f"{peak:,.0f}", ratio)
            if history is not None:
                line = {
                    "when": datetime.now(UTC).isoformat(timespec="seconds"),
                    "software": software(),
                    "python": platform.python_version(),
                    "algorithm": algorithm,
                    "rows": size,
                    "cpu_seconds": round(cpu, 3),
                    "peak_mb": round(peak),
                }
                with history.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(line) + "\n")
    Console().print(table)


if __name__ == "__main__":
    typer.run(main)
