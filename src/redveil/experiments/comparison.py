"""Our default algorithm against the published ones, on all data sets, at several prices.

    python -m redveil.experiments.comparison [--data DIR] [--runs 20] [--epsilon 1 …]
        [--only MAMMAL …] [--algorithms twin,alt-mcmc,…] [--worlds] [--out DIR]

Every finished run is a line of `OUT/comparison.jsonl`, and a command that was stopped goes on from
there. Then the table and the figure are made anew from all lines. Data sets that are not there are
skipped. For data that is not sensitive: true values are looked up and written down.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from redveil.cli.console import say
from redveil.errors import InputError
from redveil.experiments import datasets, worlds
from redveil.experiments.comparison_figure import draw
from redveil.experiments.comparison_table import cells, latest, markdown, ordered
from redveil.experiments.runs import (
    append,
    parameters_of,
    perform,
    read,
    settings_name,
    settings_of,
)
from redveil.files import write_text
from redveil.privacy.loss import parse_epsilon
from redveil.waiting import awaited

if TYPE_CHECKING:
    from redveil.data.dataset import Dataset

ALGORITHMS = "twin,alt-expm,alt-mcmc,tree-pair"
EPSILONS = ("1", "0.25", "0.1", "0.01")
LARGE = 10_000


@dataclass(frozen=True, slots=True)
class Subject:
    """A data set in a folder, or a generated world of so many rows.

    >>> Subject("noise", rows=500).title
    'noise 500'
    """

    name: str
    folder: Path | None = None
    rows: int = 0

    @property
    def title(self) -> str:
        """What the table calls it."""
        return self.name if self.folder else f"{self.name} {self.rows}"

    @property
    def large(self) -> bool:
        """Whether it gets the paper's parameters for larger data."""
        return datasets.find(self.name).large if self.folder else self.rows >= LARGE

    def load(self) -> Dataset:
        """Load or generate it."""
        if self.folder:
            return datasets.find(self.name).load(self.folder)
        return worlds.build(self.name, self.rows)


@dataclass(frozen=True, slots=True)
class Task:
    """What one process does: all prices and runs of one algorithm on one subject.

    >>> Task(Subject("noise", rows=500), "twin", ("1",), 20, None, Path("runs.jsonl")).runs
    20
    """

    subject: Subject
    algorithm: str
    epsilons: tuple[str, ...]
    runs: int
    limit: float | None
    journal: Path


def work(task: Task, dataset: Dataset | None = None) -> None:
    """Do the runs of a task that the journal does not have yet.

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
        cell = subject.title, algorithm, epsilon
        done = [r for r in read(task.journal) if r.cell == cell and r.settings == settings]
        kept = {run.number: run.seconds for run in latest(done)}
        for number in range(1, task.runs + 1):
            if number in kept:
                continue
            if kept and task.limit is not None and sum(kept.values()) >= task.limit:
                say(f"{subject.title}, {algorithm}, ε = {epsilon}: {len(kept)} runs, time is up")
                break
            if not warm:
                # Kernels are compiled or read from their cache once; no run should pay for that.
                small = worlds.build("noise", 200)
                perform(small, "", algorithm, epsilon, 0, large=False)
                warm = True
            run = perform(dataset, *cell, number, large=subject.large)
            append(task.journal, run)
            kept[number] = run.seconds
            say(
                f"{subject.title}, {algorithm}, ε = {epsilon}: run {number} of {task.runs}, "
                f"{run.found} found, {run.seconds:.2f} s"
            )


def compare(tasks: Sequence[Task], workers: int = 1) -> None:
    """Do all tasks, one after the other or in processes of their own.

    >>> compare([])
    """
    if workers > 1:
        # Sealed data cannot be passed on, so each process loads its own.
        with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
            for finished in [pool.submit(work, task) for task in tasks]:
                awaited(finished)
        return
    loaded: tuple[Subject, Dataset] | None = None
    for task in tasks:
        if loaded is None or loaded[0] != task.subject:
            loaded = None
            loaded = task.subject, task.subject.load()
        work(task, loaded[1])


def report(
    journal: Path, table: Path, figure: Path, subjects: Sequence[str], algorithms: Sequence[str]
) -> None:
    """Make the table and the figure from everything in the journal.

    >>> report(Path("nowhere.jsonl"), Path("a.md"), Path("a.png"), [], [])
    """
    summaries = ordered(cells(read(journal)), subjects, algorithms)
    if not summaries:
        say(f"{journal}: no runs; nothing to report")
        return
    write_text(table, markdown(summaries))
    say(f"written to {table}")
    try:
        draw(summaries, figure)
    except InputError as error:
        say(f"no figure: {error}")
    else:
        say(f"written to {figure}")


def subjects_of(data: Path | None, only: Sequence[str], rows: Sequence[int]) -> list[Subject]:
    """Return what to compare on: data sets that are there, or worlds if `rows` says how large.

    >>> [subject.title for subject in subjects_of(None, ["noise", "survey"], [300])]
    ['noise 300', 'survey 300']
    """
    if rows:
        names = only or list(worlds.WORLDS)
        unknown = [name for name in names if name not in worlds.WORLDS]
        if unknown:
            raise InputError(f"no such world; use one of {', '.join(worlds.WORLDS)}")
        return [Subject(name, rows=size) for name in names for size in rows]
    folder = data or datasets.default_folder()
    found, missing = datasets.present(folder, only)
    for line in missing:
        say(line, "yellow")
    return [Subject(one.name, folder) for one in found]


def main(  # noqa: PLR0913 - one argument an option
    data: Annotated[Path | None, typer.Option(help="The folder of the data sets.")] = None,
    runs: Annotated[int, typer.Option(min=1, help="Runs in each cell.")] = 20,
    epsilon: Annotated[list[str] | None, typer.Option(help="1, 0.25, 0.1, 0.01")] = None,
    only: Annotated[list[str] | None, typer.Option(help="Names of data sets or worlds.")] = None,
    algorithms: Annotated[
        str, typer.Option(help="As published, or ours; alt-expm:hardened is ours too.")
    ] = ALGORITHMS,
    out: Annotated[Path, typer.Option(help="Folder of the journal.")] = Path("comparison"),
    table: Annotated[Path | None, typer.Option(help="OUT/comparison.md")] = None,
    figure: Annotated[Path | None, typer.Option(help="OUT/comparison.png")] = None,
    limit_seconds: Annotated[
        float | None, typer.Option(help="No further run in a cell that took this long.")
    ] = None,
    workers: Annotated[int, typer.Option(min=1, help="Processes.")] = 1,
    worlds: Annotated[  # noqa: FBT002 - Typer makes a flag of it
        bool, typer.Option("--worlds", help="On generated worlds instead.")
    ] = False,
    rows: Annotated[list[int] | None, typer.Option(min=1, help="Sizes of the worlds.")] = None,
) -> None:
    """Run what the journal does not have yet, then write the table and the figure."""
    chosen = [name.strip() for name in algorithms.split(",") if name.strip()]
    for name in chosen:
        # Before anything is loaded: a misspelt name should not cost an hour.
        parameters_of(settings_of(name, large=False))
    prices = tuple(epsilon or EPSILONS)
    for price in prices:
        parse_epsilon(price)
    subjects = subjects_of(data, only or [], (rows or [1000, 5000]) if worlds else [])
    out.mkdir(parents=True, exist_ok=True)
    journal = out / ("worlds.jsonl" if worlds else "comparison.jsonl")
    compare(
        [
            Task(subject, name, prices, runs, limit_seconds, journal)
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
    typer.run(main)
