"""Refuse workbooks that would not fit in memory, or in which one row could change others.

The reader of workbooks holds every cell of the rectangle around a sheet's cells, so that one cell
far from the others exhausts memory. A table within a row makes the rows below it disappear, and a
cell may name another row, whose cell it replaces.

What texts contain must not matter. So sheets are read by an XML parser. The reader of workbooks
takes texts that an XML parser does not, such as a control character. Then the tags are found
without one.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from html import unescape
from pathlib import Path
from typing import Final
from xml.parsers import expat

from redveil.errors import LoadError

# 32 bytes each.
MOST_CELLS: Final = 50_000_000
# Of all parts of a workbook together; stops decompression bombs.
MOST_BYTES: Final = 2 * 2**30
_PIECE: Final = 2**20
# The element with the rows of a sheet.
_ROWS: Final = b"sheetData"
# Tables and rows, which have none of their kind within them.
_TABLES: Final = {"sheetData": "table", "row": "row"}
_LETTERS_AND_DIGITS: Final = re.compile(r"\$?([A-Za-z]{0,10})\$?([0-9]{1,20})")
_DIGITS: Final = re.compile(r"[0-9]{1,20}")
# A comment, an instruction, a text as it is, or a tag; or one that the end of a piece cuts off.
_MARKUP: Final = re.compile(
    rb"""<!--.*?-->|<\?.*?\?>|<!\[CDATA\[.*?\]\]>"""
    rb"""|(?P<open><(?:!--|\?|!\[CDATA\[).*\Z)"""
    rb"""|<(?P<end>/?)(?P<name>[^\s<>/!?"']++)"""
    rb"""(?P<attributes>(?:[^<>"']|"[^"]*+"|'[^']*+')*+)(?:>|(?P<cut>(?:"[^"]*+|'[^']*+)?+\Z))"""
    rb"""|(?P<short><[!/]?[^<>]{0,9}\Z)""",
    re.DOTALL,
)
_ATTRIBUTE: Final = re.compile(r"""([^\s=]+)\s*=\s*(?:"([^"]*)"|'([^']*)')""")


def check_size(path: Path, place: str) -> None:
    """Raise a LoadError if a workbook is too large or out of order; it is not held in memory."""
    with zipfile.ZipFile(path) as archive:
        parts = archive.infolist()
        if sum(part.file_size for part in parts) > MOST_BYTES:
            raise LoadError(f"{place}: more than {MOST_BYTES} bytes; save it as CSV or Parquet")
        for part in parts:
            if not _has_rows(archive, part):
                continue
            sheet = _parsed(archive, part)
            if sheet.extent.is_too_large:
                raise LoadError(f"{place}: {sheet.extent.complaint}, or save it as CSV")
            if sheet.fault is not None:
                raise LoadError(f"{place}: {sheet.fault}; save it again, or save it as CSV")


@dataclass(slots=True)
class Extent:
    """How far the cells of a sheet reach: the last row and column.

    >>> Extent(rows=2000, columns=20_000).is_too_large
    False
    """

    rows: int = 0
    columns: int = 0

    @property
    def is_too_large(self) -> bool:
        """Whether the reader would run out of memory."""
        return self.rows * self.columns > MOST_CELLS

    @property
    def complaint(self) -> str:
        """What is too large, and the remedy."""
        return (
            f"a cell in row {self.rows} or column {self.columns} makes the sheet too large; "
            "delete empty rows and columns"
        )

    def add(self, letters: str, digits: str) -> None:
        """Include a cell or row, given by its letters and digits.

        >>> extent = Extent()
        >>> extent.add("AB", "12")
        >>> extent
        Extent(rows=12, columns=28)
        """
        self.rows = max(self.rows, int(digits))
        number = 0
        for letter in letters.upper():
            number = 26 * number + ord(letter) - ord("A") + 1
        self.columns = max(self.columns, number, 1)


def _has_rows(archive: zipfile.ZipFile, part: zipfile.ZipInfo) -> bool:
    """Return whether a part may be a sheet."""
    rest = b""
    with archive.open(part) as file:
        while piece := file.read(_PIECE):
            if _ROWS in rest + piece:
                return True
            rest = (rest + piece)[-len(_ROWS) :]
    return False


def _parsed(archive: zipfile.ZipFile, part: zipfile.ZipInfo) -> _Sheet:
    """Return what is found in a part with sheets."""
    sheet = _Sheet()
    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.StartElementHandler = sheet.start
    parser.EndElementHandler = sheet.end
    try:
        with archive.open(part) as file:
            parser.ParseFile(file)
    except expat.ExpatError:
        return _parsed_tags(archive, part)
    return sheet


def _parsed_tags(archive: zipfile.ZipFile, part: zipfile.ZipInfo) -> _Sheet:
    """Return what is found in a part that is not quite XML, by its tags alone."""
    sheet = _Sheet()
    for found in _markup(archive, part):
        sheet.add(found)
    return sheet


def _markup(archive: zipfile.ZipFile, part: zipfile.ZipInfo) -> Iterator[re.Match[bytes]]:
    """Yield the markup in a part."""
    rest = b""
    with archive.open(part) as file:
        # As long as what is left, so that a piece is not searched over and over.
        while piece := file.read(max(_PIECE, len(rest))):
            text = rest + piece
            done = 0
            for found in _MARKUP.finditer(text):
                if found["open"] or found["short"] or found["cut"] is not None:
                    break
                yield found
                done = found.end()
            rest = text[done:]


@dataclass(slots=True)
class _Sheet:
    """What an XML parser has found in a part so far.

    fault:   why rows of the part could change others, if they could
    open:    the tables and rows that are not closed yet
    place:   what the current cell names
    row:     the number of the current row, and its digits
    columns: the letters of the columns that count in the extent
    """

    extent: Extent = field(default_factory=Extent)
    fault: str | None = None
    open: set[str] = field(default_factory=set)
    place: str | None = None
    row: int = 0
    columns: set[str] = field(default_factory=set)
    digits: str = "0"

    def start(self, name: str, attributes: dict[str, str]) -> None:
        """Note where a row or cell is, and whether it has a value."""
        local = name.rpartition(":")[2] if ":" in name else name
        if local in _TABLES:
            if local in self.open:
                self._refuse(f"a {_TABLES[local]} within another")
            self.open.add(local)
        match local:
            case "c":
                self.place = attributes.get("r")
            case "v" | "is" if "sheetData" in self.open:
                self._value()
            case "sheetData":
                self.row = 0
            case "row" if "sheetData" in self.open:
                above, self.row = self.row, _row(attributes.get("r", str(self.row + 1)))
                self.digits = str(self.row)
                if self.row <= above:
                    self._refuse("rows that are not in order")

    def _refuse(self, fault: str) -> None:
        self.fault = self.fault or fault

    def _value(self) -> None:
        """Note that the current cell has a value."""
        # A cell without a place is in the current row.
        place = self.digits if self.place is None else self.place
        letters = place.rstrip("0123456789")
        # Nearly always, so it must be fast.
        is_usual = letters in self.columns and place[len(letters) :] == self.digits
        if is_usual and self.row <= self.extent.rows and "row" in self.open:
            return
        known, digits = _split(place)
        self.extent.add(known, digits)
        self.columns.add(letters)
        if "row" not in self.open or int(digits) != self.row:
            self._refuse("a cell that is not in the row that it names")

    def end(self, name: str) -> None:
        """Note where a table or row ends."""
        local = name.rpartition(":")[2] if ":" in name else name
        if local not in _TABLES:
            return
        if local not in self.open or (local == "sheetData" and "row" in self.open):
            self._refuse(f"a {_TABLES[local]} that ends within another")
        self.open.discard(local)

    def add(self, found: re.Match[bytes]) -> None:
        """Note a piece of markup."""
        # Names and places are in ASCII; what other characters mean does not matter.
        if found["name"]:
            name = found["name"].decode("latin-1")
            attributes = found["attributes"].decode("latin-1")
            if not found["end"]:
                listed = _ATTRIBUTE.findall(attributes)
                # Of an attribute that is there twice, the reader takes the first.
                first = reversed(listed)
                self.start(name, {key: unescape(double or single) for key, double, single in first})
            if found["end"] or attributes.endswith("/"):
                self.end(name)


def _split(place: str) -> tuple[str, str]:
    """Return the letters and the digits of a place such as AB12."""
    found = _LETTERS_AND_DIGITS.fullmatch(place)
    return (found[1], found[2]) if found else ("", "0")


def _row(digits: str) -> int:
    """Return the number of a row, 0 if it is none."""
    return int(digits) if _DIGITS.fullmatch(digits) else 0
