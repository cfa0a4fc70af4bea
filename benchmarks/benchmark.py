"""The command line on fixed work, beside references measured in the same run.

    ./scripts/benchmark [--data FOLDER] [--large]

Writes docs/evidence/speed.md and its figures, and appends the ratios to benchmarks/history.jsonl.
Every command runs in a new process, once to compile and simulate what is kept, then some times;
the run with the fewest CPU seconds counts.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from multiprocessing import get_context
from pathlib import Path
from typing import Annotated

import numpy as np
import pyarrow as pa
import typer
from growth import growth_section
from measuring import Cost, commit, cost_of, machine
from pyarrow import csv, parquet
from workers import workers_section

SEED = 5
# The paper's comparison of running times: 20 trials, or 20 alternations of one trial.
PUBLISHED_WORK = {
    "tree-pair": "--trials 20 --steps 10000 --depth 4",
    "alt-expm": "--alternations 20 --depth 4",
    "alt-mcmc": "--alternations 20 --steps 10000 --depth 4",
}
PROFILES = ("hardened", "published")
SIDES = ("left", "right")
READ = """
import sys
from pyarrow import csv, parquet
for path in sys.argv[1:]:
    (parquet.read_table if path.endswith(".parquet") else csv.read_csv)(path)
"""
JOINT = """
import json, sys
sys.path.insert(0, sys.argv[1])
from joint_counts import speeds
print(json.dumps(list(speeds())), file=sys.stderr)
"""


@dataclass(frozen=True, slots=True)
class Measured:
    """One line of the table."""

    work: str
    profile: str
    cost: Cost
    reference: str
    reference_cost: Cost

    @property
    def ratio(self) -> float:
        """CPU seconds over those of the reference."""
        return self.cost.cpu / self.reference_cost.cpu

    def line(self) -> str:
        """Return the line as Markdown."""
        own = f"{self.cost.cpu:.2f} | {self.cost.clock:.2f} | {self.cost.megabytes:,.0f}"
        other = f"{self.reference} | {self.reference_cost.cpu:.2f} | {self.ratio:.1f}"
        return f"| {self.work} | {self.profile} | {own} | {other} |"


def views(rows: int, flags: int, numbers: int) -> tuple[pa.Table, pa.Table]:
    """Generate two views that eight hidden numbers relate."""
    source = np.random.default_rng(SEED)
    hidden = source.normal(size=(rows, 8)).astype(np.float32)

    def mixed(columns: int, noise: float) -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
        weights = source.normal(size=(8, columns)).astype(np.float32)
        return hidden @ weights + noise * source.normal(size=(rows, columns)).astype(np.float32)

    left = (mixed(flags, 1.0) > 2 * source.normal(size=flags)).astype(np.int8)
    right = mixed(numbers, 0.5).round(3)
    key = np.arange(rows)
    return (
        pa.table({"id": key} | {f"b{i}": left[:, i] for i in range(flags)}),
        pa.table({"id": key} | {f"x{i}": right[:, i] for i in range(numbers)}),
    )


def write(paths: Sequence[str], rows: int, flags: int, numbers: int) -> None:
    """Generate two views and write them to files."""
    for path, table in zip(paths, views(rows, flags, numbers), strict=True):
        (csv.write_csv if path.endswith(".csv") else parquet.write_table)(table, path)


class Bench:
    """Runs the cases in a folder."""

    def __init__(self, redveil: str, folder: Path, repeat: int) -> None:
        self._redveil, self._folder, self._repeat = redveil, folder, repeat
        imports = [sys.executable, "-c", "import numpy, pyarrow"]
        self._imports = cost_of(imports, repeat)

    def cases(
        self, data: Path | None, profiles: Sequence[str], *, large: bool
    ) -> Iterator[Measured]:
        """Yield all measurements."""
        if data is not None:
            tables = [str(data / "mammals" / f"{side}.csv") for side in SIDES]
            cost = self._mine(tables, [])
            what = "import NumPy and Arrow"
            yield Measured("MAMMAL, 2,575 × 242", "hardened", cost, what, self._imports)
            tables = [str(data / "cms_desynpuf" / f"all18_{side}.csv.gz") for side in SIDES]
            yield Measured(
                "CMS, 180,000 × 240, gzipped CSV", "hardened", self._mine(tables, []),
                "Arrow reads both", self._reading(tables),
            )  # fmt: skip
        tables = self._written(7_200, 100, 40, "csv")
        reading = self._reading(tables)
        yield Measured(
            "default, 7,200 × 140", "hardened", self._mine(tables, []), "Arrow reads both", reading
        )
        for profile in profiles:
            for algorithm, options in PUBLISHED_WORK.items():
                given = ["--algorithm", algorithm, "--profile", profile, *options.split()]
                cost = self._mine(tables, given)
                yield Measured(
                    f"{algorithm}, 7,200 × 140", profile, cost, "Arrow reads both", reading
                )
        if large:
            tables = self._written(1_000_000, 100, 100, "parquet")
            cost = self._mine(tables, [])
            yield Measured(
                "default, 1,000,000 × 200", "hardened", cost, "Arrow reads both",
                self._reading(tables),
            )  # fmt: skip

    def joint_counts(self) -> list[list[float]]:
        """Return sets, words and speeds of joint counts, one row per shape."""
        here = str(Path(sys.argv[0]).resolve().parent)
        command = [sys.executable, "-c", JOINT, here]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        found: list[list[float]] = json.loads(done.stderr.splitlines()[-1])
        return found

    def _written(self, rows: int, flags: int, numbers: int, kind: str) -> list[str]:
        paths = [str(self._folder / f"{side}-{rows}.{kind}") for side in SIDES]
        # Elsewhere: the system counts the memory of this process as that of those it starts.
        writer = get_context("spawn").Process(target=write, args=(paths, rows, flags, numbers))
        writer.start()
        writer.join()
        return paths

    def _reading(self, tables: list[str]) -> Cost:
        return cost_of([sys.executable, "-c", READ, *tables], self._repeat)

    def _mine(self, tables: list[str], options: list[str]) -> Cost:
        schema, result = (str(self._folder / name) for name in ("schema.json", "result.json"))
        Path(schema).unlink(missing_ok=True)
        cost_of([self._redveil, "schema", "draft", *tables, "--output", schema], 1)
        asked = ["--schema", schema, "--epsilon", "1", "-q", "--output", result]
        return cost_of([self._redveil, "mine", *tables, *asked, *options], self._repeat)


def page(measured: list[Measured], joint: list[list[float]], rest: str, command: str) -> str:
    """Return the page of the documentation."""
    shapes = "\n".join(
        f"| {lefts:,.0f} × {rights:,.0f} | {words:,.0f} | {plain:.1f} | {tiled:.1f} "
        f"| {tiled / plain:.1f} |"
        for lefts, rights, words, plain, tiled in joint
    )
    lines = "\n".join(one.line() for one in measured)
    return f"""# Speed, measured

