"""Many runs of an experiment, in one process or several, each recorded as soon as it is done.

An experiment that was interrupted is resumed: runs that are in the journal are not done again.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import dataclass
from functools import cache, lru_cache
from multiprocessing import get_context, parent_process
from pathlib import Path
from threading import Thread

from redveil_research.experiments.console import say, tracked
from redveil_research.experiments.other_runs import is_other, other_settings, perform_other
from redveil_research.experiments.runs import (
    Run,
    append,
    code_name,
    latest,
    perform,
    read,
    settings_name,
    settings_of,
)
from redveil_research.experiments.subjects import Loaded, Subject, World


@dataclass(frozen=True, slots=True)
class Task:
    """The work of one process: all ε and all runs of one algorithm on one subject.

    first:     the number of the first run
    same_code: do runs again that another version of the source has done
    intervals: compute those of published runs, too

    >>> Task(World("noise", 500), "twin", ("1",), 20, None, Path("runs.jsonl")).runs
    20
    """

    subject: Subject
    algorithm: str
    epsilons: tuple[str, ...]
    runs: int
    limit: float | None
    journal: Path
    first: int = 1
    same_code: bool = False
    intervals: bool = True


def work(task: Task, loaded: Loaded | None = None) -> None:
    """Do the runs of a task that are not in the journal yet.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     journal = Path(folder) / "runs.jsonl"
    ...     work(Task(World("noise", 200), "alt-expm:hardened", ("1",), 2, None, journal))
    ...     len(read(journal))
    2
    """
    subject, algorithm = task.subject, task.algorithm
    data = loaded or load(subject)
    settings = _settings(task, data)
    for epsilon in task.epsilons:
        row = subject.title, algorithm, epsilon
        done = [r for r in read(task.journal) if r.row == row and r.settings == settings]
        if task.same_code:
            done = [r for r in done if r.code == code_name()]
        kept = {run.number: run.seconds for run in latest(done)}
        for number in range(task.first, task.first + task.runs):
            if number in kept:
                continue
            if kept and task.limit is not None and sum(kept.values()) >= task.limit:
                done_so_far = f"{len(kept)} runs, time limit reached"
                say(f"{subject.title}, {algorithm}, ε = {epsilon}: {done_so_far}")
                break
            run = _perform(task, data, epsilon, number)
            append(task.journal, run)
            kept[number] = run.seconds
            say(
                f"{subject.title}, {algorithm}, ε = {epsilon}: run {number}, "
                f"{run.found} found, {run.seconds:.2f} s"
            )


def _settings(task: Task, data: Loaded) -> str:
    """Return the hash of what the runs of a task depend on."""
    subject, algorithm = task.subject, task.algorithm
    if is_other(algorithm):
        return other_settings(data, algorithm, large=subject.large)
    given = settings_of(algorithm, large=subject.large)
    published = given.get("profile") == "published"
    return settings_name(data.dataset, given, subject.prune if published else None)


def _perform(task: Task, data: Loaded, epsilon: str, number: int) -> Run:
    """Do one run, after its code has been compiled."""
    subject, row = task.subject, (task.subject.title, task.algorithm, epsilon)
    if is_other(task.algorithm):
        return perform_other(data, *row, number, large=subject.large)
    _warm_up(task.algorithm.partition("@")[0])
    return perform(
        data,
        *row,
        number,
        large=subject.large,
        prune=subject.prune,
        intervals=task.intervals,
    )


@lru_cache(maxsize=1)
def load(subject: Subject) -> Loaded:
    """Load a subject, or return it if it was loaded last in this process."""
    return subject.load()


@cache
def _warm_up(algorithm: str) -> None:
    """Compile the kernels, or read them from their cache, outside the measured time."""
    perform(World("noise", 200).load(), "", algorithm, "1", 0, large=False, intervals=False)


def do_all(tasks: Sequence[Task], workers: int = 1) -> None:
    """Do all tasks, one after the other or in parallel processes.

    >>> do_all([])
    """
    if workers > 1:
        # Sealed data cannot be sent to another process, so each process loads its own.
        context = get_context("spawn")
        with ProcessPoolExecutor(workers, context, initializer=end_with_the_parent) as pool:
            _wait_for([pool.submit(work, task) for task in tasks])
        return
    for task in tracked(tasks, "running"):
        work(task)


def end_with_the_parent() -> None:
    """End this process as soon as the one that started it has ended, by a kill for instance.

    Otherwise it would go on with what is queued, beside the processes of a second attempt, and then
    wait for ever.
    """
    parent = parent_process()
    if parent is None:
        return

    def watch() -> None:
        parent.join()
        os._exit(1)

    Thread(target=watch, daemon=True).start()


def _wait_for(futures: Sequence[Future[None]]) -> None:
    """Wait for all work with a progress bar, and raise the first error."""
    pending = set(futures)
    finished = iter(tracked(list(futures), "running"))
    while pending:
        # With a timeout, because Polars restarts interrupted waits: Ctrl-C would be ignored.
        done, pending = wait(pending, timeout=0.1, return_when=FIRST_COMPLETED)
        for future in done:
            next(finished)
            future.result()
