"""Rows as they were read: names and Arrow columns, nothing converted yet."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Protocol, TypeVar

import pyarrow as pa

from redveil.data.layout import Layout
from redveil.errors import LoadError, RedveilError

T = TypeVar("T")

LONGEST_NAME: Final = 60


@dataclass(frozen=True, slots=True, eq=False)
class RawTable:
    """The columns asked for, each `rows` long: texts from text files, Arrow's own types otherwise.

    `where` says where a row is found ("left.csv, line 7"); it may rescan the file, so it is for
    errors only. `markers` are texts that the file's format itself reads as missing.

    >>> table = RawTable("left.csv", 2, {}, lambda row: f"left.csv, line {row + 2}")
    >>> table.cell(0, "age")
    'left.csv, line 2, column age'
    """

    place: str
    rows: int
    columns: Mapping[str, pa.ChunkedArray]
    where: Callable[[int], str]
    markers: tuple[str, ...] = ()

    def cell(self, row: int, column: str) -> str:
        """Name the place of one cell, never its value."""
        return f"{self.where(row)}, column {shown(column)}"


class Source(Protocol):
    r"""A table whose column names are known and whose rows can be read.

    >>> from redveil.data.csv_file import open_csv
    >>> source: Source = open_csv(b"id,age\n1,30", Layout(), "left.csv")
    >>> source.read(["age"]).rows
    1
    """

    @property
    def place(self) -> str:
        """What messages call it: the file's path, or "left frame"."""

    @property
    def names(self) -> tuple[str, ...]:
        """The columns' names, in order, all different."""

    @property
    def layout(self) -> Layout:
        """What its text looks like, if it is a text file."""

    def read(self, wanted: Sequence[str]) -> RawTable:
        """Read some of the columns; a LoadError says what is wrong and where."""


def shown(name: str) -> str:
    """Return a name fit for a one-line message.

    >>> shown("two" + chr(10) + "lines")
    'two lines'
    """
    clean = "".join(c if c.isprintable() else " " for c in name)
    return clean if len(clean) <= LONGEST_NAME else clean[: LONGEST_NAME - 1] + "…"


def check_names(names: Sequence[str], place: str) -> tuple[str, ...]:
    """Return the names if each column has its own.

    The message counts columns instead of naming them: the first line of a file without a header
    is a person's row.

    >>> check_names(["id", "age", "age"], "left.csv")
    Traceback (most recent call last):
    redveil.errors.LoadError: left.csv: columns 2 and 3 have the same name; give each its own name
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
                "give each its own name"
            )
        first[name] = position
    return tuple(names)


def quietly(action: Callable[[], T], message: str) -> T:
    """Run an action of another library; whatever goes wrong becomes a LoadError with our message.

    The library's own message is dropped, for it may quote a row.

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
    # Raised outside the handler, so that no __context__ keeps the original alive.
    raise LoadError(message)
