"""The tables of a server's database, and how those of an earlier version are brought up to date.

Each migration is a list of statements that both databases understand. All that are missing run in
one transaction, so a database is of one version or of another, never between. A migration that was
released is never changed.
"""

from __future__ import annotations

import secrets
from typing import Final

from redveil.errors import StoreError
from redveil.store.database import Database, Transaction
from redveil.store.ledger import IN_USE, place_of

_FIRST: Final = (
    # One row. The ledger is in use, or a copy that must be recovered first, and so is one whose
    # table is at another place than it was.
    """CREATE TABLE ledgers (
        id TEXT PRIMARY KEY, made_at TEXT NOT NULL, state TEXT NOT NULL, place TEXT NOT NULL)""",
    # The entries of the ledger: charges, and also the budgets and grants in force, so that they are
    # signed, and come back with a witness. That `previous` is unique keeps the chain from forking,
    # and that `voids` is keeps a charge from being given back twice.
    """CREATE TABLE charges (
        number BIGINT PRIMARY KEY, dataset TEXT NOT NULL, epsilon TEXT NOT NULL,
        purpose TEXT NOT NULL, made_at TEXT NOT NULL, delta TEXT NOT NULL,
        identifier TEXT NOT NULL, result TEXT, algorithm TEXT, parameters TEXT NOT NULL,
        kind TEXT NOT NULL, analyst TEXT, job TEXT, voids BIGINT UNIQUE REFERENCES charges (number),
        previous TEXT NOT NULL UNIQUE, hash TEXT NOT NULL UNIQUE, signature TEXT NOT NULL)""",
    # All that is added up is in the index.
    """CREATE INDEX charges_of_a_dataset
        ON charges (identifier, kind, analyst, epsilon, delta)""",
    "CREATE INDEX charges_of_a_job ON charges (job)",
    """CREATE TABLE accounts (
        id TEXT PRIMARY KEY, name TEXT NOT NULL UNIQUE, role TEXT NOT NULL,
        made_at TEXT NOT NULL, closed_at TEXT)""",
    """CREATE TABLE tokens (
        id TEXT PRIMARY KEY, account TEXT NOT NULL REFERENCES accounts (id),
        hash TEXT NOT NULL UNIQUE, scopes TEXT NOT NULL, made_at TEXT NOT NULL,
        expires_at TEXT NOT NULL, revoked_at TEXT)""",
    """CREATE TABLE datasets (
        id TEXT PRIMARY KEY, name TEXT NOT NULL UNIQUE,
        owner TEXT NOT NULL REFERENCES accounts (id), description TEXT NOT NULL,
        made_at TEXT NOT NULL, closed_at TEXT)""",
    """CREATE TABLE versions (
        dataset TEXT NOT NULL REFERENCES datasets (id), number BIGINT NOT NULL,
        location TEXT NOT NULL, sha256 TEXT NOT NULL, made_at TEXT NOT NULL,
        PRIMARY KEY (dataset, number))""",
    """CREATE TABLE jobs (
        number {serial}, id TEXT NOT NULL UNIQUE,
        analyst TEXT NOT NULL REFERENCES accounts (id),
        dataset TEXT NOT NULL REFERENCES datasets (id),
        purpose TEXT NOT NULL, question TEXT NOT NULL,
        epsilon TEXT NOT NULL, delta TEXT NOT NULL, idempotency_key TEXT NOT NULL,
        state TEXT NOT NULL, submitted_at TEXT NOT NULL,
        decided_by TEXT REFERENCES accounts (id), decided_at TEXT,
        version BIGINT, worker TEXT, lease_until TEXT, tries BIGINT NOT NULL,
        progress TEXT NOT NULL, charge BIGINT REFERENCES charges (number),
        finished_at TEXT, result TEXT,
        UNIQUE (analyst, idempotency_key))""",
    "CREATE INDEX jobs_by_state ON jobs (state)",
    # When an analyst's job was last taken up, as a count: who waited longest is next.
    "CREATE TABLE turns (analyst TEXT PRIMARY KEY, served BIGINT NOT NULL)",
    """CREATE TABLE events (
        number {serial}, at TEXT NOT NULL, actor TEXT NOT NULL, action TEXT NOT NULL,
        dataset TEXT, job TEXT, details TEXT NOT NULL)""",
    "CREATE INDEX events_of_a_dataset ON events (dataset)",
)
_TOKENS_OF_JOBS: Final = (
    # A job is charged only if the token with which it was asked still works.
    "ALTER TABLE jobs ADD COLUMN token TEXT REFERENCES tokens (id)",
)
_MOMENTS_OF_JOBS: Final = (
    # The moments at which a job's end shows are those of its charge, whatever is set later.
    "ALTER TABLE jobs ADD COLUMN release_every BIGINT",
)
MIGRATIONS: Final = (_FIRST, _TOKENS_OF_JOBS, _MOMENTS_OF_JOBS)
_SERIAL: Final = {
    False: "INTEGER PRIMARY KEY AUTOINCREMENT",
    True: "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY",
}
# Any number will do that no other program on the same database uses.
_LOCK: Final = 7_334_801_172_365_891


def migrate(database: Database, now: str) -> int:
    """Bring a database up to date, and return its version. A new one gets a ledger.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     migrate(Database(f"{folder}/server.sqlite"), "2026-01-01T00:00:00+00:00")
    3
    """
    with database.transaction() as transaction:
        if transaction.is_postgresql:
            transaction.execute("SELECT pg_advisory_xact_lock(?)", [_LOCK])
        transaction.execute("CREATE TABLE IF NOT EXISTS migrations (version BIGINT PRIMARY KEY)")
        current = _version(transaction)
        for version, statements in enumerate(MIGRATIONS[current:], start=current + 1):
            for statement in statements:
                serial = _SERIAL[transaction.is_postgresql]
                transaction.execute(statement.replace("{serial}", serial))
            transaction.execute("INSERT INTO migrations (version) VALUES (?)", [version])
        if not transaction.execute("SELECT id FROM ledgers"):
            transaction.execute(
                "INSERT INTO ledgers (id, made_at, state, place) VALUES (?, ?, ?, ?)",
                [secrets.token_hex(16), now, IN_USE, place_of(transaction)],
            )
        return len(MIGRATIONS)


def must_be_current(transaction: Transaction) -> None:
    """Refuse a database of another version."""
    current = _version(transaction)
    if current < len(MIGRATIONS):
        raise StoreError(f"the database is of version {current}; migrate it first")


def _version(transaction: Transaction) -> int:
    ((found,),) = transaction.execute("SELECT COALESCE(MAX(version), 0) FROM migrations")
    if found > len(MIGRATIONS):
        raise StoreError(
            f"the database is of version {found}, which is newer than this redveil "
            f"({len(MIGRATIONS)}); use a newer redveil"
        )
    return int(found)
