"""A ledger of privacy losses in one SQLite file. Charges are never removed."""

from __future__ import annotations

import os
import sqlite3
import stat
import warnings
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import Final

from redveil.base.files import followed, is_there
from redveil.budget.book import append, check_chain, overdraft
from redveil.budget.chain import NOTHING
from redveil.budget.charges import (
    TAKEN_OVER,
    Charge,
    PaidFor,
    charges_to,
    latest_of_each,
    missing_purchases,
    taken_over_by,
    total,
)
from redveil.budget.entry import CHARGE, Entry, NotAnEntryError, read_entry
from redveil.budget.one_name import must_have_one_name
from redveil.budget.turn import turn
from redveil.errors import InputError, LedgerWarning, OverBudgetError
from redveil.losses.loss import Loss, legible
from redveil.schema.purchase import Purchase

# The columns of the table, and those that a ledger of an earlier version may lack.
_FIRST: Final = ("number", "dataset", "epsilon", "purpose", "made_at")
_LATER: Final = {
    "delta": "TEXT NOT NULL DEFAULT '0'",
    "identifier": "TEXT",
    "result": "TEXT",
    "algorithm": "TEXT",
    "parameters": "TEXT NOT NULL DEFAULT '{}'",
    "kind": "TEXT NOT NULL DEFAULT 'charge'",
    "analyst": "TEXT",
    "job": "TEXT",
    "voids": "INTEGER",
    "previous": "TEXT",
    "hash": "TEXT",
    "signature": "TEXT",
}
_CREATE: Final = (
    "CREATE TABLE charges (number INTEGER PRIMARY KEY AUTOINCREMENT, dataset TEXT NOT NULL, "
    "epsilon TEXT NOT NULL, purpose TEXT NOT NULL, made_at TEXT NOT NULL)"
)
_LINK: Final = "UPDATE charges SET previous = ?, hash = ? WHERE number = ?"
_CONTENTS: Final = {("table", "charges"), ("table", "sqlite_sequence")}
# Names that are no files for SQLite, or for the command line.
_NO_FILES: Final = ("", "-", ":memory:")
_SMALLEST_DATABASE: Final = 512
# What is wrong with the disk or permissions, and not with the ledger: it must not be replaced
# by an earlier copy.
_PROBLEMS: Final = {
    sqlite3.SQLITE_BUSY: "not a usable ledger; another run is using it; try again later",
    sqlite3.SQLITE_LOCKED: "not a usable ledger; another run is using it; try again later",
    sqlite3.SQLITE_FULL: "cannot be written; the disk is full; make room (nothing was charged)",
    sqlite3.SQLITE_READONLY: "cannot be written; make the ledger and its folder writable",
    sqlite3.SQLITE_CANTOPEN: "cannot be opened; check its folder and its permissions",
    sqlite3.SQLITE_PERM: "cannot be opened; check its folder and its permissions",
    sqlite3.SQLITE_IOERR: "cannot be read or written; check the disk, and that there is room",
}
_SECONDS_TO_WAIT: Final = 60


