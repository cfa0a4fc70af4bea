from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import pytest

from redveil.errors import (
    ConflictError,
    InputError,
    LeaseError,
    NotAllowedError,
    NotFoundError,
    OverBudgetError,
)
from redveil.signing.certificate import check_result
from redveil.store.accounts import Role
from redveil.store.checking import check_database
from redveil.store.job import Job, State
from support.stores import CLINIC, DOCUMENT, NOBODY, Place, loss

Make = Callable[..., Place]


def state(place: Place, job: Job) -> State:
    return place.store.jobs.get(job.id).state


def test_a_job_goes_from_its_submission_to_its_answer(place: Place) -> None:
    job = place.submit("1")
    assert (job.state, place.spent()) == (State.QUEUED, 0)
    claimed = place.store.work.claim("w")
    assert claimed is not None
    assert (claimed.id, claimed.state, claimed.version) == (job.id, State.CLAIMED, None)
    assert place.spent() == 0
    receipt = place.store.work.reserve(job.id, "w")
    assert place.store.jobs.receipt(job.id) == receipt
    assert (state(place, job), place.spent()) == (State.RESERVED, 1)
    assert place.store.work.touching(job.id, "w").version == 1
    assert state(place, job) is State.RUNNING
    signed = place.store.work.commit(job.id, "w", DOCUMENT)
    assert state(place, job) is State.DONE
    assert place.store.jobs.result(job.id, place.ana.id) == signed
    said = check_result(signed, place.signer.public)
    assert (said["job"], said["number"], said["hash"]) == (job.id, receipt.number, receipt.hash)
    assert place.spent() == 1


def test_the_same_key_is_the_same_job_and_the_same_answer_for_nothing(place: Place) -> None:
    job = place.submit("1", key="k")
    assert place.submit("1", key="k") == job
    place.store.work.claim("w")
    place.store.work.reserve(job.id, "w")
    place.store.work.touching(job.id, "w")
    place.store.work.commit(job.id, "w", DOCUMENT)
    again = place.submit("1", key="k")
    assert (again.id, again.state, place.spent()) == (job.id, State.DONE, 1)
    with pytest.raises(ConflictError, match="used for another question"):
        place.submit("2", key="k")


def test_a_key_stands_for_one_question(place: Place) -> None:
    request = place.request("1", key="k")
    place.store.jobs.submit(request)
    with pytest.raises(ConflictError, match="used for another question"):
        place.store.jobs.submit(replace(request, question={"depth": 3}))


def test_keys_of_two_analysts_are_two_jobs(make_place: Make) -> None:
    place = make_place(analysts=2)
    one, other = (place.submit("1", key="k", analyst=who) for who in place.analysts)
    assert one.id != other.id


def test_what_exceeds_a_cap_is_refused_and_nothing_is_charged(make_place: Make) -> None:
    place = make_place(budget="10", cap="1.5")
    first, second = place.submit("1"), place.submit("1")
    place.store.work.claim("w")
    place.store.work.reserve(first.id, "w")
    place.store.work.fail(first.id, "w")
    place.store.work.claim("w")
    with pytest.raises(OverBudgetError, match=r"ε = 1 requested, 1/2 left; spend less"):
        place.store.work.reserve(second.id, "w")
    assert state(place, second) is State.OVER_BUDGET
    assert place.spent() == 1
    with pytest.raises(OverBudgetError):
        place.submit("1")
    assert place.store.datasets.left(CLINIC, place.ana.id) == loss("1/2")


@pytest.mark.parametrize("limited", ["budget", "cap over all", "grant"])
def test_every_limit_binds_alone(limited: str, make_place: Make) -> None:
    place = make_place(analysts=2, budget="2" if limited == "budget" else "10")
    if limited == "cap over all":
        place.store.datasets.set_cap(CLINIC, loss("2"), place.owner.id)
    if limited == "grant":
        for who in place.analysts:
            place.store.datasets.grant(CLINIC, who.id, loss("1"), place.owner.id)
    jobs = [place.submit("1", analyst=who) for who in place.analysts]
    for job in jobs:
        place.store.work.claim("w")
        place.store.work.reserve(job.id, "w")
    for who in place.analysts:
        with pytest.raises(OverBudgetError, match="0 left"):
            place.submit("0.001", analyst=who)


