"""Waiting for work on other threads or in other processes, with an ear for Ctrl-C."""

from __future__ import annotations

from concurrent.futures import Future, wait
from typing import TypeVar

R = TypeVar("R")
# Seconds after which a wait looks around; nobody notices a tenth of a second.
MOMENT = 0.1


def awaited(future: Future[R]) -> R:
    """Return what a piece of work comes to.

    A wait without an end would be deaf: Polars has the system resume such waits after a signal, so
    that Ctrl-C would count only when the work is done.

    >>> from concurrent.futures import ThreadPoolExecutor
    >>> with ThreadPoolExecutor(1) as pool:
    ...     awaited(pool.submit(len, "four"))
    4
    """
    while not wait([future], MOMENT).done:
        pass
    return future.result()
