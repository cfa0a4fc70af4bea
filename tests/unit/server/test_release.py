from __future__ import annotations

import json
import re
from datetime import UTC, datetime, timedelta
from math import log2
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redveil.errors import ConflictError, LedgerError
from redveil.server import views
from redveil.server.settings import Settings
from redveil.signing.certificate import sign_result
from redveil.store.checking import check_database
from redveil.store.job import Job, State
from redveil.store.release import moments, next_moment, release_moment
from redveil.store.store import Store
from redveil.wire.answers import JobState
from support.served import Served, served
from support.source import REPOSITORY
from support.stores import Place, SetClock

START = datetime(2026, 1, 1, tzinfo=UTC)


@given(st.floats(0, 100_000), st.sampled_from([1, 5, 7, 60]))
def test_an_end_shows_at_few_moments_and_never_before_it(seconds: float, every: int) -> None:
    finished = START + timedelta(seconds=seconds)
    # As it is stored.
    shown = release_moment(START, finished.replace(microsecond=0), every)
    assert shown >= finished
    ratio = (shown - START).total_seconds() / every
    assert ratio in {2.0**k for k in range(25)}
    assert shown - START <= max(
        timedelta(seconds=every), 2 * (finished - START + timedelta(1e-9, 1))
    )


def test_the_arithmetic_of_what_remains_is_that_of_the_program() -> None:
    page = (REPOSITORY / "docs" / "decisions" / "0043-release-times.md").read_text("utf-8")
    known, rows = (
        Settings(),
        re.findall(r"^\| ([\d,]+) s \| (\d+) s.*? \|(.*)\|$", page, re.MULTILINE),
    )
    assert len(rows) == 5
    for longest, every, rest in rows:
        count = moments(int(longest.replace(",", "")), int(every))
        each = log2(2 * count)
        a_day = round(known.jobs_a_day * each)
        expected = f" {count} | {log2(count):.1f} | {each:.1f} | {a_day} "
        assert rest.replace(" 0 ", " 0.0 ") == expected
    # The default is the first of them, and 300 jobs the most that ε = 3 buys.
    assert f"| {known.longest_job} s | {known.releases_every} s (default) | 1 |" in page
    assert 3 / known.least_epsilon == 300


def test_the_next_moment_is_in_the_future() -> None:
    for seconds, expected in ((0, 5), (4.9, 5), (5, 10), (11, 20)):
        found = next_moment(START, START + timedelta(seconds=seconds), 5)
        assert found == START + timedelta(seconds=expected)
    assert next_moment(START, START, 0) is None
    assert release_moment(START, START, 0) == START


@pytest.mark.parametrize("ending", ["done", "failed", "cancelled", "lost"])
def test_all_ends_of_a_charged_job_look_the_same_until_they_show(
    tmp_path: Path, ending: str
) -> None:
    place = Place.make(str(tmp_path / "server.sqlite"), release_every=5)
    clock: SetClock = place.clock
    job = place.running()
    clock.pass_(seconds=7)
    match ending:
        case "done":
            place.store.work.commit(job.id, "w", {"answer": 42})
        case "failed":
            place.store.work.fail(job.id, "w")
        case "cancelled":
            place.store.jobs.cancel(job.id, place.ana.id)
        case "lost":
            place.store.work.lost("w")
    seen = []
    for _ in range(7):
        found = place.store.jobs.get(job.id)
        sight = views.sight(place.store, found, clock())
        seen.append(sight.state)
        if not sight.state.is_final:
            assert sight.next is not None
        clock.pass_(seconds=0.5)
    assert seen == [JobState.RUNNING] * 6 + [JobState("failed" if ending == "lost" else ending)]
    place.store.database.close()


