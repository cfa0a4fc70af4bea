"""Jobs as analysts and owners see them: submit, approve, cancel, list, fetch."""

from __future__ import annotations

import json
import secrets
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from redveil.errors import ConflictError, InputError, NotFoundError
from redveil.losses.loss import Loss
from redveil.signing.canonical import canonical
from redveil.store.accounts import Clock
from redveil.store.admission import admitted
from redveil.store.audit import record
from redveil.store.database import Database, Transaction
from redveil.store.datasets import find_dataset
from redveil.store.job import COLUMNS, OPEN, Job, Stand, State, job_in
from redveil.store.ledger import ServerLedger, SignedHead, entry
from redveil.store.release import EVERY_UNKNOWN, release_moment
from redveil.store.texts import checked_loss, checked_name, moment

SELECT: Final = f"SELECT {', '.join(COLUMNS)} FROM jobs"
# How many jobs a statement names at most.
_AT_ONCE: Final = 500
_OPEN: Final = ", ".join(f"'{one.value}'" for one in OPEN)
# For how long a job counts among those that an analyst may submit.
DAY: Final = timedelta(days=1)
_FORGOTTEN: Final = f"charge IS NULL AND state NOT IN ({_OPEN}) AND finished_at < ?"
# When jobs that were charged began and ended, latest first.
_ENDS: Final = (
    f"SELECT charges.made_at, jobs.finished_at, COALESCE(jobs.release_every, {EVERY_UNKNOWN}) "
    "FROM jobs JOIN charges ON charges.number = jobs.charge WHERE jobs.finished_at IS NOT NULL AND "
)
# So many of an analyst's ends are looked at, whether they show already.
_LATEST: Final = 1000


@dataclass(frozen=True, slots=True)
class Request:
    """What an analyst asks.

    purpose:  "mine", "describe", "refine" or "confirm"
    question: all parameters, as plain values
    price:    what it costs, computed by the server
    key:      chosen by the client; the same key is the same job, and is charged once
    token:    the id of the token with which she asks
    """

    analyst: str
    dataset: str
    purpose: str
    question: Mapping[str, Any]
    price: Loss
    key: str
    token: str


