"""Read typed tables: pandas and Polars frames, Arrow tables of any library, and Parquet files."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import compute, types

from redveil.data.distinct import distinct, label
from redveil.data.layout import Layout
from redveil.data.raw import Piece, RawTable, check_names, quietly, shown
from redveil.data.text_file import check_file
from redveil.errors import LoadError

_PARQUET_MAGIC: Final = b"PAR1"
_MANY_ROWS: Final = 50_000
# Row groups are read together until they have this many rows.
_PIECE_ROWS: Final = 2**18
# The years that have a text. Libraries write others in different ways.
_FIRST_YEAR: Final = 1
_LAST_YEAR: Final = 9999
# Their days since 1970, and how many units of a typed column are in a day.
_FIRST_DAY: Final = (date(_FIRST_YEAR, 1, 1) - date(1970, 1, 1)).days
_LAST_DAY: Final = (date(_LAST_YEAR, 12, 31) - date(1970, 1, 1)).days
_PER_DAY: Final = {"day": 1, "s": 86_400, "ms": 86_400_000, "us": 86_400_000_000}
# The zeros at the end of a fraction of a second, and its point if nothing else is left.
_FRACTION_ZEROS: Final = re.compile(r"(\.[0-9]*[1-9])0+$|\.0+$")


@dataclass(frozen=True, slots=True, eq=False)
class Typed:
    """A column as text, numbers or Booleans; dates are text in ISO 8601.

    Outside of the years 1 to 9999, a date has no text and is missing.

    exact: whether the texts were written from numbers, so that none is rounded, or from dates
    dates: whether they were written from dates

    >>> Typed(pa.chunked_array([["1.5"]]), exact=True).exact
    True
    """

    column: pa.ChunkedArray
    exact: bool = False
    dates: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """A table with typed columns; a column is converted when it is read.

    kinds: the names of the columns' types, for messages

    >>> frame = open_frame(pa.table({"id": [1, 2]}), "left frame")
    >>> frame.read(["id"]).columns["id"].to_pylist()
    [1, 2]
    """

    place: str
    names: tuple[str, ...]
    kinds: tuple[str, ...]
    fetch: Callable[[int], Typed | None]
    layout: Layout = field(default_factory=Layout)

    def read(self, wanted: Sequence[str]) -> RawTable:
        """Read some of the columns."""
        columns = {name: self._column(name) for name in wanted}
        rows = max((len(one.column) for one in columns.values()), default=0)
        return RawTable(
            self.place,
            rows,
            {name: one.column for name, one in columns.items()},
            self._where,
            typed=frozenset(name for name, one in columns.items() if one.exact),
            dated=frozenset(name for name, one in columns.items() if one.dates),
        )

    def _column(self, name: str) -> Typed:
        position = self.names.index(name)
        complaint = (
            f"{self.place}, column {shown(name)}: mixed or unsupported types "
            f"({self.kinds[position]}); convert it to text, numbers, dates or Booleans"
        )
        column = quietly(lambda: self.fetch(position), complaint)
        if column is None:
            raise LoadError(complaint)
        return column

    def _where(self, rows: Sequence[int]) -> list[str]:
        return [f"{self.place}, row {row + 1}" for row in rows]


def simplified(column: pa.ChunkedArray) -> Typed | None:
    """Return a column as text, numbers or Booleans, or None if it has another type.

    >>> names = pa.chunked_array([pa.array(["a", "b", "a"]).dictionary_encode()])
    >>> simplified(names).column.to_pylist()
    ['a', 'b', 'a']
    """
    if isinstance(column.type, pa.BaseExtensionType):
        column = column.cast(column.type.storage_type)
    if types.is_dictionary(column.type):
        column = _spelled_out(column)
    kind = column.type
    if types.is_null(kind) or types.is_string_view(kind) or types.is_binary(kind):
        return Typed(column.cast(pa.string()))
    if types.is_large_binary(kind) or types.is_float16(kind):
        return Typed(column.cast(pa.float64() if types.is_float16(kind) else pa.large_string()))
    if types.is_decimal(kind):
        values, index = distinct(column)
        texts = pa.array([label(value) for value in values], pa.string())
        return Typed(pa.chunked_array([texts.take(pa.array(index))]), exact=True)
    if types.is_timestamp(kind) or types.is_date(kind):
        # A time zone only says how moments are displayed; they are stored in UTC.
        plain_type = pa.timestamp(kind.unit) if types.is_timestamp(kind) else pa.date32()
        # Not safe: a date with a time of day is that date.
        texts = _of_known_years(column).cast(plain_type, safe=False).cast(pa.string())
        return Typed(_without_zeros(texts), exact=True, dates=True)
    plain = (
        types.is_boolean,
        types.is_integer,
        types.is_floating,
        types.is_string,
        types.is_large_string,
    )
    return Typed(column) if any(fits(kind) for fits in plain) else None


def _spelled_out(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return the values of a column that was written with a dictionary.

    >>> names = pa.chunked_array([pa.array(["a", "b", "a"]).dictionary_encode()])
    >>> _spelled_out(names).to_pylist()
    ['a', 'b', 'a']
    """
    kind = column.type.value_type
    if types.is_string(kind):
        # Short texts in the dictionary may add up to more than two gigabytes in the column.
        kind = pa.large_string()
        column = column.cast(pa.dictionary(column.type.index_type, kind))
    return column.cast(kind)


