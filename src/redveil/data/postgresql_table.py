"""Read tables and queries of PostgreSQL, in a transaction that cannot write.

The types of the columns are declared, so they are structure and not rows. Rows are streamed with
COPY, and each value is converted by itself: Python's dates have no year 10000 and no infinity, and
one such date would end a cursor that made objects of them. Texts come in the encoding of the
database, because the server would end COPY at a character that it cannot translate.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from decimal import Decimal
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
from pyarrow import compute
from pyarrow import csv as arrow_csv

from redveil.data.address import Address
from redveil.data.csv_file import row_end
from redveil.data.distinct import distinct, label
from redveil.data.layout import Layout
from redveil.data.raw import Piece, RawTable, check_names, combined, quietly
from redveil.errors import LoadError

if TYPE_CHECKING:
    import psycopg

# How many bytes are read at a time; rows do not depend on it.
BLOCK: Final = 8 * 2**20
# A row that is longer does not fit into one column of Arrow's.
_LONGEST_ROW: Final = 2**30
# The numbers of the types in PostgreSQL's catalogue, which never change. All others are texts.
_BOOLEAN: Final = (16,)
_INTEGERS: Final = (20, 21, 23, 26)
_FLOATS: Final = (700, 701)
_DECIMALS: Final = (1700,)
_DATES: Final = (1082, 1114, 1184)
# A moment of the years 1 to 9999; others are missing on every path. Moments with a time zone are
# read in UTC.
_MOMENT: Final = (
    r"^([0-9]{4}-[0-9]{2}-[0-9]{2}(?: [0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]+)?)?)(?:\+00)?$"
)
_NULL: Final = r"\N"
# How values are written does not depend on the settings of a server or a user.
_SETTINGS: Final = (
    "SET LOCAL DateStyle = 'ISO, YMD'",
    "SET LOCAL TimeZone = 'UTC'",
    "SET LOCAL IntervalStyle = 'iso_8601'",
    "SET LOCAL extra_float_digits = 3",
    "SET LOCAL bytea_output = 'hex'",
    "SET LOCAL lc_monetary = 'C'",
)
# The encodings of databases that have another name in Python; those of Windows have a number.
_ENCODINGS: Final = {"SQL_ASCII": "utf-8", "KOI8R": "koi8-r", "KOI8U": "koi8-u"}


@dataclass(frozen=True, slots=True, eq=False)
class PostgresqlTable:
    """A table or query whose columns are known.

    kinds:    the numbers of the columns' types
    encoding: Python's name of the database's encoding
    block:    how many bytes to read at a time
    """

    place: str
    names: tuple[str, ...]
    kinds: tuple[int, ...]
    address: Address
    encoding: str
    block: int = BLOCK
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
        # An error of the server may quote a row.
        failed = f"{self.place}: cannot be read to its end; try it with the database's own tool"
        blocks = self._blocks(wanted)
        while True:
            found = quietly(lambda: next(blocks, None), failed)
            if found is None:
                return
            rows, share = found
            yield Piece(partial(self._table, rows, wanted), share)

    def _blocks(self, wanted: Sequence[str]) -> Iterator[tuple[bytes, float]]:
        """Yield whole rows as CSV, and the share of all that is then read; 1 with the last."""
        from psycopg import sql

        columns = sql.SQL(", ").join(map(sql.Identifier, wanted))
        query = sql.SQL("SELECT {} FROM ({}\n) AS redveil").format(columns, _query(self.address))
        # SQL_ASCII: bytes as they are.
        copy = sql.SQL(
            "COPY ({}) TO STDOUT (FORMAT csv, FORCE_QUOTE *, NULL {}, ENCODING 'SQL_ASCII')"
        )
        with _connected(self.address) as connection:
            expected, done, rest = _expected_rows(connection, query), 0, bytearray()
            with connection.cursor().copy(copy.format(query, sql.Literal(_NULL))) as rows:
                while data := rows.read():
                    rest += data
                    done += 1
                    if len(rest) < self.block:
                        continue
                    end = row_end(bytes(rest), ",")
                    if end:
                        yield bytes(rest[:end]), min(done / max(expected, done + 1), 0.999)
                        del rest[:end]
                    elif len(rest) > _LONGEST_ROW:
                        raise LoadError(f"{self.place}: a row of more than 1 GiB; leave it out")
        yield bytes(rest), 1.0

    def _table(self, rows: bytes, wanted: Sequence[str]) -> RawTable:
        columns = _columns(rows, len(wanted))
        kinds = {name: self.kinds[self.names.index(name)] for name in wanted}
        return RawTable(
            self.place,
            len(columns[0]),
            {
                name: _converted(_texts(column, self.encoding), kinds[name])
                for name, column in zip(wanted, columns, strict=True)
            },
            self._where,
            typed=frozenset(name for name in wanted if kinds[name] in (*_DECIMALS, *_DATES)),
            dated=frozenset(name for name in wanted if kinds[name] in _DATES),
        )

    def _where(self, rows: Sequence[int]) -> list[str]:
        return [f"{self.place}, row {row + 1}" for row in rows]


def open_postgresql(address: Address) -> PostgresqlTable:
    """Read the names and types of the columns of a table, or of a query."""
    described, encoding = quietly(
        lambda: _described(address),
        f"{address.place}: cannot be read; check the address, the name after #, and whether you "
        "may read it",
    )
    names = check_names([name for name, _ in described], address.place)
    if not names:
        raise LoadError(f"{address.place}: no columns; name a table or a query that has some")
    kinds = tuple(kind for _, kind in described)
    return PostgresqlTable(address.place, names, kinds, address, encoding)


def _described(address: Address) -> tuple[list[tuple[str, int]], str]:
    """Return the names and types of the columns, and the encoding, without running anything.

    A statement that is prepared is one statement. So a query cannot end the one that it becomes a
    part of, and begin another.
    """
    with _connected(address) as connection:
        text = _query(address).as_string(connection)
        prepared = connection.pgconn.prepare(b"", text.encode())
        found = connection.pgconn.describe_prepared(b"")
        if prepared.error_message or found.error_message:
            raise LoadError(
                f"{address.place}: the query failed; try it with the database's own tool"
                if address.is_query
                else f"{address.place}: no such table; check the name after #"
            )
        columns = [
            ((found.fname(number) or b"").decode(), found.ftype(number))
            for number in range(found.nfields)
        ]
        return columns, _encoding(connection.info.parameter_status("server_encoding"), address)


def _encoding(name: str | None, address: Address) -> str:
    """Return Python's name of a database's encoding; in all of them, ASCII is ASCII.

    >>> _encoding("WIN1252", Address.of("postgresql://host/clinic#visits"))
    'cp1252'
    """
    known = name or ""
    try:
        return codecs.lookup(_ENCODINGS.get(known, known.replace("WIN", "cp"))).name
    except LookupError:
        pass
    raise LoadError(
        f"{address.place}: a database in an encoding that cannot be read; copy the table to one in "
        "UTF8"
    )


@contextmanager
def _connected(address: Address) -> Iterator[psycopg.Connection[Any]]:
    """Open a transaction that sees one state of the database, and can change nothing."""
    try:
        import psycopg
    except ImportError:
        message = "reading PostgreSQL needs psycopg; install redveil[postgresql]"
        raise LoadError(message) from None
    with psycopg.connect(address.database, client_encoding="utf8") as connection:
        connection.read_only = True
        connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        for setting in _SETTINGS:
            connection.execute(setting.encode())
        yield connection


def _query(address: Address) -> Any:
    """Return the query of an address, or the one that reads a table."""
    from psycopg import sql

    if address.is_query:
        return sql.SQL(address.wanted.strip().rstrip(";"))
    name = sql.Identifier(*address.wanted.split(".", 1))
    return sql.SQL("SELECT * FROM {}").format(name)


def _expected_rows(connection: psycopg.Connection[Any], query: Any) -> float:
    """Return how many rows the server expects, for the progress that is shown."""
    from psycopg import sql

    found = connection.execute(sql.SQL("EXPLAIN (FORMAT JSON) {}").format(query)).fetchone()
    return float(found[0][0]["Plan"]["Plan Rows"]) if found else 0.0


def _columns(rows: bytes, width: int) -> list[pa.ChunkedArray]:
    r"""Return the fields of rows as bytes; what is not quoted is missing.

    >>> [one.to_pylist() for one in _columns(b'"a",\\N\n"","\\N"\n', 2)]
    [[b'a', b''], [None, b'\\N']]
    """
    if not rows:
        return [pa.chunked_array([], pa.binary()) for _ in range(width)]
    names = [str(number) for number in range(width)]
    table = arrow_csv.read_csv(
        pa.BufferReader(rows),
        # In one block: see csv_file.
        read_options=arrow_csv.ReadOptions(
            column_names=names, block_size=len(rows) + 1, use_threads=False
        ),
        parse_options=arrow_csv.ParseOptions(newlines_in_values=True),
        convert_options=arrow_csv.ConvertOptions(
            column_types=dict.fromkeys(names, pa.binary()),
            null_values=[_NULL],
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
        ),
    )
    return [table.column(name) for name in names]


def _converted(texts: pa.ChunkedArray, kind: int) -> pa.ChunkedArray:
    """Return a column of texts as a frame would have it."""
    if kind in _BOOLEAN:
        return compute.equal(texts, "t")
    if kind in _INTEGERS:
        return texts.cast(pa.int64())
    if kind in _FLOATS:
        return texts.cast(pa.float64())
    if kind in _DECIMALS:
        values, index = distinct(texts)
        written = [None if value is None else label(Decimal(str(value))) for value in values]
        return pa.chunked_array([pa.array(written, pa.large_string()).take(pa.array(index))])
    if kind in _DATES:
        known = compute.match_substring_regex(texts, _MOMENT)
        moments = compute.if_else(known, texts, pa.scalar(None, pa.large_string()))
        return compute.replace_substring_regex(moments, _MOMENT, r"\1")
    return texts


def _texts(column: pa.ChunkedArray, encoding: str) -> pa.ChunkedArray:
    r"""Return bytes as text; what is none in this encoding is missing.

    A database without an encoding has any bytes, and one of Windows those without a character.

    >>> both = pa.chunked_array([[b"a", b"\xe9", b"\x81", None]])
    >>> _texts(both, "utf-8").to_pylist(), _texts(both, "cp1252").to_pylist()
    (['a', None, None, None], ['a', 'é', None, None])
    """
    if encoding == "utf-8":
        with suppress(pa.ArrowInvalid):
            return column.cast(pa.large_string())
    decoded = [_decoded(one, encoding) for one in column.to_pylist()]
    return pa.chunked_array([pa.array(decoded, pa.large_string())])


def _decoded(text: bytes | None, encoding: str) -> str | None:
    try:
        return None if text is None else text.decode(encoding)
    except UnicodeDecodeError:
        return None
