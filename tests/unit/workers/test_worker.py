"""A worker with a real store and packed tables, called by hand."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from fractions import Fraction
from io import StringIO
from pathlib import Path
from threading import Thread, Timer
from typing import Any

import pytest

from redveil.data.synthetic import CLINIC_ID
from redveil.errors import StoreError
from redveil.losses.loss import Loss
from redveil.server.child import line_for
from redveil.server.logs import Log
from redveil.server.opening import set_up
from redveil.server.settings import Settings
from redveil.store.job import Job, State
from redveil.store.jobs import Request
from redveil.store.store import Store, utc_now
from redveil.workers.worker import Worker
from support.served import AT_ONCE, MINE, People, populate


class Site:
    """A store with a clinic, and a worker."""

    def __init__(self, folder: Path, **options: Any) -> None:
        self.settings = Settings(folder=folder, **(AT_ONCE | options))
        self.store: Store = set_up(self.settings)[0]
        self.people: People = populate(self.store, self.settings, budget="10")
        self.lines = StringIO()
        self.worker = self.new_worker()

    def new_worker(self) -> Worker:
        return Worker("w", self.settings, self.store, None, Log("w", self.lines))

    def submit(self, question: dict[str, Any] = MINE, price: str = "1") -> Job:
        request = Request(
            self.people.ids["ana"],
            CLINIC_ID,
            "mine",
            question,
            Loss(Fraction(price)),
            os.urandom(8).hex(),
            self.store.accounts.tokens(self.people.ids["ana"])[0].id,
        )
        return self.store.jobs.submit(request)

    def after(self, job: Job) -> Job:
        """Return a job after a worker has done it."""
        claimed = self.store.work.claim("w")
        assert claimed is not None
        self.worker.do(claimed)
        return self.store.jobs.get(job.id)

    @property
    def spent(self) -> float:
        return float(self.store.datasets.spent(CLINIC_ID).of_all.epsilon)


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    made = Site(tmp_path / "server")
    yield made
    made.store.close()


def test_a_job_is_charged_answered_and_stored(site: Site) -> None:
    job = site.after(site.submit())
    assert (job.state, site.spent) == (State.DONE, 1)
    assert site.store.jobs.result(job.id)["certificate"]["epsilon"] == "1"


def test_what_lost_more_than_was_charged_is_not_stored(site: Site) -> None:
    job = site.after(site.submit(price="1/2"))
    assert (job.state, site.spent) == (State.FAILED, 0.5)


def test_over_budget_opens_nothing(site: Site) -> None:
    job = site.submit(price="6")
    other = site.submit(price="6")
    assert site.after(job).state is State.DONE
    site.settings.data_folder.joinpath(site.store.datasets.version(CLINIC_ID).location).unlink()
    assert site.after(other).state is State.OVER_BUDGET
    assert site.spent == 6


@pytest.mark.parametrize(
    ("question", "limit"),
    [
        ({"trials": 3}, {"most_trials": 2}),
        ({"algorithm": "alt-expm", "alternations": 3, "depth": 1}, {"most_trials": 2}),
        (
            {"algorithm": "tree-pair", "walk_steps": 20},
            {"exact_only": False, "most_walk_steps": 10},
        ),
        ({"algorithm": "tree-pair", "walk_steps": 20}, {"exact_only": True}),
    ],
)
def test_limits_that_became_stricter_while_a_job_waited_are_those_that_count(
    site: Site, question: dict[str, Any], limit: dict[str, Any]
) -> None:
    job = site.submit({"kind": "mine", "epsilon": "1"} | question)
    site.settings = site.settings.model_copy(update=limit)
    site.worker = site.new_worker()
    assert site.after(job).state is State.DECLINED
    assert site.spent == 0
    (event,) = [
        one for one in site.store.audit.events(dataset=CLINIC_ID) if one.action == "job declined"
    ]
    assert "on this server" in event.details["reason"]


def test_what_was_revoked_before_the_charge_opens_nothing(site: Site) -> None:
    job = site.submit()
    site.store.accounts.close(site.people.ids["ana"], "console")
    site.settings.data_folder.joinpath(site.store.datasets.version(CLINIC_ID).location).unlink()
    assert site.after(job).state is State.DECLINED
    assert (site.spent, "not allowed" in site.lines.getvalue()) == (0, True)


@pytest.mark.parametrize("damage", ["gone", "changed"])
def test_a_damaged_table_fails_the_job_and_keeps_the_charge(site: Site, damage: str) -> None:
    path = site.settings.data_folder / site.store.datasets.version(CLINIC_ID).location
    if damage == "gone":
        path.unlink()
    else:
        path.write_bytes(path.read_bytes()[:-1] + b"x")
    job = site.after(site.submit())
    assert (job.state, site.spent) == (State.FAILED, 1)
    # Nobody is told why.
    assert site.lines.getvalue().count("failed") == 1
    assert "table" not in site.lines.getvalue()


def test_a_job_that_is_not_the_workers_any_more_is_dropped(site: Site) -> None:
    job = site.submit()
    claimed = site.store.work.claim("w")
    assert claimed is not None
    site.store.jobs.cancel(job.id, site.people.ids["ana"])
    site.worker.do(claimed)
    assert (site.store.jobs.get(job.id).state, site.spent) == (State.CANCELLED, 0)


def test_a_stopped_worker_gives_back_what_it_has_not_touched(site: Site) -> None:
    job = site.submit()
    claimed = site.store.work.claim("w")
    assert claimed is not None
    site.worker.stop()
    site.worker.do(claimed)
    assert (site.store.jobs.get(job.id).state, site.spent) == (State.QUEUED, 0)


def test_a_worker_takes_up_jobs_until_it_is_stopped(site: Site) -> None:
    jobs = [site.submit() for _ in range(3)]

    def stop() -> None:
        while site.store.jobs.get(jobs[-1].id).state is not State.DONE:
            time.sleep(0.02)
        site.worker.stop()

    Thread(target=stop).start()
    site.worker.run()
    assert [site.store.jobs.get(one.id).state for one in jobs] == [State.DONE] * 3


def test_a_paid_result_is_kept_until_the_database_takes_it(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit, failures = site.store.work.commit, iter([True, True])

    def unlucky(*given: Any) -> Any:
        if next(failures, False):
            raise StoreError("the database is busy")
        return commit(*given)

    monkeypatch.setattr(site.store.work, "commit", unlucky)
    monkeypatch.setattr("redveil.workers.worker._PAUSE", 0.0)
    assert site.after(site.submit()).state is State.DONE


def test_a_database_that_does_not_answer_leaves_the_job_to_its_lease(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    def gone(*_: Any) -> Any:
        raise StoreError("the database cannot be used")

    job = site.submit()
    monkeypatch.setattr(site.store.work, "reserve", gone)
    assert site.after(job).state is State.CLAIMED
    assert "database not available" in site.lines.getvalue()
    monkeypatch.setattr(site.store.work, "claim", gone)
    Timer(0.3, site.worker.stop).start()
    site.worker.run()


def test_a_worker_keeps_its_slot_until_its_result_shows(tmp_path: Path) -> None:
    site = Site(tmp_path / "server", release_every=2.0)
    job = site.submit()
    begun = time.time()
    assert site.after(job).state is State.DONE
    # The start is rounded down to the second.
    assert time.time() >= int(begun) + 2
    site.store.close()


@pytest.mark.parametrize("late", [0.0, 0.4], ids=["before it shows", "after it shows"])
def test_a_worker_keeps_the_slot_of_a_cancelled_job_until_that_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, late: float
) -> None:
    # Whenever the run ends, the slot is free at the same moment. The heart would end this process.
    monkeypatch.setattr("redveil.workers.worker._Heart.run", lambda _: None)
    site = Site(tmp_path / "server", release_every=2.0)
    job = site.submit()

    def cancelled(*_: Any) -> Any:
        site.store.jobs.cancel(job.id, site.people.ids["ana"])
        shown = site.store.jobs.shows_at(job.id)
        assert shown is not None
        if late:
            time.sleep((shown - utc_now()).total_seconds() + late)
        return {}

    monkeypatch.setattr(site.worker, "_answer", cancelled)
    assert site.after(job).state is State.CANCELLED
    shown = site.store.jobs.shows_at(job.id)
    assert shown is not None
    assert 1.0 <= (utc_now() - shown).total_seconds() < 1.9
    # A run that goes on ends with its process, so this one's process ends, too.
    assert site.worker._is_stopped
    site.store.close()


class Process:
    """A worker's process, as a supervisor starts it."""

    def __init__(self, settings: Settings) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "redveil.workers.worker"],
            stdin=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        assert self.process.stdin is not None
        self.process.stdin.write(line_for("w", settings))
        self.process.stdin.flush()

    def wait(self) -> int:
        _, said = self.process.communicate(timeout=120)
        self.said = said.decode()
        return self.process.returncode


