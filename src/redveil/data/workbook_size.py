"""Refuse workbooks that would not fit in memory, or that the reader would cut off.

The reader of workbooks holds every cell of the rectangle around a sheet's cells, so that one cell
far from the others exhausts memory. Of an .ods file it ignores the rows below the last one that the
format can have, so that rows repeated often make those below them disappear.

What texts contain must not matter. So the parts of a workbook are searched quickly for anything
that looks like a place far away, and only what an XML parser finds there too is refused. The reader
of workbooks takes texts that an XML parser does not, such as a control character. Then the tags are
found without one.
"""

from __future__ import annotations

import re
import zipfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final
from xml.parsers import expat

from redveil.errors import LoadError

# 32 bytes each.
MOST_CELLS: Final = 50_000_000
# Of all parts of a workbook together; stops decompression bombs.
MOST_BYTES: Final = 2 * 2**30
# Of a sheet of an .ods file; those below are ignored by the reader.
MOST_ROWS: Final = 2**20
_PIECE: Final = 2**20
# The part of an .ods file with all its sheets.
_ODS_SHEETS: Final = "content.xml"
# The place of a cell or row of an .xlsx file, as in r="AB12" or r="12", and repeated rows of .ods.
_PLACE: Final = re.compile(rb"""\br\s*=\s*["']\$?([A-Za-z]{0,10})\$?([0-9]{1,20})["']""")
_REPEATED: Final = re.compile(rb"""\bnumber-rows-repeated\s*=\s*["']([0-9]{1,20})""")
_LONGEST: Final = 80
_CLOSED: Final = (b"table", b"table-row", b"table-cell", b"spreadsheet", b"p")
_LETTERS_AND_DIGITS: Final = re.compile(r"\$?([A-Za-z]{0,10})\$?([0-9]{1,20})")
_DIGITS: Final = re.compile(r"[0-9]{1,20}")
# A comment, an instruction, a text as it is, or a tag; or one that the end of a piece cuts off.
_MARKUP: Final = re.compile(
    rb"""<!--.*?-->|<\?.*?\?>|<!\[CDATA\[(?P<text>.*?)\]\]>"""
    rb"""|(?P<open><(?:!--|\?|!\[CDATA\[).*\Z)"""
    rb"""|<(?P<end>/?)(?P<name>[^\s<>/!?"']++)"""
    rb"""(?P<attributes>(?:[^<>"']|"[^"]*+"|'[^']*+')*+)(?:>|(?P<cut>(?:"[^"]*+|'[^']*+)?+\Z))"""
    rb"""|(?P<short><[!/]?[^<>]{0,9}\Z)""",
    re.DOTALL,
)
_ATTRIBUTE: Final = re.compile(r"""([^\s=]+)\s*=\s*(?:"([^"]*)"|'([^']*)')""")


def check_size(path: Path, place: str) -> None:
    """Raise a LoadError if a workbook is too large, without holding it in memory.

    By repeated columns in an .ods file, a malicious cell can still exhaust memory.
    """
    with zipfile.ZipFile(path) as archive:
        parts = archive.infolist()
        if sum(part.file_size for part in parts) > MOST_BYTES:
            raise LoadError(f"{place}: more than {MOST_BYTES} bytes; save it as CSV or Parquet")
        for part in parts:
            if part.filename == _ODS_SHEETS and not _is_whole(archive, part):
                raise LoadError(f"{place}: cut short; copy or save it again, or save it as CSV")
            extent = _possible_extent(archive, part)
            if extent.is_too_large:
                extent = _extent(archive, part)
            if extent.is_too_large:
                raise LoadError(f"{place}: {extent.complaint}, or save it as CSV")


@dataclass(slots=True)
class Extent:
    """How far the cells of a sheet reach: the last row and column, or the last row of an .ods file.

    >>> Extent(rows=2000, columns=20_000).is_too_large
    False
    """

    rows: int = 0
    columns: int = 0
    ods_rows: int = 0

    @property
    def is_too_large(self) -> bool:
        """Whether the reader would run out of memory, or ignore rows."""
        return self.rows * self.columns > MOST_CELLS or self.ods_rows > MOST_ROWS

    @property
    def complaint(self) -> str:
        """What is too large, and the remedy."""
        if self.ods_rows > MOST_ROWS:
            return f"a row below row {MOST_ROWS}, the last that is read; delete empty rows"
        return (
            f"a cell in row {self.rows} or column {self.columns} makes the sheet too large; "
            "delete empty rows and columns"
        )

    def add(self, letters: str, digits: str) -> None:
        """Include a cell or row, given by its letters and digits.

        >>> extent = Extent()
        >>> extent.add("AB", "12")
        >>> extent
        Extent(rows=12, columns=28, ods_rows=0)
        """
        self.rows = max(self.rows, int(digits))
        number = 0
        for letter in letters.upper():
            number = 26 * number + ord(letter) - ord("A") + 1
        self.columns = max(self.columns, number, 1)


