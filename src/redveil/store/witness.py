"""A witness: a file outside of the database that keeps every entry of the ledger.

An entry is in the witness before its charge is used. So a database that lacks an entry of its
witness was restored from a backup, and nothing is charged to it until the entries are back.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from fcntl import LOCK_EX, LOCK_SH, flock
from pathlib import Path
from typing import BinaryIO, Final

from redveil.budget.book import Head
from redveil.budget.entry import Entry, NotAnEntryError, read_entry
from redveil.errors import LedgerError, StoreError
from redveil.store.export import entry_line, first_line, identity_in, object_in, read_export

_BLOCK: Final = 2**16


class Witness:
    """A file of entries, to which several processes may append.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     print(Witness(f"{folder}/witness.jsonl").head("7e57"))
    None
    """

    def __init__(self, path: str | Path) -> None:
        self.path: Final = Path(path)

    def head(self, identity: str) -> Head | None:
        """Return the last entry's place and hash, None if there is none; refuse another's file."""
        with self._opened(LOCK_SH) as file:
            return self._head(file, identity)

    def entries(self, identity: str) -> list[Entry]:
        """Return all entries."""
        with self._opened(LOCK_SH):
            if not self.path.stat().st_size:
                return []
            found, entries = read_export(self.path)
        self._must_be(found, identity)
        return entries

    def keep(self, identity: str, later_than: Callable[[int], Sequence[Entry]]) -> None:
        """Append the entries that are not in the file yet, and wait until they are on the disk.

        later_than: returns the entries of the database after a number
        """
        with self._opened(LOCK_EX) as file:
            last = self._head(file, identity)
            # What a process that was killed has written of a line was not used.
            end = _end_of_last_line(file)
            new = b"".join(map(entry_line, later_than(0 if last is None else last.number)))
            file.truncate(end)
            file.seek(end)
            file.write((b"" if end else first_line(identity)) + new)
            file.flush()
            os.fsync(file.fileno())

    def _head(self, file: BinaryIO, identity: str) -> Head | None:
        end = _end_of_last_line(file)
        if end == 0:
            return None
        file.seek(0)
        first = file.readline()
        self._must_be(identity_in(first, self.path), identity)
        if end == len(first):
            return None
        try:
            entry = read_entry(object_in(_last_line(file, end)))
        except (NotAnEntryError, ValueError):
            raise LedgerError(f"{self.path}: the last line is not an entry") from None
        return Head(entry.number, str(entry.hash))

    def _must_be(self, found: str | None, identity: str) -> None:
        if found != identity:
            raise LedgerError(
                f"{self.path}: the witness of another ledger; name this database's own"
            )

    @contextmanager
    def _opened(self, lock: int) -> Iterator[BinaryIO]:
        try:
            handle = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError:
            raise StoreError(
                f"{self.path}: the witness cannot be opened; check its folder and permissions"
            ) from None
        with os.fdopen(handle, "r+b") as file:
            flock(file, lock)
            try:
                yield file
            except OSError:
                raise StoreError(
                    f"{self.path}: the witness cannot be written; check the disk"
                ) from None


def _end_of_last_line(file: BinaryIO) -> int:
    """Return where the last whole line ends."""
    end = file.seek(0, os.SEEK_END)
    while end > 0:
        begin = max(0, end - _BLOCK)
        file.seek(begin)
        found = file.read(end - begin).rfind(b"\n")
        if found >= 0:
            return begin + found + 1
        end = begin
    return 0


def _last_line(file: BinaryIO, end: int) -> bytes:
    """Return the line that ends at a place."""
    block = _BLOCK
    while True:
        begin = max(0, end - block)
        file.seek(begin)
        found = file.read(end - begin)[:-1]
        if b"\n" in found or begin == 0:
            return found.rpartition(b"\n")[2]
        block *= 2