def test_delta_has_caps_of_its_own(place: Place) -> None:
    with pytest.raises(OverBudgetError, match="δ = 1/1000000 requested, 0 left"):
        place.store.jobs.submit(replace(place.request(), price=loss("1", "1/1000000")))


def test_a_budget_that_is_lowered_binds_jobs_that_wait(place: Place) -> None:
    job = place.submit("3")
    place.store.datasets.set_budget(CLINIC, loss("2"), place.owner.id)
    place.store.work.claim("w")
    with pytest.raises(OverBudgetError, match="2 left"):
        place.store.work.reserve(job.id, "w")


def test_without_a_grant_there_is_no_such_data_set(place: Place) -> None:
    eve = place.store.accounts.create("eve", "analyst", NOBODY)  # type: ignore[arg-type]
    with pytest.raises(NotFoundError, match=r"^no such data set$"):
        place.submit("1", analyst=eve)
    job = place.submit("1")
    place.store.datasets.revoke_grant(CLINIC, place.ana.id, place.owner.id)
    with pytest.raises(NotFoundError, match=r"^no such data set$"):
        place.submit("1")
    assert place.store.datasets.granted(place.ana.id) == []
    place.store.work.claim("w")
    with pytest.raises(NotAllowedError, match="no such data set"):
        place.store.work.reserve(job.id, "w")


def close_account(place: Place) -> None:
    place.store.accounts.close(place.ana.id, NOBODY)


def revoke_token(place: Place) -> None:
    place.store.accounts.revoke_token(place.tokens[place.ana.id], NOBODY)


def let_token_expire(place: Place) -> None:
    place.clock.pass_(days=20_000)


def close_data_set(place: Place) -> None:
    place.store.datasets.close(CLINIC, place.owner.id)


def revoke_grant(place: Place) -> None:
    place.store.datasets.revoke_grant(CLINIC, place.ana.id, place.owner.id)


@pytest.mark.parametrize("moment", ["queued", "claimed"])
@pytest.mark.parametrize(
    "revoke", [close_account, revoke_token, let_token_expire, close_data_set, revoke_grant]
)
def test_what_is_revoked_while_a_job_waits_is_noticed_when_it_would_be_charged(
    revoke: Callable[[Place], None], moment: str, place: Place
) -> None:
    jobs = [place.submit("1") for _ in range(3)]
    if moment == "claimed":
        place.store.work.claim("w")
    revoke(place)
    for job in jobs:
        place.store.work.claim("w")
        if state(place, job) is State.CLAIMED:
            with pytest.raises(NotAllowedError):
                place.store.work.reserve(job.id, "w")
    assert [state(place, job) for job in jobs] == [State.DECLINED] * 3
    assert place.spent() == 0
    assert [place.store.jobs.receipt(job.id) for job in jobs] == [None] * 3
    # The owner reads why in the audit log; what it was stays between her and the operator.
    said = [one.action for one in place.store.audit.events(dataset=CLINIC)]
    # Closing a data set declines what no worker has by itself.
    left = 3 if revoke is not close_data_set else int(moment == "claimed")
    assert said.count("job declined") == left
    # Nobody can submit another one, either.
    with pytest.raises((NotFoundError, ConflictError)):
        place.submit("1")


def test_rows_that_were_renewed_before_the_charge_are_those_that_are_asked(place: Place) -> None:
    job = place.submit("1")
    place.store.work.claim("w")
    # As when somebody has asked to be left out.
    place.store.datasets.new_version(CLINIC, "new.packed", "cd" * 32, place.owner.id)
    place.store.work.reserve(job.id, "w")
    assert place.store.work.touching(job.id, "w").version == 2
    # What is asked no longer changes once it is charged.
    place.store.datasets.new_version(CLINIC, "newer.packed", "ef" * 32, place.owner.id)
    assert place.store.jobs.get(job.id).version == 2


