"""Packed tables: what an owner's tables become once, and what workers open for every job.

Inside is a line of JSON that names the columns, then their values, one column after another:
codes in one byte, numbers in eight. What a table declares is in its schema, which is not repeated.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from redveil.data.dataset import Dataset
from redveil.data.report import LoadReport
from redveil.data.table import CodedColumn, Column, NumericColumn, Table
from redveil.schema import Kind, Schema, Side
from redveil.sealed import Sealed, within
from redveil.server import vault


def pack(dataset: Dataset, path: Path, key: bytes | None) -> str:
    """Write a data set's rows to a new file that only this user can read; return its SHA-256."""
    schema = dataset.schema
    done: list[str] = []

    def write(table: Table) -> None:
        done.append(vault.write(path, _parts(table, schema), _label(schema), key))

    # Inside the seal: an error says nothing of the rows.
    within(write, dataset.table)
    return done[0]


def unpack(schema: Schema, path: Path, key: bytes | None, expected: str) -> Dataset:
    """Return the data set in a packed file, sealed.

    expected: the SHA-256 that `pack` has returned
    """

    def read(where: Path) -> Table:
        return _table(vault.read(where, _label(schema), key, expected), schema)

    table = within(read, Sealed(path))
    return Dataset(schema, table, Sealed(LoadReport(0)))


def _label(schema: Schema) -> bytes:
    """Bind a file to the data set and to everything that its schema declares."""
    return f"{schema.id} {schema.digest}".encode()


def _parts(table: Table, schema: Schema) -> Iterator[bytes]:
    head = {
        "rows": table.rows,
        **{side.value: [one.name for one in schema.view(side).attributes] for side in Side},
    }
    yield json.dumps(head).encode() + b"\n"
    for side in Side:
        for attribute in schema.view(side).attributes:
            yield _values(table.view(side)[attribute.name]).tobytes()


def _values(column: Column) -> np.ndarray[Any, Any]:
    if isinstance(column, NumericColumn):
        return column.values.astype("<f8")
    return column.codes


def _table(content: bytes, schema: Schema) -> Table:
    head, _, _ = content.partition(b"\n")
    rows = json.loads(head)["rows"]
    start = len(head) + 1
    views: dict[Side, dict[str, Column]] = {side: {} for side in Side}
    for side in Side:
        for attribute in schema.view(side).attributes:
            dtype = np.dtype("<f8" if attribute.kind is Kind.NUMERIC else "u1")
            values = np.frombuffer(content, dtype, rows, start)
            start += values.nbytes
            views[side][attribute.name] = (
                NumericColumn(attribute, values.astype(np.float64))
                if attribute.kind is Kind.NUMERIC
                else CodedColumn(attribute, values)
            )
    if start != len(content):
        raise vault.DamagedFileError("a packed table does not fit its schema; pack again")
    return Table(rows, views[Side.LEFT], views[Side.RIGHT])
