"""CPU time of the paper's three algorithms, with its parameters, on generated data.

    python benchmarks/published_work.py [--rows 7200 --rows 14400 …] [--history FILE]

Data: rows × (100 Boolean + 40 numeric). The table shows CPU seconds of mining alone, from one run
per row, in the hardened profile and after a first run has compiled the kernels. It does not compare
with other programs: a command also imports, loads, evaluates and writes.
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

# Trials use all cores; idle linear-algebra threads would add CPU time by busy waiting.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import typer
from rich.console import Console
from rich.table import Table

import redveil
from redveil.data.synthetic import wide_dataset

# Trials and alternations of the paper's comparison of running times.
# fmt: off
WORK: dict[str, dict[str, Any]] = {
    "tree-pair": {
        "trials": 20, "depth": 4, "walk_steps": 10_000, "pair_score": "purity",
        "counts": "least-squares",
    },
    "alt-mcmc": {
        "trials": 1, "alternations": 20, "depth": 4, "walk_steps": 10_000, "start": "random",
        "counts": "least-squares",
    },
    "alt-expm": {
        "trials": 1, "alternations": 20, "depth": 4, "start": "random", "counts": "least-squares",
    },
}
# fmt: on
SIZES = (7_200, 14_400, 28_800, 57_600, 115_200)


def walk_facts(algorithm: str, rows: int, cpu: float) -> tuple[float, float]:
    """Return walk steps per CPU second and the mean number of bytes accessed per walk step."""
    walks = {"tree-pair": 20, "alt-mcmc": 21, "alt-expm": 0}[algorithm]
    if not walks:
        return float("nan"), float("nan")
    # A node at level l has 2^(4 - l) leaves; every node below it is read and written once.
    words = -(-rows // 64)
    nodes_below = sum(2**level * (2 ** (5 - level) - 1) for level in range(4)) / 15
    return walks * 10_000 / cpu, nodes_below * words * 8 * 3


def main(
    rows: Annotated[list[int] | None, typer.Option(min=1, help="Default: 7200 to 115200.")] = None,
    history: Annotated[Path | None, typer.Option(help="Append the figures to this file.")] = None,
) -> None:
    """Print a table of CPU seconds, walk steps per second, bytes per walk step and memory."""
    table = Table(box=None, header_style="bold")
    for name in (
        "algorithm", "rows", "CPU s", "× first", "walk steps / CPU s", "bytes / walk step",
        "peak MB",
    ):  # fmt: skip
        table.add_column(name, justify="right")
    small = wide_dataset(500)
    for algorithm, given in WORK.items():
        short = {"trials": 1} | ({"alternations": 1} if "alternations" in given else {})
        redveil.mine(small, 1, algorithm=algorithm, ledger=None, **(given | short))
    first: dict[str, float] = {}
    for size in rows or SIZES:
        dataset = wide_dataset(size)
        for algorithm, given in WORK.items():
            begin = time.process_time()
            redveil.mine(dataset, 1, algorithm=algorithm, ledger=None, **given)
            cpu = time.process_time() - begin
            first.setdefault(algorithm, cpu)
            speed, touched = walk_facts(algorithm, size, cpu)
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            cells = (
                f"{cpu:.2f}",
                f"{cpu / first[algorithm]:.1f}",
                f"{speed:,.0f}",
                f"{touched:,.0f}",
            )
            table.add_row(algorithm, f"{size:,}", *cells, f"{peak:,.0f}")
            if history is not None:
                line = {
                    "when": datetime.now(UTC).isoformat(timespec="seconds"),
                    "software": f"redveil {redveil.__version__}",
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