def test_jobs_that_were_queued_before_approval_was_asked_for_wait_for_it(place: Place) -> None:
    jobs = [place.submit("1") for _ in range(4)]
    place.store.work.claim("w")
    place.store.datasets.grant(
        CLINIC, place.ana.id, loss("10"), place.owner.id, needs_approval=True
    )
    for job in jobs:
        place.store.work.claim("w")
        with pytest.raises(NotAllowedError, match="waits for the owner's approval"):
            place.store.work.reserve(job.id, "w")
    assert [state(place, job) for job in jobs] == [State.WAITING] * 4
    assert (place.store.work.claim("w"), place.spent()) == (None, 0)
    place.store.jobs.approve(jobs[0].id, place.owner.id)
    place.store.work.claim("w")
    place.store.work.reserve(jobs[0].id, "w")
    assert place.spent() == 1


def test_an_approval_counts_once_the_owner_has_given_it(make_place: Make) -> None:
    place = make_place(needs_approval=True)
    job = place.submit("1")
    place.store.jobs.approve(job.id, place.owner.id)
    # A worker that is lost takes no approval away.
    place.store.work.claim("dead")
    place.clock.pass_(minutes=2)
    place.store.work.expire()
    place.store.work.claim("w")
    place.store.work.reserve(job.id, "w")
    assert place.spent() == 1


def test_a_question_about_a_result_that_is_gone_is_not_charged(place: Place) -> None:
    earlier = place.done("1")
    question = {"kind": "confirm", "job": earlier.id}
    job = place.store.jobs.submit(replace(place.request("1"), question=question))
    with place.store.database.transaction() as transaction:
        transaction.execute("UPDATE jobs SET result = NULL WHERE id = ?", [earlier.id])
    place.store.work.claim("w")
    with pytest.raises(NotAllowedError, match="no such job"):
        place.store.work.reserve(job.id, "w")
    assert (state(place, job), place.spent()) == (State.DECLINED, 1)
    # Nor can anybody begin with another's result.
    eve = place.store.accounts.create("eve", Role.ANALYST, NOBODY)
    place.store.datasets.grant(CLINIC, eve.id, loss("1"), place.owner.id)
    with pytest.raises(NotFoundError, match="no such job"):
        place.store.jobs.submit(replace(place.request("1", analyst=eve), question=question))


def test_a_token_of_somebody_else_pays_for_nothing(make_place: Make) -> None:
    place = make_place(analysts=2)
    ana, eve = place.analysts
    request = replace(place.request("1", analyst=eve), token=place.new_token(ana))
    with pytest.raises(ConflictError, match="token"):
        place.store.jobs.submit(request)


def test_an_analyst_sees_her_own_jobs_only(make_place: Make) -> None:
    place = make_place(analysts=2)
    ana, eve = place.analysts
    job = place.submit("1", analyst=ana)
    for ask in (place.store.jobs.get, place.store.jobs.result, place.store.jobs.receipt):
        with pytest.raises(NotFoundError, match=r"^no such job$"):
            ask(job.id, eve.id)
    with pytest.raises(NotFoundError, match=r"^no such job$"):
        place.store.jobs.cancel(job.id, eve.id)
    assert place.store.jobs.of_analyst(eve.id) == []
    assert [one.id for one in place.store.jobs.of_analyst(ana.id)] == [job.id]
    assert [one.id for one in place.store.jobs.of_dataset(CLINIC)] == [job.id]


def test_where_jobs_need_approval_the_owner_decides(make_place: Make) -> None:
    place = make_place(needs_approval=True)
    job, other = place.submit("1"), place.submit("1")
    assert job.state is State.WAITING
    assert place.store.work.claim("w") is None
    with pytest.raises(NotFoundError):
        place.store.jobs.approve(job.id, place.ana.id)
    assert place.store.jobs.approve(job.id, place.owner.id).state is State.QUEUED
    with pytest.raises(ConflictError, match="does not wait"):
        place.store.jobs.approve(job.id, place.owner.id)
    assert place.store.jobs.decline(other.id, place.owner.id).state is State.DECLINED
    claimed = place.store.work.claim("w")
    assert claimed is not None
    assert (claimed.id, claimed.decided_by) == (job.id, place.owner.id)