def open_frame(given: object, place: str) -> Frame:
    """Wrap a table, without importing libraries that are not used.

    given: a pandas or Polars DataFrame, or anything with the Arrow PyCapsule interface, such as a
           PyArrow table or a DuckDB relation

    >>> open_frame([1, 2], "left")
    Traceback (most recent call last):
    redveil.errors.LoadError: left: not a table; pass a path, or a pandas, Polars or Arrow table
    """
    libraries = {base.__module__.partition(".")[0] for base in type(given).__mro__}
    complaint = f"{place}: not a table; pass a path, or a pandas, Polars or Arrow table"
    # pandas has the Arrow interface too, but types columns of objects by looking at all rows.
    if "pandas" in libraries:
        opener = _pandas
    elif "polars" in libraries:
        opener = _polars
    elif any(hasattr(given, name) for name in ("__arrow_c_stream__", "__arrow_c_array__")):
        opener = _arrow
    else:
        raise LoadError(complaint)
    frame = quietly(partial(opener, given, place), complaint)
    check_names(frame.names, place)
    return frame


def _pandas(given: Any, place: str) -> Frame:
    import pandas as pd

    def fetch(position: int) -> Typed | None:
        series = given.iloc[:, position]
        is_coded = str(series.dtype) == "category"
        if is_coded and series.dtype.categories.dtype != object:
            return _decoded(plain(pd.Series(series.dtype.categories)), series.cat.codes.to_numpy())
        # Categories can be objects of any type.
        if is_coded or series.dtype == object:
            values = series.astype(object).to_numpy(copy=True)
            # pandas fails on a signaling NaN, which is missing like any other.
            values[[isinstance(one, Decimal) and one.is_snan() for one in values]] = None
            return typed_objects(values, pd.notna(values))
        return plain(series)

    def plain(series: Any) -> Typed | None:
        array = pa.array(series, from_pandas=True)
        return simplified(
            array if isinstance(array, pa.ChunkedArray) else pa.chunked_array([array])
        )

    return Frame(place, tuple(map(str, given.columns)), _kinds(given.dtypes), fetch)