class Ledger:
    """Charges to data sets, in a file that survives crashes.

    A charge is checked and written in one transaction that first locks the file, so that two
    processes cannot both spend the rest of a budget. The transaction is on the disk before
    anything is released.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     ledger = Ledger(Path(folder) / "ledger.sqlite")
    ...     ledger.charge("clinic", Loss(Fraction(1)), PaidFor("mine"), cap=None)
    ...     ledger.spent("clinic")
    Loss(epsilon=Fraction(1, 1), delta=Fraction(0, 1))
    >>> Ledger(":memory:")
    Traceback (most recent call last):
    redveil.errors.InputError: :memory:: a ledger is a file; name one, as in \
datapackage.ledger.sqlite
    """

    def __init__(self, path: str | Path) -> None:
        if not isinstance(path, str | Path):
            raise InputError("ledger: give the name of a file, as in datapackage.ledger.sqlite")
        self._path = Path(path)
        if str(path) in _NO_FILES or str(path).startswith("file:") or not self._may_be_a_file():
            raise InputError(
                f"{path}: a ledger is a file; name one, as in datapackage.ledger.sqlite"
            )

    def charge(
        self,
        name: str,
        loss: Loss,
        paid_for: PaidFor,
        cap: Loss | None,
        *,
        identifier: str | None = None,
        bought: Sequence[Purchase] = (),
    ) -> None:
        """Record a charge to a data set, or raise OverBudgetError if the cap would be exceeded.

        bought: the purchases that the schema lists. With a cap, they must be in the ledger, or
                nothing is charged. Without one, those that are missing are recorded as well

        Warns if it is the first charge to a data set, in a new ledger or in another's.
        """
        self.check(name, loss, cap, identifier=identifier, bought=bought)
        with self._transaction() as connection:
            known = _read(connection)
            charges = charges_to(known, name, identifier)
            self._refuse(loss, cap, charges, identifier, bought)
            if not charges:
                # If warnings are errors, this raises, and nothing is charged.
                self._announce(name, new=not known)
            for one in missing_purchases(bought, charges):
                _write(connection, name, identifier, Loss(one.epsilon), PaidFor.cut_points(one))
            _write(connection, name, identifier, loss, paid_for)

    def check(
        self,
        name: str,
        loss: Loss,
        cap: Loss | None,
        *,
        identifier: str | None = None,
        bought: Sequence[Purchase] = (),
    ) -> None:
        """Raise what `charge` would raise now. Writes nothing, and creates no file."""
        self._refuse(loss, cap, self.charges(name, identifier), identifier, bought)
        # SQLite writes a journal beside the file.
        written = [followed(self._path).parent, *([self._path] * is_there(self._path))]
        if not all(os.access(one, os.W_OK) for one in written):
            raise InputError(
                f"{self._path}: cannot be written; make the ledger and its folder writable, "
                "or keep it elsewhere with --ledger (ledger=)"
            )

    def add_purchases(
        self, name: str, identifier: str | None, bought: Sequence[Purchase]
    ) -> tuple[Purchase, ...]:
        """Record the purchases that are missing from the ledger, and return them.

        Warns if they are the first charges to the data set.
        """
        if not missing_purchases(bought, self.charges(name, identifier)):
            return ()
        with self._transaction() as connection:
            known = _read(connection)
            charges = charges_to(known, name, identifier)
            self._refuse_taken_over(charges)
            missing = missing_purchases(bought, charges)
            if not charges:
                self._announce(name, new=not known)
            for one in missing:
                _write(connection, name, identifier, Loss(one.epsilon), PaidFor.cut_points(one))
        return missing

    def take_over(
        self, name: str, identifier: str | None, server: str, *, again: bool = False
    ) -> tuple[Charge, ...]:
        """Return a data set's charges for a server to count; nothing is charged here any more.

        This is written before the server knows of the charges. So they are never forgotten: whoever
        is cut off in between takes them over once more.

        server: the identity of the server's ledger
        again:  take them over although another server has done so
        """
        self.must_be_there()
        with self._transaction() as connection:
            counted = charges_to(_read(connection), name, identifier)
            before = taken_over_by(counted)
            if before != server:
                if not again:
                    self._refuse_taken_over(counted)
                mark = PaidFor.taken_over(server)
                _write(connection, name, identifier, Loss(Fraction(0)), mark)
        return tuple(one for one in counted if one.paid_for.purpose != TAKEN_OVER)

    def must_be_there(self) -> None:
        """Refuse a ledger that was never charged: it says nothing of what was spent."""
        if self._is_new():
            raise InputError(f"{self._path}: no such ledger; name the one that was charged")

    def spent(self, name: str, identifier: str | None = None) -> Loss:
        """Return the exact sum of a data set's charges."""
        return total(self.charges(name, identifier))

    def charges(self, name: str, identifier: str | None = None) -> tuple[Charge, ...]:
        """Return a data set's charges, oldest first. Writes nothing, and creates no file."""
        return tuple(charges_to(self._all(), name, identifier))

    def data_sets(self) -> tuple[tuple[str, str | None], ...]:
        """Return the latest name and id of every data set that was charged, latest first.

        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     ledger = Ledger(Path(folder) / "ledger.sqlite")
        ...     for name, identifier in (("clinic", "7e57"), ("ward", "7e57"), ("school", None)):
        ...         ledger.charge(
        ...             name, Loss(Fraction(1)), PaidFor("mine"), None, identifier=identifier
        ...         )
        ...     ledger.data_sets()
        (('school', None), ('ward', '7e57'))
        """
        return tuple((one.name, one.identifier) for one in latest_of_each(self._all()))

    def entries(self) -> tuple[Entry, ...]:
        """Return all entries, oldest first, chained or not. Writes nothing, and creates no file."""
        if self._is_new():
            return ()
        with self._named_errors(), self._opened("rw", shared=True) as connection:
            return tuple(_entries(connection) if _columns(connection) else ())

    def _all(self) -> list[Charge]:
        """Return all charges, oldest first. Writes nothing, and creates no file."""
        if self._is_new():
            return []
        # Not "ro": what a crashed process left has to be rolled back. SQLite opens a file that
        # is write-protected for reading.
        with self._named_errors(), self._opened("rw", shared=True) as connection:
            return _read(connection)

    def _may_be_a_file(self) -> bool:
        """Return whether there is a regular file, or nothing, at the path."""
        try:
            return stat.S_ISREG(self._path.stat().st_mode)
        except (FileNotFoundError, NotADirectoryError):
            return True
        except PermissionError:
            raise InputError(
                f"{self._path}: cannot be opened; check the permissions of its folder"
            ) from None
        except (OSError, ValueError):
            return False

    def _is_new(self) -> bool:
        """Return whether there is no file yet, or one that was created and never written to."""
        return not self._path.exists() or self._path.stat().st_size == 0

    def _refuse(
        self,
        loss: Loss,
        cap: Loss | None,
        charges: Sequence[Charge],
        identifier: str | None,
        bought: Sequence[Purchase],
    ) -> None:
        self._refuse_taken_over(charges)
        if cap is not None:
            self._refuse_missing(missing_purchases(bought, charges))
            self._refuse_overdraft(loss, cap, charges, identifier)

    def _refuse_taken_over(self, charges: Sequence[Charge]) -> None:
        server = taken_over_by(charges)
        if server is not None:
            raise InputError(
                f"{self._path}: a server, whose ledger is {server}, has taken over the charges to "
                "this data set; ask there, so that all of them are added up"
            )

    def _refuse_missing(self, missing: Sequence[Purchase]) -> None:
        if missing:
            price = legible(sum((one.epsilon for one in missing), Fraction(0)))
            raise InputError(
                f"{self._path}: the schema lists cut points bought for ε = {price} that are not in "
                "this ledger; name the ledger that was charged for them with --ledger (ledger=), "
                "or, if it is lost, add them with `redveil budget SCHEMA --add-bought`"
            )

    def _refuse_overdraft(
        self, loss: Loss, cap: Loss, charges: Sequence[Charge], identifier: str | None
    ) -> None:
        found = overdraft(loss, total(charges), cap)
        if found is not None:
            others = any(one.identifier not in (None, identifier) for one in charges)
            raise OverBudgetError(
                f"{self._path}: {found.asked} requested, {legible(found.left)} left of the "
                f"{found.key} of {legible(found.cap)}; spend less, or let the owner raise "
                f"redveil.{found.key}"
                + " (charges to other data sets of the same name count)"
                * others
            )

    def _announce(self, name: str, *, new: bool) -> None:
        what, other = "new ledger begun", "to another ledger, use that one"
        if not new:
            what, other = f"first charge to {name}", "under another name and id, restore them"
        warnings.warn(
            f"{what}: {self._path}; if earlier runs on the same data were charged {other}, or they "
            "are not added up",
            LedgerWarning,
            stacklevel=5,
        )

    @contextmanager
    def _opened(self, mode: str, *, shared: bool) -> Iterator[sqlite3.Connection]:
        """Open the file when it is our turn."""
        with (
            turn(self._path, _SECONDS_TO_WAIT, shared=shared),
            closing(self._connect(mode)) as connection,
        ):
            yield connection

    def _connect(self, mode: str) -> sqlite3.Connection:
        must_have_one_name(self._path)
        # SQLite would replace a file of one byte. (Not by its first bytes: closing a file that
        # was opened for reading would release the locks that other threads have on it.)
        if not self._is_new() and self._path.stat().st_size < _SMALLEST_DATABASE:
            raise sqlite3.DatabaseError("no database")
        try:
            path = self._path.absolute()
        except OSError:
            raise InputError(f"{self._path}: the working folder is gone; go to another") from None
        # As a URI, in which "?" and "#" of a path are escaped.
        return sqlite3.connect(
            f"{path.as_uri()}?mode={mode}",
            uri=True,
            timeout=_SECONDS_TO_WAIT,
            # Transactions are explicit (BEGIN IMMEDIATE), not the driver's.
            isolation_level=None,
        )

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        """Lock the file, then commit on success and roll back on any error."""
        with self._named_errors(), self._opened("rwc", shared=False) as connection:
            # The default could lose a committed charge if the power fails.
            connection.execute("PRAGMA synchronous = EXTRA")
            connection.execute("BEGIN IMMEDIATE")
            try:
                _prepare(connection)
                yield connection
            except BaseException:
                # If the disk is full, SQLite has rolled back itself.
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise
            connection.execute("COMMIT")

    @contextmanager
    def _named_errors(self) -> Iterator[None]:
        """Turn whatever is wrong with the file into one line that names it."""
        try:
            yield
        except (sqlite3.Error, UnicodeDecodeError, NotAnEntryError) as error:
            # The lowest byte is the kind of error, the others say more about it.
            code = (getattr(error, "sqlite_errorcode", None) or 0) & 0xFF
            problem = _PROBLEMS.get(
                code, "not a usable ledger; name a ledger, or restore a copy of this one"
            )
            raise InputError(f"{self._path}: {problem}") from None


