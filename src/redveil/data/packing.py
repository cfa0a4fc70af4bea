"""Columns as they come out of a file, piece by piece, kept in few bytes until the views are joined.

With all values: a number is kept as it is. Packed: one byte for its bin, and one bit for a flag.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from redveil.data.binning import BinnedView, Codes, code_type
from redveil.data.columns import Converted, convert, read_bins
from redveil.data.raw import RawTable
from redveil.data.reading import Readings
from redveil.data.table import (
    MISSING,
    BinnedColumn,
    BoolArray,
    ByteArray,
    CodedColumn,
    Column,
    FlagColumn,
    NumericColumn,
    pack,
    unpack,
)
from redveil.schema import Attribute, Kind, View

Rows = NDArray[np.int64]
# If more than one value in so many was not read as declared, how each was read is kept in full.
_RARE: Final = 8


class FileColumn:
    """A column of a whole file, in the file's order.

    dtype: the type of its bins; None to keep all values
    """

    def __init__(self, attribute: Attribute, dtype: np.dtype[Any] | None) -> None:
        self.attribute = attribute
        self._dtype = dtype
        self._pieces: list[FilePiece] = []

    def read(
        self, raw: RawTable, missing_values: Collection[str], *, briefly: bool = False
    ) -> FilePiece:
        """Return the next piece, as it is to be kept. Safe to call from several threads.

        briefly: whether it is taken at once, so that packing flags would only cost time
        """
        if self._dtype is None:
            return convert(raw, self.attribute, missing_values)
        is_flag = self.attribute.kind is Kind.BOOLEAN
        dtype = np.dtype(np.uint8) if is_flag else self._dtype
        codes, reading = read_bins(raw, self.attribute, missing_values, dtype)
        return _Packed.of(codes, reading, is_flag=is_flag and not briefly)

    def append(self, piece: FilePiece) -> None:
        """Add a piece, in order."""
        self._pieces.append(piece)

    def divided(self, rows: Sequence[Rows]) -> list[FilePiece]:
        """Return pieces of some rows each, of a packed column, and forget the file's."""
        everything = self.take(None)
        is_flag = self.attribute.kind is Kind.BOOLEAN
        return [
            _Packed.of(everything.values[some], everything.reading.take(some), is_flag=is_flag)
            for some in rows
        ]

    def take(self, rows: Rows | None) -> Taken:
        """Return the values of some rows, and forget the file's; None for all in their order."""
        pieces, self._pieces = self._pieces, []
        values = _joined([_values(piece) for piece in pieces], self._empty)
        reading = Readings.joined([_reading(piece) for piece in pieces])
        del pieces
        if rows is not None:
            values, reading = values[rows], reading.take(rows)
        return Taken(self.attribute, values, reading, is_packed=self._dtype is not None)

    @property
    def _empty(self) -> Any:
        if self.attribute.kind is Kind.BOOLEAN or self._dtype is None:
            return np.float64 if self.attribute.kind is Kind.NUMERIC else np.uint8
        return self._dtype


@dataclass(frozen=True, slots=True, eq=False)
class Taken:
    """The values of some rows: numbers, codes or bins; and how each was read."""

    attribute: Attribute
    values: NDArray[Any]
    reading: Readings
    is_packed: bool

    @property
    def missing(self) -> BoolArray:
        """Where there is no value, bool[N]."""
        if self.values.dtype == np.float64:
            missing: BoolArray = np.isnan(self.values)
        else:
            missing = np.equal(self.values, np.iinfo(self.values.dtype).max)
        return missing


@dataclass(frozen=True, slots=True, eq=False)
class _Packed:
    """A piece of a packed column: bins or bits, and which values were not read as declared."""

    rows: int
    codes: Codes | FlagColumn
    odd: Rows | None
    reading: ByteArray
    named: tuple[str, ...]

    @classmethod
    def of(cls, codes: Codes, readings: Readings, *, is_flag: bool) -> _Packed:
        reading = readings.codes
        odd = np.flatnonzero(reading)
        is_rare = len(odd) * _RARE < len(reading)
        kept: Codes | FlagColumn = codes
        if is_flag:
            missing = codes == MISSING
            absent = pack(missing) if missing.any() else None
            kept = FlagColumn(Attribute("", Kind.BOOLEAN), len(codes), pack(codes == 1), absent)
        if is_rare:
            return cls(len(codes), kept, odd, reading[odd], readings.named)
        return cls(len(codes), kept, None, reading, readings.named)


# A piece of a column, packed or with all values.
FilePiece: TypeAlias = "_Packed | Converted"


def _values(piece: FilePiece) -> NDArray[Any]:
    if isinstance(piece, _Packed):
        return piece.codes.codes if isinstance(piece.codes, FlagColumn) else piece.codes
    column = piece.column
    values: NDArray[Any] = column.values if isinstance(column, NumericColumn) else column.codes
    return values