def test_workers_take_turns_between_analysts(make_place: Make) -> None:
    place = make_place(analysts=3)
    first, second, third = place.analysts
    for who in (first, first, first, second, third, second):
        place.submit("1", analyst=who)
    served = []
    for _ in range(6):
        job = place.store.work.claim("w")
        assert job is not None
        served.append(job.analyst)
        place.store.work.fail(job.id, "w")
    assert served == [one.id for one in (first, second, third, first, second, first)]


def test_an_analyst_has_one_slot_and_keeps_no_other_waiting(make_place: Make) -> None:
    place = make_place(analysts=2)
    ana, bob = place.analysts
    work = place.store.work
    first, second = (place.submit("1", analyst=ana) for _ in range(2))
    claimed = work.claim("w")
    assert claimed is not None
    assert claimed.id == first.id
    # However many workers are idle, and however far her job is.
    for step in (work.reserve, work.touching):
        assert work.claim("idle") is None
        step(first.id, "w")
    other = place.submit("1", analyst=bob)
    claimed = work.claim("idle")
    assert claimed is not None
    assert claimed.id == other.id
    assert work.claim("another") is None
    work.fail(first.id, "w")
    claimed = work.claim("w")
    assert claimed is not None
    assert claimed.id == second.id


@pytest.mark.parametrize("ending", ["done", "failed", "cancelled", "lost"])
def test_an_analysts_next_job_starts_when_the_end_of_the_last_one_shows(
    ending: str, make_place: Make
) -> None:
    # Else its start would tell to the second how long the last one took.
    place = make_place(release_every=10)
    job, following = place.running(), place.submit()
    place.clock.pass_(seconds=3)
    match ending:
        case "done":
            place.store.work.commit(job.id, "w", DOCUMENT)
        case "failed":
            place.store.work.fail(job.id, "w")
        case "cancelled":
            place.store.jobs.cancel(job.id, place.ana.id)
        case "lost":
            place.store.work.lost("w")
    for _ in range(7):
        assert place.store.work.claim("idle") is None
        place.clock.pass_(seconds=1)
    claimed = place.store.work.claim("idle")
    assert claimed is not None
    assert claimed.id == following.id


def test_who_cancels_has_submitted_all_the_same(make_place: Make) -> None:
    place = make_place(analysts=2, most_a_day=3)
    ana, bob = place.analysts
    request = place.request("0.1", analyst=ana)
    for one in (request, place.request("0.1", analyst=ana), place.request("0.1", analyst=ana)):
        job = place.store.jobs.submit(one)
        place.store.jobs.cancel(job.id, ana.id)
    with pytest.raises(ConflictError, match="3 jobs were submitted in the last 24 hours"):
        place.submit("0.1", analyst=ana)
    # The same key is the same job, and others are not concerned.
    assert place.store.jobs.submit(request).state is State.CANCELLED
    place.submit("0.1", analyst=bob)
    place.clock.pass_(hours=24)
    place.submit("0.1", analyst=ana)


def test_what_cost_nothing_is_forgotten_and_what_was_charged_is_kept(place: Place) -> None:
    now = place.clock
    done, failed = place.done(), place.running()
    place.store.work.fail(failed.id, "w")
    cancelled, voided = place.submit(), place.submit()
    place.store.jobs.cancel(cancelled.id, place.ana.id)
    for _ in range(3):
        place.store.work.claim("dead")
        place.store.work.reserve(voided.id, "dead")
        place.store.work.lost("dead")
    assert state(place, voided) is State.FAILED
    with pytest.raises(InputError, match="24 hours"):
        place.store.jobs.forget(now(), now(), "server")
    now.pass_(days=20)
    late, waiting = place.submit(), place.submit()
    place.store.jobs.cancel(late.id, place.ana.id)
    now.pass_(days=15)
    assert place.store.jobs.forget(now() - timedelta(days=30), now(), "server") == 2
    assert place.store.jobs.forget(now() - timedelta(days=30), now(), "server") == 0
    kept = [one.id for one in place.store.jobs.of_analyst(place.ana.id)]
    assert kept == [waiting.id, late.id, failed.id, done.id]
    events = place.store.audit.events()
    assert {one.job for one in events if one.job is not None} == set(kept)
    (told,) = [one for one in events if one.action == "jobs forgotten"]
    assert told.details["count"] == 2
    # The ledger is whole, with the charges that were given back.
    check_database(place.store.database, place.signer.public)
    assert place.spent() == 2


