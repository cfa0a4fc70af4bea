"""Tables before conversion: column names and Arrow columns."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final, NamedTuple, Protocol, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import types

from redveil.data.distinct import distinct, label
from redveil.data.layout import Layout
from redveil.errors import LoadError, RedveilError, SealedError, innermost, stopped

T = TypeVar("T")

LONGEST_NAME: Final = 60


@dataclass(frozen=True, slots=True, eq=False)
class RawTable:
    """The requested columns, each of length `rows`: text from text files, otherwise Arrow types.

    where:   the places of some rows, in increasing order, as in "left.csv, line 7"; it may read the
             file again, so it is for messages only
    typed:   columns of text that was written from numbers, so that none is rounded, or from dates
    dated:   those of them that were written from dates
    mixed:   columns of which only some texts were written from numbers, Booleans or dates, and
             which, bool[rows]
    dates:   of these columns, which texts were written from dates, bool[rows]; where it does not
             say, those that mixed has

    >>> def where(rows):
    ...     return [f"left.csv, line {row + 2}" for row in rows]
    >>> RawTable("left.csv", 2, {}, where).cell(0, "age")
    'left.csv, line 2, column age'
    """

    place: str
    rows: int
    columns: Mapping[str, pa.ChunkedArray]
    where: Callable[[Sequence[int]], list[str]]
    typed: frozenset[str] = frozenset()
    dated: frozenset[str] = frozenset()
    mixed: Mapping[str, NDArray[np.bool_]] = field(default_factory=dict)
    dates: Mapping[str, NDArray[np.bool_]] = field(default_factory=dict)

    def cell(self, row: int, column: str) -> str:
        """Return the place of one value, never the value."""
        return f"{self.where([row])[0]}, column {shown(column)}"


def combined(
    place: str, tables: Sequence[RawTable], where: Callable[[Sequence[int]], list[str]]
) -> RawTable:
    """Return tables with the same columns, at least one, as one table.

    A column that has other types in another table becomes text, each value on its own.

    where: the places of the rows of all

    >>> one, other = (
    ...     RawTable("a", 1, {"age": pa.chunked_array([[age]])}, list) for age in (7, "8")
    ... )
    >>> both = combined("a and b", [one, other], list)
    >>> both.columns["age"].to_pylist(), both.mixed["age"].tolist()
    (['7', '8'], [True, False])
    """
    if len(tables) == 1:
        return replace(tables[0], place=place, where=where)
    columns: dict[str, pa.ChunkedArray] = {}
    flags: dict[str, dict[str, NDArray[np.bool_]]] = {"mixed": {}, "dates": {}}
    for name in tables[0].columns:
        kinds = {_kind(one, name) for one in tables}
        if len(kinds) == 1 and name not in tables[0].mixed:
            chunks = [chunk for one in tables for chunk in one.columns[name].chunks]
            columns[name] = pa.chunked_array(chunks, tables[0].columns[name].type)
            continue
        columns[name] = pa.chunked_array(
            [chunk for one in tables for chunk in _texts(one.columns[name]).chunks],
            pa.large_string(),
        )
        written = [_written(one, name) for one in tables]
        flags["mixed"][name] = np.concatenate([mixed for mixed, _ in written])
        flags["dates"][name] = np.concatenate([dates for _, dates in written])
    same = frozenset(columns) - frozenset(flags["mixed"])
    return RawTable(
        place,
        sum(one.rows for one in tables),
        columns,
        where,
        typed=tables[0].typed & same,
        dated=tables[0].dated & same,
        mixed=flags["mixed"],
        dates=flags["dates"],
    )


def _kind(table: RawTable, name: str) -> tuple[object, ...]:
    """Return what must be the same in two tables for their columns to be put together as is."""
    return (
        str(table.columns[name].type),
        name in table.typed,
        name in table.dated,
        name in table.mixed,
    )


def _texts(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return the text of each value."""
    text = pa.large_string()
    if types.is_string(column.type) or types.is_large_string(column.type):
        return column.cast(text)
    values, index = distinct(column)
    labels = pa.array([label(value) for value in values], text)
    return pa.chunked_array([labels.take(pa.array(index))])