class Jobs:
    """The jobs of a server.

    most_open:     how many jobs an analyst may have whose end does not show yet
    most_a_day:    how many she may submit in 24 hours, whatever became of them; None for any number
    """

    def __init__(
        self,
        database: Database,
        clock: Clock,
        ledger: ServerLedger,
        *,
        most_open: int = 20,
        most_a_day: int | None = None,
    ) -> None:
        self._database = database
        self._clock = clock
        self._ledger = ledger
        self._most_open = most_open
        self._most_a_day = most_a_day

    def submit(self, request: Request) -> Job:
        """Return the job for a request; the same key returns the job that there is.

        Raises NotFoundError without a grant, ConflictError if the key was used for another
        question, the token no longer works, or too many jobs are open or were submitted in 24
        hours, OverBudgetError if it could not be charged now.
        """
        _check(request)
        question = canonical(dict(request.question)).decode()
        with self._database.transaction() as transaction:
            # Submissions of one analyst take turns, so that a key makes one job.
            transaction.execute(
                f"SELECT id FROM accounts WHERE id = ?{transaction.for_update}", [request.analyst]
            )
            known = transaction.row(
                f"{SELECT} WHERE analyst = ? AND idempotency_key = ?", request.analyst, request.key
            )
            if known is not None:
                return _same(known, request, question)
            state = self._admitted(transaction, request)
            return self._insert(transaction, request, question, state)

    def get(self, job: str, analyst: str | None = None) -> Job:
        """Return a job; for an analyst, only her own."""
        with self._database.reading() as transaction:
            return find_job(transaction, job, analyst)

    def stands(self, jobs: Collection[str]) -> dict[str, Stand]:
        """Return where jobs stand, by their ids; those that do not exist are left out."""
        wanted, found = list(jobs), dict[str, Stand]()
        with self._database.reading() as transaction:
            for first in range(0, len(wanted), _AT_ONCE):
                some = wanted[first : first + _AT_ONCE]
                rows = transaction.execute(
                    "SELECT id, state, charge, finished_at FROM jobs "
                    f"WHERE id IN ({', '.join('?' * len(some))})",
                    some,
                )
                found |= {job: Stand(*stand) for job, *stand in rows}
        return found

    def of_analyst(self, analyst: str, *, before: int | None = None, most: int = 100) -> list[Job]:
        """Return an analyst's jobs, latest first; before: go on from a job's number."""
        return self._list("analyst = ?", analyst, before=before, most=most)

    def of_dataset(self, dataset: str, *, before: int | None = None, most: int = 100) -> list[Job]:
        """Return a data set's jobs, latest first, for its owner."""
        return self._list("dataset = ?", dataset, before=before, most=most)

    def count(self) -> dict[State, int]:
        """Return how many jobs there are in each state."""
        with self._database.reading() as transaction:
            rows = transaction.execute("SELECT state, COUNT(*) FROM jobs GROUP BY state")
        return {State(state): int(number) for state, number in rows}

    def approve(self, job: str, actor: str) -> Job:
        """Let a job that waits for approval be run."""
        return self._decide(job, actor, State.QUEUED, "job approved")

    def decline(self, job: str, actor: str) -> Job:
        """Refuse a job that waits for approval. Nothing is charged."""
        return self._decide(job, actor, State.DECLINED, "job declined")

    def cancel(self, job: str, analyst: str) -> Job:
        """Cancel an analyst's job. One that was reserved or is running stays charged.

        One that has ended without showing it is cancelled as well, and its answer stays hidden.
        Otherwise who cancels at a moment of her choice would learn whether it had ended by then.
        """
        now = self._clock()
        with self._database.transaction() as transaction:
            found = find_job(transaction, job, analyst, lock=True)
            if found.state is State.CANCELLED:
                return found
            if found.state.is_final and not self._hidden(transaction, "jobs.id = ?", job):
                raise ConflictError(f"the job is {found.state}; it can no longer be cancelled")
            transaction.execute(
                "UPDATE jobs SET state = ?, finished_at = ?, worker = NULL, lease_until = NULL "
                "WHERE id = ?",
                [State.CANCELLED, moment(now), job],
            )
            record(
                *(transaction, now, analyst, "job cancelled"),
                dataset=found.dataset,
                job=job,
                charge=found.charge,
            )
            return find_job(transaction, job)

    def shows_at(self, job: str) -> datetime | None:
        """Return when the end of a job shows; None if it goes on, or was not charged."""
        with self._database.reading() as transaction:
            return next(iter(shown(transaction, "jobs.id = ?", job)), None)

    def result(self, job: str, analyst: str | None = None) -> dict[str, Any]:
        """Return the signed result document of a job that is done."""
        with self._database.reading() as transaction:
            found = find_job(transaction, job, analyst)
            row = transaction.row("SELECT result FROM jobs WHERE id = ?", job)
        if found.state is not State.DONE or row is None:
            raise ConflictError(f"the job is {found.state}; there is no result")
        document: dict[str, Any] = json.loads(row["result"])
        return document

    def receipt(self, job: str, analyst: str | None = None) -> SignedHead | None:
        """Return the ledger's signed head as it was when a job was charged; None if it was not."""
        with self._database.reading() as transaction:
            found = find_job(transaction, job, analyst)
            if found.charge is None:
                return None
            return self._ledger.receipt(transaction, entry(transaction, found.charge))

    def _admitted(self, transaction: Transaction, request: Request) -> State:
        """Return the state of a new job, or refuse it."""
        grant = admitted(transaction, request, self._clock())
        ((count,),) = transaction.execute(
            f"SELECT COUNT(*) FROM jobs WHERE analyst = ? AND state IN ({_OPEN})",
            [request.analyst],
        )
        # Whoever has as many as she may have would learn from the next one that a job has ended.
        count += self._hidden(transaction, "jobs.analyst = ?", request.analyst)
        if count >= self._most_open:
            raise ConflictError(f"{count} jobs are not finished; wait for them, or cancel some")
        self._must_have_left(transaction, request.analyst)
        return State.WAITING if grant.needs_approval else State.QUEUED

    def _must_have_left(self, transaction: Transaction, analyst: str) -> None:
        """Refuse a job more than an analyst may submit in 24 hours."""
        if self._most_a_day is None:
            return
        ((count,),) = transaction.execute(
            "SELECT COUNT(*) FROM jobs WHERE analyst = ? AND submitted_at > ?",
            [analyst, moment(self._clock() - DAY)],
        )
        if count >= self._most_a_day:
            raise ConflictError(
                f"{count} jobs were submitted in the last 24 hours, which is the limit; ask again "
                "later, or ask the operator for more"
            )

    def _insert(
        self, transaction: Transaction, request: Request, question: str, state: State
    ) -> Job:
        number, now = secrets.token_hex(16), self._clock()
        epsilon, delta = str(request.price.epsilon), str(request.price.delta)
        transaction.execute(
            "INSERT INTO jobs (id, analyst, dataset, purpose, question, epsilon, delta, "
            "idempotency_key, token, state, submitted_at, tries, progress) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, '0')",
            [
                *(number, request.analyst, request.dataset, request.purpose, question),
                *(epsilon, delta, request.key, request.token, state, moment(now)),
            ],
        )
        record(
            *(transaction, now, request.analyst, "job submitted"),
            dataset=request.dataset,
            job=number,
            purpose=request.purpose,
            question=dict(request.question),
            epsilon=epsilon,
            delta=delta,
        )
        return find_job(transaction, number)

    def _hidden(self, transaction: Transaction, condition: str, value: str) -> int:
        """Return how many of some jobs have ended without showing it."""
        now = self._clock()
        return sum(now < one for one in shown(transaction, condition, value))

    def forget(self, before: datetime, now: datetime, actor: str) -> int:
        """Delete jobs that ended before a moment without a charge, and events about them.

        What was charged stays, with its answer. The deletion itself is written down.
        """
        if now - before < DAY:
            raise InputError("retention: jobs of the last 24 hours count, so they are kept")
        with self._database.transaction() as transaction:
            transaction.execute(
                f"DELETE FROM events WHERE job IN (SELECT id FROM jobs WHERE {_FORGOTTEN})",
                [moment(before)],
            )
            count = transaction.change(f"DELETE FROM jobs WHERE {_FORGOTTEN}", moment(before))
            if count:
                record(
                    transaction, now, actor, "jobs forgotten", before=moment(before), count=count
                )
        return count

    def _decide(self, job: str, actor: str, state: State, action: str) -> Job:
        now = self._clock()
        finished = moment(now) if state.is_final else None
        with self._database.transaction() as transaction:
            found = find_job(transaction, job, lock=True)
            if find_dataset(transaction, found.dataset, closed=True).owner != actor:
                raise NotFoundError("no such job")
            if found.state is not State.WAITING:
                raise ConflictError(f"the job is {found.state}; it does not wait for approval")
            transaction.execute(
                "UPDATE jobs SET state = ?, decided_by = ?, decided_at = ?, finished_at = ? "
                "WHERE id = ?",
                [state, actor, moment(now), finished, job],
            )
            record(transaction, now, actor, action, dataset=found.dataset, job=job)
            return find_job(transaction, job)

    def _list(self, condition: str, value: str, *, before: int | None, most: int) -> list[Job]:
        earlier, given = ("", [value]) if before is None else (" AND number < ?", [value, before])
        with self._database.reading() as transaction:
            rows = transaction.rows(
                f"{SELECT} WHERE {condition}{earlier} ORDER BY number DESC LIMIT ?",
                *given,
                min(most, 1000),
            )
        return [job_in(row) for row in rows]