def _decoded(categories: Typed | None, codes: NDArray[np.signedinteger]) -> Typed | None:
    """Return a column by the codes of its categories; a negative code is missing.

    Not by way of objects: most versions of pandas fail to make objects of some moments, or crash.

    >>> _decoded(Typed(pa.chunked_array([["a", "b"]])), np.array([1, -1])).column.to_pylist()
    ['b', None]
    """
    if categories is None:
        return None
    column = categories.column.take(pa.array(codes, mask=codes < 0))
    return replace(categories, column=column)


def typed_objects(values: NDArray[np.object_], present: NDArray[np.bool_]) -> Typed | None:
    """Return a column of Python objects as text, numbers or Booleans; None if it mixes them.

    values:  object[N]
    present: bool[N], where a value is not missing

    Numbers become text, each on its own, because no type holds integers, floats and decimals of
    any size without rounding some. So one value never changes how the others are read.

    >>> numbers = np.array([7, 0.5, Decimal("1.50")], dtype=object)
    >>> typed_objects(numbers, np.array([True, True, True])).column.to_pylist()
    ['7', '0.5', '1.5']
    >>> typed_objects(np.array([True, 1], dtype=object), np.array([True, True])) is None
    True
    """
    families = {_family(kind) for kind in set(map(type, values[present]))}
    if not families:
        return Typed(pa.chunked_array([pa.nulls(len(values), pa.string())]))
    if len(families) > 1 or None in families:
        return None
    (family,) = families
    plain = np.full(len(values), None, dtype=object)
    writers: dict[str | None, tuple[Callable[[Any], Any], pa.DataType]] = {
        "text": (_text, pa.large_string()),
        "Boolean": (bool, pa.bool_()),
        "number": (_number_text, pa.large_string()),
        "date": (_date_text, pa.large_string()),
    }
    write, kind = writers[family]
    plain[present] = [write(value) for value in values[present]]
    texts = pa.chunked_array([pa.array(plain, kind)])
    return Typed(texts, exact=family in ("number", "date"), dates=family == "date")


def _family(kind: type) -> str | None:
    """Return what the values of a Python type are, or None if they are not supported."""
    families: dict[str, tuple[type, ...]] = {
        "text": (str, bytes),
        # Before numbers: bool is a subclass of int.
        "Boolean": (bool, np.bool_),
        "number": (int, float, Decimal, np.integer, np.floating),
        # A datetime is a date too.
        "date": (date, np.datetime64),
    }
    return next((name for name, kinds in families.items() if issubclass(kind, kinds)), None)


def _text(value: str | bytes) -> str:
    return value.decode("utf-8") if isinstance(value, bytes) else str(value)