LONG = MINE | {"depth": 4, "trials": 100}


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"worker_seconds": 1}, -signal.SIGALRM),
        # Cancelled: the next heartbeat ends the process.
        ({"lease_seconds": 2}, 1),
    ],
    ids=["time", "cancelled"],
)
def test_a_process_ends_at_its_limits_and_the_charge_stays(
    tmp_path: Path, options: dict[str, int], code: int
) -> None:
    site = Site(tmp_path / "server", **options)
    job = site.submit(LONG)
    worker = Process(site.settings)
    while site.store.jobs.get(job.id).state is not State.RUNNING:
        assert worker.process.poll() is None
        time.sleep(0.02)
    if "lease_seconds" in options:
        site.store.jobs.cancel(job.id, site.people.ids["ana"])
    assert worker.process.wait(timeout=120) == code
    worker.wait()
    (lost,) = site.store.work.lost("w") or [site.store.jobs.get(job.id)]
    assert lost.state in (State.FAILED, State.CANCELLED)
    assert site.spent == 1
    site.store.close()


def test_the_process_of_a_cancelled_job_ends_when_that_shows(tmp_path: Path) -> None:
    site = Site(tmp_path / "server", lease_seconds=2, release_every=4.0)
    job = site.submit(LONG)
    worker = Process(site.settings)
    while site.store.jobs.get(job.id).state is not State.RUNNING:
        time.sleep(0.02)
    site.store.jobs.cancel(job.id, site.people.ids["ana"])
    moment = site.store.jobs.shows_at(job.id)
    assert moment is not None
    assert worker.process.wait(timeout=120) == 1
    assert (utc_now() - moment).total_seconds() >= 1.0
    worker.wait()
    site.store.close()


