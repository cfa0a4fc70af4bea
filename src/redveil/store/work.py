"""Jobs as workers see them: claim, reserve, touch the data, commit. A crash never un-spends.

A worker has a job under a lease that it renews. When the lease of a dead worker has run out, its
job goes back to the queue if the data was not touched, and has failed, charged, if it may have
been. `touching` is written before the data is opened, so what is not written was not touched.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Final

from redveil.budget.charges import Charge, PaidFor
from redveil.budget.entry import COMMIT, VOID, Entry
from redveil.errors import (
    ConflictError,
    InputError,
    LeaseError,
    NotAllowedError,
    NotFoundError,
    OverBudgetError,
    RedveilError,
)
from redveil.signing.canonical import canonical, digest
from redveil.signing.certificate import sign_result
from redveil.signing.keys import Signer
from redveil.store.accounts import Clock
from redveil.store.admission import admitted, hold
from redveil.store.audit import record
from redveil.store.database import Database, Transaction
from redveil.store.datasets import find_dataset, find_version
from redveil.store.job import COLUMNS, LEASED, Job, State, job_in
from redveil.store.jobs import SELECT, find_job, shown
from redveil.store.ledger import ServerLedger, SignedHead, entry
from redveil.store.limits import NOTHING
from redveil.store.texts import moment

SERVER: Final = "server"
# A job that has lost so many workers before it was run is given up.
MOST_TRIES: Final = 3
_LEASED: Final = ", ".join(f"'{one.value}'" for one in LEASED)
# Answers that are stored, and whose digests are not in the ledger.
_NOT_ENTERED: Final = (
    f"SELECT {', '.join(COLUMNS)}, result FROM jobs WHERE state = 'done' AND NOT EXISTS "
    "(SELECT 1 FROM charges WHERE charges.job = jobs.id AND kind = 'commit') ORDER BY number"
)
_FREE: Final = "worker = NULL, lease_until = NULL"
# First the analyst whose jobs were taken up longest ago, or never, then who has the oldest job.
_ANALYSTS: Final = (
    "SELECT analyst FROM jobs WHERE state = 'queued' GROUP BY analyst ORDER BY COALESCE("
    "(SELECT served FROM turns WHERE turns.analyst = jobs.analyst), 0), MIN(number)"
)


class Work:
    """What workers do to jobs. Every method is one transaction.

    lease:         how long a job stays a worker's without a heartbeat
    release_every: whole seconds, for jobs that are charged from now on; see `release`
    """

    def __init__(
        self,
        database: Database,
        clock: Clock,
        ledger: ServerLedger,
        signer: Signer,
        *,
        lease: timedelta = timedelta(seconds=60),
        release_every: int = 0,
    ) -> None:
        self._database = database
        self._clock = clock
        self._ledger = ledger
        self._signer = signer
        self._lease = lease
        self._every = release_every

    def claim(self, worker: str) -> Job | None:
        """Return a job for a worker, fair between analysts; None if there is none to take up.

        An analyst has one slot: her next job is taken up when the end of the last one shows. So the
        jobs of one, however many they are, keep nobody waiting as long as there are more workers.
        """
        with self._database.transaction() as transaction:
            found = (self._next(transaction, one) for (one,) in transaction.execute(_ANALYSTS))
            job = next((one for one in found if one is not None), None)
            if job is None:
                return None
            transaction.execute(
                "INSERT INTO turns (analyst, served) VALUES (?, "
                "(SELECT COALESCE(MAX(served), 0) + 1 FROM turns)) "
                "ON CONFLICT (analyst) DO UPDATE SET served = excluded.served",
                [job.analyst],
            )
            transaction.execute(
                "UPDATE jobs SET state = ?, worker = ?, lease_until = ?, tries = tries + 1 "
                "WHERE id = ?",
                [State.CLAIMED, worker, self._until(), job.id],
            )
            return find_job(transaction, job.id)

    def _next(self, transaction: Transaction, analyst: str) -> Job | None:
        """Return an analyst's oldest job, locked, if her slot is free."""
        # Workers that look at the same moment take turns; one that comes second looks again later.
        account = f"SELECT id FROM accounts WHERE id = ?{transaction.skip_locked}"
        if transaction.row(account, analyst) is None:
            return None
        leased = f"SELECT id FROM jobs WHERE analyst = ? AND state IN ({_LEASED}) LIMIT 1"
        if transaction.row(leased, analyst) is not None:
            return None
        # A job that has ended keeps the slot until that shows: the next one's start would tell.
        now = self._clock()
        ends = shown(transaction, "jobs.analyst = ?", analyst)
        if any(now < one for one in ends):
            return None
        queued = f"{SELECT} WHERE analyst = ? AND state = 'queued' ORDER BY number LIMIT 1"
        row = transaction.row(queued + transaction.skip_locked, analyst)
        return None if row is None else job_in(row)

    def heartbeat(self, job: str, worker: str, progress: float | None = None) -> bool:
        """Renew a lease, and say how far the job is; False if it is no longer the worker's."""
        given = [] if progress is None else [str(min(max(progress, 0.0), 1.0))]
        with self._database.transaction() as transaction:
            changed = transaction.change(
                f"UPDATE jobs SET lease_until = ?{', progress = ?' * bool(given)} "
                f"WHERE id = ? AND worker = ? AND state IN ({_LEASED})",
                *(self._until(), *given, job, worker),
            )
        return changed == 1

    def reserve(self, job: str, worker: str) -> SignedHead:
        """Charge a job, and return the receipt. Call it before anything is computed.

        Everything that let the job be submitted is read again. Unless all of it still holds,
        nothing is charged. Raises OverBudgetError if a limit would be exceeded: the job is
        over_budget. Raises NotAllowedError if something was revoked: the job is declined; or if it
        takes the owner's approval by now: it waits for that. Raises LeaseError if the job is not
        the worker's any more.
        """
        with self._database.transaction() as transaction:
            # In this order, which is everybody's: accounts, tokens, data sets, jobs, the ledger.
            hold(transaction, find_job(transaction, job))
            found = self._mine(transaction, job, worker, State.CLAIMED)
            # From here on nobody else can charge, so what is read now is what is compared.
            self._ledger.lock(transaction)
            self._enter_answers(transaction)
            refusal = self._refusal(transaction, found)
            if refusal is None:
                charge = self._ledger.append(transaction, self._entry(transaction, found))
                # If rows were renewed by now, perhaps because somebody left, the new ones are read.
                version = find_version(transaction, found.dataset)
                transaction.execute(
                    "UPDATE jobs SET state = ?, charge = ?, version = ?, release_every = ?, "
                    "lease_until = ? WHERE id = ?",
                    [
                        State.RESERVED,
                        charge.number,
                        version.number,
                        self._every,
                        self._until(),
                        job,
                    ],
                )
                self._record(transaction, found, "job charged", charge=charge.number)
                receipt = self._ledger.receipt(transaction, charge)
        if refusal is not None:
            raise refusal
        self._ledger.keep()
        return receipt

    def decline(self, job: str, worker: str, reason: str) -> None:
        """Refuse a job that is not charged yet, because the server no longer allows its question.

        reason: for the audit log; of public quantities only
        """
        with self._database.transaction() as transaction:
            found = self._mine(transaction, job, worker, State.CLAIMED)
            self._decline(transaction, found, reason)

    def touching(self, job: str, worker: str) -> Job:
        """Write down that the data will be opened. Open it only after this has returned.

        Returns the job, which says by now which version of the data it uses.
        """
        with self._database.transaction() as transaction:
            self._mine(transaction, job, worker, State.RESERVED)
            transaction.execute(
                "UPDATE jobs SET state = ?, lease_until = ? WHERE id = ?",
                [State.RUNNING, self._until(), job],
            )
            return find_job(transaction, job)

    def commit(self, job: str, worker: str, document: Mapping[str, Any]) -> dict[str, Any]:
        """Sign a result document, store it, and return it as it is stored."""
        if "signature" in document:
            raise InputError("the result is signed already")
        with self._database.transaction() as transaction:
            found = self._mine(transaction, job, worker, State.RUNNING)
            paid = self._ledger.receipt(transaction, entry(transaction, found.charge or 0))
            charged = {"ledger": paid.ledger, "number": paid.number, "hash": paid.hash}
            signed = sign_result(
                document, {"job": job, "dataset": found.dataset, **charged}, self._signer
            )
            transaction.execute(
                f"UPDATE jobs SET state = ?, result = ?, finished_at = ?, progress = '1', {_FREE} "
                "WHERE id = ?",
                [State.DONE, canonical(signed).decode(), moment(self._clock()), job],
            )
            self._record(transaction, found, "job done", charge=found.charge)
            entered = self._enter_answers(transaction)
        if entered:
            self._ledger.keep()
        return signed

    def enter_answers(self) -> int:
        """Append the digests of answers that show to the ledger; return how many."""
        with self._database.reading() as transaction:
            if not self._answers(transaction):
                return 0
        with self._database.transaction() as transaction:
            entered = self._enter_answers(transaction)
        self._ledger.keep()
        return entered

    def fail(self, job: str, worker: str) -> None:
        """Give up a job. What was charged stays charged."""
        with self._database.transaction() as transaction:
            found = self._mine(transaction, job, worker, *LEASED)
            self._finish(transaction, found, State.FAILED, "job failed")

    def give_back(self, job: str, worker: str) -> None:
        """Put a job back into the queue whose data was not touched, and void its charge."""
        with self._database.transaction() as transaction:
            found = self._mine(transaction, job, worker, State.CLAIMED, State.RESERVED)
            self._requeue(transaction, found)
        self._ledger.keep()

    def expire(self) -> list[Job]:
        """Deal with the jobs of workers whose leases have run out; return them as they are now."""
        return self._bury("lease_until < ?", moment(self._clock()))

    def lost(self, worker: str) -> list[Job]:
        """Deal with the jobs of a worker that is known to be dead, without waiting for its lease.

        Call it only when the process has ended: one that is still running would go on.
        """
        return self._bury("worker = ?", worker)

    def _bury(self, condition: str, value: str) -> list[Job]:
        with self._database.transaction() as transaction:
            rows = transaction.rows(
                f"{SELECT} WHERE state IN ({_LEASED}) AND {condition} ORDER BY number"
                + transaction.skip_locked,
                value,
            )
            for found in map(job_in, rows):
                if found.state is State.RUNNING:
                    self._finish(transaction, found, State.FAILED, "worker lost")
                else:
                    self._requeue(transaction, found)
            buried = [find_job(transaction, row["id"]) for row in rows]
        if buried:
            self._ledger.keep()
        return buried

    def _refusal(self, transaction: Transaction, job: Job) -> RedveilError | None:
        """Return why a job may not be charged now, after writing down what becomes of it."""
        try:
            grant = admitted(transaction, job, self._clock())
        except OverBudgetError as over:
            self._finish(transaction, job, State.OVER_BUDGET, "job over budget")
            return over
        except (NotFoundError, ConflictError) as error:
            self._decline(transaction, job, str(error))
            return NotAllowedError(str(error))
        if grant.needs_approval and job.decided_by is None:
            transaction.execute(
                f"UPDATE jobs SET state = ?, tries = 0, {_FREE} WHERE id = ?",
                [State.WAITING, job.id],
            )
            self._record(transaction, job, "job waits for approval")
            return NotAllowedError("the job waits for the owner's approval")
        return None

    def _decline(self, transaction: Transaction, job: Job, reason: str) -> None:
        self._finish(transaction, job, State.DECLINED, "job declined", reason=reason)

    def _enter_answers(self, transaction: Transaction) -> int:
        """Append the digests of answers that show.

        Not sooner, and before any charge: the place of a charge tells how many entries there were,
        so it would tell whether a job had ended that does not show it, or was cancelled.
        """
        if not self._answers(transaction):
            return 0
        self._ledger.lock(transaction)
        # Another process may have entered them before the ledger was locked.
        answers = self._answers(transaction)
        for job, result in answers:
            self._ledger.append(
                transaction,
                self._entry(transaction, job, COMMIT, result=digest(json.loads(result))),
            )
        return len(answers)

    def _answers(self, transaction: Transaction) -> list[tuple[Job, str]]:
        """Return the jobs whose answers show and are not in the ledger, and the answers."""
        now, found = self._clock(), transaction.rows(_NOT_ENTERED)
        return [
            (job_in(row), row["result"])
            for row in found
            if all(one <= now for one in shown(transaction, "jobs.id = ?", row["id"]))
        ]

    def _until(self) -> str:
        return moment(self._clock() + self._lease)

    def _mine(self, transaction: Transaction, job: str, worker: str, *states: State) -> Job:
        """Return a worker's job, locked, in one of the states; refuse it otherwise."""
        found = find_job(transaction, job, lock=True)
        if found.worker != worker or found.state not in states:
            raise LeaseError(f"the job is {found.state}, or another worker's")
        return found

    def _requeue(self, transaction: Transaction, job: Job) -> None:
        """Void what was charged for data that was not touched, and let another worker try."""
        if job.charge is not None:
            self._ledger.append(transaction, self._entry(transaction, job, VOID))
        transaction.execute(
            f"UPDATE jobs SET state = ?, charge = NULL, {_FREE} WHERE id = ?",
            [State.QUEUED, job.id],
        )
        self._record(transaction, job, "job queued again", voided=job.charge)
        if job.tries >= MOST_TRIES:
            free = find_job(transaction, job.id)
            self._finish(transaction, free, State.FAILED, "job given up")

    def _finish(
        self, transaction: Transaction, job: Job, state: State, action: str, **details: Any
    ) -> None:
        transaction.execute(
            f"UPDATE jobs SET state = ?, finished_at = ?, {_FREE} WHERE id = ?",
            [state, moment(self._clock()), job.id],
        )
        self._record(transaction, job, action, charge=job.charge, **details)

    def _entry(
        self, transaction: Transaction, job: Job, kind: str | None = None, result: str | None = None
    ) -> Entry:
        """Return the entry for a job: its charge or, if a kind is given, what became of that."""
        name = find_dataset(transaction, job.dataset, closed=True).name
        made_at = moment(self._clock())
        algorithm = job.question.get("algorithm")
        if kind is None:
            paid_for = PaidFor(
                job.purpose,
                None,
                algorithm if isinstance(algorithm, str) else None,
                job.question,
            )
            charge = Charge(name, job.price, paid_for, made_at, job.dataset)
            return Entry(charge, analyst=job.analyst, job=job.id)
        after = Charge(name, NOTHING, PaidFor(job.purpose, result), made_at, job.dataset)
        voids = job.charge if kind == VOID else None
        return Entry(after, kind, job.analyst, job.id, voids)

    def _record(self, transaction: Transaction, job: Job, action: str, **details: Any) -> None:
        record(
            *(transaction, self._clock(), SERVER, action),
            dataset=job.dataset,
            job=job.id,
            **details,
        )