def test_what_was_not_charged_shows_at_once(tmp_path: Path) -> None:
    place = Place.make(str(tmp_path / "server.sqlite"))
    job = place.submit()
    assert views.sight(place.store, job, place.clock()).state is JobState.QUEUED
    claimed = place.store.work.claim("w")
    assert claimed is not None
    assert claimed.state is State.CLAIMED
    assert views.sight(place.store, claimed, place.clock()).state is JobState.QUEUED
    other = place.submit()
    place.store.jobs.cancel(other.id, place.ana.id)
    found = place.store.jobs.get(other.id)
    assert views.sight(place.store, found, place.clock()).state is JobState.CANCELLED
    place.store.database.close()


@pytest.mark.parametrize("ending", ["running", "done", "failed"])
def test_who_cancels_does_not_learn_whether_a_job_had_ended(tmp_path: Path, ending: str) -> None:
    place = Place.make(str(tmp_path / "server.sqlite"), release_every=5)
    job = place.running()
    place.clock.pass_(seconds=6)
    if ending == "done":
        place.store.work.commit(job.id, "w", {"answer": 42})
    if ending == "failed":
        place.store.work.fail(job.id, "w")
    place.clock.pass_(seconds=3.5)
    place.store.jobs.cancel(job.id, place.ana.id)
    found = place.store.jobs.get(job.id)
    # The cancellation shows at 10 seconds, and nothing else ever does.
    for state in (JobState.RUNNING, JobState.RUNNING, JobState.CANCELLED):
        assert views.sight(place.store, found, place.clock()).state is state
        place.clock.pass_(seconds=0.3)
    with pytest.raises(ConflictError, match="the job is cancelled; there is no result"):
        place.store.jobs.result(job.id, place.ana.id)
    check_database(place.store.database, place.signer.public)
    place.store.database.close()


@pytest.mark.parametrize("later", [0, 1, 3600])
def test_what_is_set_later_changes_no_moment_of_a_job(tmp_path: Path, later: int) -> None:
    place = Place.make(str(tmp_path / "server.sqlite"), release_every=130)
    job = place.running()
    place.clock.pass_(seconds=44)
    place.store.work.commit(job.id, "w", {"answer": 42})
    again = Store.open(place.address, place.signer, clock=place.clock, release_every=later)
    seen = []
    for seconds in (0, 80, 10):
        place.clock.pass_(seconds=seconds)
        found = again.jobs.get(job.id)
        seen.append((views.sight(again, found, place.clock()).state, again.work.enter_answers()))
    assert seen == [(JobState.RUNNING, 0), (JobState.RUNNING, 0), (JobState.DONE, 1)]
    with pytest.raises(ConflictError, match="it can no longer be cancelled"):
        again.jobs.cancel(job.id, place.ana.id)
    again.close()
    place.store.database.close()


def _number(place: Place, job: Job) -> int:
    receipt = place.store.jobs.receipt(job.id)
    assert receipt is not None
    return receipt.number


@pytest.mark.parametrize("ending", ["running", "done", "failed"])
def test_the_place_of_the_next_charge_does_not_tell_whether_a_cancelled_job_had_ended(
    tmp_path: Path, ending: str
) -> None:
    place = Place.make(str(tmp_path / "server.sqlite"), release_every=5)
    job = place.running()
    if ending == "done":
        place.store.work.commit(job.id, "w", {"answer": 42})
    if ending == "failed":
        place.store.work.fail(job.id, "w")
    place.store.jobs.cancel(job.id, place.ana.id)
    place.clock.pass_(seconds=20)
    place.store.work.enter_answers()
    assert _number(place, place.reserved()) == _number(place, job) + 1
    check_database(place.store.database, place.signer.public)
    place.store.database.close()


@pytest.mark.parametrize("ending", ["running", "done", "failed"])
def test_the_place_of_anothers_charge_tells_of_no_end_before_it_shows(
    tmp_path: Path, ending: str
) -> None:
    place = Place.make(str(tmp_path / "server.sqlite"), release_every=5, analysts=2)
    job = place.running()
    if ending == "done":
        place.store.work.commit(job.id, "w", {"answer": 42})
    if ending == "failed":
        place.store.work.fail(job.id, "w")
    place.store.work.enter_answers()
    other = place.reserved(worker="x", analyst=place.analysts[1])
    assert _number(place, other) == _number(place, job) + 1
    place.store.database.close()


