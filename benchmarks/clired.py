"""Baselines beside python-clired, on the same two files: how many, how good, how much CPU time.

    python benchmarks/clired.py DATA CLIRED [--dataset MAMMAL] [--max-support 0.8]

DATA is the folder of the data sets. CLIRED is the program `exec_clired` of an environment of its
own, where python-clired is installed together with the XML files of its source distribution, which
its wheel lacks. Both mine with trees of depth 4, from 100 starts, with supports of at least 5 % of
all entities and at most a share that is given, J of at least 0.1 and p of at most 0.01. Every row
is a new process, import included.
"""

from __future__ import annotations

import csv
import json
import resource
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from redveil_research.experiments.console import run, tracked
from redveil_research.experiments.datasets import find
from redveil_research.experiments.rows import TwoTables

METHODS = {"split-trees": "splittrees", "layered-trees": "layeredtrees"}
HEADS = ("method", "program", "found", "median J", "largest J", "CPU seconds")


def show(heads: Sequence[str], rows: Iterable[Sequence[str]], texts: int = 1) -> None:
    """Print a table to standard output. The first columns are text, the others numbers."""
    table = Table(box=None, header_style="bold")
    for number, head in enumerate(heads):
        table.add_column(head, justify="left" if number < texts else "right")
    for row in rows:
        table.add_row(*row)
    Console(width=None if sys.stdout.isatty() else 160, highlight=False).print(table)


def measured(command: list[str]) -> float:
    """Run a command, and return the CPU seconds that it took."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def ours(
    method: str, files: tuple[Path, Path], rows: int, share: float, folder: Path
) -> tuple[list[float], float]:
    """Return the Jaccard indices that redveil finds, and its CPU seconds."""
    program = [sys.executable, "-m", "redveil"]
    schema, out = folder / "datapackage.json", folder / f"{method}.json"
    if not schema.exists():
        names = [str(path) for path in files]
        subprocess.run([*program, "schema", "draft", *names, "-o", str(schema)],
                       check=True, capture_output=True)  # fmt: skip
    cpu = measured(
        [*program, "baseline", method, *map(str, files), "--schema", str(schema),
         "--min-support", str(round(0.05 * rows)), "--max-support", str(share), "-o", str(out)]
    )  # fmt: skip
    document = json.loads(out.read_text(encoding="utf-8"))
    return [one["true"]["jaccard"] for one in document["redescriptions"]], cpu


def theirs(
    clired: Path, method: str, files: tuple[Path, Path], share: float, folder: Path
) -> tuple[list[float], float]:
    """Return the Jaccard indices that python-clired finds, and its CPU seconds."""
    cpu = measured(
        [str(clired), "--LHS_data", str(files[0]), "--RHS_data", str(files[1]),
         "--mining_algo", METHODS[method], "--min_fin_acc", "0.1",
         "--min_itm_out", f"{1 - share:g}", "--min_fin_out", f"{1 - share:g}",
         "--result_rep", f"{folder}/", "--out_base", method]
    )  # fmt: skip
    with (folder / f"{method}.queries").open(encoding="utf-8", newline="") as file:
        return [float(line["acc"]) for line in csv.DictReader(file, delimiter="\t")], cpu


def main(
    data: Annotated[Path, typer.Argument(help="Folder of the data sets.")],
    clired: Annotated[Path, typer.Argument(help="The program exec_clired.")],
    dataset: Annotated[str, typer.Option(help="Name of the data set.")] = "MAMMAL",
    max_support: Annotated[float, typer.Option(help="Largest share of all entities.")] = 0.8,
) -> None:
    """Print the table."""
    files = find(dataset).files(data)
    rows = TwoTables.read(*files).views()[0].count
    lines = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for method in tracked(list(METHODS), "mining"):
            for program, (found, cpu) in (
                ("redveil", ours(method, files, rows, max_support, folder)),
                ("python-clired", theirs(clired, method, files, max_support, folder)),
            ):
                best = f"{statistics.median(found):.3f}", f"{max(found):.3f}"
                lines.append((method, program, f"{len(found)}", *best, f"{cpu:.1f}"))
    show(HEADS, lines, texts=2)


if __name__ == "__main__":
    run(main)