Written by `{command}` on {datetime.now(UTC):%Y-%m-%d}, commit {commit()}, on {machine()}. [What the
figures mean](../explanation/speed.md).

## The command line

Each line is a command in a new process, the run with the fewest CPU seconds of some; what is
compiled or simulated only once is on disk. The *reference* was measured in the same run; *ratio* is
CPU seconds over the reference's.

| work | profile | CPU s | s | peak MB | reference | CPU s | ratio |
| --- | --- | ---: | ---: | ---: | --- | ---: | ---: |
{lines}

## Joint counts

Thousands of millions of pairs of words a CPU second: *plain* counts one pair of sets after the
other, as the first release did; *tiled* is what redveil does.

| sets | words of each | plain | tiled | ratio |
| --- | ---: | ---: | ---: | ---: |
{shapes}

{rest}"""


def main(
    redveil: Annotated[str, typer.Option(help="The command to measure.")] = "redveil",
    data: Annotated[Path | None, typer.Option(help="Folder of the public data sets.")] = None,
    repeat: Annotated[int, typer.Option(min=1, help="Runs that are timed.")] = 3,
    history: Annotated[Path | None, typer.Option(help="Append the ratios to this file.")] = None,
    output: Annotated[Path | None, typer.Option(help="Folder of the page; none prints it.")] = None,
    profile: Annotated[list[str] | None, typer.Option(help="Of the paper's work; both.")] = None,
    *,
    large: Annotated[bool, typer.Option(help="Add 1,000,000 × 200.")] = False,
    skip_growth: Annotated[bool, typer.Option(help="Leave out the growth with size.")] = False,
    skip_workers: Annotated[bool, typer.Option(help="Leave out a cluster's workers.")] = False,
) -> None:
    """Measure, and write the page."""
    command = " ".join(
        [
            "./scripts/benchmark",
            *(["--data …"] if data else []),
            *(f"--profile {one}" for one in profile or ()),
            *(["--large"] if large else []),
            f"--repeat {repeat}",
            *(["--skip-growth"] if skip_growth else []),
            *(["--skip-workers"] if skip_workers else []),
        ]
    )
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(redveil, Path(folder), repeat)
        measured = []
        for one in bench.cases(data, profile or PROFILES, large=large):
            measured.append(one)
            typer.echo(one.line())
        joint = bench.joint_counts()
    sections = [] if skip_growth else [growth_section(output)]
    sections += [] if skip_workers else [workers_section(output)]
    text = page(measured, joint, "\n".join(sections), command)
    if output is None:
        typer.echo(text)
    else:
        (output / "speed.md").write_text(text, encoding="utf-8")
    if history is not None:
        with history.open("a", encoding="utf-8") as file:
            for one in measured:
                entry = {
                    "when": datetime.now(UTC).isoformat(timespec="seconds"),
                    "commit": commit(),
                    "command_line": one.work,
                    "profile": one.profile,
                    "cpu_seconds": round(one.cost.cpu, 3),
                    "peak_mb": round(one.cost.megabytes),
                    "reference": one.reference,
                    "ratio": round(one.ratio, 2),
                }
                file.write(json.dumps(entry) + "\n")


if __name__ == "__main__":
    typer.run(main)