def test_an_answer_is_in_the_ledger_once_it_shows(tmp_path: Path) -> None:
    place = Place.make(str(tmp_path / "server.sqlite"), release_every=5, analysts=2)
    store = place.store
    job = place.running()
    store.work.commit(job.id, "w", {"answer": 42})
    # Until then, its signature keeps it from being changed.
    check_database(store.database, place.signer.public)
    exchanged = ('"answer":42', '"answer":43')
    with store.database.transaction() as transaction:
        changed = "UPDATE jobs SET result = replace(result, ?, ?)"
        assert transaction.change(changed, *exchanged) == 1
    with pytest.raises(LedgerError, match="its result was changed"):
        check_database(store.database, place.signer.public)
    with store.database.transaction() as transaction:
        transaction.change(changed, *reversed(exchanged))
    assert store.work.enter_answers() == 0
    place.clock.pass_(seconds=6)
    # Before the next charge, whether or not anybody has looked meanwhile.
    other = place.reserved(worker="x", analyst=place.analysts[1])
    assert _number(place, other) == _number(place, job) + 2
    assert store.work.enter_answers() == 0
    check_database(store.database, place.signer.public)
    # From then on, not even who has the key exchanges it.
    document = store.jobs.result(job.id)
    part = {name: document["signature"][name] for name in ("job", "dataset", "ledger", "number")}
    forged = json.dumps(sign_result({"answer": 43}, part, place.signer))
    with store.database.transaction() as transaction:
        transaction.change("UPDATE jobs SET result = ? WHERE id = ?", forged, job.id)
    with pytest.raises(LedgerError, match="its result was changed"):
        check_database(store.database, place.signer.public)
    store.database.close()


def test_an_end_that_shows_is_not_cancelled(tmp_path: Path) -> None:
    place = Place.make(str(tmp_path / "server.sqlite"), release_every=5)
    job = place.running()
    place.store.work.commit(job.id, "w", {"answer": 42})
    place.clock.pass_(seconds=6)
    with pytest.raises(ConflictError, match="the job is done; it can no longer be cancelled"):
        place.store.jobs.cancel(job.id, place.ana.id)
    place.store.database.close()


def test_room_for_another_job_tells_of_no_end_before_it_shows(tmp_path: Path) -> None:
    place = Place.make(str(tmp_path / "server.sqlite"), release_every=5, most_open=1)
    job = place.running()
    place.store.work.commit(job.id, "w", {"answer": 42})
    with pytest.raises(ConflictError, match="1 jobs are not finished"):
        place.submit()
    place.clock.pass_(seconds=6)
    place.submit()
    place.store.database.close()


@pytest.fixture(scope="module")
def patient(tmp_path_factory: pytest.TempPathFactory) -> object:
    with served(tmp_path_factory.mktemp("patient"), release_every=3000) as made:
        yield made


def test_nobody_learns_of_an_end_before_it_shows(patient: Served) -> None:
    # A worker keeps its slot until then; this one is called by hand and stopped first.
    patient.worker.stop()
    job = patient.submit().json()["id"]
    claimed = patient.store.work.claim("other")
    assert claimed is not None
    patient.store.work.reserve(job, "other")
    patient.store.work.touching(job, "other")
    with patient.client() as client:

        def seen() -> list[object]:
            path = f"/v1/jobs/{job}"
            follow = {"kind": "confirm", "job": job, "epsilon": "1"}
            return [
                client.get(path).json(),
                client.get(f"{path}/result").json(),
                client.get("/v1/jobs").json(),
                patient.submit(follow).json(),
            ]

        running = seen()
        patient.store.work.commit(job, "other", {"answer": 42})
        assert seen() == running
        assert client.post(f"/v1/jobs/{job}/cancel").json()["state"] == "running"
        assert seen() == running
