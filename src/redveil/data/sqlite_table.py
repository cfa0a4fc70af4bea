"""Read tables and queries of SQLite databases, each value by itself.

A column of SQLite has no type: every value has its own. Numbers become text one by one, as the
cells of a workbook do, and it is kept which texts were numbers. Blobs, and texts that are not
UTF-8, are missing.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from redveil.data.address import Address
from redveil.data.distinct import label
from redveil.data.layout import Layout
from redveil.data.raw import Piece, RawTable, check_names, combined, quietly
from redveil.data.text_file import check_file
from redveil.errors import LoadError

# How many values are read at a time: rows of wide tables take more memory.
BATCH: Final = 2**19


@dataclass(frozen=True, slots=True, eq=False)
class SqliteTable:
    """A table or query whose columns are known.

    batch: how many values to read at a time, of some rows; a value does not depend on it
    """

    place: str
    names: tuple[str, ...]
    address: Address
    batch: int = BATCH
    layout: Layout = field(default_factory=Layout)

    @property
    def columnar(self) -> bool:
        """Whether a column can be read without the others."""
        return False

    def read(self, wanted: Sequence[str]) -> RawTable:
        """Read some of the columns."""
        return combined(self.place, [one.read() for one in self.pieces(wanted)], self._where)

    def pieces(self, wanted: Sequence[str]) -> Iterator[Piece]:
        """Yield what converts the next rows, for all rows in turn."""
        failed = f"{self.place}: cannot be read to its end; try it with the database's own tool"
        with closing(quietly(lambda: _connected(self.address.path), failed)) as connection:
            total = quietly(lambda: self._total(connection), failed)
            query, positions = self._query(wanted)
            cursor = quietly(lambda: connection.execute(query), failed)
            rows, done = max(self.batch // max(len(wanted), 1), 1), 0
            batch = quietly(lambda: cursor.fetchmany(rows), failed)
            while True:
                # What comes next tells whether this was the last.
                following = quietly(lambda: cursor.fetchmany(rows), failed)
                done += len(batch)
                share = min(done / max(total, done + 1), 0.999) if following else 1.0
                yield Piece(partial(self._table, batch, wanted, positions), share)
                if not following:
                    return
                batch = following

    def _query(self, wanted: Sequence[str]) -> tuple[str, list[int]]:
        """Return what to run, and where the wanted columns are in its rows."""
        if self.address.is_query:
            return self.address.wanted, [self.names.index(name) for name in wanted]
        columns = ", ".join(map(_quoted, wanted))
        return f"SELECT {columns} FROM {_quoted(self.address.wanted)}", list(range(len(wanted)))

    def _total(self, connection: sqlite3.Connection) -> int:
        """Return how many rows there are; of a query, nothing is known before it ends."""
        if self.address.is_query:
            return 0
        count = f"SELECT count(*) FROM {_quoted(self.address.wanted)}"
        return int(connection.execute(count).fetchone()[0])

    def _table(
        self, rows: list[tuple[Any, ...]], wanted: Sequence[str], positions: Sequence[int]
    ) -> RawTable:
        columns: dict[str, pa.ChunkedArray] = {}
        mixed: dict[str, NDArray[np.bool_]] = {}
        typed: set[str] = set()
        for name, position in zip(wanted, positions, strict=True):
            texts, numbers, empty = _column([row[position] for row in rows])
            columns[name] = texts
            # A column of one kind is faster to convert, to the same values.
            if (numbers | empty).all():
                typed.add(name)
            elif numbers.any():
                mixed[name] = numbers
        # No value is a date by itself: numbers that are dates are read as declared.
        dates = {name: np.zeros(len(rows), dtype=np.bool_) for name in mixed}
        return RawTable(
            self.place,
            len(rows),
            columns,
            self._where,
            typed=frozenset(typed),
            mixed=mixed,
            dates=dates,
        )

    def _where(self, rows: Sequence[int]) -> list[str]:
        return [f"{self.place}, row {row + 1}" for row in rows]


def _column(
    values: Sequence[Any],
) -> tuple[pa.ChunkedArray, NDArray[np.bool_], NDArray[np.bool_]]:
    """Return the text of each value, which of them are numbers, and which are missing.

    >>> texts, numbers, empty = _column([1, "1", 1.0, None, b"blob"])
    >>> texts.to_pylist(), numbers.tolist(), empty.tolist()
    (['1', '1', '1', None, None], [True, False, True, False, False], \
[False, False, False, True, True])
    """
    texts = [
        value if isinstance(value, str) else None if isinstance(value, bytes) else label(value)
        for value in values
    ]
    numbers = np.array([isinstance(value, int | float) for value in values], dtype=np.bool_)
    empty = np.array([text is None for text in texts], dtype=np.bool_)
    return pa.chunked_array([pa.array(texts, pa.large_string())]), numbers, empty


def open_sqlite(address: Address) -> SqliteTable:
    """Read the names of the columns of a table, or of a query.

    >>> open_sqlite(Address.of("sqlite:nowhere.sqlite#visits"))
    Traceback (most recent call last):
    redveil.errors.LoadError: nowhere.sqlite: no such file; check the path
    """
    file = " ".join(str(address.path).splitlines())
    check_file(address.path, file)
    quietly(
        lambda: _tables(address.path),
        f"{file}: cannot be read as a SQLite database; check the file and its permissions",
    )
    if address.is_query:
        begin, failed = address.wanted, "the query failed; try it with the database's own tool"
    else:
        begin, failed = f"SELECT * FROM {_quoted(address.wanted)} LIMIT 0", "no such table"
        failed += "; check the name after #"
    names = quietly(lambda: _names(address.path, begin), f"{address.place}: {failed}")
    if not names:
        raise LoadError(f"{address.place}: {failed}")
    return SqliteTable(address.place, check_names(names, address.place), address)


def _tables(path: Path) -> None:
    """Read something, so that it shows whether the file is a database."""
    with closing(_connected(path)) as connection:
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()


def _names(path: Path, query: str) -> list[str]:
    with closing(_connected(path)) as connection, closing(connection.execute(query)) as cursor:
        return [one[0] for one in cursor.description or ()]


def _connected(path: Path) -> sqlite3.Connection:
    """Open a database so that nothing can be written to it."""
    # Not only one thread: the rows may be asked for by another than the one that opened it.
    connection = sqlite3.connect(
        f"{path.absolute().as_uri()}?mode=ro", uri=True, check_same_thread=False
    )
    connection.execute("PRAGMA query_only = ON")
    connection.text_factory = _decoded
    return connection


def _decoded(text: bytes) -> str | None:
    """Return a text, None if it is not UTF-8: one value must not stop the others."""
    try:
        return text.decode("utf-8")
    except UnicodeDecodeError:
        return None


def _quoted(name: str) -> str:
    """Return a name as SQL has it.

    >>> print(_quoted('an "odd" name'))
    "an ""odd"" name"
    """
    return '"' + name.replace('"', '""') + '"'
