"""A database: SQLite in a file, or PostgreSQL. One SQL text serves both."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from enum import Enum
from pathlib import Path
from threading import BoundedSemaphore, Lock
from typing import Any, Final

from redveil.budget.one_name import must_have_one_name
from redveil.budget.turn import turn
from redveil.errors import InputError, StoreError

POSTGRESQL: Final = ("postgresql://", "postgres://")
SQLITE: Final = "sqlite:///"
_BUSY: Final = "the database is busy; try again later"
# The most connections that are kept open between transactions.
_MOST_IDLE: Final = 8
# The most connections of a process at the same time: PostgreSQL has 100 for all, by default.
_MOST: Final = 16


class Transaction:
    """A transaction: all of its statements take effect, or none.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with Database(f"{folder}/server.sqlite").transaction() as transaction:
    ...         transaction.rows("SELECT ? AS answer", 42)
    [{'answer': 42}]
    """

    def __init__(self, connection: Any, *, is_postgresql: bool) -> None:
        self._connection = connection
        self.is_postgresql: Final = is_postgresql

    def execute(self, sql: str, parameters: Sequence[Any] = (), /) -> list[tuple[Any, ...]]:
        """Run a statement, and return its rows."""
        cursor = self._run(sql, parameters)
        return list(cursor.fetchall()) if cursor.description else []

    def rows(self, sql: str, *parameters: Any) -> list[dict[str, Any]]:
        """Run a statement, and return its rows with the names of the columns."""
        cursor = self._run(sql, parameters)
        names = [column[0] for column in cursor.description]
        return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]

    def row(self, sql: str, *parameters: Any) -> dict[str, Any] | None:
        """Run a statement, and return its first row."""
        found = self.rows(sql, *parameters)
        return found[0] if found else None

    def change(self, sql: str, *parameters: Any) -> int:
        """Run a statement, and return how many rows it has changed."""
        return int(self._run(sql, parameters).rowcount)

    @property
    def for_update(self) -> str:
        """What makes a SELECT lock its rows. SQLite has locked everything already."""
        return " FOR UPDATE" if self.is_postgresql else ""

    @property
    def skip_locked(self) -> str:
        """What makes a SELECT lock its rows and leave out those that others have locked."""
        return " FOR UPDATE SKIP LOCKED" if self.is_postgresql else ""

    def _run(self, sql: str, parameters: Sequence[Any]) -> Any:
        text = sql.replace("?", "%s") if self.is_postgresql else sql
        given = [one.value if isinstance(one, Enum) else one for one in parameters]
        return self._connection.execute(text, given)


class Database:
    """A database by its address: a file, `sqlite:///file` or `postgresql://…`.

    Threads share it; every transaction has a connection of its own, and waits if too many are in
    use. After a fork, the child opens its own connections.

    patience: for how many seconds to wait for others, who hold a lock

    >>> Database("mysql://localhost/redveil")
    Traceback (most recent call last):
    redveil.errors.InputError: mysql://…: not a database that redveil knows; give a file, or \
