"""Waiting for other threads or processes in a way that Ctrl-C can interrupt."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future, wait
from contextlib import suppress
from threading import Thread
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

    Limits on memory or processes may leave room for few threads or for none. Then those that can be
    started do all the work, or the caller does: what is paid for must not fail because of that, and
    an executor of the standard library would.

    stop:    called when a piece fails, or on Ctrl-C, to end those that are still running
    workers: the number of threads; by default, one for each core

    >>> run_all([lambda: 1, lambda: 2], stop=lambda: None)
    [1, 2]
    """
    futures: list[Future[R]] = [Future() for _ in pieces]
    left = deque(zip(pieces, futures, strict=True))

    def work() -> None:
        # Until nothing is left, which another thread may have seen to in between.
        with suppress(IndexError):
            while True:
                _settle(*left.popleft())

    threads: list[Thread] = []
    try:
        with suppress(RuntimeError):
            for _ in range(min(workers or os.cpu_count() or 1, len(pieces))):
                thread = Thread(target=work)
                thread.start()
                threads.append(thread)
        if not threads:
            return [piece() for piece in pieces]
        return [awaited(future) for future in futures]
    except BaseException:
        left.clear()
        stop()
        raise
    finally:
        for thread in threads:
            thread.join()


def _settle(piece: Callable[[], R], future: Future[R]) -> None:
    """Run a piece of work, and keep its result or its error."""
    try:
        future.set_result(piece())
    except BaseException as error:
        future.set_exception(error)
