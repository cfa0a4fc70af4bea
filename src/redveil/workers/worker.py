"""A worker: a process that opens packed tables and answers questions, one at a time.

It shares the database and the folder of packed tables with the server, and nothing else. A job is
charged, then the table is opened. If the worker dies, runs out of memory or takes too long, the
charge stays, another process takes its place, and nobody is told why.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from collections.abc import Mapping
from datetime import timedelta
from functools import cache
from threading import Event, Thread
from typing import Any, Final

from redveil.errors import (
    ConflictError,
    InputError,
    LeaseError,
    NotAllowedError,
    NotFoundError,
    OverBudgetError,
    RedveilError,
    StoreError,
)
from redveil.losses.loss import parse_loss
from redveil.schema import Schema
from redveil.server.child import end_with_parent, read_settings, stop_by_signal
from redveil.server.logs import Log
from redveil.server.opening import open_store
from redveil.server.settings import Settings
from redveil.store.job import Job, State
from redveil.store.store import Store, utc_now

USELESS: Final = 3
DONE: Final = "done"
FAILED: Final = "failed"
_POLL: Final = 0.2
# A result that cannot be stored at once is kept for so many tries.
_TRIES: Final = 30
_PAUSE: Final = 1.0
# How often a run looks whether it was cancelled. The slot of a cancelled job is free so long after
# that shows: by then it was noticed, so the slot is free at the same moment wherever the run was.
_LOOK: Final = 0.5
_NOTICED: Final = timedelta(seconds=1)


class Worker:
    """A worker.

    name: by which its leases are known
    key:  for packed tables, None if they are not encrypted
    """

    def __init__(
        self, name: str, settings: Settings, store: Store, key: bytes | None, log: Log
    ) -> None:
        self._name = name
        self._settings = settings
        self._store = store
        self._key = key
        self._log = log
        # Not an Event: a signal's handler that sets one can wait for a lock of its own thread.
        self._is_stopped = False

    def stop(self) -> None:
        """Let the worker end after the job that it has."""
        self._is_stopped = True

    def run(self) -> None:
        """Take up jobs until the worker is stopped."""
        while not self._is_stopped:
            try:
                job = self._store.work.claim(self._name)
            except StoreError:
                job = None
            if job is None:
                # Nothing to do: a good moment to load what the first job will take.
                warm()
                time.sleep(_POLL)
            else:
                self.do(job)

    def do(self, job: Job) -> None:
        """Charge a job, answer it and store the answer."""
        alive = _Heart(self._store, job.id, self._name, self._settings.lease_seconds / 3)
        alive.start()
        try:
            ended = self._end(job)
        except OverBudgetError:
            ended = "over budget"
        except NotAllowedError:
            ended = "not allowed"
        except LeaseError:
            ended = "lost"
        except StoreError:
            # Whether it was charged is in the database; its lease runs out.
            ended = "database not available"
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            alive.stop()
        self._log(ended, job=job.id)
        self._hold(job.id)

    def _end(self, job: Job) -> str:
        """Return how a job has ended."""
        if (reason := self._refusal(job)) is not None:
            self._store.work.decline(job.id, self._name, reason)
            return "not allowed"
        self._store.work.reserve(job.id, self._name)
        if self._is_stopped:
            self._store.work.give_back(job.id, self._name)
            return "given back"
        job = self._store.work.touching(job.id, self._name)
        # The system ends this process, whatever it is doing then.
        signal.setitimer(signal.ITIMER_REAL, self._settings.worker_seconds)
        try:
            document = self._answer(job)
        except Exception:  # why a run fails can depend on rows, so nothing is written
            self._store.work.fail(job.id, self._name)
            return FAILED
        self._commit(job, document)
        return DONE

    def _refusal(self, job: Job) -> str | None:
        """Return why this server does not allow a job's question, as its settings are now."""
        from redveil.workers.asking import check

        try:
            schema = Schema.from_dict(self._store.datasets.get(job.dataset).description)
            check(job.question, schema, self._settings.limits, earlier=self._earlier(job))
        except (InputError, NotFoundError, ConflictError) as error:
            return str(error)
        return None

    def _earlier(self, job: Job) -> Mapping[str, Any] | None:
        """Return the result that a job's question begins with."""
        earlier = job.question.get("job")
        return None if earlier is None else self._store.jobs.result(earlier, job.analyst)

    def _answer(self, job: Job) -> Mapping[str, Any]:
        # Libraries that compute are loaded when there is something to compute.
        from redveil.workers.asking import answer
        from redveil.workers.packed import unpack

        found = self._store.datasets.get(job.dataset)
        version = self._store.datasets.version(job.dataset, job.version)
        schema = Schema.from_dict(found.description)
        path = self._settings.data_folder / version.location
        dataset = unpack(schema, path, self._key, version.sha256)
        document: dict[str, Any] = json.loads(
            answer(job.question, dataset, earlier=self._earlier(job)).to_json()
        )
        # A server's signature is added when the result is stored.
        document.pop("signature", None)
        promised = document["certificate"]
        lost = parse_loss(promised["epsilon"], promised["delta"])
        if lost.epsilon > job.price.epsilon or lost.delta > job.price.delta:
            raise OverBudgetError("the run lost more than was charged")
        return document

    def _commit(self, job: Job, document: Mapping[str, Any]) -> None:
        """Store a result; it is paid for, so it is kept until the database takes it."""
        for last in range(_TRIES, -1, -1):
            try:
                self._store.work.commit(job.id, self._name, document)
            except StoreError:
                if not last:
                    raise
                time.sleep(_PAUSE)
            else:
                return

    def _hold(self, job: str) -> None:
        """Keep the slot until the end shows: when the next job starts would tell, too."""
        while (wait := _seconds_to_hold(self._store, job)) and not self._is_stopped:
            time.sleep(min(_POLL, wait))
        if _is_cancelled(self._store, job):
            # As if the run had been going on, which takes another process to end.
            self.stop()


