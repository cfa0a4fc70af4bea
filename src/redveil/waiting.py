"""Waiting for other threads or processes in a way that Ctrl-C can interrupt."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import TypeVar

R = TypeVar("R")
# How often a wait checks for Ctrl-C; a delay of a tenth of a second goes unnoticed.
POLL_SECONDS = 0.1


def awaited(future: Future[R]) -> R:
    """Return the result of a future.

    A wait without a timeout could not be interrupted: Polars makes the system resume such waits
    after a signal, so Ctrl-C would take effect only when the work is done.

    >>> from concurrent.futures import ThreadPoolExecutor
    >>> with ThreadPoolExecutor(1) as pool:
    ...     awaited(pool.submit(len, "four"))
    4
    """
    while not wait([future], POLL_SECONDS).done:
        pass
    return future.result()


def run_all(
    pieces: Sequence[Callable[[], R]], stop: Callable[[], None], workers: int | None = None
) -> list[R]:
    """Run pieces of work on threads, and return their results in order.

    stop:    called when a piece fails, or on Ctrl-C, to end those that are still running
    workers: the number of threads; by default, one for each core

    >>> run_all([lambda: 1, lambda: 2], stop=lambda: None)
    [1, 2]
    """
    with ThreadPoolExecutor(workers or os.cpu_count()) as pool:
        futures = [pool.submit(piece) for piece in pieces]
        try:
            return [awaited(future) for future in futures]
        except BaseException:
            stop()
            pool.shutdown(wait=False, cancel_futures=True)
            raise
