"""Read typed tables: pandas, Polars and PyArrow tables, and Parquet files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
from pyarrow import parquet, types

from redveil.data.distinct import distinct
from redveil.data.layout import Layout
from redveil.data.raw import RawTable, check_names, quietly, shown
from redveil.data.text_file import check_file
from redveil.errors import LoadError

_PARQUET_MAGIC: Final = b"PAR1"


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """A table with typed columns; a column is converted when it is read.

    >>> frame = open_frame(pa.table({"id": [1, 2]}), "left frame")
    >>> frame.read(["id"]).columns["id"].to_pylist()
    [1, 2]
    """

    place: str
    names: tuple[str, ...]
    fetch: Callable[[int], pa.ChunkedArray]
    layout: Layout = field(default_factory=Layout)

    def read(self, wanted: Sequence[str]) -> RawTable:
        """Read some of the columns."""
        columns = {name: self._column(name) for name in wanted}
        rows = max((len(column) for column in columns.values()), default=0)
        if rows == 0:
            raise LoadError(f"{self.place}: no rows; pass a table with rows")
        return RawTable(self.place, rows, columns, self._where)

    def _column(self, name: str) -> pa.ChunkedArray:
        complaint = (
            f"{self.place}, column {shown(name)}: mixed or unsupported types; "
            "convert it to text, numbers or Booleans"
        )
        position = self.names.index(name)
        column = quietly(lambda: simplified(self.fetch(position)), complaint)
        if column is None:
            raise LoadError(complaint)
        return column

    def _where(self, row: int) -> str:
        return f"{self.place}, row {row + 1}"


def simplified(column: pa.ChunkedArray) -> pa.ChunkedArray | None:
    """Return a column as text, numbers or Booleans, or None if it has another type.

    >>> simplified(pa.chunked_array([pa.array(["a", "b", "a"]).dictionary_encode()])).to_pylist()
    ['a', 'b', 'a']
    """
    if isinstance(column.type, pa.BaseExtensionType):
        column = column.cast(column.type.storage_type)
    if types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    kind = column.type
    if types.is_null(kind) or types.is_string_view(kind) or types.is_binary(kind):
        return column.cast(pa.string())
    if types.is_large_binary(kind):
        return column.cast(pa.large_string())
    if types.is_float16(kind):
        return column.cast(pa.float64())
    if types.is_decimal(kind):
        return _decimal_texts(column)
    plain = (
        types.is_boolean,
        types.is_integer,
        types.is_floating,
        types.is_string,
        types.is_large_string,
    )
    return column if any(fits(kind) for fits in plain) else None


def _decimal_texts(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return decimals as text without trailing zeros.

    Libraries give all values of a column the same number of decimal places. The text of one
    entity's value must not depend on other entities, so trailing zeros are removed.
    """
    values, index = distinct(column)
    texts = [None if value is None else _plain(f"{value:f}") for value in values]
    return pa.chunked_array([pa.array(texts, pa.string()).take(pa.array(index))])


def _plain(digits: str) -> str:
    return digits.rstrip("0").rstrip(".") if "." in digits else digits


def open_frame(given: object, place: str) -> Frame:
    """Wrap a pandas, Polars or PyArrow table, without importing libraries that are not used.

    >>> open_frame([1, 2], "left")
    Traceback (most recent call last):
    redveil.errors.LoadError: left: not a table; pass a path or a pandas, Polars or PyArrow table
    """
    libraries = {base.__module__.partition(".")[0] for base in type(given).__mro__}
    openers = {"pandas": _pandas, "polars": _polars, "pyarrow": _arrow}
    for library, opener in openers.items():
        if library in libraries:
            frame = quietly(partial(opener, given, place), _not_a_table(place))
            check_names(frame.names, place)
            return frame
    raise LoadError(_not_a_table(place))


def _not_a_table(place: str) -> str:
    return f"{place}: not a table; pass a path or a pandas, Polars or PyArrow table"


def _pandas(given: Any, place: str) -> Frame:
    def fetch(position: int) -> pa.ChunkedArray:
        array = pa.array(given.iloc[:, position], from_pandas=True)
        return array if isinstance(array, pa.ChunkedArray) else pa.chunked_array([array])

    return Frame(place, tuple(str(name) for name in given.columns), fetch)


def _polars(given: Any, place: str) -> Frame:
    import polars as pl

    def fetch(position: int) -> pa.ChunkedArray:
        column = given.to_series(position).to_frame()
        return column.to_arrow(compat_level=pl.CompatLevel.oldest()).column(0)

    if not isinstance(given, pl.DataFrame):
        raise LoadError(f"{place}: not a Polars DataFrame; collect or convert it first")
    return Frame(place, tuple(given.columns), fetch)


def _arrow(given: Any, place: str) -> Frame:
    table = pa.Table.from_batches([given]) if isinstance(given, pa.RecordBatch) else given
    return Frame(place, tuple(table.column_names), table.column)


@dataclass(frozen=True, slots=True, eq=False)
class ParquetFile:
    """A Parquet file whose footer has been read.

    >>> ParquetFile("left.parquet", ("id", "age"), None).names
    ('id', 'age')
    """

    place: str
    names: tuple[str, ...]
    file: Any
    layout: Layout = field(default_factory=Layout)

    def read(self, wanted: Sequence[str]) -> RawTable:
        """Read some of the columns."""
        damaged = f"{self.place}: damaged Parquet data; copy or write the file again"
        table = quietly(lambda: self.file.read(columns=list(wanted)), damaged)
        return open_frame(table, self.place).read(wanted)


def open_parquet(path: Path, place: str) -> ParquetFile:
    """Read the footer of a Parquet file.

    >>> open_parquet(Path("nowhere.parquet"), "nowhere.parquet")
    Traceback (most recent call last):
    redveil.errors.LoadError: nowhere.parquet: no such file; check the path
    """
    check_file(path, place)
    with path.open("rb") as raw:
        if raw.read(4) != _PARQUET_MAGIC:
            raise LoadError(f"{place}: not a Parquet file; rename it to match its format")

    damaged = f"{place}: damaged Parquet data; copy or write the file again"
    file = quietly(lambda: parquet.ParquetFile(path), damaged)
    names = check_names(quietly(lambda: file.schema_arrow.names, damaged), place)
    return ParquetFile(place, names, file)