def test_a_process_without_memory_fails_the_job_and_goes_on(tmp_path: Path) -> None:
    site = Site(tmp_path / "server", worker_memory=512)
    job = site.submit()
    worker = Process(site.settings)
    while not (found := site.store.jobs.get(job.id)).state.is_final:
        if worker.process.poll() is not None:
            (found,) = site.store.work.lost("w")
            break
        time.sleep(0.05)
    # It may notice before the charge that it cannot draw, or end before it: then another may try.
    assert found.state in (State.FAILED, State.DONE, State.DECLINED, State.QUEUED)
    assert site.spent == (0 if found.state in (State.DECLINED, State.QUEUED) else 1)
    worker.process.kill()
    worker.wait()
    site.store.close()


def test_a_process_ends_with_its_parent_and_after_its_job(tmp_path: Path) -> None:
    site = Site(tmp_path / "server")
    job = site.submit()
    worker = Process(site.settings)
    while site.store.jobs.get(job.id).state not in (State.RUNNING, State.DONE):
        time.sleep(0.02)
    # The end of its input is the end of its parent.
    assert worker.wait() == 0
    assert site.store.jobs.get(job.id).state is State.DONE
    site.store.close()


def test_a_process_ends_at_once_as_one_does_that_is_stopped_in_the_middle(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether a cancelled run had ended must not tell by how long its process takes to end."""
    site, slow = Site(tmp_path / "server"), tmp_path / "slow"
    starting = f"import atexit, pathlib\natexit.register(pathlib.Path({str(slow)!r}).touch)\n"
    (tmp_path / "sitecustomize.py").write_text(starting)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
    # Its input ends, so it has nothing to do.
    worker = Process(site.settings)
    assert worker.wait() == 0
    assert "ready" in worker.said
    assert not slow.exists()
    site.store.close()


def test_a_process_that_cannot_start_says_so(tmp_path: Path) -> None:
    worker = Process(Settings(folder=tmp_path / "none"))
    assert worker.wait() == 3
    assert "cannot start" in worker.said


def test_what_was_released_is_the_answer_if_no_list_can_be_made(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: Any, **__: Any) -> Any:
        raise MemoryError

    monkeypatch.setattr("redveil.mining.find", fails)
    job = site.after(site.submit())
    assert job.state is State.DONE
    document = site.store.jobs.result(job.id)
    assert document["redescriptions"] == []
    assert document["certificate"]["epsilon"] == "1"
