"""Read Excel workbooks (.xlsx).

Each cell becomes text on its own: a number in the fewest digits, a date in ISO 8601. Errors such as
#N/A and empty cells are missing. Errors that the reader does not know, such as #SPILL!, stop
loading. The first row with a cell is the header.

Binary workbooks are refused. In an .xls file, where one text is cut in two depends on the texts
before it, and the reader damages a character at the cut; a damaged file can end the process. An
.xlsb file is not tested. OpenDocument workbooks are refused, too: the reader ignores rows of them.
"""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final, TypeAlias, TypeVar

import numpy as np
import pyarrow as pa

from redveil.data.distinct import label
from redveil.data.layout import Layout
from redveil.data.raw import RawTable, check_names, quietly, shown
from redveil.data.text_file import OLE_MAGIC, ZIP_MAGIC, check_file
from redveil.data.workbook_size import check_size
from redveil.errors import LoadError

SUFFIXES: Final = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")

T = TypeVar("T")
# What the reader returns for a cell; an empty text for an empty cell or an error.
Cell: TypeAlias = str | bool | int | float | date | datetime | time | timedelta


@dataclass(frozen=True, slots=True, eq=False)
class ExcelSheet:
    """One sheet of a workbook whose header has been read.

    columns: the position of each named column; columns without a name are ignored
    header:  the number of the header's row, from 0
    sheets:  the names of all sheets of the workbook

    >>> ExcelSheet("book.xlsx, sheet Labs", ("id",), Layout(), (0,), 0, None).names
    ('id',)
    """

    place: str
    names: tuple[str, ...]
    layout: Layout
    columns: tuple[int, ...]
    header: int
    sheet: Any
    sheets: tuple[str, ...] = ()

    def read(self, wanted: Sequence[str]) -> RawTable:
        """Read some of the columns as text."""
        unreadable = f"{self.place}: a cell cannot be read; save the sheet as CSV"
        return _calmly(lambda: self._read(wanted), unreadable)

    def _read(self, wanted: Sequence[str]) -> RawTable:
        positions = [self.columns[self.names.index(name)] for name in wanted]
        texts: list[list[str | None]] = [[] for _ in wanted]
        typed: list[list[bool]] = [[] for _ in wanted]
        for _, cells in self._rows():
            for place, position in enumerate(positions):
                cell = cells[position]
                texts[place].append(cell_text(cell))
                typed[place].append(not isinstance(cell, str))
        columns = {
            name: pa.chunked_array([pa.array(column, pa.large_string())])
            for name, column in zip(wanted, texts, strict=True)
        }
        rows = len(texts[0]) if texts else 0
        mixed = {
            name: np.array(cells, dtype=np.bool_) for name, cells in zip(wanted, typed, strict=True)
        }
        return RawTable(self.place, rows, columns, self._where, mixed=mixed)

    def unnamed(self) -> list[str]:
        """Return the letters of columns that have cells, but no name."""
        width = len(next(iter(self._rows()), (0, []))[1])
        filled = {
            place
            for _, cells in self._rows()
            for place in set(range(width)).difference(self.columns)
            if cells[place] != ""
        }
        return [_column_letters(place + 1) for place in sorted(filled)]

    def _rows(self) -> Iterator[tuple[int, list[Cell]]]:
        """Yield the number, from 1, and the cells of each row below the header, if it has any."""
        for number, cells in enumerate(_cells(self.sheet), start=1):
            if number > self.header + 1 and any(cells[place] != "" for place in self.columns):
                yield number, cells

    def _where(self, rows: Sequence[int]) -> list[str]:
        numbers = [number for number, _ in self._rows()]
        return [f"{self.place}, row {numbers[row]}" for row in rows]


def cell_text(cell: Cell) -> str | None:
    """Return a cell as text; None if it is empty.

    >>> [cell_text(cell) for cell in (3.0, 0.5, True, date(2019, 12, 31), "")]
    ['3', '0.5', 'true', '2019-12-31', None]
    """
    if isinstance(cell, str):
        return cell or None
    if isinstance(cell, datetime | date | time):
        return cell.isoformat()
    if isinstance(cell, timedelta):
        return str(cell)
    return label(cell)


