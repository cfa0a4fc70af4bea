"""Many runs of an experiment, in one process or several, each recorded as soon as it is done.

An experiment that was interrupted is resumed: runs that are in the journal are not done again.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import dataclass
from functools import cache, lru_cache
from multiprocessing import get_context, parent_process
from pathlib import Path
from threading import Thread
from typing import Any, Final

import numpy as np

import redveil
from redveil.seam.commands import say
from redveil_research import baseline, diagnose
from redveil_research.experiments.console import tracked
from redveil_research.experiments.judging import binomial_tail
from redveil_research.experiments.runs import (
    LARGE_LIMITS,
    Finding,
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

BASELINE_NAMES: Final = ("split-trees", "layered-trees", "cartwheels")
WALK: Final = "walk:"
WALK_STEPS: Final = 100_000
SHOWN: Final = 1000
BINS: Final = 200
# The published tree share; a diagnosis takes the ε of a run, of which this share is the walk's.
SHARE: Final = 0.1


def is_other(algorithm: str) -> bool:
    """Return whether a name in a journal is that of a baseline or of a watched walk.

    >>> is_other("split-trees"), is_other("walk:Moose@3"), is_other("twin")
    (True, True, False)
    """
    return algorithm in BASELINE_NAMES or algorithm.startswith(WALK)


def other_settings(loaded: Loaded, algorithm: str, *, large: bool) -> str:
    """Return a short hash of everything that such a run depends on, except ε."""
    digest = loaded.dataset.schema.digest
    parts = [redveil.__version__, digest, algorithm, _baseline_limits(large=large), WALK_STEPS]
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:12]


def perform_other(
    loaded: Loaded, data: str, algorithm: str, epsilon: str, number: int, *, large: bool
) -> Run:
    """Mine a baseline, or watch a walk over pairs of trees at some ε of its own.

    >>> from redveil_research.experiments.subjects import World
    >>> loaded = World("survey", 300).load()
    >>> perform_other(loaded, "survey", "layered-trees", "", 1, large=False).algorithm
    'layered-trees'
    """
    wall, cpu = time.perf_counter(), time.process_time()
    made = _walk(loaded, algorithm, epsilon) if algorithm.startswith(WALK) else {}
    if not made:
        made = {"findings": _baseline(loaded, algorithm, _baseline_limits(large=large))}
    spent = time.perf_counter() - wall, time.process_time() - cpu
    settings = other_settings(loaded, algorithm, large=large)
    row = data, algorithm, epsilon, number, settings, round(spent[0], 4), round(spent[1], 4)
    return Run(*row, code=code_name(), **made)


def _baseline_limits(*, large: bool) -> dict[str, Any]:
    """Return what a baseline must find: as much as a private run; insignificant ones, too."""
    return {"max_p_value": 1.0, **(LARGE_LIMITS if large else {})}


def _baseline(loaded: Loaded, method: Any, limits: dict[str, Any]) -> tuple[Finding, ...]:
    """Return what a baseline finds, each with its true values."""
    found = baseline(loaded.dataset, method, **limits).to_arrow()
    entities = max(loaded.views[0].count, 1)
    findings = []
    for one in found.to_pylist():
        both, left, right = (one[f"true_support_{part}"] for part in ("both", "left", "right"))
        p_value = binomial_tail(both, left, right, entities)
        findings.append(Finding(one["true_jaccard"], float(both), one["true_jaccard"], p_value))
    return tuple(findings)


def _walk(loaded: Loaded, algorithm: str, epsilon: str) -> dict[str, Any]:
    """Return the first, middle and last scores of a walk that is never stopped, and a histogram."""
    target, _, depth = algorithm.removeprefix(WALK).rpartition("@")
    watched = diagnose(
        loaded.dataset,
        float(epsilon) / SHARE,
        profile="published",
        target=target,
        depth=int(depth),
        trials=1,
        tree_share=SHARE,
        walk_steps=WALK_STEPS,
        # A diagnosis compares walks; the paper watches one.
        walks=2,
    )
    scores = watched.traces[0]
    middle = scores.size // 2
    parts = scores[:SHOWN], scores[middle : middle + SHOWN], scores[-SHOWN:]
    counts, _ = np.histogram(scores, bins=BINS, range=(0, 1))
    return {
        "scores": tuple(np.round(np.concatenate(parts), 4).tolist()),
        "histogram": tuple(counts.tolist()),
    }


@dataclass(frozen=True, slots=True)
class Task:
    """The work of one process: all ε and all runs of one algorithm on one subject.

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
        for number in range(1, 1 + task.runs):
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