def find_job(
    transaction: Transaction, job: str, analyst: str | None = None, *, lock: bool = False
) -> Job:
    """Return a job; another analyst's looks as if there were none."""
    row = transaction.row(f"{SELECT} WHERE id = ?{transaction.for_update * lock}", job)
    if row is None or analyst not in (None, row["analyst"]):
        raise NotFoundError("no such job")
    return job_in(row)


def shown(transaction: Transaction, condition: str, value: str) -> list[datetime]:
    """Return when the ends of some charged jobs show."""
    rows = transaction.execute(
        f"{_ENDS}{condition} ORDER BY jobs.number DESC LIMIT {_LATEST}", [value]
    )
    return [
        release_moment(datetime.fromisoformat(began), datetime.fromisoformat(ended), every)
        for began, ended, every in rows
    ]


def _check(request: Request) -> None:
    checked_name(request.key, "idempotency key")
    checked_name(request.purpose, "purpose")
    if request.price.epsilon <= 0:
        raise InputError("price: nothing is free of charge")
    checked_loss(request.price, "price")


def _same(row: Mapping[str, Any], request: Request, question: str) -> Job:
    """Return the job that a key stands for, or refuse the key for another question."""
    found = job_in(row)
    asked = (request.dataset, request.purpose, request.price)
    if (found.dataset, found.purpose, found.price) != asked or row["question"] != question:
        raise ConflictError("this idempotency key was used for another question; choose a new one")
    return found
