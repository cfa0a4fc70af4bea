"""Read CSV files, every value as text.

Arrow reads the rows. The code here reads the header, and finds the line for an error message.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final, Literal

import numpy as np
import pyarrow as pa
from pyarrow import csv as arrow_csv

from redveil.data.layout import Layout
from redveil.data.raw import RawTable, check_names, quietly
from redveil.data.text_file import decode, line_number
from redveil.errors import LoadError
from redveil.kernels.fields import copy_fields, field_ends

# Arrow is given rows in pieces that end between rows. If it cut the file itself, it would drop a
# line feed in a quoted field where a cut falls between CR and LF, and a row more moves the cuts.
# Large pieces, so that wide tables do not have thousands of chunks.
PIECE: Final = 8 * 2**20
_LARGEST_PIECE: Final = 2**31 - 2
# Text after the closing quotation mark belongs to the field.
_QUOTED: Final = re.compile(r'"([^"]*+(?:""[^"]*+)*+)"?(.*)', re.DOTALL)
_QUOTE_REMEDY: Final = "close it, or double quotation marks within a field"


@dataclass(frozen=True, slots=True, eq=False)
class CsvFile:
    r"""A CSV file whose header has been read.

    piece: how many bytes to read at a time, if rows are not longer; a row does not depend on it

    >>> file = open_csv(b"id,age\n1,30\n2,40\n", Layout(), "left.csv")
    >>> file.names
    ('id', 'age')
    >>> file.read(["age"]).columns["age"].to_pylist()
    ['30', '40']
    """

    place: str
    names: tuple[str, ...]
    layout: Layout
    body: bytes
    first_line: int
    piece: int = PIECE

    def read(self, wanted: Sequence[str]) -> RawTable:
        """Read some of the columns as text."""
        width = len(self.names)
        positions = [self.names.index(name) for name in wanted]
        columns = quietly(
            lambda: text_columns(
                self.body,
                width=width,
                wanted=[*positions, width - 1],
                delimiter=self.layout.delimiter,
                quote='"' if b'"' in self.body else False,
                piece=self.piece,
            ),
            f"{self.place}: cannot be read as CSV; check the delimiter and quotation marks",
        )
        if columns is None:
            raise self._ragged()
        *columns, last = columns
        # A field that is not closed contains all rows below it.
        if (
            len(last)
            and may_be_open(self.body, last[-1].as_py(), self.layout.delimiter)
            and not all(record.is_closed for record in self._records())
        ):
            raise self._ragged()
        named = dict(zip(wanted, columns, strict=True))
        return RawTable(self.place, len(last), named, self._where)

    def _records(self) -> Iterator[Record]:
        return records(self.body.decode("utf-8"), self.layout.delimiter, self.first_line)

    def _ragged(self) -> LoadError:
        """Return an error that names the first row with an open quotation or a wrong length."""
        width = len(self.names)
        remedy = "check the delimiter, and quote fields that contain it"
        for record in self._records():
            place = f"{self.place}, line {record.line}"
            if not record.is_closed:
                return LoadError(f"{place}: a quotation mark is not closed; {_QUOTE_REMEDY}")
            fields = len(split(record.text, self.layout.delimiter))
            if fields != width:
                what = f"{fields} field{'s' * (fields != 1)}, but the header has {width}"
                return LoadError(f"{place}: {what}; {remedy}")
        return LoadError(f"{self.place}: a row does not have the header's {width} fields; {remedy}")

    def _where(self, rows: Sequence[int]) -> list[str]:
        """Return the places of some rows, which are in increasing order, in one pass."""
        found = {row: f"{self.place}, row {row + 1}" for row in rows}
        last = rows[-1] + 1 if rows else 0
        for row, record in enumerate(islice(self._records(), last)):
            if row in found:
                found[row] = f"{self.place}, line {record.line}"
        return list(found.values())


def open_csv(data: bytes, layout: Layout, place: str) -> CsvFile:
    r"""Read the header of a CSV file.

    >>> open_csv(b"\n", Layout(), "left.csv")
    Traceback (most recent call last):
    redveil.errors.LoadError: left.csv: the file is empty; export it again
    """
    text = decode(data, layout.encoding, place)
    header = next(records(text, layout.delimiter), None)
    if header is None:
        raise LoadError(f"{place}: the file is empty; export it again")
    if not header.is_closed:
        raise LoadError(
            f"{place}, line {header.line}: a quotation mark in the header is not closed; "
            f"{_QUOTE_REMEDY}"
        )
    names = check_names(split(header.text, layout.delimiter), place)
    body = _body(data, text, header.end, layout.encoding)
    return CsvFile(place, names, layout, body, line_number(text[: header.end]))


def _body(data: bytes, text: str, start: int, encoding: str) -> bytes:
    """Return the text from `start` on as UTF-8, without encoding it again if possible."""
    if codecs.lookup(encoding).name not in ("utf-8", "utf-8-sig"):
        return text[start:].encode("utf-8")
    mark = len(codecs.BOM_UTF8) if data.startswith(codecs.BOM_UTF8) else 0
    return data[mark + len(text[:start].encode("utf-8")) :]


def text_columns(
    body: bytes,
    *,
    width: int,
    wanted: Sequence[int],
    delimiter: str,
    quote: str | Literal[False],
    piece: int = PIECE,
) -> list[pa.ChunkedArray] | None:
    r"""Return some columns of rows without a header as text, or None if a row has another width.

    piece: how many bytes to read at a time, if rows are not longer; the columns do not depend on it

    >>> columns = text_columns(b"1,2\n3,4", width=2, wanted=[1], delimiter=",", quote=False)
    >>> columns[0].to_pylist()
    ['2', '4']
    """
    found: list[list[pa.Array]] = [[] for _ in wanted]
    for start, end in pieces(body, delimiter if quote else None, piece):
        rows = body[start:end]
        if not rows.strip(b"\r\n"):
            # Arrow refuses files without rows.
            continue
        if len(rows) > _LARGEST_PIECE:
            return None
        columns = _read_piece(rows, width, wanted, delimiter, quote)
        if columns is None:
            return None
        for chunks, column in zip(found, columns, strict=True):
            chunks.extend(column.chunks)
    return [pa.chunked_array(chunks, pa.string()) for chunks in found]


def pieces(body: bytes, delimiter: str | None, size: int) -> Iterator[tuple[int, int]]:
    r"""Yield the starts and ends of pieces that end between rows, each of at most `size` bytes.

    A row that is longer is in a longer piece.

    delimiter: of the fields, if they can be quoted and so contain line ends; None if they cannot

    >>> list(pieces(b'a,"b\nc"\nd,e\n', ",", 8)), list(pieces(b"a\nb\nc", None, 4))
    ([(0, 8), (8, 12)], [(0, 4), (4, 5)])
    """
    rows = None if delimiter is None else _whole_rows(delimiter)
    start, window = 0, size
    while start < len(body):
        end = start + window
        if end >= len(body):
            cut = len(body)
        elif rows is not None:
            found = rows.match(body, start, end)
            cut = start if found is None else found.end()
        else:
            cut = max(body.rfind(b"\n", start, end), body.rfind(b"\r", start, end), start - 1) + 1
        if cut == start:
            window *= 2
            continue
        yield start, cut
        start, window = cut, size


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


def read_rows(
    rows: bytes, width: int, wanted: Sequence[int], delimiter: str
) -> list[pa.ChunkedArray] | None:
    r"""Return some columns of some rows as text, or None if a row has another width.

    >>> read_rows(b"1,2\n3,4", 2, [1], ",")[0].to_pylist()
    ['2', '4']
    """
    # Without quotation marks in it, a row means the same whether or not they quote.
    return _read_piece(rows, width, wanted, delimiter, '"' if b'"' in rows else False)


def _whole_rows(delimiter: str) -> re.Pattern[bytes]:
    """Return the pattern of as many whole rows as possible, also none."""
    sign = re.escape(delimiter)
    plain = rf"[^{sign}\r\n]*+"
    field = rf'(?:"[^"]*+(?:""[^"]*+)*+"{plain}|(?!"){plain})'
    return re.compile(rf"(?:{field}(?:{sign}{field})*+[\r\n]++)*+".encode())


def _read_piece(
    rows: bytes, width: int, wanted: Sequence[int], delimiter: str, quote: str | Literal[False]
) -> list[pa.ChunkedArray] | None:
    """Return some columns of rows, or None if a row has another width."""
    if not quote and len(rows) <= _LARGEST_PIECE:
        return _read_plain(rows, width, wanted, delimiter)
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
                delimiter=delimiter, quote_char=quote, newlines_in_values=bool(quote)
            ),
            convert_options=arrow_csv.ConvertOptions(
                column_types=dict.fromkeys(names, pa.string()),
                include_columns=sorted({names[i] for i in wanted}),
            ),
        )
    except pa.ArrowInvalid:
        return None
    return [table.column(names[i]) for i in wanted]


def _read_plain(
    rows: bytes, width: int, wanted: Sequence[int], delimiter: str
) -> list[pa.ChunkedArray] | None:
    """Return some columns of rows without quotation marks, or None if a row has another width.

    The same as Arrow does, and faster if fields are short.
    """
    text = np.frombuffer(rows, dtype=np.uint8)
    # A row of so many fields has one delimiter less, and a line end, except perhaps the last row.
    most = min(rows.count(b"\n") + rows.count(b"\r"), len(rows) // width) + 1
    ends = np.empty((width + 1, most), dtype=np.int32)
    count = field_ends(text, ord(delimiter), ends)
    if count < 0:
        return None
    columns = np.array(sorted(set(wanted)), dtype=np.int32)
    length = [(ends[i + 1, :count] - ends[i, :count]).sum(dtype=np.int64) for i in columns]
    # The delimiter before a field is not copied.
    first = np.concatenate([[0], np.cumsum(length) - count * np.arange(1, len(columns) + 1)])
    offsets = np.empty((len(columns), count + 1), dtype=np.int32)
    copied = np.empty(int(first[-1]), dtype=np.uint8)
    copy_fields(text, ends, columns, first, offsets, copied)
    found: dict[int, pa.ChunkedArray] = {}
    for place, number in enumerate(columns.tolist()):
        # Columns share no memory: one that is kept must not keep the others.
        own = offsets[place].copy(), copied[first[place] : first[place + 1]].copy()
        texts = pa.StringArray.from_buffers(count, *map(pa.py_buffer, own))
        found[number] = pa.chunked_array([texts])
    return [found[number] for number in wanted]


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


def may_be_open(body: bytes, last_field: str, delimiter: str) -> bool:
    r"""Return whether the last field, given by its value, may have no closing quotation mark.

    A field that has one is never mistaken, unless it contains nothing but line ends.

    >>> [may_be_open(body, "b", ",") for body in (b'a,"b', b'a,"b"', b"a,b")]
    [True, False, False]
    >>> may_be_open(b'a,"\n"\n', "\n", ",")
    True
    """
    raw = b'"' + last_field.replace('"', '""').encode("utf-8")
    start = len(body) - len(raw)
    borders = (b"", delimiter.encode("utf-8"), b"\n", b"\r")
    return body.endswith(raw) and body[max(start - 1, 0) : start] in borders


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