postgresql://…
    """

    def __init__(self, address: str | Path, *, patience: float = 60) -> None:
        text = str(address)
        self.is_postgresql: Final = text.startswith(POSTGRESQL)
        if not self.is_postgresql and is_address(text):
            # Only the scheme: an address may contain a password.
            raise InputError(
                f"{text.partition('://')[0]}://…: not a database that redveil knows; give a file, "
                "or postgresql://…"
            )
        self._address = text.removeprefix(SQLITE)
        if self._address in ("", ":memory:"):
            raise InputError("a server's database is a file, or postgresql://…; name one")
        self._patience = patience
        self._idle: list[Any] = []
        self._lock = Lock()
        self._room = BoundedSemaphore(_MOST)
        self._process = os.getpid()

    @property
    def path(self) -> Path | None:
        """The file of SQLite."""
        return None if self.is_postgresql else Path(self._address)

    def __repr__(self) -> str:
        # An address may contain a password.
        return f"<Database: {'PostgreSQL' if self.is_postgresql else self._address}>"

    @contextmanager
    def transaction(self) -> Iterator[Transaction]:
        """Commit on success, roll back on any error. SQLite locks the file first."""
        # Not the database's own default: what is read under a lock must be what is there then.
        begin = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE"
        begin = begin if self.is_postgresql else "BEGIN IMMEDIATE"
        with self._begun(begin, shared=False) as transaction:
            yield transaction

    @contextmanager
    def reading(self) -> Iterator[Transaction]:
        """Read one state of the database. What is written meanwhile waits, or is not seen."""
        begin = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
        with self._begun(begin if self.is_postgresql else "BEGIN", shared=True) as transaction:
            yield transaction

    def close(self) -> None:
        """Close the connections that are not in use."""
        with self._lock:
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    @contextmanager
    def _begun(self, begin: str, *, shared: bool) -> Iterator[Transaction]:
        """Begin when it is our turn."""
        with _one_line_errors(self.is_postgresql), self._place(), self._turn(shared=shared):
            connection = self._begin(begin)
            is_whole = False
            try:
                try:
                    yield Transaction(connection, is_postgresql=self.is_postgresql)
                except BaseException:
                    connection.execute("ROLLBACK")
                    is_whole = True
                    raise
                connection.execute("COMMIT")
                is_whole = True
            finally:
                self._give_back(connection, is_whole=is_whole)

    @contextmanager
    def _place(self) -> Iterator[None]:
        """Wait until there may be another connection."""
        with self._lock:
            if self._process != os.getpid():
                # The connections are the parent's; to close them would end its sessions.
                self._idle, self._room = [], BoundedSemaphore(_MOST)
                self._process = os.getpid()
            room = self._room
        if not room.acquire(timeout=self._patience):
            raise StoreError(_BUSY)
        try:
            yield
        finally:
            room.release()

    def _turn(self, *, shared: bool) -> AbstractContextManager[None]:
        path = self.path
        return nullcontext() if path is None else turn(path, self._patience, shared=shared)

    def _begin(self, begin: str) -> Any:
        """Return a connection in which a transaction has begun."""
        while (connection := self._idle_connection()) is not None:
            try:
                connection.execute(begin)
            except Exception:
                # The database was restarted since; another connection may be better.
                connection.close()
            else:
                return connection
        connection = self._connect_postgresql() if self.is_postgresql else self._connect_sqlite()
        try:
            connection.execute(begin)
        except BaseException:
            connection.close()
            raise
        return connection

    def _idle_connection(self) -> Any:
        with self._lock:
            return self._idle.pop() if self._idle else None

    def _give_back(self, connection: Any, *, is_whole: bool) -> None:
        with self._lock:
            if is_whole and len(self._idle) < _MOST_IDLE:
                self._idle.append(connection)
                return
        connection.close()

    def _connect_postgresql(self) -> Any:
        # Only a server with PostgreSQL needs its driver.
        try:
            import psycopg
        except ImportError:
            raise InputError(
                "PostgreSQL needs a driver; install it with pip install 'redveil[server]'"
            ) from None
        connection = psycopg.connect(self._address, autocommit=True, connect_timeout=60)
        try:
            # Neither wait for ever, nor let others wait for one that was stopped.
            for setting in ("lock_timeout", "idle_in_transaction_session_timeout"):
                connection.execute(
                    "SELECT set_config(%s, %s, false)", [setting, f"{self._patience * 1000:.0f}"]
                )
        except BaseException:
            connection.close()
            raise
        return connection

    def _connect_sqlite(self) -> sqlite3.Connection:
        path = Path(self._address).absolute()
        must_have_one_name(path)
        # A new file is for this user alone: it holds questions, results and hashes of tokens.
        with suppress(OSError):
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        connection = sqlite3.connect(
            f"{path.as_uri()}?mode=rwc",
            uri=True,
            timeout=self._patience,
            isolation_level=None,
            check_same_thread=False,
        )
        try:
            # No write-ahead log: its locks last as long as a connection, and SQLite can lose them.
            for pragma in ("journal_mode = DELETE", "synchronous = EXTRA", "foreign_keys = ON"):
                connection.execute(f"PRAGMA {pragma}")
        except BaseException:
            connection.close()
            raise
        return connection


def is_address(text: str) -> bool:
    """Return whether a text is the address of a database, known or not, and not that of a file.

    >>> is_address("mysql://localhost/redveil"), is_address("sqlite:///server.sqlite")
    (True, False)
    """
    return "://" in text and not text.startswith(SQLITE)


@contextmanager
def _one_line_errors(is_postgresql: bool) -> Iterator[None]:  # noqa: FBT001 - one flag, one caller
    """Turn a driver's errors into one line without the values of the statement."""
    if not is_postgresql:
        try:
            yield
        except sqlite3.Error as error:
            code = (getattr(error, "sqlite_errorcode", None) or 0) & 0xFF
            if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
                raise StoreError(_BUSY) from None
            raise StoreError(
                f"the database cannot be used ({_name(error)}); check the file, its folder and "
                "the disk"
            ) from None
        return
    try:
        import psycopg
    except ImportError:
        yield
        return
    try:
        yield
    except psycopg.errors.LockNotAvailable:
        raise StoreError(_BUSY) from None
    except psycopg.Error as error:
        raise StoreError(
            f"the database cannot be used ({_name(error)}); check its address and its log"
        ) from None


def _name(error: Exception) -> str:
    state = getattr(error, "sqlite_errorname", None) or getattr(error, "sqlstate", None)
    return state or type(error).__name__
