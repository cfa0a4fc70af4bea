"""How long the default run takes: loading and mining, in fresh processes and in warm ones.

    python benchmarks/default_run.py [--data DIR] [--only MAMMAL --only CMS-ALL …] [--history FILE]

A fresh process pays for imports and reads compiled kernels from disk; a warm one has mined once.
Seconds by the clock and by the CPU, the smallest of some runs: others share the machine.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

import redveil
from redveil.experiments.datasets import DATA_SETS, default_folder, find
from redveil.version import software

FRESH = """
import sys, time
begin = time.perf_counter()
import redveil
from pathlib import Path
from redveil.experiments.datasets import find
redveil.mine(find(sys.argv[1]).load(Path(sys.argv[2])), 1)
print(time.perf_counter() - begin)
"""


def fresh(name: str, folder: Path) -> float:
    """Return the seconds of a whole process: import, load, mine."""
    command = [sys.executable, "-c", FRESH, name, str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return float(done.stdout)


def main(
    data: Annotated[Path | None, typer.Option(help="Where the data sets are.")] = None,
    only: Annotated[list[str] | None, typer.Option(help="Data sets to run.")] = None,
    runs: Annotated[int, typer.Option(min=1)] = 3,
    history: Annotated[Path | None, typer.Option()] = None,
) -> None:
    """Print a table of seconds."""
    folder = data or default_folder()
    table = Table(box=None, header_style="bold")
    for name in ("data", "load s", "mine s, warm", "CPU s, warm", "all s, fresh process"):
        table.add_column(name, justify="right")
    for name in only or [one.name for one in DATA_SETS]:
        begin = time.perf_counter()
        dataset = find(name).load(folder)
        loaded = time.perf_counter() - begin
        redveil.mine(dataset, 1)
        clock, cpu = [], []
        for _ in range(runs):
            begin, busy = time.perf_counter(), time.process_time()
            redveil.mine(dataset, 1)
            clock.append(time.perf_counter() - begin)
            cpu.append(time.process_time() - busy)
        whole = min(fresh(name, folder) for _ in range(runs))
        seconds = loaded, min(clock), min(cpu), whole
        table.add_row(name, *(f"{value:.2f}" for value in seconds))
        if history is not None:
            line = {
                "when": datetime.now(UTC).isoformat(timespec="seconds"),
                "software": software(),
                "default_run": name,
                "seconds": [round(value, 3) for value in seconds],
            }
            with history.open("a", encoding="utf-8") as file:
                file.write(json.dumps(line) + "\n")
    Console().print(table)


if __name__ == "__main__":
    typer.run(main)