def test_too_many_open_jobs_are_refused(place: Place) -> None:
    for _ in range(20):
        job = place.submit("0.1")
    with pytest.raises(ConflictError, match="20 jobs are not finished"):
        place.submit("0.1")
    place.store.jobs.cancel(job.id, place.ana.id)
    place.submit("0.1")


@pytest.mark.parametrize("when", ["waiting", "queued", "claimed", "reserved", "running"])
def test_a_job_can_be_cancelled_and_is_charged_once_started(when: str, make_place: Make) -> None:
    place = make_place(needs_approval=when == "waiting")
    work = place.store.work
    job = place.submit("1")
    steps = ("claimed", "reserved", "running")
    if when in steps:
        work.claim("w")
    for step, act in zip(steps[1:], (work.reserve, work.touching), strict=True):
        if when in steps and steps.index(when) >= steps.index(step):
            act(job.id, "w")
    assert state(place, job) == when
    assert place.store.jobs.cancel(job.id, place.ana.id).state is State.CANCELLED
    assert place.store.jobs.cancel(job.id, place.ana.id).state is State.CANCELLED
    assert place.spent() == (1 if when in ("reserved", "running") else 0)
    for act in (work.reserve, work.touching, work.fail, work.give_back):
        with pytest.raises(LeaseError):
            act(job.id, "w")
    assert not work.heartbeat(job.id, "w")


def test_a_job_that_is_done_cannot_be_cancelled(place: Place) -> None:
    job = place.done()
    with pytest.raises(ConflictError, match="is done"):
        place.store.jobs.cancel(job.id, place.ana.id)


def test_a_job_that_fails_stays_charged(place: Place) -> None:
    job = place.running()
    place.store.work.fail(job.id, "w")
    assert (state(place, job), place.spent()) == (State.FAILED, 1)
    with pytest.raises(ConflictError, match="there is no result"):
        place.store.jobs.result(job.id)
    with pytest.raises(LeaseError):
        place.store.work.commit(job.id, "w", DOCUMENT)


def test_a_charge_is_voided_only_if_the_data_was_not_touched(make_place: Make) -> None:
    place = make_place(analysts=2)
    untouched, touched = place.reserved(), place.running(analyst=place.analysts[1])
    place.store.work.give_back(untouched.id, "w")
    with pytest.raises(LeaseError):
        place.store.work.give_back(touched.id, "w")
    assert (state(place, untouched), state(place, touched)) == (State.QUEUED, State.RUNNING)
    assert place.spent() == 1


def test_the_jobs_of_a_dead_worker_are_queued_again_or_have_failed(make_place: Make) -> None:
    place = make_place(analysts=4)
    first, second, third, fourth = place.analysts
    claimed = place.submit(analyst=first)
    place.store.work.claim("dead")
    untouched = place.reserved(worker="dead", analyst=second)
    touched = place.running(worker="dead", analyst=third)
    alive = place.running(worker="alive", analyst=fourth)
    place.clock.pass_(seconds=50)
    assert place.store.work.heartbeat(alive.id, "alive", 0.5)
    assert place.store.work.expire() == []
    place.clock.pass_(seconds=11)
    expired = {job.id: job.state for job in place.store.work.expire()}
    assert expired == {
        claimed.id: State.QUEUED,
        untouched.id: State.QUEUED,
        touched.id: State.FAILED,
    }
    assert place.spent() == 2
    assert place.store.jobs.get(alive.id).progress == 0.5
    # The worker was not dead, only slow. It must not open the data now.
    with pytest.raises(LeaseError):
        place.store.work.touching(untouched.id, "dead")
    with pytest.raises(LeaseError):
        place.store.work.commit(touched.id, "dead", DOCUMENT)


