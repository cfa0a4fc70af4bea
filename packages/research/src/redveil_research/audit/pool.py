"""Worker processes for the runs of an audit."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import contextmanager
from functools import partial
from typing import TypeVar

from redveil.seam.neighbours import awaited
from redveil_research.audit.audit import Spread

T = TypeVar("T")
R = TypeVar("R")


@contextmanager
def processes() -> Iterator[Spread]:
    """Yield a `map` that runs pieces of work in one process per core.

    >>> with processes() as spread:
    ...     list(spread(str, ()))
    []
    """
    # Spawned, not forked: Numba's and Polars' threads do not survive a fork.
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(os.cpu_count(), context, initializer=_ignore_interrupts)
    try:
        yield partial(_spread, pool)
    finally:
        pool.shutdown(cancel_futures=True)


def _spread(pool: Executor, work: Callable[[T], R], over: Iterable[T]) -> Iterator[R]:
    """Yield the results of work done in other processes, in order."""
    for future in [pool.submit(work, each) for each in over]:
        yield awaited(future)


def _ignore_interrupts() -> None:
    """Ignore Ctrl-C, which reaches every process of a terminal; the parent stops its workers."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
