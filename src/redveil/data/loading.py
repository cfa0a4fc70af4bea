"""Load two files or frames with a schema, as one sealed dataset."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from redveil.data.columns import Converted, Reading, convert
from redveil.data.dataset import Dataset
from redveil.data.faults import NO_KEY, NOT_THERE, REPEATED_KEY, faults
from redveil.data.join import Keys, join, read_keys
from redveil.data.raw import RawTable, caught, quietly, shown
from redveil.data.report import AttributeCounts, LoadReport, Slip, ViewCounts
from redveil.data.source import check_columns, open_source
from redveil.data.table import BoolArray, CodedColumn, Column, NumericColumn, Table
from redveil.errors import LoadError
from redveil.privacy.score import MOST_ENTITIES
from redveil.schema import Schema, Side, View
from redveil.sealed import Sealed

Progress: TypeAlias = Callable[[str, float], None]

# How many places `examine` reports for each way in which rows do not fit the schema.
PLACES: Final = 3


def load(
    left: object,
    right: object,
    schema: Schema | str | Path,
    *,
    strict: bool = False,
    progress: Progress | None = None,
) -> Dataset:
    """Load two tables that describe the same entities, and seal them.

    left, right: paths (`.csv`, `.tsv`, `.xlsx`, `.parquet`, `.arff`, text files also with `.gz`) or
                 tables: pandas, Polars, PyArrow, or anything with the Arrow PyCapsule interface
    schema:      a Schema, or the path of a `datapackage.json`
    strict:      raise a LoadError for what is otherwise left out or unreadable
    progress:    called with the stage and the completed share of the work

    The schema is applied to each entity alone. Numbers out of bounds are clamped. Values that
    cannot be read and undeclared categories become missing. Entities that lack a required value,
    have several rows in a view or are in one view only are left out. The sealed load report counts
    all of this for the data owner (`redveil.load_report`). Only what cannot be parsed as a
    table with the declared columns raises a LoadError.

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
    outcome = _attempt(left, right, checked, 1 if strict else 0, progress)
    # An error's traceback holds the variables of this function.
    del left, right
    if isinstance(outcome, BaseException):
        raise outcome
    dataset, report = outcome
    message = _first_complaint(report, checked) if strict else None
    if message is not None:
        del outcome, report, dataset
        raise LoadError(message)
    return dataset


def _first_complaint(report: LoadReport, schema: Schema) -> str | None:
    """Return why a strict owner would rather stop, or None."""
    if report.slips:
        return report.slips[0].lines()[0]
    if report.joined:
        return None
    return (
        f"no common entity; check that columns {shown(schema.left.key)} and "
        f"{shown(schema.right.key)} contain the same keys"
    )


def examine(
    left: object, right: object, schema: Schema, *, progress: Progress | None = None
) -> LoadReport:
    """Load two tables, and report where rows do not fit the schema. NOT private: for the owner.

    >>> import pyarrow as pa
    >>> from redveil.data.synthetic import clinic_frames, clinic_schema
    >>> examine(*clinic_frames(100), clinic_schema()).joined
    100
    """
    outcome = _attempt(left, right, schema, PLACES, progress)
    del left, right
    if isinstance(outcome, BaseException):
        raise outcome
    return outcome[1]


def _attempt(
    left: object, right: object, schema: Schema, places: int, progress: Progress | None
) -> tuple[Dataset, LoadReport] | BaseException:
    """Load, and return what would be raised.

    places: how many places to report for each way in which rows do not fit
    """
    report = progress or (lambda _stage, _share: None)
    return caught(partial(_assemble, left, right, schema, places, report), "loading")


def _assemble(
    left: object, right: object, schema: Schema, places: int, report: Progress
) -> tuple[Dataset, LoadReport]:
    """Read, join, convert and seal. `report` is called with the stage and the completed share."""
    report("reading the left view", 0.0)
    left_side = _read(left, Side.LEFT, schema.left)
    report("reading the right view", 0.3)
    right_side = _read(right, Side.RIGHT, schema.right)
    report("joining the views", 0.6)
    both = join(left_side.keys, right_side.keys)
    if len(both.left_rows) > MOST_ENTITIES:
        raise LoadError(
            f"{left_side.raw.place} and {right_side.raw.place}: more than {MOST_ENTITIES:,} "
            "entities; scores are exact only up to that number, so mine a sample"
        )
    total = len(schema.left.attributes) + len(schema.right.attributes)
    begun = iter(range(total))

    def begin() -> None:
        report("converting columns", 0.7 + 0.3 * next(begun) / total)

    left_columns = left_side.columns(begin)
    right_columns = right_side.columns(begin)
    views = (
        _View(left_side, left_columns, both.left_rows),
        _View(right_side, right_columns, both.right_rows),
    )
    complete = ~(views[0].incomplete | views[1].incomplete)
    table = Table(int(np.count_nonzero(complete)), *(view.table(complete) for view in views))
    findings = LoadReport(
        joined=table.rows,
        incomplete=int(np.count_nonzero(~complete)),
        left=left_side.counts(both.left_only),
        right=right_side.counts(both.right_only),
        attributes=tuple(one for view in views for one in view.counts()),
        slips=tuple(slip for view in views for slip in view.slips(places)),
        unit=schema.unit,
    )
    report("done", 1.0)
    return Dataset(schema, Sealed(table), Sealed(findings)), findings


