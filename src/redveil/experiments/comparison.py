"""The default algorithm compared with the published ones, on all data sets, at several ε.

    python -m redveil.experiments.comparison DATA [--runs 20] [--epsilon 1 …]
        [--only MAMMAL …] [--algorithms twin,alt-mcmc,…] [--out DIR]
    python -m redveil.experiments.comparison --generated [--rows 1000 …] …

DATA is the folder of the data sets (see `datasets.py`); those that are not there are skipped. Every
finished run is a line of `OUT/comparison.jsonl`; run the command again to resume. The table and the
figure are made from all lines. For data that is not sensitive: the journal contains true values.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Annotated

import typer

import redveil
from redveil.experiments import datasets, generators
from redveil.experiments.comparison_figure import draw
from redveil.experiments.comparison_table import latest, markdown, ordered, summarise_all
from redveil.experiments.console import run as run_command
from redveil.experiments.console import say
from redveil.experiments.runs import append, perform, read, settings_name, settings_of

ALGORITHMS = "twin,alt-expm,alt-mcmc,tree-pair"
EPSILONS = ("1", "0.25", "0.1", "0.01")
LARGE = 10_000


@dataclass(frozen=True, slots=True)
class Subject:
    """A data set in a folder, or generated data with this many rows.

    >>> Subject("noise", rows=500).title
    'noise 500'
    """

    name: str
    folder: Path | None = None
    rows: int = 0

    @property
    def title(self) -> str:
        """The name in the table."""
        return self.name if self.folder else f"{self.name} {self.rows}"

    @property
    def large(self) -> bool:
        """Whether the paper's parameters for larger data apply."""
        return datasets.find(self.name).large if self.folder else self.rows >= LARGE

    def load(self) -> redveil.Dataset:
        """Load or generate the data."""
        if self.folder:
            return datasets.find(self.name).load(self.folder)
        return generators.build(self.name, self.rows)


@dataclass(frozen=True, slots=True)
class Task:
    """The work of one process: all ε and all runs of one algorithm on one subject.

    >>> Task(Subject("noise", rows=500), "twin", ("1",), 20, None, Path("runs.jsonl")).runs
    20
    """

    subject: Subject
    algorithm: str
    epsilons: tuple[str, ...]
    runs: int
    limit: float | None
    journal: Path


def work(task: Task, dataset: redveil.Dataset | None = None) -> None:
    """Do the runs of a task that are not in the journal yet.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     journal = Path(folder) / "runs.jsonl"
    ...     work(Task(Subject("noise", rows=200), "alt-expm:hardened", ("1",), 2, None, journal))
    ...     len(read(journal))
    2
    """
    subject, algorithm = task.subject, task.algorithm
    given = settings_of(algorithm, large=subject.large)
    dataset = dataset or subject.load()
    settings = settings_name(dataset, given)
    warm = False
    for epsilon in task.epsilons:
        row = subject.title, algorithm, epsilon
        done = [r for r in read(task.journal) if r.row == row and r.settings == settings]
        kept = {run.number: run.seconds for run in latest(done)}
        for number in range(1, task.runs + 1):
            if number in kept:
                continue
            if kept and task.limit is not None and sum(kept.values()) >= task.limit:
                done_so_far = f"{len(kept)} runs, time limit reached"
                say(f"{subject.title}, {algorithm}, ε = {epsilon}: {done_so_far}")
                break
            if not warm:
                # Compile the kernels, or read them from their cache, outside the measured time.
                small = generators.build("noise", 200)
                perform(small, "", algorithm, epsilon, 0, large=False)
                warm = True
            run = perform(dataset, *row, number, large=subject.large)
            append(task.journal, run)
            kept[number] = run.seconds
            say(
                f"{subject.title}, {algorithm}, ε = {epsilon}: run {number} of {task.runs}, "
                f"{run.found} found, {run.seconds:.2f} s"
            )


def compare(tasks: Sequence[Task], workers: int = 1) -> None:
    """Do all tasks, one after the other or in parallel processes.

    >>> compare([])
    """
    if workers > 1:
        # Sealed data cannot be sent to another process, so each process loads its own.
        with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
            _wait_for([pool.submit(work, task) for task in tasks])
        return
    loaded: tuple[Subject, redveil.Dataset] | None = None
    for task in tasks:
        if loaded is None or loaded[0] != task.subject:
            loaded = None
            loaded = task.subject, task.subject.load()
        work(task, loaded[1])