class _Heart(Thread):
    """Renews a lease; ends the process if the job was cancelled, or is not its own any more."""

    def __init__(self, store: Store, job: str, worker: str, every: float) -> None:
        super().__init__(daemon=True)
        self._store, self._job, self._worker = store, job, worker
        self._every = every
        self._stopped = Event()

    def run(self) -> None:
        renewed = time.monotonic()
        while not self._stopped.wait(min(_LOOK, self._every)):
            is_cancelled = _is_cancelled(self._store, self._job)
            if not is_cancelled and time.monotonic() < renewed + self._every:
                continue
            try:
                is_ours = self._store.work.heartbeat(self._job, self._worker)
            except RedveilError:
                continue
            renewed = time.monotonic()
            # Cancelled: the slot is kept until that shows, as if the run had ended already.
            wait = _seconds_to_hold(self._store, self._job) if is_cancelled else 0.0
            if not is_ours and not self._stopped.wait(wait):
                # Or given to another worker: stop at once, wherever the run is.
                os._exit(1)

    def stop(self) -> None:
        self._stopped.set()


def _seconds_to_hold(store: Store, job: str) -> float:
    """Return how long it is until the end of a job shows; 0 if it shows, or nothing has ended."""
    try:
        moment = store.jobs.shows_at(job)
    except RedveilError:
        return _PAUSE
    if moment is None:
        return 0.0
    free = moment + _NOTICED if _is_cancelled(store, job) else moment
    return max(0.0, (free - utc_now()) / timedelta(seconds=1))


def _is_cancelled(store: Store, job: str) -> bool:
    """Return whether a job was cancelled after it was charged."""
    try:
        found = store.jobs.get(job)
    except RedveilError:
        return False
    return found.state is State.CANCELLED and found.charge is not None


@cache
def warm() -> None:
    """Load the libraries that compute, once, so that the first job need not wait for them."""
    import redveil.workers.asking
    import redveil.workers.packed  # noqa: F401


def limit(memory: int) -> None:
    """Limit this process's memory, in MiB, and forbid it to leave its memory in a file."""
    import resource

    resource.setrlimit(resource.RLIMIT_AS, (memory << 20, memory << 20))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def main() -> int:
    """Run a worker as its parent says; return the exit code."""
    name, settings = read_settings()
    log = Log(name)
    limit(settings.worker_memory)
    try:
        store = open_store(settings)
        worker = Worker(name, settings, store, settings.read_data_key(), log)
    except RedveilError as error:
        log("cannot start", reason=str(error))
        return USELESS
    signal.signal(signal.SIGTERM, lambda *_: worker.stop())
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    end_with_parent(stop_by_signal)
    log("ready")
    worker.run()
    store.close()
    return 0


if __name__ == "__main__":
    ended_with = main()
    sys.stderr.flush()
    # Taking the interpreter down takes a while: what follows a cancelled job would start later if
    # the run had ended than if it was stopped in the middle.
    os._exit(ended_with)