def _reading(piece: FilePiece) -> Readings:
    if isinstance(piece, Converted):
        return piece.reading
    if piece.odd is None:
        return Readings(piece.reading, piece.named)
    reading = np.zeros(piece.rows, dtype=np.uint8)
    reading[piece.odd] = piece.reading
    return Readings(reading, piece.named)


def _joined(pieces: list[NDArray[Any]], empty: Any) -> NDArray[Any]:
    if len(pieces) == 1:
        return pieces[0]
    return np.concatenate(pieces) if pieces else np.zeros(0, dtype=empty)


def is_everything(rows: Rows, length: int) -> bool:
    """Return whether all rows are taken, in their order.

    >>> is_everything(np.arange(3), 3), is_everything(np.arange(3), 4)
    (True, False)
    """
    return len(rows) == length and (length == 0 or bool((np.diff(rows) == 1).all()))


class PackedView:
    """One view that is packed column by column, for a known number of entities."""

    def __init__(self, view: View, rows: int) -> None:
        is_flag = [one.kind is Kind.BOOLEAN for one in view.attributes]
        flags, words = sum(is_flag), -(-rows // 64)
        self.view = view
        self._rows = rows
        self._bits = np.zeros((flags, words), dtype=np.uint64)
        self._absent: dict[int, NDArray[np.uint64]] = {}
        self._codes = np.empty((len(is_flag) - flags, rows), dtype=code_type(view))
        self._lacking = np.zeros(len(is_flag), dtype=np.bool_)
        position = np.where(is_flag, np.cumsum(is_flag), np.cumsum(np.logical_not(is_flag))) - 1
        self._row = position.astype(np.int32)

    def put(self, number: int, taken: Taken) -> None:
        """Pack the column of an attribute. Columns can be packed by several threads."""
        row, missing = self._row[number], taken.missing
        self._lacking[number] = missing.any()
        if taken.attribute.kind is not Kind.BOOLEAN:
            self._codes[row] = taken.values
            return
        self._bits[row] = pack(taken.values == 1)
        if self._lacking[number]:
            self._absent[int(row)] = pack(missing)

    def only(self, keep: BoolArray) -> None:
        """Leave out entities, column by column, in the same memory."""
        self._rows = int(np.count_nonzero(keep))
        self._codes = _compacted(self._codes, self._rows, lambda row: row[keep])
        rows, words = len(keep), -(-self._rows // 64)
        self._bits = _compacted(self._bits, words, lambda row: pack(unpack(row, rows)[keep]))
        for row, absent in self._absent.items():
            self._absent[row] = pack(unpack(absent, rows)[keep])
        for number, attribute in enumerate(self.view.attributes):
            # Nobody who is left may lack the value.
            row = int(self._row[number])
            if attribute.kind is Kind.BOOLEAN:
                if row in self._absent and not self._absent[row].any():
                    del self._absent[row]
                self._lacking[number] = row in self._absent
            else:
                largest = np.iinfo(self._codes.dtype).max
                self._lacking[number] = (self._codes[row] == largest).any()

    def binned(self) -> BinnedView:
        """Return the packed view."""
        absent = [self._absent[row] for row in sorted(self._absent)]
        words = -(-self._rows // 64)
        absent_row = np.full(len(self._bits), -1, dtype=np.int32)
        absent_row[sorted(self._absent)] = np.arange(len(absent), dtype=np.int32)
        return BinnedView(
            self._rows,
            self._bits,
            np.array(absent, dtype=np.uint64).reshape(len(absent), words),
            absent_row,
            self._codes,
            self._row,
            self._lacking,
        )


def packed_columns(view: View, binned: BinnedView) -> dict[str, Column]:
    """Return the columns of a packed view by name, without a copy."""
    found: dict[str, Column] = {}
    for number, attribute in enumerate(view.attributes):
        row = int(binned.row[number])
        if attribute.kind is not Kind.BOOLEAN:
            found[attribute.name] = BinnedColumn(attribute, binned.codes[row])
            continue
        where = int(binned.absent_row[row])
        absent = None if where < 0 else binned.absent[where]
        found[attribute.name] = FlagColumn(attribute, binned.rows, binned.bits[row], absent)
    return found


def valued_column(taken: Taken) -> Column:
    """Return a column with all of its values."""
    if taken.attribute.kind is Kind.NUMERIC:
        return NumericColumn(taken.attribute, taken.values)
    return CodedColumn(taken.attribute, taken.values)


def _compacted(
    rows: NDArray[Any], width: int, shorter: Callable[[NDArray[Any]], NDArray[Any]]
) -> NDArray[Any]:
    """Shorten every row of an array to a width, in the array's own memory."""
    flat = rows.reshape(-1)
    for number in range(len(rows)):
        # A shorter row never reaches the next one that is still to be read.
        flat[number * width : (number + 1) * width] = shorter(rows[number])
    return flat[: len(rows) * width].reshape(len(rows), width)
