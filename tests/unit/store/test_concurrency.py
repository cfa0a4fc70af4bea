from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest

from redveil.errors import OverBudgetError
from redveil.store.checking import check_database
from redveil.store.job import State
from support.killing import ALLOWED
from support.other_user import unobserved
from support.stores import CLINIC, DOCUMENT, NOBODY, Place, loss

CLIENTS, RUNS = 64, 5


def together(act: Callable[[int], None]) -> None:
    """Let all clients act at the same moment; fail if one does."""
    start, faults = threading.Barrier(CLIENTS), list[BaseException]()

    def run(number: int) -> None:
        try:
            start.wait(60)
            act(number)
        except BaseException as error:
            faults.append(error)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(CLIENTS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert faults == []
    assert not any(thread.is_alive() for thread in threads)


@pytest.mark.parametrize("limited", ["budget", "cap over all", "grant"])
def test_of_64_clients_exactly_as_many_succeed_as_the_cap_allows(
    limited: str, make_place: Callable[..., Place]
) -> None:
    place = make_place(
        budget=str(RUNS) if limited == "budget" else "1000",
        cap=str(RUNS) if limited == "grant" else "1000",
        analysts=1 if limited == "grant" else 4,
        most_open=CLIENTS,
    )
    if limited == "cap over all":
        place.store.datasets.set_cap(CLINIC, loss(str(RUNS)), place.owner.id)
    outcomes: Counter[str] = Counter()
    lock = threading.Lock()

    def ask_and_work(number: int) -> None:
        worker = f"worker {number}"
        who = place.analysts[number % len(place.analysts)]
        try:
            place.submit("1", key=f"key {number}", analyst=who)
        except OverBudgetError:
            with lock:
                outcomes["not admitted"] += 1
            return
        # Others may have taken all that were queued when it looked.
        while (job := place.store.work.claim(worker)) is None:
            time.sleep(0.001)
        try:
            place.store.work.reserve(job.id, worker)
        except OverBudgetError:
            with lock:
                outcomes["refused"] += 1
            return
        place.store.work.touching(job.id, worker)
        place.store.work.commit(job.id, worker, DOCUMENT)
        with lock:
            outcomes["answered"] += 1

    together(ask_and_work)
    assert outcomes["answered"] == RUNS
    assert sum(outcomes.values()) == CLIENTS
    assert place.store.jobs.count()[State.DONE] == RUNS
    assert place.spent() == RUNS
    check_database(place.store.database, place.signer.public)


def test_of_64_requests_with_one_key_one_is_charged(place: Place) -> None:
    jobs: set[str] = set()
    together(lambda _: jobs.add(place.submit("1", key="the key").id))
    assert len(jobs) == 1
    assert len(place.store.jobs.of_analyst(place.ana.id)) == 1


def test_of_64_workers_one_gets_a_job(place: Place) -> None:
    job = place.submit("1")
    got: list[str] = []

    def claim(number: int) -> None:
        found = place.store.work.claim(f"worker {number}")
        if found is not None:
            got.append(found.id)

    together(claim)
    assert got == [job.id]


# Other tests may use the same server meanwhile.
WRITES: Final = "SELECT pid FROM pg_locks WHERE NOT granted AND relation = 'charges'::regclass"
WAITS_FOR: Final = "SELECT pid FROM pg_stat_activity WHERE ? = ANY(pg_blocking_pids(pid))"


def found(place: Place, sql: str, *parameters: Any) -> list[int]:
    with place.store.database.reading() as transaction:
        return [pid for (pid,) in transaction.execute(sql, parameters)]


@pytest.mark.parametrize("address", ["postgresql"], indirect=True)
def test_nothing_is_charged_after_its_account_was_closed(place: Place) -> None:
    """Who has closed an account sees every charge that there will ever be; SQLite locks all."""
    job = place.submit("1")
    place.store.work.claim("w")
    charges = list[int | None]()

    def close() -> None:
        place.store.accounts.close(place.ana.id, NOBODY)
        charges.append(place.store.jobs.get(job.id).charge)

    charging = threading.Thread(target=place.store.work.reserve, args=(job.id, "w"))
    closing = threading.Thread(target=close)
    with place.store.database.transaction() as transaction:
        # The charge has read everything by now, and can be written when this ends.
        transaction.execute("LOCK TABLE charges IN SHARE MODE")
        charging.start()
        while not (charger := found(place, WRITES)):
            time.sleep(0.01)
        closing.start()
        while closing.is_alive() and not found(place, WAITS_FOR, *charger):
            time.sleep(0.01)
    charging.join()
    closing.join()
    assert charges == [place.store.jobs.get(job.id).charge]


def battle(address: str, folder: Path, kills: int) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-m", "support.killing", address, str(folder), str(kills)],
        capture_output=True,
        text=True,
        cwd=Path(__file__).parents[2],
        env=unobserved(),
        timeout=60 + kills * 2,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "unexpected" not in done.stderr
    outcome: dict[str, Any] = json.loads(done.stdout)
    return outcome


def _judge(outcome: dict[str, Any], kills: int) -> None:
    assert outcome["killed"] >= kills
    # The budget is spent to the last run and not further, and nothing was charged twice.
    assert outcome["spent"] == str(ALLOWED)
    assert len(outcome["charged"]) == ALLOWED
    # Data was opened for jobs that are charged, and once for each.
    assert len(set(outcome["touched"])) == len(outcome["touched"])
    assert set(outcome["touched"]) <= set(outcome["charged"])
    # What a worker has committed is there, and is the answer to its question.
    assert set(outcome["committed"]) <= set(outcome["answers"])
    assert outcome["answers"].items() <= outcome["questions"].items()
    # A client that tried again with the same keys made no second job.
    assert len(set(outcome["questions"].values())) == outcome["jobs"]
    assert outcome["witnessed"] == outcome["entries"]


def test_nothing_is_lost_or_spent_twice_if_processes_are_killed(
    address: str, tmp_path: Path
) -> None:
    _judge(battle(address, tmp_path, 15), 15)


@pytest.mark.slow
def test_nothing_is_lost_or_spent_twice_if_hundreds_of_processes_are_killed(
    address: str, tmp_path: Path
) -> None:
    for number in range(10):
        folder = tmp_path / str(number)
        folder.mkdir()
        _judge(battle(_another(address, number), folder, 30), 30)


def _another(address: str, number: int) -> str:
    """Return the address of an empty database beside another."""
    if not address.startswith("postgresql"):
        return f"{address}-{number}"
    from support.postgresql import new_schema

    name = address.rpartition("%3D")[2]
    return new_schema(f"{name}_{number}")
