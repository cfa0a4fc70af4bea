"""Waiting for other threads or processes in a way that Ctrl-C can interrupt."""

from __future__ import annotations

from concurrent.futures import Future, wait
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