def _wait_for(futures: Sequence[Future[None]]) -> None:
    """Wait for all work, and raise the first error."""
    pending = set(futures)
    while pending:
        # With a timeout, because Polars restarts interrupted waits: Ctrl-C would be ignored.
        done, pending = wait(pending, timeout=0.1, return_when=FIRST_COMPLETED)
        for future in done:
            future.result()


def report(
    journal: Path, table: Path, figure: Path, subjects: Sequence[str], algorithms: Sequence[str]
) -> None:
    """Write the table and the figure from all runs in the journal.

    >>> report(Path("nowhere.jsonl"), Path("a.md"), Path("a.png"), [], [])
    """
    summaries = ordered(summarise_all(read(journal)), subjects, algorithms)
    if not summaries:
        say(f"{journal}: no runs; nothing to report")
        return
    table.write_text(markdown(summaries), encoding="utf-8")
    say(f"written to {table}")
    try:
        draw(summaries, figure)
    except redveil.InputError as error:
        say(f"no figure: {error}")
    else:
        say(f"written to {figure}")


def subjects_of(data: Path | None, only: Sequence[str], rows: Sequence[int]) -> list[Subject]:
    """Return the data sets in the folder, or generated data of these sizes if there are any.

    >>> [subject.title for subject in subjects_of(None, ["noise", "survey"], [300])]
    ['noise 300', 'survey 300']
    """
    if rows:
        names = only or list(generators.GENERATORS)
        if not set(names) <= set(generators.GENERATORS):
            known = ", ".join(generators.GENERATORS)
            raise redveil.InputError(f"no such generator; use one of {known}")
        return [Subject(name, rows=size) for name in names for size in rows]
    if data is None:
        raise redveil.InputError("no data; name the folder of the data sets, or use --generated")
    if not data.is_dir():
        raise redveil.InputError(f"{data}: no such folder; name the folder of the data sets")
    found, skipped = datasets.present(data, only)
    for line in skipped:
        say(line, "yellow")
    return [Subject(one.name, data) for one in found]


def main(  # noqa: PLR0913 - one argument per option
    data: Annotated[Path | None, typer.Argument(help="Folder of the data sets.")] = None,
    runs: Annotated[int, typer.Option(min=1, help="Runs per row.")] = 20,
    epsilon: Annotated[list[str] | None, typer.Option(help="Default: 1, 0.25, 0.1, 0.01.")] = None,
    only: Annotated[
        list[str] | None, typer.Option(help="Names of data sets or generators.")
    ] = None,
    algorithms: Annotated[
        str,
        typer.Option(help="twin, or published algorithms; add :hardened for the other profile."),
    ] = ALGORITHMS,
    out: Annotated[Path, typer.Option(help="Folder of the journal.")] = Path("comparison"),
    table: Annotated[Path | None, typer.Option(help="Default: OUT/comparison.md.")] = None,
    figure: Annotated[Path | None, typer.Option(help="Default: OUT/comparison.png.")] = None,
    limit_seconds: Annotated[
        float | None, typer.Option(help="Start no further run of a row after this time.")
    ] = None,
    workers: Annotated[int, typer.Option(min=1, help="Number of processes.")] = 1,
    generated: Annotated[  # noqa: FBT002 - Typer makes a flag of it
        bool, typer.Option("--generated", help="Use generated data instead of DATA.")
    ] = False,
    rows: Annotated[
        list[int] | None, typer.Option(min=1, help="Sizes of generated data: 1000, 5000.")
    ] = None,
) -> None:
    """Do the runs that are not in the journal yet, then write the table and the figure."""
    chosen = [name.strip() for name in algorithms.split(",") if name.strip()]
    epsilons = tuple(epsilon or EPSILONS)
    # Plans need no data: a misspelt name fails here and not after an hour.
    for name in chosen:
        for price in epsilons:
            redveil.plan(price, **settings_of(name, large=False))
    subjects = subjects_of(data, only or [], (rows or [1000, 5000]) if generated else [])
    out.mkdir(parents=True, exist_ok=True)
    journal = out / ("generated.jsonl" if generated else "comparison.jsonl")
    compare(
        [
            Task(subject, name, epsilons, runs, limit_seconds, journal)
            for subject in subjects
            for name in chosen
        ],
        workers,
    )
    report(
        journal,
        table or journal.with_suffix(".md"),
        figure or journal.with_suffix(".png"),
        [subject.title for subject in subjects],
        chosen,
    )


if __name__ == "__main__":
    run_command(main)