def open_excel(path: Path, sheet: str | int | None, place: str) -> ExcelSheet:
    """Read a sheet's header: the sheet with a name or number (from 1), or the first.

    >>> open_excel(Path("nowhere.xlsx"), None, "nowhere.xlsx")
    Traceback (most recent call last):
    redveil.errors.LoadError: nowhere.xlsx: no such file; check the path
    """
    check_file(path, place)
    _check_magic(path, place)
    damaged = f"{place}: cannot be read as a workbook; save it again, without a password, or as CSV"
    if zipfile.is_zipfile(path):
        _check_parts(path, place, damaged)
        quietly(lambda: check_size(path, place), damaged)
    book = _calmly(lambda: _workbook(path), damaged)
    position = _position(book, sheet, place)
    name = book.sheet_names[position]
    place = f"{place}, sheet {shown(name)}"
    opened = _calmly(lambda: book.get_sheet_by_index(position), damaged)
    for number, cells in enumerate(_cells(opened)):
        header = [cell_text(cell) for cell in cells]
        named = tuple(i for i, text in enumerate(header) if text is not None and text.strip())
        if named:
            names = check_names([header[i] or "" for i in named], place)
            sheets = tuple(book.sheet_names)
            layout = Layout(sheet=name if len(sheets) > 1 else None)
            return ExcelSheet(place, names, layout, named, number, opened, sheets)
    raise LoadError(f"{place}: no cells; name another sheet (dialect.sheetName)")


def _cells(sheet: Any) -> Iterator[list[Cell]]:
    # Some versions of the reader fail on a sheet without cells.
    return iter(()) if sheet.start is None else iter(sheet.iter_rows())


def _calmly(action: Callable[[], T], message: str) -> T:
    """Return the result of an action of the reader, or raise a LoadError, also if it panics."""
    try:
        return quietly(action, message)
    except (Exception, KeyboardInterrupt, SystemExit):
        raise
    except BaseException:
        pass
    raise LoadError(message)


def _workbook(path: Path) -> Any:
    try:
        import python_calamine
    except ImportError:
        message = "reading Excel files needs python-calamine; install redveil[excel]"
        raise LoadError(message) from None
    with path.open("rb") as file:
        return python_calamine.CalamineWorkbook.from_filelike(file)


def _position(book: Any, sheet: str | int | None, place: str) -> int:
    """Return the position of the declared sheet, or of the first that has rows and columns."""
    names = list(book.sheet_names)
    if isinstance(sheet, str):
        if sheet in names:
            return names.index(sheet)
        close = get_close_matches(sheet, names, n=1)
        remedy = f"did you mean {shown(close[0])}?" if close else "check dialect.sheetName"
        raise LoadError(f"{place}: no sheet {shown(sheet)}; {remedy}")
    if sheet is not None:
        if sheet <= len(names):
            return sheet - 1
        raise LoadError(f"{place}: {len(names)} sheets; check dialect.sheetNumber")
    for position, one in enumerate(book.sheets_metadata):
        if str(one.typ).endswith("WorkSheet"):
            return position
    raise LoadError(f"{place}: no sheet with cells; save it as CSV")


def _check_magic(path: Path, place: str) -> None:
    with path.open("rb") as file:
        start = file.read(4)
    # By content, not by name: many programs write .xls files that are .xlsx.
    if start == OLE_MAGIC:
        raise LoadError(
            f"{place}: an old .xls file, or protected by a password; save it as .xlsx, without "
            "a password"
        )
    if start != ZIP_MAGIC:
        raise LoadError(f"{place}: not a workbook; if it is text, rename it to end in .csv or .tsv")


def _check_parts(path: Path, place: str, damaged: str) -> None:
    def parts() -> list[str]:
        with zipfile.ZipFile(path) as archive:
            return archive.namelist()

    names = quietly(parts, damaged)
    # The reader goes by content, too.
    if "content.xml" in names:
        raise LoadError(f"{place}: an OpenDocument workbook (.ods); save it as .xlsx")
    if any(name.lower().endswith("workbook.bin") for name in names):
        raise LoadError(f"{place}: a binary workbook (.xlsb); save it as .xlsx")


def _column_letters(number: int) -> str:
    letters = ""
    while number:
        number, digit = divmod(number - 1, 26)
        letters = chr(ord("A") + digit) + letters
    return letters
