"""Where a ledger is read from: a file of local runs, a server's database, or an export."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from redveil.budget.book import Head
from redveil.budget.entry import Entry
from redveil.budget.ledger import Ledger
from redveil.budget.turn import turn
from redveil.errors import InputError
from redveil.signing.keys import PublicKey
from redveil.store.checking import Checked, check_database, check_entries
from redveil.store.database import SQLITE, Database, is_address
from redveil.store.export import is_export, read_export
from redveil.store.ledger import entries, identity

_SECONDS_TO_WAIT: Final = 60


@dataclass(frozen=True, slots=True)
class Source:
    """A ledger, wherever it is.

    ledger:   its identity, None for a file of local runs
    found:    its entries
    database: the server's database, if it is one
    """

    ledger: str | None
    found: tuple[Entry, ...]
    database: Database | None = None

    @classmethod
    def read(cls, address: str) -> Source:
        """Read a ledger. Nothing is written, and no file is created."""
        path = Path(address.removeprefix(SQLITE))
        if is_address(address):
            return cls._of_server(Database(address))
        if not path.exists():
            raise InputError(f"{path}: no such file; name a ledger")
        if is_export(path):
            ledger, exported = read_export(path)
            return cls(ledger, tuple(exported))
        if is_server_database(path):
            return cls._of_server(Database(path))
        return cls(None, Ledger(path).entries())

    @classmethod
    def _of_server(cls, database: Database) -> Source:
        with database.reading() as transaction:
            return cls(identity(transaction), tuple(entries(transaction)), database)

    def check(self, key: PublicKey | None, seen: list[Head]) -> Checked:
        """Check the ledger, and whatever else is in a server's database."""
        if self.database is not None:
            return check_database(self.database, key, seen)
        if self.ledger is None and any(one.hash is None for one in self.found):
            raise InputError(
                "an earlier version of redveil wrote this ledger, without a chain; the next charge "
                "adds it"
            )
        return check_entries(self.found, self.ledger, None if self.ledger is None else key, seen)


def is_server_database(path: Path) -> bool:
    """Return whether a file is the database of a server."""
    try:
        with (
            turn(path, _SECONDS_TO_WAIT, shared=True),
            # Not "ro": what a crashed process left has to be rolled back.
            closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=rw", uri=True)) as one,
        ):
            return bool(
                one.execute("SELECT 1 FROM sqlite_master WHERE name = 'ledgers'").fetchall()
            )
    except sqlite3.Error:
        return False


def head_in(path: Path) -> Head:
    """Return what a file says of a ledger: a signed result, a receipt, an export or a witness."""
    if is_export(path):
        _, found = read_export(path)
        return Head(found[-1].number, str(found[-1].hash)) if found else Head(0, "")
    try:
        content = json.loads(path.read_bytes())
        part = content.get("signature", content)
        part = part if isinstance(part, dict) else content
        return Head(int(part["number"]), str(part["hash"]))
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise InputError(
            f"{path}: says nothing of a ledger; name a signed result, a receipt or an export"
        ) from None
