"""Time of the default run: loading and mining, in new processes and in warm ones.

    python benchmarks/default_run.py DATA [--only MAMMAL --only CMS-ALL …] [--history FILE]

DATA is the folder of the data sets. A new process imports redveil and reads compiled kernels from
disk; a warm one has mined before. The table shows wall and CPU seconds, the smallest of some runs
because the machine may be shared.
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
from redveil.seam.commands import say
from redveil_research.experiments.console import run
from redveil_research.experiments.datasets import find, present

FRESH = """
import sys, time
begin = time.perf_counter()
import redveil
from pathlib import Path
from redveil_research.experiments.datasets import find
redveil.mine(find(sys.argv[1]).load(Path(sys.argv[2])), 1, ledger=None)
print(time.perf_counter() - begin)
"""


def fresh(name: str, folder: Path) -> float:
    """Return the seconds that a new process takes to import, load and mine."""
    command = [sys.executable, "-c", FRESH, name, str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return float(done.stdout)


def main(
    data: Annotated[Path, typer.Argument(help="Folder of the data sets.")],
    only: Annotated[list[str] | None, typer.Option(help="Names of data sets.")] = None,
    runs: Annotated[int, typer.Option(min=1, help="Runs per data set.")] = 3,
    history: Annotated[Path | None, typer.Option(help="Append the figures to this file.")] = None,
) -> None:
    """Print a table of seconds."""
    found, skipped = present(data, only or ())
    for line in skipped:
        say(line, "yellow")
    table = Table(box=None, header_style="bold")
    for name in ("data", "load s", "mine s, warm", "CPU s, warm", "total s, new process"):
        table.add_column(name, justify="right")
    for name in (one.name for one in found):
        begin = time.perf_counter()
        dataset = find(name).load(data)
        loaded = time.perf_counter() - begin
        redveil.mine(dataset, 1, ledger=None)
        clock, cpu = [], []
        for _ in range(runs):
            begin, busy = time.perf_counter(), time.process_time()
            redveil.mine(dataset, 1, ledger=None)
            clock.append(time.perf_counter() - begin)
            cpu.append(time.process_time() - busy)
        whole = min(fresh(name, data) for _ in range(runs))
        seconds = loaded, min(clock), min(cpu), whole
        table.add_row(name, *(f"{value:.2f}" for value in seconds))
        if history is not None:
            entry = {
                "when": datetime.now(UTC).isoformat(timespec="seconds"),
                "software": f"redveil {redveil.__version__}",
                "default_run": name,
                "seconds": [round(value, 3) for value in seconds],
            }
            with history.open("a", encoding="utf-8") as file:
                file.write(json.dumps(entry) + "\n")
    Console().print(table)


if __name__ == "__main__":
    run(main)
