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

import pyarrow as pa
from pyarrow import csv as arrow_csv

from redveil.data.layout import Layout
from redveil.data.raw import RawTable, check_names, quietly
from redveil.data.text_file import decode, line_number
from redveil.errors import LoadError

# Large blocks, so that wide tables do not have thousands of chunks. A file of one block is read
# without Arrow's threads: a program that ends soon after using them may abort (apache/arrow#34314).
_BLOCK: Final = 8 * 2**20
_LARGEST_BLOCK: Final = 2**31 - 1
# Text after the closing quotation mark belongs to the field.
_QUOTED: Final = re.compile(r'"([^"]*+(?:""[^"]*+)*+)"?(.*)', re.DOTALL)
_QUOTE_REMEDY: Final = "close it, or double quotation marks within a field"


@dataclass(frozen=True, slots=True, eq=False)
class CsvFile:
    r"""A CSV file whose header has been read.

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
            ),
            f"{self.place}: cannot be read as CSV; check the delimiter and quotation marks",
        )
        if columns is None:
            raise self._ragged()
        *columns, last = columns
        # A field that is not closed contains all rows below it.
        if len(last) and is_open(self.body, last[-1].as_py(), self.layout.delimiter):
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
) -> list[pa.ChunkedArray] | None:
    r"""Return some columns of rows without a header as text, or None if a row has another width.

    >>> columns = text_columns(b"1,2\n3,4", width=2, wanted=[1], delimiter=",", quote=False)
    >>> columns[0].to_pylist()
    ['2', '4']
    """
    if not body.strip(b"\r\n"):
        # Arrow refuses files without rows.
        return [pa.chunked_array([], pa.string()) for _ in wanted]
    if body.startswith(codecs.BOM_UTF8):
        # Arrow would drop a mark from the first row, and from no other. It ignores an empty line.
        body = b"\n" + body
    ragged: list[int] = []

    def note(row: arrow_csv.InvalidRow) -> str:
        ragged.append(row.actual_columns)
        return "error"

    names = [str(i) for i in range(width)]
    for block in (_BLOCK, min(len(body) + 1, _LARGEST_BLOCK)):
        try:
            table = arrow_csv.read_csv(
                pa.BufferReader(body),
                read_options=arrow_csv.ReadOptions(
                    column_names=names, block_size=block, use_threads=len(body) > _BLOCK
                ),
                parse_options=arrow_csv.ParseOptions(
                    delimiter=delimiter,
                    quote_char=quote,
                    newlines_in_values=bool(quote),
                    invalid_row_handler=note,
                ),
                convert_options=arrow_csv.ConvertOptions(
                    column_types=dict.fromkeys(names, pa.string()),
                    include_columns=sorted({names[i] for i in wanted}),
                ),
            )
        except pa.ArrowInvalid:
            # A row of another width, or one longer than a block; then try a larger block.
            if ragged or block > _BLOCK:
                break
        else:
            return [table.column(names[i]) for i in wanted]
    return None


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


def is_open(body: bytes, last_field: str, delimiter: str) -> bool:
    """Return whether the last field, given by its value, has no closing quotation mark.

    >>> is_open(b'a,"b', "b", ","), is_open(b'a,"b"', "b", ","), is_open(b"a,b", "b", ",")
    (True, False, False)
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
