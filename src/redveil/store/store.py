"""A server's store: everything that is in its database."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

from redveil.signing.keys import Signer
from redveil.store.accounts import Accounts, Clock
from redveil.store.audit import AuditLog
from redveil.store.database import Database
from redveil.store.datasets import DataSets
from redveil.store.jobs import Jobs
from redveil.store.ledger import ServerLedger, SignedHead, identity, written_off_at
from redveil.store.migrations import migrate, must_be_current
from redveil.store.texts import moment
from redveil.store.witness import Witness
from redveil.store.work import Work


def utc_now() -> datetime:
    """Return the time of the system's clock."""
    return datetime.now(UTC)


class Store:
    """The store of a server: accounts, data sets, jobs, what workers do, the ledger, the log.

    Every public operation is one transaction. Several processes, on several machines, may have the
    same database open.

    database:  where it is
    signer:    the server's key
    witness:   a file on another disk that keeps the entries of the ledger
    clock:     tells the time
    most_open: how many unfinished jobs an analyst may have
    most_a_day: how many jobs an analyst may submit in 24 hours; None does not limit them
    lease:     how long a worker keeps a job without a heartbeat
    release_every: whole seconds; ends of jobs that are charged from now on show so long after their
                   start, or 2, 4, 8 … times as long

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store = Store.open(f"{folder}/server.sqlite", Signer.generate())
    ...     owner = store.accounts.create("olga", "owner", actor="console")
    ...     store.accounts.all() == [owner]
    ...     store.close()
    True
    """

    def __init__(
        self,
        database: Database,
        signer: Signer,
        witness: Witness | None = None,
        *,
        clock: Clock = utc_now,
        most_open: int = 20,
        most_a_day: int | None = None,
        lease: timedelta = timedelta(seconds=60),
        release_every: int = 0,
    ) -> None:
        self.database = database
        self.signer = signer
        self.witness = witness
        self.ledger = ServerLedger(database, signer, witness)
        self.accounts = Accounts(database, clock)
        self.datasets = DataSets(database, clock, self.ledger)
        self.jobs = Jobs(
            *(database, clock, self.ledger),
            most_open=most_open,
            most_a_day=most_a_day,
        )
        self.work = Work(
            *(database, clock, self.ledger, signer), lease=lease, release_every=release_every
        )
        self.audit = AuditLog(database)

    @classmethod
    def open(
        cls,
        address: str | Path,
        signer: Signer,
        witness: str | Path | Callable[[str], Path] | None = None,
        *,
        clock: Clock = utc_now,
        most_open: int = 20,
        most_a_day: int | None = None,
        lease: timedelta = timedelta(seconds=60),
        release_every: int = 0,
    ) -> Store:
        """Return the store in a database, which is created or brought up to date.

        witness: a file, or a function that returns the one for a ledger's identity

        Raises LedgerError if the database lacks what its witness has seen.
        """
        database = Database(address)
        try:
            migrate(database, moment(clock()))
            if callable(witness):
                with database.reading() as transaction:
                    witness = witness(identity(transaction))
            store = cls(
                *(database, signer, None if witness is None else Witness(witness)),
                clock=clock,
                most_open=most_open,
                most_a_day=most_a_day,
                lease=lease,
                release_every=release_every,
            )
            with database.transaction() as transaction:
                store.ledger.must_be_ours(transaction)
            store.ledger.keep()
        except BaseException:
            database.close()
            raise
        return store

    def close(self) -> None:
        """Close the connections that are not in use."""
        self.database.close()

    def identity(self) -> str:
        """Return the identity of the ledger."""
        with self.database.reading() as transaction:
            return identity(transaction)

    def written_off_at(self) -> str | None:
        """Return when budgets were written off last, None if they never were."""
        with self.database.reading() as transaction:
            return written_off_at(transaction)

    def head(self) -> SignedHead | None:
        """Return the ledger's signed head, None if it is empty."""
        with self.database.reading() as transaction:
            return self.ledger.head(transaction)

    def is_ready(self) -> bool:
        """Return whether the database answers and is of this version."""
        with self.database.reading() as transaction:
            must_be_current(transaction)
        return True
