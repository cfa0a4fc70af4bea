"""Read CSV files block by block, every value as text.

Arrow reads the rows. The code here reads the header, cuts between rows, and finds the line for an
error message. However large a file is, its text never is in memory as a whole.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

import pyarrow as pa
from pyarrow import csv as arrow_csv

from redveil.data.layout import Layout
from redveil.data.raw import Piece, RawTable, check_names, quietly
from redveil.data.text_file import Decoder, line_number, read_blocks
from redveil.errors import LoadError

# Arrow is given rows in blocks that end between rows. If it cut the file itself, it would drop a
# line feed in a quoted field where a cut falls between CR and LF, and a row more moves the cuts.
# With larger blocks, memory is fetched and given back for each of them, which takes longer.
BLOCK: Final = 8 * 2**20
# A row that is longer is probably a quotation mark that is not closed. In bytes of UTF-8.
LONGEST_ROW: Final = 2**28
# So much is read for the header.
_HEAD: Final = 2**16
# Text after the closing quotation mark belongs to the field.
_QUOTED: Final = re.compile(r'"([^"]*+(?:""[^"]*+)*+)"?(.*)', re.DOTALL)
_QUOTE_REMEDY: Final = "close it, or double quotation marks within a field"


@dataclass(frozen=True, slots=True)
class Rows:
    """Some whole rows as UTF-8, the line of the first, and the share of the file then read."""

    text: bytes
    line: int
    share: float

    @property
    def is_last(self) -> bool:
        """Whether these are the last rows of the file."""
        return self.share == 1


@dataclass(frozen=True, slots=True, eq=False)
class CsvFile:
    """A CSV file whose header has been read.

    start: how long the text before the rows is, in bytes of UTF-8
    block: how many bytes to read at a time; rows do not depend on it
    """

    place: str
    names: tuple[str, ...]
    layout: Layout
    path: Path
    start: int
    block: int

    @property
    def columnar(self) -> bool:
        """Whether a column can be read without the others."""
        return False

    def read(self, wanted: Sequence[str]) -> RawTable:
        """Read some of the columns as text."""
        unreadable = f"{self.place}: cannot be read as CSV; check the delimiter and quotation marks"
        tables = [quietly(piece.read, unreadable) for piece in self.pieces(wanted)]
        columns = {
            name: pa.chunked_array(
                [chunk for one in tables for chunk in one.columns[name].chunks], pa.string()
            )
            for name in wanted
        }
        return RawTable(self.place, sum(one.rows for one in tables), columns, self.places)

    def pieces(self, wanted: Sequence[str]) -> Iterator[Piece]:
        """Yield what reads some columns of the next rows, for all rows in turn."""
        for rows in self._rows():
            yield Piece(partial(self._table, rows, wanted), rows.share)

    def _rows(self) -> Iterator[Rows]:
        """Yield the rows below the header; the last may be none."""
        before = self.start
        for rows in whole_rows(self.path, self.layout, self.place, self.block):
            head, text = rows.text[:before], rows.text[before:]
            before -= len(head)
            if text.strip(b"\r\n") or rows.is_last:
                yield Rows(text, rows.line + _line_ends(head), rows.share)

    def _table(self, rows: Rows, wanted: Sequence[str]) -> RawTable:
        if not rows.text.strip(b"\r\n"):
            nothing = {name: pa.chunked_array([], pa.string()) for name in wanted}
            return RawTable(self.place, 0, nothing, self.places)
        width, delimiter = len(self.names), self.layout.delimiter
        positions = [self.names.index(name) for name in wanted]
        columns = read_rows(rows.text, width, [*positions, width - 1], delimiter)
        if columns is None or (rows.is_last and _is_open(rows.text, delimiter)):
            raise self._ragged(rows)
        *columns, last = columns
        return RawTable(self.place, len(last), dict(zip(wanted, columns, strict=True)), self.places)

    def _ragged(self, rows: Rows) -> LoadError:
        """Return an error that names the first row with an open quotation or a wrong length."""
        width = len(self.names)
        remedy = "check the delimiter, and quote fields that contain it"
        for record in records(rows.text.decode("utf-8"), self.layout.delimiter, rows.line):
            place = f"{self.place}, line {record.line}"
            if not record.is_closed:
                return LoadError(f"{place}: a quotation mark is not closed; {_QUOTE_REMEDY}")
            fields = len(split(record.text, self.layout.delimiter))
            if fields != width:
                what = f"{fields} field{'s' * (fields != 1)}, but the header has {width}"
                return LoadError(f"{place}: {what}; {remedy}")
        return LoadError(f"{self.place}: a row does not have the header's {width} fields; {remedy}")

    def places(self, wanted: Sequence[int]) -> list[str]:
        """Return the places of some rows, which are in increasing order; the file is read again."""
        places: list[str] = []
        row = 0
        for rows in self._rows():
            for record in records(rows.text.decode("utf-8"), self.layout.delimiter, rows.line):
                if len(places) == len(wanted):
                    return places
                if row == wanted[len(places)]:
                    places.append(f"{self.place}, line {record.line}")
                row += 1
        return [*places, *(f"{self.place}, row {row + 1}" for row in wanted[len(places) :])]


def open_csv(path: Path, layout: Layout, place: str, block: int = BLOCK) -> CsvFile:
    r"""Read the header of a CSV file.

    >>> open_csv(Path("nowhere.csv"), Layout(), "nowhere.csv")
    Traceback (most recent call last):
    redveil.errors.LoadError: nowhere.csv: no such file; check the path
    """
    found = find_csv(path, layout, place, block)
    if found is None:
        raise LoadError(f"{place}: the file is empty; export it again")
    return found


def find_csv(path: Path, layout: Layout, place: str, block: int = BLOCK) -> CsvFile | None:
    """Read the header of a CSV file; None if the file is empty."""
    before = 0
    for rows in whole_rows(path, layout, place, min(block, _HEAD)):
        text = rows.text.decode("utf-8")
        header = next(records(text, layout.delimiter, rows.line), None)
        if header is None:
            before += len(rows.text)
            continue
        if not header.is_closed:
            raise LoadError(
                f"{place}, line {header.line}: a quotation mark in the header is not closed; "
                f"{_QUOTE_REMEDY}"
            )
        names = check_names(split(header.text, layout.delimiter), place)
        start = before + len(text[: header.end].encode("utf-8"))
        return CsvFile(place, names, layout, path, start, block)
    return None


def whole_rows(path: Path, layout: Layout, place: str, block: int) -> Iterator[Rows]:
    """Yield the rows of a file, at least about so many bytes at a time."""
    rest, ended, line = b"", b"", 1
    decoder = Decoder(layout.encoding, place)
    for content, share in read_blocks(path, place, block):
        text, fault = decoder.decode(content, is_last=share == 1)
        rest += text.encode("utf-8")
        if ended == b"\r" and rest.startswith(b"\n"):
            # The block before ended within a line end.
            ended, line = b"", line - 1
        if fault is not None:
            raise LoadError(f"{place}, line {line + _line_ends(rest)}: {fault}")
        end = len(rest) if share == 1 else row_end(rest, layout.delimiter)
        if len(rest) > LONGEST_ROW:
            _check_lengths(rest, layout.delimiter, place, line)
        if not end and share < 1:
            continue
        yield Rows(rest[:end], line, share)
        line += _line_ends(rest[:end])
        rest, ended = rest[end:], rest[end - 1 : end]


def _check_lengths(rows: bytes, delimiter: str, place: str, line: int) -> None:
    """Refuse a row that is too long, wherever the blocks of its file end."""
    for record in records(rows.decode("utf-8"), delimiter, line):
        if len(record.text.encode("utf-8")) > LONGEST_ROW:
            raise LoadError(
                f"{place}, line {record.line}: a row of more than {LONGEST_ROW >> 20} MiB; close "
                "its quotation marks, or leave it out"
            )


def _line_ends(text: bytes) -> int:
    returns = text.count(b"\r")
    return text.count(b"\n") + (returns - text.count(b"\r\n") if returns else 0)


def _is_open(rows: bytes, delimiter: str) -> bool:
    """Return whether the last row ends within quotation marks, and so contains all below it."""
    last = rows[row_end(rows, delimiter) :]
    return b'"' in last and not all(
        record.is_closed for record in records(last.decode("utf-8"), delimiter)
    )


def row_end(text: bytes, delimiter: str, start: int = 0) -> int:
    r"""Return where the last whole row of a text ends; `start`, if no row ends in it.

    start: where a row begins

    >>> row_end(b'a,b\nc,"d\n', ",")
    4
    """
    if text.find(b'"', start) >= 0:
        found = _whole_rows(delimiter).match(text, start)
        return start if found is None else found.end()
    return max(text.rfind(b"\n", start), text.rfind(b"\r", start), start - 1) + 1


def _whole_rows(delimiter: str) -> re.Pattern[bytes]:
    """Return the pattern of as many whole rows as possible, also none."""
    sign = re.escape(delimiter)
    plain = rf"[^{sign}\r\n]*+"
    field = rf'(?:"[^"]*+(?:""[^"]*+)*+"{plain}|(?!"){plain})'
    return re.compile(rf"(?:{field}(?:{sign}{field})*+[\r\n]++)*+".encode())


def read_rows(
    rows: bytes, width: int, wanted: Sequence[int], delimiter: str
) -> list[pa.ChunkedArray] | None:
    r"""Return some columns of some rows as text, or None if a row has another width.

    >>> read_rows(b"1,2\n3,4", 2, [1], ",")[0].to_pylist()
    ['2', '4']
    """
    # Without quotation marks in it, a row means the same whether or not they quote; Arrow is faster
    # if they do not.
    is_quoted = b'"' in rows
    if rows.startswith(codecs.BOM_UTF8):
        # Arrow would drop a mark from the first row, and from no other. It ignores an empty line.
        rows = b"\n" + rows
    names = [str(i) for i in range(width)]
    try:
        table = arrow_csv.read_csv(
            pa.BufferReader(rows),
            # In one block, and without Arrow's threads: they save no time with one block, and a
            # program that ends soon after using them may abort (apache/arrow#34314).
            read_options=arrow_csv.ReadOptions(
                column_names=names, block_size=len(rows) + 1, use_threads=False
            ),
            parse_options=arrow_csv.ParseOptions(
                delimiter=delimiter,
                quote_char='"' if is_quoted else False,
                newlines_in_values=is_quoted,
            ),
            convert_options=arrow_csv.ConvertOptions(
                column_types=dict.fromkeys(names, pa.string()),
                include_columns=sorted({names[i] for i in wanted}),
            ),
        )
    except pa.ArrowInvalid:
        return None
    return [table.column(names[i]) for i in wanted]


@dataclass(frozen=True, slots=True)
class Record:
    """One row: its first line, its text, its end, and whether its quotation marks are closed.

    >>> next(records("id,age", ","))
    Record(line=1, text='id,age', end=6, is_closed=True)
    """

    line: int
    text: str
    end: int
    is_closed: bool


def records(text: str, delimiter: str, first_line: int = 1) -> Iterator[Record]:
    r"""Yield the rows of a text without blank lines; quoted fields may contain line ends.

    >>> [(record.line, record.text) for record in records('a,"b\nc"\n\nd,e', ",")]
    [(1, 'a,"b\nc"'), (4, 'd,e')]
    """
    field = _field(delimiter)
    # The two groups only match where the text ends within quotation marks.
    pattern = re.compile(rf"{field}(?:{re.escape(delimiter)}{field})*+(?:\r\n|\r|\n|\Z)")
    position, line = 0, first_line
    while position < len(text):
        row = pattern.match(text, position)
        if row is None:  # pragma: no cover - every text is a row
            return
        content = row.group()
        is_closed = row.lastindex is None
        # A line end in an open field is part of the field.
        stripped = content.rstrip("\r\n") if is_closed else content
        if stripped:
            yield Record(line, stripped, row.end(), is_closed)
        line += line_number(content) - 1
        position = row.end()


def split(record: str, delimiter: str) -> list[str]:
    """Return the fields of a row, without their quotation marks.

    >>> split('a,"b, ""c"" d",', ",")
    ['a', 'b, "c" d', '']
    """
    if '"' not in record:
        return record.split(delimiter)
    pattern = re.compile(rf"(?P<field>{_field(delimiter)})(?P<more>{re.escape(delimiter)})?")
    fields: list[str] = []
    position, more = 0, True
    while more:
        found = pattern.match(record, position)
        if found is None:  # pragma: no cover - every text is a field
            break
        fields.append(_unquoted(found["field"]))
        position, more = found.end(), found["more"] is not None
    return fields


def _field(delimiter: str) -> str:
    """Return the pattern of a field: quoted with doubled quotation marks, or plain."""
    plain = rf"[^{re.escape(delimiter)}\r\n]*+"
    return rf'(?:"[^"]*+(?:""[^"]*+)*+(?:"{plain}|(\Z))|(?!"){plain})'


def _unquoted(field: str) -> str:
    quoted = _QUOTED.fullmatch(field)
    return field if quoted is None else quoted[1].replace('""', '"') + quoted[2]