def _possible_extent(archive: zipfile.ZipFile, part: zipfile.ZipInfo) -> Extent:
    """Return an extent that includes everything in a part that looks like a place."""
    extent = Extent()
    rest = b""
    with archive.open(part) as file:
        while piece := file.read(_PIECE):
            text = rest + piece
            for letters, digits in set(_PLACE.findall(text)):
                extent.add(letters.decode(), digits.decode())
            # What is in `rest` counts twice, so never too little.
            extent.ods_rows += sum(map(int, _REPEATED.findall(text)))
            extent.ods_rows += text.count(b"table-row")
            rest = text[-_LONGEST:]
    return extent


def _extent(archive: zipfile.ZipFile, part: zipfile.ZipInfo) -> Extent:
    """Return the extent of the cells in a part."""
    sheet = _Sheet()
    parser = expat.ParserCreate()
    parser.StartElementHandler = sheet.start
    parser.EndElementHandler = sheet.end
    parser.CharacterDataHandler = sheet.text
    try:
        with archive.open(part) as file:
            parser.ParseFile(file)
    except expat.ExpatError:
        return _extent_of_tags(archive, part)
    return sheet.extent


def _extent_of_tags(archive: zipfile.ZipFile, part: zipfile.ZipInfo) -> Extent:
    """Return the extent of the cells in a part that is not quite XML, by its tags alone."""
    sheet = _Sheet()
    for before, found in _markup(archive, part):
        sheet.add(before, found)
    return sheet.extent


def _markup(
    archive: zipfile.ZipFile, part: zipfile.ZipInfo
) -> Iterator[tuple[bytes, re.Match[bytes]]]:
    """Yield the markup in a part, with the text before it."""
    rest = b""
    with archive.open(part) as file:
        # As long as what is left, so that a piece is not searched over and over.
        while piece := file.read(max(_PIECE, len(rest))):
            text = rest + piece
            done = 0
            for found in _MARKUP.finditer(text):
                if found["open"] or found["short"] or found["cut"] is not None:
                    break
                yield text[done : found.start()], found
                done = found.end()
            rest = text[done:]


def _is_whole(archive: zipfile.ZipFile, part: zipfile.ZipInfo) -> bool:
    """Return whether all sheets of an .ods file are closed; else the reader never ends."""
    try:
        with archive.open(part) as file:
            expat.ParserCreate().ParseFile(file)
    except expat.ExpatError:
        return _is_closed(archive, part)
    return True


def _is_closed(archive: zipfile.ZipFile, part: zipfile.ZipInfo) -> bool:
    """Return whether the first tag and all sheets and rows are closed, by the tags alone."""
    first, last = b"", b""
    left: Counter[bytes] = Counter()
    for _, found in _markup(archive, part):
        name = found["name"]
        if name and not found["attributes"].endswith(b"/"):
            first, last = first or name, (name if found["end"] else b"")
            left[name] += -1 if found["end"] else 1
    open_parts = [left[name] for name in left if name.rpartition(b":")[2] in _CLOSED]
    return first == last != b"" and not any(open_parts)


@dataclass(slots=True)
class _Sheet:
    """What an XML parser has found in a part so far: in .xlsx files, then in .ods files."""

    extent: Extent = field(default_factory=Extent)
    place: tuple[str, str] = ("", "0")
    row: str = "0"
    position: int = 0
    repeated: int = 1
    is_filled: bool = False

    def start(self, name: str, attributes: dict[str, str]) -> None:
        """Note where a row or cell is, and whether it has a value."""
        match name.rpartition(":")[2]:
            case "row":
                self.row = attributes.get("r", "0")
            case "c":
                # A cell without a place is in the current row.
                self.place = _split(attributes.get("r", self.row))
            case "v" | "is":
                self.extent.add(*self.place)
            case "table":
                self.position = 0
            case "table-row":
                times = attributes.get("table:number-rows-repeated", "1")
                self.repeated = int(times) if _DIGITS.fullmatch(times) else 1
                self.is_filled = False
            case "table-cell" if "office:value-type" in attributes:
                self.is_filled = True

    def end(self, name: str) -> None:
        """Note where a row of an .ods file ends."""
        if name.rpartition(":")[2] == "table-row":
            self.position += self.repeated
            if self.is_filled:
                self.extent.ods_rows = max(self.extent.ods_rows, self.position)

    def add(self, before: bytes, found: re.Match[bytes]) -> None:
        """Note a text and the markup after it."""
        # Names and places are in ASCII; what other characters mean does not matter.
        for text in (before, found["text"]):
            if text:
                self.text(text.decode("latin-1"))
        if found["name"]:
            name = found["name"].decode("latin-1")
            attributes = found["attributes"].decode("latin-1")
            if not found["end"]:
                listed = _ATTRIBUTE.findall(attributes)
                self.start(name, {key: double or single for key, double, single in listed})
            if found["end"] or attributes.endswith("/"):
                self.end(name)

    def text(self, text: str) -> None:
        """Note that a row of an .ods file has text."""
        self.is_filled = self.is_filled or not text.isspace()


def _split(place: str) -> tuple[str, str]:
    """Return the letters and the digits of a place such as AB12."""
    found = _LETTERS_AND_DIGITS.fullmatch(place)
    return (found[1], found[2]) if found else ("", "0")