@dataclass(frozen=True, slots=True, eq=False)
class _RawView:
    """One view before conversion, with its declarations and its keys."""

    side: Side
    view: View
    raw: RawTable
    keys: Keys
    ignored: tuple[str, ...]

    def columns(self, begin: Callable[[], None]) -> list[Converted]:
        """Convert every column, in the order of the schema."""
        converted = []
        for attribute in self.view.attributes:
            begin()
            converted.append(convert(self.raw, attribute, self.view.missing_values))
        return converted

    def counts(self, only: int) -> ViewCounts:
        """Return what is left out of this view, whatever its values are."""
        keyless = int(np.count_nonzero(self.keys.absent))
        return ViewCounts(only, self.keys.repeated_entities, keyless, self.ignored)


@dataclass(frozen=True, slots=True, eq=False)
class _View:
    """One converted view.

    columns: every column of the whole file, in the order of the schema
    rows:    int64[common], the row of each entity that both views have
    """

    source: _RawView
    columns: list[Converted]
    rows: NDArray[np.int64]

    @property
    def incomplete(self) -> BoolArray:
        """Which of the common entities lack a required value, bool[common]."""
        lacking = np.zeros(len(self.rows), dtype=np.bool_)
        for converted in self.columns:
            if converted.column.attribute.required:
                lacking |= converted.missing[self.rows]
        return lacking

    def table(self, complete: BoolArray) -> dict[str, Column]:
        """Return the columns of the complete entities."""
        rows = self.rows[complete]
        found: dict[str, Column] = {}
        for column in (converted.column for converted in self.columns):
            attribute = column.attribute
            found[attribute.name] = (
                NumericColumn(attribute, column.values[rows])
                if isinstance(column, NumericColumn)
                else CodedColumn(attribute, column.codes[rows])
            )
        return found

    def counts(self) -> list[AttributeCounts]:
        """Count how the values of the common entities were read."""
        return [self._count(converted) for converted in self.columns]

    def _count(self, converted: Converted) -> AttributeCounts:
        attribute = converted.column.attribute
        times = np.bincount(converted.reading[self.rows], minlength=len(Reading)).tolist()
        missing = int(np.count_nonzero(converted.missing[self.rows]))
        return AttributeCounts(
            self.source.side,
            attribute.name,
            missing - times[Reading.UNDECLARED] - times[Reading.UNREADABLE],
            times[Reading.CLAMPED],
            times[Reading.UNDECLARED],
            times[Reading.UNREADABLE],
            missing if attribute.required else 0,
        )

    def slips(self, places: int) -> list[Slip]:
        """Return every way in which rows do not fit the schema, with some of their places."""
        if not places:
            return []
        raw, keys = self.source.raw, self.source.keys
        found = [
            (NO_KEY, self.source.view.key, np.flatnonzero(keys.absent)),
            (REPEATED_KEY, self.source.view.key, np.flatnonzero(keys.repeated)),
        ]
        rows = np.sort(self.rows)
        for converted in self.columns:
            attribute = converted.column.attribute
            for reading, fault in faults(attribute):
                where = rows[converted.reading[rows] == reading]
                found.append((fault, attribute.name, where))
            if attribute.required:
                found.append((NOT_THERE, attribute.name, rows[converted.missing[rows]]))
        found = [(fault, name, where) for fault, name, where in found if len(where)]
        wanted = sorted({int(row) for _, _, where in found for row in where[:places]})
        place = dict(zip(wanted, raw.where(wanted), strict=True)) if wanted else {}
        return [
            replace(
                fault,
                count=len(where),
                places=tuple(f"{place[int(row)]}, column {shown(name)}" for row in where[:places]),
            )
            for fault, name, where in found
        ]


def _read(given: object, side: Side, view: View) -> _RawView:
    """Open a table, check that it has the declared columns, and read them."""
    source = open_source(given, side, view)
    wanted = check_columns(source, view)
    declared = frozenset(wanted)
    ignored = tuple(name for name in source.names if name not in declared)
    unreadable = f"{source.place}: cannot be read; check that its format matches its name"
    raw = quietly(lambda: source.read(wanted), unreadable)
    return _RawView(side, view, raw, read_keys(raw, view.key, view.missing_values), ignored)
