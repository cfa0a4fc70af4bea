"""Clients and workers that are killed at random moments, again and again.

A program of its own, because it forks: `python -m support.killing ADDRESS FOLDER KILLS`. It prints
what happened as JSON; the test judges.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NoReturn

from redveil.errors import ConflictError, OverBudgetError, RedveilError
from redveil.signing.keys import Signer
from redveil.store.accounts import Role
from redveil.store.checking import check_database
from redveil.store.job import OPEN, State
from redveil.store.jobs import Request
from redveil.store.store import Store
from redveil.store.witness import Witness
from support.stores import CLINIC, NOBODY, loss

ANALYSTS, WORKERS, ALLOWED = 4, 3, 25
# A second of the machine is this long for the leases.
SPEED = 60
LEASE = timedelta(seconds=30)


class Ground:
    """A store, and the files in which workers write down what they have seen."""

    def __init__(self, address: str, folder: Path, jobs: int) -> None:
        self.address, self.folder, self.jobs = address, folder, jobs
        self.signer = Signer.generate()
        self.began = time.monotonic()
        store = self.open()
        owner = store.accounts.create("olga", Role.OWNER, NOBODY)
        store.datasets.register(CLINIC, "clinic", owner.id, {}, loss(str(ALLOWED)))
        store.datasets.new_version(CLINIC, "x", "ab", owner.id)
        self.analysts = [
            store.accounts.create(f"ana {number}", Role.ANALYST, NOBODY).id
            for number in range(ANALYSTS)
        ]
        self.tokens = []
        for one in self.analysts:
            store.datasets.grant(CLINIC, one, loss("1000"), owner.id)
            later = self.clock() + timedelta(days=10_000)
            token, _ = store.accounts.issue_token(one, ["ask"], later, NOBODY)
            self.tokens.append(token.id)
        store.close()

    def open(self) -> Store:
        return Store.open(
            self.address,
            self.signer,
            self.folder / "witness.jsonl",
            clock=self.clock,
            most_open=10**6,
            lease=LEASE,
        )

    def clock(self) -> datetime:
        passed = (time.monotonic() - self.began) * SPEED
        return datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=passed)

    def note(self, what: str, job: str) -> None:
        """Write a line that survives the process."""
        handle = os.open(self.folder / what, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        os.write(handle, f"{job}\n".encode())
        os.close(handle)

    def noted(self, what: str) -> list[str]:
        path = self.folder / what
        return path.read_text().split() if path.exists() else []

    def submit_all(self) -> None:
        """Submit the same jobs with the same keys, as a client does that tries again."""
        store = self.open()
        for number in range(self.jobs):
            who = self.analysts[number % ANALYSTS]
            token = self.tokens[number % ANALYSTS]
            question = {"n": number}
            request = Request(who, CLINIC, "mine", question, loss("1"), f"key {number}", token)
            with suppress(OverBudgetError):
                store.jobs.submit(request)
        store.close()

    def work(self) -> None:
        """Take jobs until none is left that is not another worker's."""
        store, me = self.open(), f"{os.getpid()}-{time.monotonic_ns()}"
        while True:
            store.work.expire()
            job = store.work.claim(me)
            if job is None:
                time.sleep(0.005)
                continue
            try:
                store.work.reserve(job.id, me)
                store.work.touching(job.id, me)
                self.note("touched", job.id)
                time.sleep(random.random() * 0.01)
                store.work.commit(job.id, me, {"answer": job.question["n"]})
                self.note("committed", job.id)
            except (OverBudgetError, ConflictError):
                continue


def forked(act: Callable[[], None]) -> int:
    """Run something in a child; return its number."""
    child = os.fork()
    if not child:
        _run(act)
    return child


def _run(act: Callable[[], None]) -> NoReturn:
    try:
        act()
    except RedveilError as error:
        print(f"unexpected: {error}", file=sys.stderr, flush=True)
        os._exit(1)
    os._exit(0)


def kill(child: int) -> int:
    """Kill a child, and return how it ended."""
    os.kill(child, signal.SIGKILL)
    return os.waitpid(child, 0)[1]


def battle(ground: Ground, kills: int) -> int:
    """Kill clients and workers at random moments; return how many were still alive then."""
    acts = [ground.submit_all, *[ground.work] * WORKERS]
    children = [forked(act) for act in acts]
    killed = 0
    while killed < kills:
        time.sleep(random.random() * 0.1)
        which = random.randrange(len(acts))
        status = kill(children[which])
        killed += os.WIFSIGNALED(status)
        assert os.WIFSIGNALED(status) or os.WEXITSTATUS(status) == 0, "a child failed"
        children[which] = forked(acts[which])
    for child in children:
        kill(child)
    return killed


def settle(ground: Ground) -> dict[str, Any]:
    """Let everything end in peace, and say how it ended."""
    os.waitpid(forked(ground.submit_all), 0)
    children = [forked(ground.work) for _ in range(WORKERS)]
    store, deadline = ground.open(), time.monotonic() + 60
    while any(store.jobs.count().get(state) for state in OPEN):
        assert time.monotonic() < deadline, "it hangs"
        time.sleep(0.05)
    for child in children:
        kill(child)
    checked = check_database(store.database, ground.signer.public)
    jobs = store.jobs.of_dataset(CLINIC, most=1000)
    answers = {
        job.id: store.jobs.result(job.id)["answer"] for job in jobs if job.state is State.DONE
    }
    kept = Witness(ground.folder / "witness.jsonl").head(store.head().ledger)  # type: ignore[union-attr]
    outcome = {
        "entries": checked.head.number,
        "witnessed": None if kept is None else kept.number,
        "jobs": len(jobs),
        "states": {state.value: count for state, count in store.jobs.count().items()},
        "spent": str(store.datasets.spent(CLINIC).of_all.epsilon),
        "charged": sorted(job.id for job in jobs if job.charge is not None),
        "touched": sorted(ground.noted("touched")),
        "committed": sorted(ground.noted("committed")),
        "answers": answers,
        "questions": {job.id: job.question["n"] for job in jobs},
    }
    store.close()
    return outcome


if __name__ == "__main__":
    place = Ground(sys.argv[1], Path(sys.argv[2]), jobs=ALLOWED * 3)
    count = battle(place, int(sys.argv[3]))
    print(json.dumps({"killed": count, **settle(place)}))
