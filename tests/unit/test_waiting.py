"""What is paid for does not fail because no thread can be started."""

from __future__ import annotations

import subprocess
import sys
import threading
from typing import Any

import pytest

from redveil.waiting import run_all

# Threads want more memory for their stacks than the process may have.
WITHOUT_THREADS = """
import resource, threading
import numpy as np
from redveil.counting import joint
from redveil.waiting import run_all

sets = np.full((128, 128), 5, dtype=np.uint64)
before = joint._count(sets, sets, threads=True)
threading.stack_size(2**33)
resource.setrlimit(resource.RLIMIT_AS, (2**33, 2**33))
try:
    threading.Thread(target=print).start()
except RuntimeError:
    pass
else:
    raise SystemExit("a thread was started")
assert run_all([lambda: 1, lambda: 2], stop=lambda: None) == [1, 2]
assert sets.size * len(sets) >= joint.FEWEST_WORD_PAIRS_FOR_THREADS
assert (joint._count(sets, sets, threads=True) == before).all()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the limit on memory may not be enforced")
def test_work_is_done_without_threads_if_none_can_be_started() -> None:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_THREADS], check=False, capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_fewer_threads_than_wanted_do_all_the_work(
    workers: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[Any] = []
    start = threading.Thread.start

    def start_one(thread: threading.Thread) -> None:
        if started:
            raise RuntimeError("can't start new thread")
        started.append(thread)
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", start_one)
    pieces = [lambda number=number: number for number in range(20)]
    assert run_all(pieces, stop=lambda: None, workers=workers) == list(range(20))


@pytest.mark.parametrize("workers", [1, 4])
def test_when_a_piece_fails_the_others_are_stopped(workers: int) -> None:
    stopped, begun = threading.Event(), []

    def wait() -> None:
        begun.append(1)
        assert stopped.wait(60)

    def fail() -> None:
        raise ValueError("a piece")

    with pytest.raises(ValueError, match="a piece"):
        run_all([fail, *[wait] * 100], stopped.set, workers)
    assert len(begun) <= workers