def _of_known_years(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return moments or dates with those missing that have no text.

    >>> years = pa.chunked_array([pa.array([0, 2**40], pa.timestamp("s"))])
    >>> _of_known_years(years).is_null().to_pylist()
    [False, True]
    """
    kind = column.type
    unit = {pa.date32(): "day", pa.date64(): "ms"}.get(kind) or kind.unit
    if unit == "ns":
        # Years 1677 to 2262.
        return column
    size = _PER_DAY[unit]
    numbers = column.cast(pa.int32() if unit == "day" else pa.int64()).cast(pa.int64())
    known = compute.and_(
        compute.greater_equal(numbers, _FIRST_DAY * size),
        compute.less(numbers, (_LAST_DAY + 1) * size),
    )
    return compute.if_else(known, column, pa.scalar(None, kind))


def _date_text(value: date | np.datetime64) -> str | None:
    if isinstance(value, datetime):
        try:
            moment = value if value.tzinfo is None else value.astimezone(UTC).replace(tzinfo=None)
        except Exception:
            # In UTC it would be before the year 1 or after 9999, or the time zone, which can be
            # anybody's code, does not know: not a date that can be read.
            return None
        is_known = _FIRST_YEAR <= moment.year <= _LAST_YEAR
        return _FRACTION_ZEROS.sub(r"\1", moment.isoformat(" ")) if is_known else None
    if isinstance(value, date):
        return value.isoformat()
    # NumPy cannot convert units below nanoseconds to years.
    unit = np.datetime_data(value.dtype)[0]
    known = value.astype("datetime64[ns]") if unit in ("ps", "fs", "as") else value
    year = int(known.astype("datetime64[Y]").astype(np.int64)) + 1970
    if not _FIRST_YEAR <= year <= _LAST_YEAR:
        return None
    # With a time of day, as pandas has it in a column of moments.
    is_coarse = unit in ("Y", "M", "W", "D", "h", "m")
    fine = known.astype("datetime64[s]") if is_coarse else known
    return _FRACTION_ZEROS.sub(r"\1", str(fine).replace("T", " "))


def _without_zeros(texts: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return the texts of moments, whatever the unit of their column is.

    One value with nanoseconds gives all values of a column nine decimals.

    >>> moments = pa.chunked_array([pa.array([1500, 2000], pa.timestamp("ms"))])
    >>> _without_zeros(moments.cast(pa.string())).to_pylist()
    ['1970-01-01 00:00:01.5', '1970-01-01 00:00:02']
    """
    short = compute.replace_substring_regex(texts, _FRACTION_ZEROS.pattern, r"\1")
    return short if isinstance(short, pa.ChunkedArray) else pa.chunked_array([short])


def _number_text(value: Any) -> str | None:
    if isinstance(value, np.integer | np.floating):
        value = value.item()
    return label(value)


def _polars(given: Any, place: str) -> Frame:
    import polars as pl

    def fetch(position: int) -> Typed | None:
        series = given.to_series(position)
        if str(series.dtype) in ("Int128", "UInt128"):
            # No type of Arrow's holds all of them; one large number makes a column of these.
            texts = series.cast(pl.String).to_arrow()
            return Typed(pa.chunked_array([texts.cast(pa.large_string())]), exact=True)
        column = series.to_frame()
        return simplified(column.to_arrow(compat_level=pl.CompatLevel.oldest()).column(0))

    if not isinstance(given, pl.DataFrame):
        raise LoadError(f"{place}: not a Polars DataFrame; collect or convert it first")
    return Frame(place, tuple(given.columns), _kinds(given.dtypes), fetch)


def _arrow(given: Any, place: str) -> Frame:
    table = given if isinstance(given, pa.Table) else _as_table(given)
    names = tuple(table.column_names)
    kinds = _kinds(table.schema.types)
    return Frame(place, names, kinds, lambda position: simplified(table.column(position)))


def _kinds(given: Iterable[object]) -> tuple[str, ...]:
    """Return the names of types, without their parameters, which may be values.

    >>> _kinds([pa.struct({"secret": pa.int8()}), np.dtype(object)])
    ('struct', 'object')
    """
    return tuple("".join(re.findall(r"^\w+", str(one))) for one in given)


def _as_table(given: Any) -> pa.Table:
    """Return a table; of an array of structs, a null is a row of nulls, and so has no key."""
    if not isinstance(given, pa.RecordBatch) and not hasattr(given, "__arrow_c_stream__"):
        given = pa.array(given)
    if isinstance(given, pa.StructArray | pa.ChunkedArray):
        return pa.Table.from_arrays(given.flatten(), names=[one.name for one in given.type])
    return pa.table(given)


@dataclass(frozen=True, slots=True, eq=False)
class ParquetFile:
    """A Parquet file whose footer has been read.

    >>> ParquetFile("left.parquet", ("id", "age"), None, Path("left.parquet")).names
    ('id', 'age')
    """

    place: str
    names: tuple[str, ...]
    footer: Any
    path: Path
    layout: Layout = field(default_factory=Layout)

    @property
    def rows(self) -> int:
        """The number of rows, as the footer says."""
        rows: int = self.footer.num_rows
        return rows

    def read(self, wanted: Sequence[str]) -> RawTable:
        """Read some of the columns."""
        # Without Arrow's threads, small files are read as fast (see csv_file).
        threads = self.rows > _MANY_ROWS

        def read() -> pa.Table:
            with self._opened() as file:
                return file.read(columns=list(wanted), use_threads=threads)

        table = quietly(read, self._damaged)
        # Arrow reads as many rows as the footer says, however many there are.
        if table.num_rows != self.rows or not _adds_up(self.footer):
            raise LoadError(self._damaged)
        return open_frame(table, self.place).read(wanted)

    @property
    def columnar(self) -> bool:
        """Whether a column can be read without the others."""
        return True

    def pieces(self, wanted: Sequence[str]) -> Iterator[Piece]:
        """Yield what reads some columns of the next row groups, for all rows in turn."""
        together = list(self.groups())
        for number, groups in enumerate(together, start=1):
            yield Piece(partial(self.read_groups, groups, wanted), number / len(together))

    def groups(self) -> Iterator[list[int]]:
        """Yield the numbers of row groups that are read together; at least once."""
        if not _adds_up(self.footer):
            raise LoadError(self._damaged)
        groups, rows = list[int](), 0
        for group in range(self.footer.num_row_groups):
            groups.append(group)
            rows += self.footer.row_group(group).num_rows
            if rows >= _PIECE_ROWS:
                yield groups
                groups, rows = [], 0
        if groups or not self.footer.num_row_groups:
            yield groups

    def only(self, groups: Sequence[int]) -> ParquetGroups:
        """Return some of the row groups, as a table of their own."""
        return ParquetGroups(self, tuple(groups))

    def read_groups(self, groups: Sequence[int], wanted: Sequence[str]) -> RawTable:
        """Read some columns of some row groups."""

        def read() -> pa.Table:
            with self._opened() as file:
                return file.read_row_groups(list(groups), columns=list(wanted), use_threads=False)

        table = quietly(read, self._damaged)
        # Arrow reads as many rows as the footer says, however many there are.
        if table.num_rows != sum(self.footer.row_group(one).num_rows for one in groups):
            raise LoadError(self._damaged)
        return open_frame(table, self.place).read(wanted)

    def _opened(self) -> Any:
        """Return a reader of its own, because one is not for several threads.

        None is kept: a table may have more files than a process may open.
        """
        return _parquet().ParquetFile(self.path, metadata=self.footer)

    @property
    def _damaged(self) -> str:
        return f"{self.place}: damaged Parquet data; copy or write the file again"


def _adds_up(footer: Any) -> bool:
    """Return whether the numbers of rows in a Parquet footer agree with each other."""
    groups = [footer.row_group(number) for number in range(footer.num_row_groups)]
    flat = (
        n for n in range(footer.num_columns) if not footer.schema.column(n).max_repetition_level
    )
    one = next(flat, None)
    return sum(group.num_rows for group in groups) == footer.num_rows and all(
        one is None or group.column(one).num_values == group.num_rows for group in groups
    )


@dataclass(frozen=True, slots=True, eq=False)
class ParquetGroups:
    """Some row groups of a Parquet file, as a table of their own."""

    file: ParquetFile
    groups: tuple[int, ...]

    @property
    def place(self) -> str:
        """The name in messages."""
        return self.file.place

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns, in order, all different."""
        return self.file.names

    @property
    def columnar(self) -> bool:
        """Whether a column can be read without the others."""
        return True

    def pieces(self, wanted: Sequence[str]) -> Iterator[Piece]:
        """Yield what reads some columns of these row groups."""
        yield Piece(partial(self.file.read_groups, self.groups, wanted), 1.0)


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
    footer = quietly(lambda: _parquet().read_metadata(path), damaged)
    names = quietly(lambda: footer.schema.to_arrow_schema().names, damaged)
    return ParquetFile(place, check_names(names, place), footer, path)


def _parquet() -> Any:
    """Return Arrow's reader of Parquet files, which brings file systems and their network."""
    from pyarrow import parquet

    return parquet
