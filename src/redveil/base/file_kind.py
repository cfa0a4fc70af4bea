"""What a file is, judged by its content: for messages, and to replace only what we wrote."""

from __future__ import annotations

import json
import re
from enum import StrEnum
from pathlib import Path
from typing import Final

# Enough to recognise every kind but JSON, which is read as a whole.
_HEAD: Final = 2**16
_OWN_RESULT: Final = re.compile(rb'\s*\{\s*"format"\s*:\s*"redveil-result"')
_OWN_BASELINE: Final = re.compile(rb'\s*\{\s*"format"\s*:\s*"redveil-baseline"')
# Lists as `redveil show` writes them: CSV, HTML or LaTeX. A workbook cannot be told from others.
_OWN_LIST: Final = re.compile(
    rb"left,right,jaccard,|<div class='redveil'>"
    rb"|\\begin\{tabular\}\{[lr]+\}\s\\toprule\s(\\# & )?left & right & Jaccard"
)
_QUERY_COLUMNS: Final = ({"query_LHS", "query_RHS"}, {"queryLHS", "queryRHS"})
_DELIMITERS: Final = ",;\t"
#: How a report begins.
REPORT_MARK: Final = "<!doctype html>\n<!-- redveil report -->\n"
#: In the metadata of figures that we drew: who made them.
FIGURE_MARK: Final = "redveil figure"
#: How a list of column names begins.
NAMES_HEADER: Final = "view\tcolumn\tname\n"


class FileKind(StrEnum):
    """A kind of file, as a message names it."""

    EMPTY = "an empty file"
    RESULT = "a redveil result"
    BASELINE = "a baseline (NOT PRIVATE)"
    SCHEMA = "a schema (data package)"
    JSON = "a JSON file"
    LIST = "a list of redescriptions"
    REPORT = "a report (HTML page)"
    QUERIES = "a .queries file"
    NAMES = "a list of column names"
    LEDGER = "a ledger (SQLite database)"
    FIGURE = "a figure"
    PNG = "a PNG picture"
    PDF = "a PDF file"
    XML = "an XML or SVG file"
    CSV = "a CSV file"
    PARQUET = "a Parquet file"
    EXCEL = "an Excel file"
    GZIP = "a gzip file"
    TEXT = "a text file"
    BINARY = "a binary file"


_MAGIC: Final = {
    b"PAR1": FileKind.PARQUET,
    b"PK\x03\x04": FileKind.EXCEL,
    b"\xd0\xcf\x11\xe0": FileKind.EXCEL,
    b"\x1f\x8b": FileKind.GZIP,
    b"SQLite format 3\x00": FileKind.LEDGER,
    b"\x89PNG": FileKind.PNG,
    b"%PDF": FileKind.PDF,
    b"<?xml": FileKind.XML,
    b"<svg": FileKind.XML,
}
# What we wrote ourselves, by how it begins.
_OWN: Final = {
    _OWN_RESULT: FileKind.RESULT,
    _OWN_BASELINE: FileKind.BASELINE,
    _OWN_LIST: FileKind.LIST,
    re.compile(re.escape(REPORT_MARK.encode())): FileKind.REPORT,
}
_DRAWN: Final = (FileKind.PNG, FileKind.PDF, FileKind.XML)


def kind_of(content: bytes) -> FileKind:
    r"""Return what kind of file has this content.

    >>> print(kind_of(b"age,sex\n41,f\n"))
    a CSV file
    >>> print(kind_of(b'{"resources": []}'))
    a schema (data package)
    >>> print(kind_of(b'{"format": "redveil-result", "version'))
    a redveil result
    """
    content = content.removeprefix(b"\xef\xbb\xbf")
    if not content.strip():
        return FileKind.EMPTY
    for magic, kind in _MAGIC.items():
        if content.startswith(magic):
            is_ours = kind in _DRAWN and FIGURE_MARK.encode() in content
            return FileKind.FIGURE if is_ours else kind
    for beginning, kind in _OWN.items():
        if beginning.match(content):
            return kind
    if content.lstrip()[:1] in (b"{", b"["):
        return _json_kind(content)
    return _text_kind(content[:_HEAD])


def file_kind(path: Path) -> FileKind:
    """Return what kind of file is at a path; an OSError if it cannot be read.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = (Path(folder) / "a.json").write_text('{"a": 1}')
    ...     print(file_kind(Path(folder) / "a.json"))
    a JSON file
    """
    with path.open("rb") as file:
        head = file.read(_HEAD)
        is_json = head.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] in (b"{", b"[")
        kind = kind_of(head + file.read() if is_json else head)
        if kind in _DRAWN and (rest := file.read()):
            # In a PDF file, the metadata come last.
            return kind_of(head + rest[-_HEAD:])
        return kind


def may_replace(new: FileKind, old: FileKind) -> bool:
    """Return whether a file of one kind may take the place of one of another kind.

    >>> may_replace(FileKind.RESULT, FileKind.RESULT), may_replace(FileKind.RESULT, FileKind.CSV)
    (True, False)
    """
    return old in (new, FileKind.EMPTY)


def _json_kind(content: bytes) -> FileKind:
    try:
        read = json.loads(content)
    except (ValueError, RecursionError):
        # A schema with a slip of the keyboard in it; whoever replaces it has to keep its id.
        return FileKind.SCHEMA if b'"resources"' in content else FileKind.JSON
    if isinstance(read, dict) and read.get("format") == "redveil-result":
        return FileKind.RESULT
    if isinstance(read, dict) and read.get("format") == "redveil-baseline":
        return FileKind.BASELINE
    if isinstance(read, dict) and "resources" in read:
        return FileKind.SCHEMA
    return FileKind.JSON


def _is_queries(text: str) -> bool:
    """Return whether the first line that is no comment names the columns of clired's files."""
    lines = (line for line in text.splitlines() if line.strip() and line.lstrip()[0] != "#")
    fields = {field.strip() for field in next(lines, "").split("\t")}
    return any(columns <= fields for columns in _QUERY_COLUMNS)


def _text_kind(head: bytes) -> FileKind:
    if b"\x00" in head:
        return FileKind.BINARY
    # Names are recognised in any encoding that agrees with ASCII.
    text = head.decode("utf-8", errors="replace")
    if _is_queries(text):
        return FileKind.QUERIES
    if text.startswith(NAMES_HEADER):
        return FileKind.NAMES
    lines = [line for line in text.splitlines() if line.strip()][:2]
    # A header and a row, or a header alone.
    if any(all(sign in line for line in lines) for sign in _DELIMITERS):
        return FileKind.CSV
    return FileKind.TEXT