def test_a_voided_job_is_charged_once_when_another_worker_runs_it(place: Place) -> None:
    job = place.reserved(worker="dead")
    place.clock.pass_(minutes=2)
    place.store.work.expire()
    assert place.spent() == 0
    place.store.work.claim("next")
    place.store.work.reserve(job.id, "next")
    place.store.work.touching(job.id, "next")
    place.store.work.commit(job.id, "next", DOCUMENT)
    assert place.spent() == 1


def test_a_job_that_loses_every_worker_is_given_up_and_costs_nothing(place: Place) -> None:
    job = place.submit()
    for _ in range(3):
        place.store.work.claim("dead")
        place.store.work.reserve(job.id, "dead")
        place.clock.pass_(minutes=2)
        place.store.work.expire()
    assert (state(place, job), place.spent()) == (State.FAILED, 0)
    assert place.store.work.claim("w") is None


def test_a_job_is_charged_once_and_by_the_worker_that_has_it(place: Place) -> None:
    job = place.reserved(worker="w")
    for worker in ("w", "other"):
        with pytest.raises(LeaseError):
            place.store.work.reserve(job.id, worker)
    with pytest.raises(LeaseError):
        place.store.work.touching(job.id, "other")
    assert place.spent() == 1


def test_a_result_is_stored_after_the_data_was_touched_and_never_before(place: Place) -> None:
    job = place.reserved()
    with pytest.raises(LeaseError):
        place.store.work.commit(job.id, "w", DOCUMENT)
    with pytest.raises(InputError, match="signed already"):
        place.store.work.commit(job.id, "w", {"signature": {}})


@pytest.mark.parametrize("key", ["", "a\x00b", "x" * 201, 5])
def test_a_key_is_a_short_text(key: str, place: Place) -> None:
    with pytest.raises(InputError, match="idempotency key"):
        place.store.jobs.submit(replace(place.request(), key=key))


@pytest.mark.parametrize("price", ["0", "1/3"])
def test_prices_are_positive_decimal_numbers(price: str, place: Place) -> None:
    with pytest.raises(InputError, match=r"^price: "):
        place.submit(price)


def test_questions_with_any_text_are_kept(place: Place) -> None:
    question = {"within": "[a\x00b = \ud800]"}
    asked = replace(place.request(), question=question)
    job = place.store.jobs.submit(asked)
    assert place.store.jobs.submit(asked).question == question
    place.store.work.claim("w")
    place.store.work.reserve(job.id, "w")
    assert place.spent() == 1


def test_jobs_that_wait_are_declined_when_their_data_set_is_closed(place: Place) -> None:
    job = place.submit()
    place.store.datasets.close(CLINIC, place.owner.id)
    assert place.store.work.claim("w") is None
    found = place.store.jobs.get(job.id)
    assert (found.state, found.charge, place.spent()) == (State.DECLINED, None, 0)


def test_a_closed_data_set_takes_no_jobs(place: Place) -> None:
    place.store.datasets.close(CLINIC, place.owner.id)
    with pytest.raises(NotFoundError):
        place.submit()
    assert place.store.datasets.all() == []


def test_jobs_are_counted_by_state(place: Place) -> None:
    place.done()
    place.submit()
    assert place.store.jobs.count() == {State.DONE: 1, State.QUEUED: 1}


@pytest.mark.parametrize("days", [-400, 400])
def test_a_clock_that_jumps_spends_nothing_twice_and_gives_nothing_back(
    place: Place, days: int
) -> None:
    running, reserved = place.running("1", "w"), place.submit("1")
    place.clock.pass_(days=days)
    buried = {one.id: one for one in place.store.work.expire()}
    # Ahead, leases end: what may have been touched has failed, and stays charged.
    assert set(buried) == ({running.id} if days > 0 else set())
    assert place.spent() == 1
    if days > 0:
        with pytest.raises(LeaseError):
            place.store.work.commit(running.id, "w", DOCUMENT)
    else:
        place.store.work.commit(running.id, "w", DOCUMENT)
    assert place.store.work.claim("v").id == reserved.id  # type: ignore[union-attr]
    place.store.work.reserve(reserved.id, "v")
    assert place.spent() == 2
    # The chain follows the entries, whatever their clocks said.
    check_database(place.store.database, place.signer.public)
