"""Bin columns by the schema and pack them: one bit per Boolean, one byte per other value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from redveil.data.table import (
    MISSING,
    BinnedColumn,
    Column,
    FlagColumn,
    NumericColumn,
    Table,
    pack,
)
from redveil.schema import Attribute, Kind, Schema, Side, View

Codes: TypeAlias = NDArray[Any]


@dataclass(frozen=True, slots=True, eq=False)
class BinnedView:
    """One view, packed by column. Private, always sealed.

    bits:       uint64[Booleans, words], bit i % 64 of word i // 64 is entity i; 0 where missing
    absent:     uint64[Booleans with missing values, words]
    absent_row: int32[Booleans], row of `absent`, or -1
    codes:      uint8 (wider with more bins)[other attributes, N], the value's bin, the type's
                largest number where missing
    row:        int32[attributes], each attribute's row in `bits` (Booleans) or `codes` (others)
    lacking:    bool[attributes], which attributes some entity of the whole table has no value for
    """

    rows: int
    bits: NDArray[np.uint64]
    absent: NDArray[np.uint64]
    absent_row: NDArray[np.int32]
    codes: Codes
    row: NDArray[np.int32]
    lacking: NDArray[np.bool_]

    def where_lacking(self, lacking: NDArray[np.bool_], view: View) -> BinnedView:
        """Return the view as a part of a larger one, in which more attributes may be missing.

        lacking: bool[attributes], which attributes somebody in the larger one lacks
        """
        flags = [n for n, one in enumerate(view.attributes) if one.kind is Kind.BOOLEAN]
        words = self.bits.shape[1]
        absent = np.zeros((sum(lacking[flags]), words), dtype=np.uint64)
        absent_row = np.full(len(flags), -1, dtype=np.int32)
        for number in flags:
            row = self.row[number]
            if lacking[number]:
                absent_row[row] = absent_row.max(initial=-1) + 1
                if self.absent_row[row] >= 0:
                    absent[absent_row[row]] = self.absent[self.absent_row[row]]
        return replace(self, absent=absent, absent_row=absent_row, lacking=lacking)

    def block(self, first: int, last: int) -> BinnedView:
        """Return the entities from `first`, a multiple of 64, up to before `last`, as a copy."""
        words = slice(first // 64, -(-last // 64))
        return BinnedView(
            last - first,
            np.ascontiguousarray(self.bits[:, words]),
            np.ascontiguousarray(self.absent[:, words]),
            self.absent_row,
            np.ascontiguousarray(self.codes[:, first:last]),
            self.row,
            self.lacking,
        )


@dataclass(frozen=True, slots=True, eq=False)
class BinnedTable:
    """Both views, packed. Private, always sealed."""

    rows: int
    left: BinnedView
    right: BinnedView

    def view(self, side: Side) -> BinnedView:
        """Return the view on one side."""
        return self.left if side is Side.LEFT else self.right

    def block(self, first: int, last: int) -> BinnedTable:
        """Return the entities from `first`, a multiple of 64, up to before `last`, as a copy."""
        left, right = self.left.block(first, last), self.right.block(first, last)
        return BinnedTable(last - first, left, right)


def bin_table(table: Table, schema: Schema) -> BinnedTable:
    """Bin and pack both views. Cut points come from the schema, never from the data.

    A table that was loaded packed is taken as it is, if all of its columns are wanted.
    """
    names = (tuple(table.left), tuple(table.right))
    if table.binned is not None and names == (schema.left.names, schema.right.names):
        return table.binned
    return BinnedTable(
        table.rows,
        bin_view(table.left, schema.left, table.rows),
        bin_view(table.right, schema.right, table.rows),
    )


def bin_view(columns: Mapping[str, Column], view: View, rows: int) -> BinnedView:
    """Bin and pack one view."""
    words = -(-rows // 64)
    bits: list[NDArray[np.uint64]] = []
    absent: list[NDArray[np.uint64]] = []
    absent_row: list[int] = []
    codes: list[Codes] = []
    dtype = code_type(view)
    row: list[int] = []
    lacking: list[bool] = []
    for attribute in view.attributes:
        if attribute.kind is not Kind.BOOLEAN:
            row.append(len(codes))
            codes.append(bin_codes(columns[attribute.name], attribute, dtype))
            lacking.append(bool((codes[-1] == np.iinfo(dtype).max).any()))
            continue
        flags = _flags(columns[attribute.name], rows)
        row.append(len(bits))
        bits.append(flags.bits)
        lacking.append(flags.absent is not None)
        absent_row.append(-1 if flags.absent is None else len(absent))
        if flags.absent is not None:
            absent.append(flags.absent)
    return BinnedView(
        rows,
        np.array(bits, dtype=np.uint64).reshape(len(bits), words),
        np.array(absent, dtype=np.uint64).reshape(len(absent), words),
        np.array(absent_row, dtype=np.int32),
        np.array(codes, dtype=dtype).reshape(len(codes), rows),
        np.array(row, dtype=np.int32),
        np.array(lacking, dtype=np.bool_),
    )


def code_type(view: View) -> np.dtype[Any]:
    """Return the smallest type with a code for every bin of a view and one for missing."""
    most = max((a.bins for a in view.attributes), default=0)
    return np.dtype(np.uint8 if most <= 255 else np.uint16 if most <= 65_535 else np.uint32)


def bin_codes(column: Column, attribute: Attribute, dtype: np.dtype[Any]) -> Codes:
    """Return each value's bin, dtype[N]: value <= cuts[j] exactly when bin <= j.

    >>> age = Attribute("age", Kind.NUMERIC, minimum=0, maximum=9, cuts=(2.0, 5.0))
    >>> values = NumericColumn(age, np.array([2.0, 2.1, 9.0, np.nan]))
    >>> bin_codes(values, age, np.dtype(np.uint8)).tolist()
    [0, 1, 2, 255]
    """
    missing = np.iinfo(dtype).max
    if isinstance(column, BinnedColumn):
        return np.where(column.known, column.codes, missing).astype(dtype)
    if not isinstance(column, NumericColumn):
        codes = column.codes.astype(dtype)
        codes[column.codes == MISSING] = missing
        return codes
    cuts = np.asarray(attribute.cuts, dtype=np.float64)
    codes = np.searchsorted(cuts, column.values, side="left").astype(dtype)
    codes[np.isnan(column.values)] = missing
    return codes


def _flags(column: Column, rows: int) -> FlagColumn:
    """Return a Boolean column as bits."""
    if isinstance(column, FlagColumn):
        return column
    codes = bin_codes(column, column.attribute, np.dtype(np.uint8))
    missing = codes == MISSING
    return FlagColumn(
        column.attribute, rows, pack(codes == 1), pack(missing) if missing.any() else None
    )
