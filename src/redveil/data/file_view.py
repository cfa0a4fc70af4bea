"""One view as its file has it: the keys of its rows, and its columns, read or still to be read."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import TypeVar

import numpy as np
import pyarrow as pa

from redveil.data.binning import code_type
from redveil.data.join import Keys, key_texts, read_keys
from redveil.data.packing import FileColumn, FilePiece, Rows, Taken
from redveil.data.raw import Piece, RawTable, Stream, quietly
from redveil.data.report import ViewCounts
from redveil.data.source import check_columns
from redveil.schema import Side, View
from redveil.waiting import run_all

R = TypeVar("R")


@dataclass(frozen=True, slots=True, eq=False)
class FileView:
    """One view in the order of its file.

    first:   the first piece that was read, which knows the places of all rows
    keys:    the entity key of each row
    ignored: columns that the schema does not declare
    stream:  where columns are still to be read from, if that can be done one by one
    columns: the columns in the order of the schema, empty if they are still to be read
    """

    side: Side
    view: View
    stream: Stream | None
    first: RawTable
    keys: Keys
    ignored: tuple[str, ...]
    columns: tuple[FileColumn, ...]

    @classmethod
    def read(
        cls,
        stream: Stream,
        side: Side,
        view: View,
        *,
        packed: bool,
        progress: Callable[[float], None],
    ) -> FileView:
        """Check that a table has the declared columns, and read its keys.

        If a column cannot be read without the others, all of them are read.

        packed:   whether only bins and bits are kept
        progress: called with the completed share
        """
        wanted = check_columns(stream, view)
        declared = frozenset(wanted)
        ignored = tuple(name for name in stream.names if name not in declared)
        dtype = code_type(view) if packed else None
        columns = tuple(FileColumn(attribute, dtype) for attribute in view.attributes)
        now = () if stream.columnar else columns

        def read(piece: Piece) -> _Read:
            raw = _raw(piece, stream)
            pieces = [column.read(raw, view.missing_values) for column in now]
            return _Read(raw, raw.columns[view.key], pieces, piece.share)

        found: list[_Read] = []
        pieces = stream.pieces(wanted[:1] if stream.columnar else wanted)
        for one in _in_order(partial(read, piece) for piece in pieces):
            for column, values in zip(now, one.pieces, strict=True):
                column.append(values)
            # Only the keys of a piece are still needed, and the first piece's places.
            raw = found[0].raw if found else _without_columns(one.raw)
            found.append(_Read(raw, one.keys, [], one.share))
            progress(one.share)
        raw = _with_keys(found[0].raw, view.key, _key_column([one.keys for one in found]))
        keys = read_keys(raw, view.key, view.missing_values)
        later = stream if stream.columnar else None
        return cls(side, view, later, found[0].raw, keys, ignored, columns)

    def take(self, number: int, rows: Rows | None) -> Taken:
        """Return the column of an attribute for some rows; it can be taken once.

        rows: None for all rows, in their order
        """
        return self._read_column(number).take(rows)

    def divided(self, number: int, rows: Sequence[Rows]) -> list[FilePiece]:
        """Return pieces of the column of an attribute, of some rows each; all rows are in one."""
        return self._read_column(number).divided(rows)

    def _read_column(self, number: int) -> FileColumn:
        column = self.columns[number]
        if self.stream is not None:
            for piece in self.stream.pieces([column.attribute.name]):
                raw = _raw(piece, self.stream)
                column.append(column.read(raw, self.view.missing_values, briefly=True))
        return column

    def counts(self, only: int) -> ViewCounts:
        """Return what is left out of this view, whatever its values are."""
        keyless = int(np.count_nonzero(self.keys.absent))
        return ViewCounts(only, self.keys.repeated_entities, keyless, self.ignored)


@dataclass(frozen=True, slots=True, eq=False)
class _Read:
    """A piece that was read: its keys, and its columns as they are kept."""

    raw: RawTable
    keys: pa.ChunkedArray
    pieces: Sequence[FilePiece]
    share: float


def _raw(piece: Piece, stream: Stream) -> RawTable:
    unreadable = f"{stream.place}: cannot be read; check that its format matches its name"
    return quietly(piece.read, unreadable)


def _key_column(pieces: Sequence[pa.ChunkedArray]) -> pa.ChunkedArray:
    """Return the keys of all pieces: as text, if the files of a table have keys of several types.

    >>> _key_column([pa.chunked_array([[7]]), pa.chunked_array([[7.0]])]).to_pylist()
    ['7', '7']
    """
    kind = pieces[0].type
    if all(one.type == kind for one in pieces):
        return pa.chunked_array([chunk for one in pieces for chunk in one.chunks], kind)
    return pa.chunked_array([key_texts(one) for one in pieces], pa.large_string())


def _without_columns(raw: RawTable) -> RawTable:
    return RawTable(raw.place, raw.rows, {}, raw.where)


def _with_keys(raw: RawTable, key: str, keys: pa.ChunkedArray) -> RawTable:
    return RawTable(raw.place, len(keys), {key: keys}, raw.where)


def _in_order(work: Iterator[Callable[[], R]]) -> Iterator[R]:
    """Yield the results of pieces of work in order, as many at a time as there are cores."""
    while batch := list(islice(work, os.cpu_count() or 1)):
        yield from run_all(batch, stop=lambda: None) if len(batch) > 1 else [batch[0]()]
