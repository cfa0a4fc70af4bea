"""Loading in small pieces and as a whole, which must be the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import redveil
from redveil.data import csv_file, frame
from redveil.data.binning import BinnedView
from redveil.data.csv_file import CsvFile
from redveil.errors import LoadError
from redveil.schema import Schema, Side
from redveil.sealed import open_for_owner

#: Larger than any file of a test.
WHOLE = 2**34


def same_view(one: BinnedView, other: BinnedView) -> None:
    assert one.rows == other.rows
    for name in ("bits", "absent", "absent_row", "codes", "row", "lacking"):
        assert getattr(one, name).dtype == getattr(other, name).dtype, name
        assert (getattr(one, name) == getattr(other, name)).all(), name


def in_pieces_of(
    size: int, rows: int, monkeypatch: pytest.MonkeyPatch, action: Callable[[], Any]
) -> tuple[Any, int]:
    """Do something with CSV files in blocks of so many bytes, Parquet files in pieces of so many
    rows; return what comes of it, and in how many blocks CSV files were read."""
    blocks: list[object] = []
    read = CsvFile._table

    def counted(self: CsvFile, *given: Any, **named: Any) -> Any:
        blocks.append(None)
        return read(self, *given, **named)

    with monkeypatch.context() as patch:
        patch.setattr(frame, "_PIECE_ROWS", rows)
        for opener in (csv_file.open_csv, csv_file.find_csv):
            patch.setattr(opener, "__defaults__", (size,))
        patch.setattr(CsvFile, "_table", counted)
        return action(), len(blocks)


def must_be_the_same_in_pieces(
    left: object,
    right: object,
    schema: Schema,
    size: int,
    monkeypatch: pytest.MonkeyPatch,
    *,
    packed: bool,
) -> int:
    """Load as a whole, and in pieces of so many bytes, or rows.

    Both load the same, with the same report, or are refused, though of several faults another may
    be met first. Returns in how many blocks CSV files were read.
    """

    def loaded() -> redveil.Dataset | str:
        try:
            return redveil.load(left, right, schema, packed=packed)
        except LoadError as error:
            return str(error)

    whole, _ = in_pieces_of(WHOLE, WHOLE, monkeypatch, loaded)
    found, blocks = in_pieces_of(size, size, monkeypatch, loaded)
    if isinstance(whole, str) or isinstance(found, str):
        assert isinstance(whole, str) == isinstance(found, str)
    else:
        assert open_for_owner(found.report) == open_for_owner(whole.report)
        _same_rows(found, whole, schema)
    return blocks


def _same_rows(one: redveil.Dataset, other: redveil.Dataset, schema: Schema) -> None:
    first, second = open_for_owner(one.table), open_for_owner(other.table)
    assert first.rows == second.rows
    assert (first.binned is None) == (second.binned is None)
    if first.binned is not None and second.binned is not None:
        for side in Side:
            same_view(first.binned.view(side), second.binned.view(side))
        return
    for side in Side:
        for attribute in schema.view(side).attributes:
            columns = first.view(side)[attribute.name], second.view(side)[attribute.name]
            mine, theirs = (
                column.values if hasattr(column, "values") else column.codes for column in columns
            )
            assert mine.tobytes() == theirs.tobytes(), attribute.name
