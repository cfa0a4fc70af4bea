"""The rows of a CSV text as the standard writes them: where each starts, and what its fields are.

Arrow reads the rows; this reads the header, and finds the line that a message has to name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from redveil.data.text_file import line_number

# What follows the closing mark is taken as it is.
_QUOTED: Final = re.compile(r'"([^"]*+(?:""[^"]*+)*+)"?(.*)', re.DOTALL)


@dataclass(frozen=True, slots=True)
class Record:
    """One row: the line it starts on, its text, where it ends, whether its quotes are closed.

    >>> next(records("id,age", ","))
    Record(line=1, text='id,age', end=6, is_closed=True)
    """

    line: int
    text: str
    end: int
    is_closed: bool


def records(text: str, delimiter: str, first_line: int = 1) -> Iterator[Record]:
    r"""Yield the rows of a text, without blank lines; a quoted field may go over several lines.

    >>> [(record.line, record.text) for record in records('a,"b\nc"\n\nd,e', ",")]
    [(1, 'a,"b\nc"'), (4, 'd,e')]
    """
    field = _field(delimiter)
    # The two groups take part only where the text ends within quotation marks.
    pattern = re.compile(rf"{field}(?:{re.escape(delimiter)}{field})*+(?:\r\n|\r|\n|\Z)")
    position, line = 0, first_line
    while position < len(text):
        row = pattern.match(text, position)
        if row is None:  # pragma: no cover - every text is a row
            return
        content = row.group()
        is_closed = row.lastindex is None
        # A line end in an open field belongs to it, as far as anybody can tell.
        stripped = content.rstrip("\r\n") if is_closed else content
        if stripped:
            yield Record(line, stripped, row.end(), is_closed)
        line += line_number(content) - 1
        position = row.end()


def is_open(body: bytes, last_field: str, delimiter: str) -> bool:
    """Whether the last field of a text lacks its closing mark, given that field's value.

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
    """Return the pattern of a field: quoted, with quotation marks doubled, or plain."""
    plain = rf"[^{re.escape(delimiter)}\r\n]*+"
    return rf'(?:"[^"]*+(?:""[^"]*+)*+(?:"{plain}|(\Z))|(?!"){plain})'


def _unquoted(field: str) -> str:
    quoted = _QUOTED.fullmatch(field)
    return field if quoted is None else quoted[1].replace('""', '"') + quoted[2]
