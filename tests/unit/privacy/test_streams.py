"""No two processes and no two threads ever draw the same randomness."""

from __future__ import annotations

import multiprocessing
import os
import select
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
import pytest

import redveil
from redveil.privacy.randomness import SystemRandomness
from support.wall import marked

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork"),
    pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning"),
]
# With noise this wide, two draws are equal about once in a million.
WIDE = Fraction(1, 10**6)
NUMBERS = 64
SECONDS_BEFORE_A_HANG = 30

Draw = Callable[[SystemRandomness], Any]
DRAWS: dict[str, Draw] = {
    "words": lambda source: source.words(NUMBERS),
    "noise": lambda source: source.laplace(WIDE, NUMBERS),
    "gaussian noise": lambda source: source.gaussian(WIDE**2, NUMBERS),
}


def in_child(work: Callable[[], Any]) -> list[int]:
    """Run work that returns integers in a forked child, and fail if the child hangs."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            os.write(writing, np.asarray(work()).astype(np.int64).tobytes())
            status = 0
        finally:
            os._exit(status)
    os.close(writing)
    ready, _, _ = select.select([reading], [], [], SECONDS_BEFORE_A_HANG)
    if not ready:
        os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    sent = os.read(reading, 8 * 4096) if ready else b""
    os.close(reading)
    assert sent, "the child hangs, or has failed"
    return [int(number) for number in np.frombuffer(sent, dtype=np.int64)]


def must_differ(streams: list[list[int]]) -> None:
    """Require that no stream repeats a part of another; a few numbers may be equal by chance."""
    for one, other in combinations(streams, 2):
        assert len(one) == len(other) == NUMBERS
        assert len(set(one) & set(other)) <= 2


def numbers(drawn: Any) -> list[int]:
    return [int(number) for number in drawn.astype(np.int64)]


@pytest.mark.parametrize("draw", DRAWS.values(), ids=DRAWS)
@pytest.mark.parametrize("draws_before", [0, 1])
def test_parent_and_forked_children_draw_differently(draw: Draw, draws_before: int) -> None:
    source = SystemRandomness()
    for _ in range(draws_before):
        draw(source)
    children = [in_child(lambda: draw(source)) for _ in range(2)]
    grandchild = in_child(lambda: in_child(lambda: draw(source)))
    must_differ([*children, grandchild, numbers(draw(source))])


def test_a_child_with_its_parents_process_number_draws_differently(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Process numbers are reused, and the first process of every container is number 1."""
    monkeypatch.setattr(os, "getpid", lambda: 1)
    source = SystemRandomness()
    source.words(1)
    child = in_child(lambda: source.words(NUMBERS))
    must_differ([child, numbers(source.words(NUMBERS))])


@contextmanager
def busy(source: SystemRandomness) -> Iterator[None]:
    """Let another thread draw all the time."""
    done, begun = threading.Event(), threading.Event()

    def draw() -> None:
        while not done.is_set():
            source.words(400_000)
            begun.set()

    thread = threading.Thread(target=draw)
    thread.start()
    assert begun.wait(SECONDS_BEFORE_A_HANG)
    try:
        yield
    finally:
        done.set()
        thread.join()


def test_a_child_forked_while_another_thread_draws_does_not_hang(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(globals(), "SECONDS_BEFORE_A_HANG", 3)
    source = SystemRandomness()
    with busy(source):
        streams = [in_child(lambda: source.words(NUMBERS)) for _ in range(5)]
    must_differ([*streams, numbers(source.words(NUMBERS))])


@pytest.mark.parametrize("draw", DRAWS.values(), ids=DRAWS)
def test_threads_draw_differently_from_one_source(draw: Draw) -> None:
    source, gate = SystemRandomness(), threading.Barrier(4)

    def work() -> list[int]:
        gate.wait()
        return numbers(draw(source))

    with ThreadPoolExecutor(4) as pool:
        must_differ([done.result() for done in [pool.submit(work) for _ in range(4)]])


def noise_from_a_run(_: int) -> list[float]:
    """Mine, and return what depends on the noise alone: noisy counts of the same cells."""
    result = redveil.mine(marked(), WIDE, algorithm="twin", depth=1, trials=1)
    return [cell for row in result.document.tree_pairs[0].leaf_table.cells for cell in row]


def test_runs_in_forked_workers_have_their_own_noise() -> None:
    """Two releases with the same noise would reveal the difference of their counts exactly."""
    marked()  # loaded before the fork, as a server would
    own = noise_from_a_run(0)
    with multiprocessing.get_context("fork").Pool(2) as pool:
        theirs = pool.map_async(noise_from_a_run, range(3), chunksize=1).get(
            2 * SECONDS_BEFORE_A_HANG
        )
        pool.close()
        pool.join()
    runs = [own, *theirs]
    assert all(not set(one) & set(other) for one, other in combinations(runs, 2))