def _written(table: RawTable, name: str) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return which texts of a column were written from typed values, and which from dates."""
    if name in table.mixed:
        return table.mixed[name], table.dates.get(name, table.mixed[name])
    kind = table.columns[name].type
    is_text = types.is_string(kind) or types.is_large_string(kind)
    typed = np.full(table.rows, not is_text or name in table.typed, dtype=np.bool_)
    return typed, np.full(table.rows, name in table.dated, dtype=np.bool_)


class Source(Protocol):
    """An opened table: its column names are known, its rows are not read yet.

    >>> from redveil.data.frame import open_frame
    >>> source: Source = open_frame(pa.table({"id": [1], "age": [30]}), "left frame")
    >>> source.read(["age"]).rows
    1
    """

    @property
    def place(self) -> str:
        """The name in messages: the file's path, or "left frame"."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns, in order, all different."""

    @property
    def layout(self) -> Layout:
        """The layout, if it is a text file."""

    def read(self, wanted: Sequence[str]) -> RawTable:
        """Read some of the columns, or raise a LoadError."""


class Piece(NamedTuple):
    """What reads the next rows of a table, and the share of the table that is then read."""

    read: Callable[[], RawTable]
    share: float


class Stream(Protocol):
    """An opened table that is read in pieces, for loading.

    >>> from redveil.data.frame import open_frame
    >>> stream: Stream = WholeTable(open_frame(pa.table({"id": [1]}), "left frame"), columnar=True)
    """

    @property
    def place(self) -> str:
        """The name in messages: the file's path, or "left frame"."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns, in order, all different."""

    @property
    def columnar(self) -> bool:
        """Whether a column can be read without the others."""

    def pieces(self, wanted: Sequence[str]) -> Iterator[Piece]:
        """Yield what reads some columns of the next rows, for all rows in turn; at least one.

        Pieces can be read by several threads. `RawTable.where` takes the file's rows in all.
        """


@dataclass(frozen=True, slots=True, eq=False)
class WholeTable:
    """A table that is read in one piece.

    >>> from redveil.data.frame import open_frame
    >>> stream = WholeTable(open_frame(pa.table({"age": [30]}), "left frame"), columnar=True)
    >>> [piece.read().rows for piece in stream.pieces(["age"])]
    [1]
    """

    source: Source
    columnar: bool

    @property
    def place(self) -> str:
        """The name in messages."""
        return self.source.place

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns, in order, all different."""
        return self.source.names

    def pieces(self, wanted: Sequence[str]) -> Iterator[Piece]:
        """Yield what reads some columns of all rows."""
        yield Piece(partial(self.source.read, wanted), 1.0)


def shown(name: str) -> str:
    """Return a name as short printable text for a one-line message.

    >>> shown("two" + chr(10) + "lines")
    'two lines'
    """
    clean = "".join(c if c.isprintable() else " " for c in name)
    return clean if len(clean) <= LONGEST_NAME else clean[: LONGEST_NAME - 1] + "…"


def check_names(names: Sequence[str], place: str) -> tuple[str, ...]:
    """Return the names of the columns, or raise a LoadError if they are empty or not unique.

    The message gives numbers instead of names: in a file without a header, the first line is the
    row of an entity.

    >>> check_names(["id", "age", "age"], "left.csv")
    Traceback (most recent call last):
    redveil.errors.LoadError: left.csv: columns 2 and 3 have the same name; rename one of them
    """
    first: dict[str, int] = {}
    for position, name in enumerate(names, start=1):
        if not name.strip():
            raise LoadError(
                f"{place}: column {position} has no name; name every column in the header"
            )
        if name in first:
            raise LoadError(
                f"{place}: columns {first[name]} and {position} have the same name; "
                "rename one of them"
            )
        first[name] = position
    return tuple(names)


def quietly(action: Callable[[], T], message: str) -> T:
    """Return the result of an action; replace errors of other libraries by a LoadError.

    Their own messages are dropped because they may quote a row.

    >>> quietly(lambda: float("secret"), "left.csv: cannot be read; save it as CSV")
    Traceback (most recent call last):
    redveil.errors.LoadError: left.csv: cannot be read; save it as CSV
    """
    try:
        return action()
    except RedveilError:
        raise
    except Exception:
        pass
    # Raised outside the handler, so that __context__ does not keep the original error.
    raise LoadError(message)


def caught(action: Callable[[], T], what: str) -> T | BaseException:
    """Return the result of an action, or what it would raise: its traceback would hold rows.

    what: the action, in an error that tells nothing else

    >>> type(caught(lambda: float("secret"), "loading"))
    <class 'redveil.errors.SealedError'>
    """
    try:
        return action()
    except (KeyboardInterrupt, SystemExit) as stop:
        return stopped(stop)
    except RedveilError as error:
        # Without the frames and the errors that it came from.
        error.__cause__ = error.__context__ = None
        return error.with_traceback(None)
    except BaseException as error:
        # Not only Exception: a library in another language may panic.
        return SealedError(f"{what} failed ({innermost(error)}); its reason stays sealed")