def _prepare(connection: sqlite3.Connection) -> None:
    """Create the table, or bring one of an earlier version up to date: columns, then the chain."""
    names = _columns(connection)
    if not names:
        connection.execute(_CREATE)
    for column, declaration in _LATER.items():
        if column not in names:
            connection.execute(f"ALTER TABLE charges ADD COLUMN {column} {declaration}")
    if "hash" not in names:
        last = NOTHING
        for entry in _entries(connection):
            linked = entry.linked(entry.number, last)
            connection.execute(_LINK, (linked.previous, linked.hash, linked.number))
            last = str(linked.hash)


def _columns(connection: sqlite3.Connection) -> list[str]:
    """Return the columns of the table, none in an empty file; refuse any other database."""
    contents = set(connection.execute("SELECT type, name FROM sqlite_master"))
    # With those that are computed, too.
    names = [row[1] for row in connection.execute("PRAGMA table_xinfo(charges)")]
    # Nothing else: a trigger could take back what is charged, a column keep it from being written.
    is_ours = set(_FIRST) <= set(names) <= {*_FIRST, *_LATER}
    if contents - _CONTENTS or (contents and not is_ours):
        raise sqlite3.DatabaseError("another database")
    return names


def _read(connection: sqlite3.Connection) -> list[Charge]:
    """Return all charges in the file, oldest first."""
    names = _columns(connection)
    entries = _entries(connection) if names else []
    # A ledger of an earlier version has no chain until it is charged again.
    if "hash" in names and check_chain(entries).number != _most(connection):
        raise NotAnEntryError("the last charges were removed")
    return [one.charge for one in entries]


def _most(connection: sqlite3.Connection) -> int:
    """Return the largest number that SQLite has given to a charge."""
    rows = connection.execute("SELECT seq FROM sqlite_sequence WHERE name = 'charges'").fetchall()
    return int(rows[0][0]) if rows else 0


def _entries(connection: sqlite3.Connection) -> list[Entry]:
    rows = connection.execute("SELECT * FROM charges ORDER BY number")
    names = [column[0] for column in rows.description]
    entries = [read_entry(dict(zip(names, row, strict=True))) for row in rows]
    if any(one.kind != CHARGE for one in entries):
        raise NotAnEntryError("not a charge")
    return entries


def _write(
    connection: sqlite3.Connection,
    name: str,
    identifier: str | None,
    loss: Loss,
    paid_for: PaidFor,
) -> None:
    """Append a charge."""
    # To the second and no finer: how long a run takes depends on the rows.
    made_at = datetime.now(UTC).isoformat(timespec="seconds")
    append(connection, Entry(Charge(name, loss, paid_for, made_at, identifier)))
