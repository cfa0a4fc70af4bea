"""Open files, folders, tables of databases and frames."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TypeAlias, TypeVar

from redveil.data.address import DELIMITED_FILES, PARQUET_FILES, Address, Where
from redveil.data.csv_file import CsvFile, open_csv
from redveil.data.excel import SUFFIXES, open_excel
from redveil.data.folder import CsvFolder, ParquetFolder, open_csv_folder, open_parquet_folder
from redveil.data.frame import Frame, ParquetFile, open_frame, open_parquet
from redveil.data.layout import layout_of
from redveil.data.postgresql_table import PostgresqlTable, open_postgresql
from redveil.data.raw import Source, Stream, WholeTable, quietly, shown
from redveil.data.sqlite_table import SqliteTable, open_sqlite
from redveil.errors import LoadError
from redveil.schema import Side, View

T = TypeVar("T")
# What can be read as a whole, and in pieces.
Many: TypeAlias = ParquetFolder | CsvFolder | SqliteTable | PostgresqlTable


def open_source(given: object, side: Side, view: View | None) -> Source:
    """Open what an address names, or a pandas, Polars or Arrow table.

    The view declares the layout of text files. Without a view, it is guessed.

    >>> open_source("left.doc", Side.LEFT, None)
    Traceback (most recent call last):
    redveil.errors.LoadError: left.doc: unknown file type; use .csv, .tsv, .xlsx or .parquet
    """
    if not isinstance(given, str | Path | Address):
        return open_frame(given, f"{side} frame")
    address = Address.of(given)
    if address.where is Where.FILE:
        path, sheet = split_sheet(address.path)
        place = " ".join(str(path).splitlines())
        return _opening(lambda: _open_file(path, sheet, view, place), place)
    return _opening(lambda: _open_many(address, view), address.place)


def open_stream(given: object, side: Side, view: View) -> Stream:
    """Open a table to be loaded in pieces."""
    if isinstance(given, str | Path | Address):
        address = Address.of(given)
        if address.where is not Where.FILE:
            return _opening(lambda: _open_many(address, view), address.place)
    source = open_source(given, side, view)
    if isinstance(source, ParquetFile | CsvFile):
        return source
    return WholeTable(source, columnar=isinstance(source, Frame))


def _opening(action: Callable[[], T], place: str) -> T:
    return quietly(action, f"{place}: cannot be read; check that its format matches its name")


def _open_many(address: Address, view: View | None) -> Many:
    """Open what is more than one file, or none: a folder, or a table of a database."""
    if address.where is Where.SQLITE:
        return open_sqlite(address)
    if address.where is Where.POSTGRESQL:
        return open_postgresql(address)
    where, paths = address.files()
    if where is Where.PARQUET:
        return open_parquet_folder(paths, address.place)
    return open_csv_folder(paths, view, address.place)


def split_sheet(path: Path) -> tuple[Path, str | None]:
    """Return the path of a workbook and the sheet after `#`, if there is one.

    >>> split_sheet(Path("data/book.xlsx#Labs"))[1], split_sheet(Path("left#2.csv"))[1]
    ('Labs', None)
    """
    for suffix in SUFFIXES:
        place = path.name.lower().find(f"{suffix}#")
        if place >= 0 and not _exists(path):
            end = place + len(suffix)
            return path.with_name(path.name[:end]), path.name[end + 1 :]
    return path, None


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):
        return False


def _open_file(path: Path, sheet: str | None, view: View | None, place: str) -> Source:
    name = path.name.lower()
    if name.endswith(PARQUET_FILES):
        return open_parquet(path, place)
    if name.endswith(SUFFIXES):
        return open_excel(path, sheet or (view.sheet if view else None), place)
    if name.endswith(DELIMITED_FILES):
        return open_csv(path, layout_of([path], view), place)
    raise LoadError(f"{place}: unknown file type; use .csv, .tsv, .xlsx or .parquet")


def check_columns(source: Source | Stream, view: View) -> tuple[str, ...]:
    """Return the names of the key and the attributes, or raise a LoadError if one is missing.

    >>> import pyarrow as pa
    >>> from redveil.schema import Attribute, Kind
    >>> source = open_source(pa.table({"id": [1], "Age": [2]}), Side.LEFT, None)
    >>> check_columns(source, View("left", "id", (Attribute("age", Kind.NUMERIC),)))
    Traceback (most recent call last):
    redveil.errors.LoadError: left frame: no column age; did you mean Age?
    """
    wanted = (view.key, *view.names)
    missing = [name for name in wanted if name not in source.names]
    if not missing:
        return wanted
    close = suggestion(missing[0], source.names)
    if missing[0] == view.key:
        raise LoadError(
            f"{source.place}: no key column {shown(view.key)}; {close or _key_remedy(source)}"
        )
    remedy = "check the order of the files, add it, or remove it from the schema"
    raise LoadError(f"{source.place}: no column {shown(missing[0])}; {close or remedy}")


def _key_remedy(source: Source | Stream) -> str:
    """Return the likeliest remedy for a missing key column."""
    if len(source.names) == 1 and ", sheet " in source.place:
        return "only one column found; delete the rows above the header"
    if isinstance(source, SqliteTable | PostgresqlTable):
        return "set primaryKey to a column of the table"
    if len(source.names) == 1 and not source.place.endswith(" frame"):
        return "only one column found; check the delimiter (dialect.delimiter)"
    return "set primaryKey, or make the index a column"


def suggestion(name: str, names: Iterable[str]) -> str:
    """Suggest columns with a similar name, if that reveals no value; "" if there is none.

    The first line of a file without a header is the row of an entity, also if a frame was made of
    it, and a row can have the names of other columns as values. So a name must have the same
    letters and digits.

    >>> suggestion("patient", ["patient-4711", "gout"])
    ''
    >>> suggestion("patient_id", ["Patient ID", "gout"])
    'did you mean Patient ID?'
    """
    found = [other for other in names if _letters(other) == _letters(name)]
    return f"did you mean {' or '.join(map(shown, found[:3]))}?" if found else ""


def _letters(name: str) -> str:
    """Return the letters and digits of a name; the whole name, if it has none."""
    return "".join(filter(str.isalnum, name.casefold())) or name
