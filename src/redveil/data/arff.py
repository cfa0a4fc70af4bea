"""Read ARFF files with dense or sparse rows, every value as text.

The schema decides the types. The types in the ARFF header only matter for sparse rows: they say
which value an omitted entry has.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import pyarrow as pa

from redveil.data.csv_file import text_columns
from redveil.data.distinct import TRIMMED
from redveil.data.layout import Layout
from redveil.data.raw import RawTable, check_names, quietly
from redveil.data.text_file import decode
from redveil.errors import LoadError

MISSING_MARKER: Final = "?"

_QUOTED: Final = r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\""""
_ATTRIBUTE: Final = re.compile(
    rf"@attribute\s+({_QUOTED}|[^\s{{]+)\s*(.*)", re.IGNORECASE | re.ASCII
)
_CELL: Final = re.compile(rf"""\s*+((?:{_QUOTED})\s*|(?!['"])[^,%]*)(,|%|$)""", re.ASCII)
_SPARSE_CELL: Final = re.compile(
    rf"""\s*+(\d{{1,9}})\s++((?:{_QUOTED})\s*|(?!['"])[^,}}]*)([,}}])""", re.ASCII
)
_FIRST_CATEGORY: Final = re.compile(rf"\{{\s*+({_QUOTED}|[^,}}]*)", re.ASCII)
_ESCAPE: Final = re.compile(r"\\(.)")
_ESCAPED: Final = {"n": "\n", "t": "\t", "r": "\r"}


@dataclass(frozen=True, slots=True, eq=False)
class ArffFile:
    r"""An ARFF file whose header has been read.

    >>> file = open_arff(b"@attribute id string\n@data\nx\n% end\n'y z'", Layout(), "l.arff")
    >>> file.names
    ('id',)
    >>> file.read(["id"]).columns["id"].to_pylist()
    ['x', 'y z']
    """

    place: str
    names: tuple[str, ...]
    layout: Layout
    # The values of omitted entries in sparse rows; None is missing.
    defaults: tuple[str | None, ...]
    # The line number and the text of each row.
    data: tuple[tuple[int, str], ...]

    def read(self, wanted: Sequence[str]) -> RawTable:
        """Read some of the columns as text."""
        positions = [self.names.index(name) for name in wanted]
        body = "\n".join(text for _, text in self.data)
        if any(mark in body for mark in "'\"{%"):
            rows = [self._row(line, text) for line, text in self.data]
            columns = [
                pa.chunked_array([pa.array([row[i] for row in rows], pa.large_string())])
                for i in positions
            ]
        else:
            columns = self._plain_columns(body, positions)
        named = dict(zip(wanted, columns, strict=True))
        return RawTable(self.place, len(self.data), named, self._where, (MISSING_MARKER,))

    def _plain_columns(self, body: str, positions: list[int]) -> list[pa.ChunkedArray]:
        """Read rows without quotation marks, braces and comments with Arrow."""
        width = len(self.names)
        columns = quietly(
            lambda: text_columns(
                body.encode("utf-8"), width=width, wanted=positions, delimiter=",", quote=False
            ),
            f"{self.place}: cannot be read as ARFF; check the rows",
        )
        if columns is None:
            for line, text in self.data:
                self._check_width(line, text.count(",") + 1)
        return list(columns or [])

    def _row(self, line: int, text: str) -> list[str | None]:
        """Read one row that Arrow cannot read."""
        if text.startswith("{"):
            return self._sparse_row(line, text)
        cells: list[str | None] = []
        position = 0
        while True:
            cell = _CELL.match(text, position)
            if cell is None:
                raise LoadError(
                    f"{self.place}, line {line}: a quotation mark is not closed; "
                    "close it, or escape it with a backslash"
                )
            cells.append(_unquoted(cell[1]))
            position = cell.end()
            if cell[2] != ",":
                break
        self._check_width(line, len(cells))
        return cells

    def _sparse_row(self, line: int, text: str) -> list[str | None]:
        row = list(self.defaults)
        position = 1
        closed = text[1:].lstrip(TRIMMED).startswith("}")
        while not closed:
            cell = _SPARSE_CELL.match(text, position)
            if cell is None or int(cell[1]) >= len(row):
                raise LoadError(
                    f"{self.place}, line {line}: not a sparse row of {len(row)} attributes; "
                    "write {index value, …} with indices from 0"
                )
            row[int(cell[1])] = _unquoted(cell[2])
            position = cell.end()
            closed = cell[3] == "}"
        return row

    def _check_width(self, line: int, fields: int) -> None:
        if fields != len(self.names):
            raise LoadError(
                f"{self.place}, line {line}: {fields} values, but the header declares "
                f"{len(self.names)} attributes; quote values that contain commas"
            )

    def _where(self, rows: Sequence[int]) -> list[str]:
        return [f"{self.place}, line {self.data[row][0]}" for row in rows]


def open_arff(data: bytes, layout: Layout, place: str) -> ArffFile:
    """Read the header of an ARFF file and find its rows.

    >>> open_arff(b"@relation r", Layout(), "left.arff")
    Traceback (most recent call last):
    redveil.errors.LoadError: left.arff: no @data line; check that this is an ARFF file
    """
    text = decode(data, layout.encoding, place)
    names: list[str] = []
    defaults: list[str | None] = []
    rows: list[tuple[int, str]] = []
    in_data = False
    # Not str.splitlines, which also splits at characters that may occur in a value.
    for number, line in enumerate(re.split(r"\r\n|\r|\n", text), start=1):
        content = line.strip(TRIMMED)
        if not content or content.startswith("%"):
            continue
        if in_data:
            rows.append((number, content))
            continue
        keyword = content.split(None, 1)[0].lower()
        in_data = keyword == "@data"
        if keyword == "@attribute":
            name, default = _attribute(content, f"{place}, line {number}")
            names.append(name)
            defaults.append(default)
        elif keyword not in ("@data", "@relation"):
            raise LoadError(f"{place}, line {number}: not an ARFF header line; write @attribute")
    if not in_data:
        raise LoadError(f"{place}: no @data line; check that this is an ARFF file")
    plain = Layout(encoding=layout.encoding)
    return ArffFile(place, check_names(names, place), plain, tuple(defaults), tuple(rows))


def _attribute(content: str, place: str) -> tuple[str, str | None]:
    """Return an attribute's name and the value of omitted entries in sparse rows."""
    declared = _ATTRIBUTE.match(content)
    if declared is None or not declared[2]:
        raise LoadError(f"{place}: an attribute without a name or type; write @attribute name type")
    kind = declared[2].strip()
    if kind.lower().startswith("relational"):
        raise LoadError(f"{place}: relational attributes are not supported; use one value per row")
    if kind.startswith("{"):
        first = _FIRST_CATEGORY.match(kind)
        return _unquoted(declared[1]), _unquoted(first[1]) if first else None
    numeric = kind.split()[0].lower() in ("numeric", "real", "integer")
    return _unquoted(declared[1]), "0" if numeric else None


def _unquoted(text: str) -> str:
    """Return a quoted text without its quotation marks and escapes, or an unquoted one trimmed."""
    text = text.strip(TRIMMED)
    if len(text) >= 2 and text[0] in "'\"" and text[-1] == text[0]:
        return _ESCAPE.sub(lambda match: _ESCAPED.get(match[1], match[1]), text[1:-1])
    return text
