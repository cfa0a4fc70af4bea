"""Load two files or frames with a schema, as one sealed dataset."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from redveil.data.columns import Converted, convert
from redveil.data.dataset import Dataset
from redveil.data.join import entity_keys, join
from redveil.data.raw import RawTable, quietly, shown
from redveil.data.report import AttributeCounts, LoadReport
from redveil.data.source import check_columns, open_source
from redveil.data.table import MISSING, CodedColumn, Column, NumericColumn, Table
from redveil.errors import LoadError
from redveil.privacy.score import MOST_ENTITIES
from redveil.schema import Attribute, Schema, Side, View
from redveil.sealed import Sealed

Progress: TypeAlias = Callable[[str, float], None]


def load(
    left: object, right: object, schema: Schema | str | Path, *, progress: Progress | None = None
) -> Dataset:
    """Read two tables, convert them to their schema, join them by entity key and seal the result.

    A table is a path (`.csv`, `.parquet`, `.arff`, text files also with `.gz`) or a pandas, Polars
    or PyArrow table. The schema may be the path of its `datapackage.json`. Data that does not fit
    the schema raises a LoadError that names the place and the remedy, never a value. Numbers out of
    bounds are clamped, undeclared categories become missing, undeclared columns are ignored, and
    entities that are in one view only are dropped; the sealed load report counts them.

    `progress` is called with the stage and the completed share of the work.

    >>> import pyarrow as pa
    >>> from redveil.schema import Attribute, Kind, View
    >>> clinic = Schema(
    ...     "clinic",
    ...     View("diagnoses", "id", (Attribute("asthma", Kind.BOOLEAN),)),
    ...     View("laboratory", "id", (Attribute("crp", Kind.NUMERIC, maximum=500, cuts=(5.0,)),)),
    ... )
    >>> load(pa.table({"id": [1, 2], "asthma": [True, False]}),
    ...      pa.table({"id": [2, 1], "crp": [0.3, 17.0]}), clinic)
    <Dataset clinic: 1 left and 1 right attributes>
    """
    checked = schema if isinstance(schema, Schema) else Schema.read(schema)
    return _assemble(left, right, checked, progress or (lambda _stage, _fraction: None))


def _assemble(left: object, right: object, schema: Schema, report: Progress) -> Dataset:
    """Read, join, convert and seal. `report` is called with the stage and the completed share."""
    report("reading the left view", 0.0)
    left_side = _read(left, Side.LEFT, schema.left)
    report("reading the right view", 0.3)
    right_side = _read(right, Side.RIGHT, schema.right)
    report("joining the views", 0.6)
    both = join(left_side.keys(), right_side.keys())
    if len(both.left_rows) > MOST_ENTITIES:
        raise LoadError(
            f"{left_side.place} and {right_side.place}: more than {MOST_ENTITIES:,} entities; "
            "scores are exact only up to that number, so mine a sample"
        )
    if not len(both.left_rows):
        raise LoadError(
            f"{left_side.place} and {right_side.place}: no common entity; check that columns "
            f"{shown(schema.left.key)} and {shown(schema.right.key)} contain the same keys"
        )
    total = len(schema.left.attributes) + len(schema.right.attributes)
    done = 0

    def one_more() -> None:
        nonlocal done
        report("converting columns", 0.7 + 0.3 * done / total)
        done += 1

    left_columns, left_counts = left_side.columns(both.left_rows, one_more)
    right_columns, right_counts = right_side.columns(both.right_rows, one_more)
    table = Table(len(both.left_rows), left_columns, right_columns)
    findings = LoadReport(
        joined=len(both.left_rows),
        left_only=both.left_only,
        right_only=both.right_only,
        attributes=(*left_counts, *right_counts),
        ignored_left=left_side.ignored,
        ignored_right=right_side.ignored,
        unit=schema.unit,
    )
    report("done", 1.0)
    return Dataset(schema, Sealed(table), Sealed(findings))


@dataclass(frozen=True, slots=True, eq=False)
class _RawView:
    """One view before conversion, with its declarations."""

    place: str
    side: Side
    view: View
    raw: RawTable
    ignored: tuple[str, ...]

    def keys(self) -> pa.Array:
        return entity_keys(self.raw, self.view.key, self.view.missing_values)

    def columns(
        self, rows: NDArray[np.int64], begin: Callable[[], None]
    ) -> tuple[dict[str, Column], list[AttributeCounts]]:
        """Convert every column and select the rows of the joined entities."""
        columns: dict[str, Column] = {}
        counts: list[AttributeCounts] = []
        for attribute in self.view.attributes:
            begin()
            converted = convert(self.raw, attribute, self.view.missing_values)
            columns[attribute.name], count = _kept(converted, attribute, rows, self.side)
            counts.append(count)
        return columns, counts


def _read(given: object, side: Side, view: View) -> _RawView:
    """Open a table, check that it has the declared columns, and read them."""
    source = open_source(given, side, view)
    wanted = check_columns(source, view)
    declared = frozenset(wanted)
    ignored = tuple(name for name in source.names if name not in declared)
    unreadable = f"{source.place}: cannot be read; check that its format matches its name"
    raw = quietly(lambda: source.read(wanted), unreadable)
    return _RawView(source.place, side, view, raw, ignored)


def _kept(
    converted: Converted, attribute: Attribute, rows: NDArray[np.int64], side: Side
) -> tuple[Column, AttributeCounts]:
    """Return the values of the joined entities, and the counts for the load report."""
    changed = int(np.count_nonzero(converted.changed[rows]))
    if isinstance(converted.column, NumericColumn):
        numbers = converted.column.values[rows]
        missing = int(np.count_nonzero(np.isnan(numbers)))
        counts = AttributeCounts(side, attribute.name, missing, clamped=changed)
        return NumericColumn(attribute, numbers), counts
    codes = converted.column.codes[rows]
    missing = int(np.count_nonzero(codes == MISSING)) - changed
    counts = AttributeCounts(side, attribute.name, missing, undeclared=changed)
    return CodedColumn(attribute, codes), counts
