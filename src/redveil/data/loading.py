"""Load two files or frames with a schema, as one sealed dataset.

Tables are read in pieces: Parquet files column by column, CSV files block by block. What is
read is converted at once and kept in few bytes until the views are joined (`data/packing.py`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from threading import Lock
from typing import Final, TypeAlias

import numpy as np

from redveil.data.binning import BinnedTable
from redveil.data.dataset import Dataset
from redveil.data.faults import NO_KEY, NOT_THERE, REPEATED_KEY, faults
from redveil.data.file_view import FileView
from redveil.data.home import at_home
from redveil.data.join import Join, join
from redveil.data.packing import (
    PackedView,
    Rows,
    Taken,
    is_everything,
    packed_columns,
    valued_column,
)
from redveil.data.raw import caught, shown
from redveil.data.reading import Reading
from redveil.data.report import AttributeCounts, LoadReport, Slip
from redveil.data.source import open_stream
from redveil.data.table import BoolArray, Column, Table
from redveil.errors import LoadError
from redveil.losses.score import MOST_ENTITIES
from redveil.schema import Schema, Side
from redveil.sealed import Sealed
from redveil.waiting import run_all

Progress: TypeAlias = Callable[[str, float], None]

# How many places `examine` reports for each way in which rows do not fit the schema.
PLACES: Final = 3
# Smaller tables are read before threads have started.
_MANY_ROWS: Final = 50_000


def load(
    left: object,
    right: object,
    schema: Schema | str | Path,
    *,
    strict: bool = False,
    few_in_common: bool = False,
    packed: bool = False,
    progress: Progress | None = None,
) -> Dataset:
    """Load two tables that describe the same entities, and seal them.

    left, right: paths (`.csv`, `.tsv`, `.xlsx`, `.parquet`, text files also with `.gz`;
                 folders of CSV or Parquet files, or patterns such as `visits/*.csv`); tables or
                 queries of databases (`clinic.sqlite#visits`, `postgresql://host/clinic#visits`);
                 or tables: pandas, Polars, PyArrow, or anything with the Arrow PyCapsule interface
    schema:      a Schema, or the path of a `datapackage.json`
    strict:      raise a LoadError for what is otherwise left out, unreadable or outside its bounds
    few_in_common: go on although under half of the smaller table's keys are in the other, or no
                 entity is left. Otherwise that is a LoadError: the key columns are probably not the
                 same, and a run would be paid for and find nothing
    packed:      keep the bins between cut points instead of numbers, one byte each, and one bit for
                 each Boolean value: for large data. Queries that are given can then compare numbers
                 with cut points only
    progress:    called with the stage and the completed share of the work

    The schema is applied to each entity alone. Values outside their bounds are compared as they
    are. Values that cannot be read and undeclared categories become missing. Entities that lack a
    required value, have several rows in a view or are in one view only are left out. The sealed
    load report counts all of this for the data owner (`redveil.load_report`). Only what cannot be
    parsed as a table with the declared columns raises a LoadError, and tables with few keys in
    common.

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
    checked = at_home(schema if isinstance(schema, Schema) else Schema.read(schema), left, right)
    outcome = _attempt(left, right, checked, 1 if strict else 0, progress, packed=packed)
    # An error's traceback holds the variables of this function.
    del left, right
    if isinstance(outcome, BaseException):
        raise outcome
    dataset, report = outcome
    message = _first_slip(report) if strict else None
    if message is None and not few_in_common:
        message = mismatch(report, checked)
    if message is not None:
        del outcome, report, dataset
        raise LoadError(message)
    return dataset


def _first_slip(report: LoadReport) -> str | None:
    """Return why a strict owner would rather stop, or None."""
    return report.slips[0].lines()[0] if report.slips else None


def mismatch(report: LoadReport, schema: Schema) -> str | None:
    """Return why two tables are hardly about the same entities, or None. For the owner only.

    A run would be paid for and find nothing. No number of entities is in it.

    >>> from redveil.data.synthetic import clinic_schema
    >>> mismatch(LoadReport(100), clinic_schema())
    """
    if not report.has_few_in_common:
        return None
    if not report.joined + report.incomplete:
        problem = "no common entity"
    elif not report.joined:
        problem = "no common entity has every required value"
    else:
        problem = "under half of the keys are in both tables"
    return (
        f"{problem}; check that columns {shown(schema.left.key)} and {shown(schema.right.key)} "
        "contain the same keys (`redveil schema check`, redveil.examine), or go on with "
        "--few-in-common (few_in_common=True)"
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
    left: object,
    right: object,
    schema: Schema,
    places: int,
    progress: Progress | None,
    *,
    packed: bool = False,
) -> tuple[Dataset, LoadReport] | BaseException:
    """Load, and return what would be raised."""
    loading = _Loading(schema, places, progress or (lambda _stage, _share: None), packed)
    return caught(partial(loading.assemble, left, right), "loading")


@dataclass(frozen=True, slots=True, eq=False)
class _Loading:
    """How two tables are loaded.

    places: how many places to report for each way in which rows do not fit
    report: called with the stage and the completed share of the work
    packed: whether only bins and bits are kept
    """

    schema: Schema
    places: int
    report: Progress
    packed: bool

    def assemble(self, left: object, right: object) -> tuple[Dataset, LoadReport]:
        """Read, join, convert and seal."""
        left_file = self._read(left, Side.LEFT, 0.0)
        right_file = self._read(right, Side.RIGHT, 0.3)
        self.report("joining the views", 0.6)
        both = join(left_file.keys, right_file.keys)
        if len(both.left_rows) > MOST_ENTITIES:
            raise LoadError(
                f"{left_file.first.place} and {right_file.first.place}: more than "
                f"{MOST_ENTITIES:,} entities; scores are exact only up to that number, so mine a "
                "sample"
            )
        begin = self._counter()
        table, findings = joined(
            left_file, right_file, both, self.schema, self.places, begin, packed=self.packed
        )
        self.report("done", 1.0)
        sealed = Sealed(table), Sealed(findings)
        return Dataset(self.schema, *sealed, packed=self.packed), findings

    def _read(self, given: object, side: Side, begun: float) -> FileView:
        """Read one view as its file has it."""

        def report(share: float) -> None:
            self.report(f"reading the {side} view", begun + 0.3 * share)

        report(0.0)
        view = self.schema.view(side)
        read = partial(FileView.read, side=side, view=view, packed=self.packed, progress=report)
        return read(open_stream(given, side, view))

    def _counter(self) -> Callable[[], None]:
        """Return what reports one more column. Threads take turns: the share only grows."""
        total = len(self.schema.left.attributes) + len(self.schema.right.attributes)
        begun, one_at_a_time = iter(range(total)), Lock()

        def begin() -> None:
            with one_at_a_time:
                self.report("converting columns", 0.7 + 0.3 * next(begun) / total)

        return begin


def joined(
    left_file: FileView,
    right_file: FileView,
    both: Join,
    schema: Schema,
    places: int,
    begin: Callable[[], None],
    *,
    packed: bool,
) -> tuple[Table, LoadReport]:
    """Convert the columns of the entities that both views have. Private: to be sealed.

    places: how many places to report for each way in which rows do not fit
    begin:  called for each column
    """
    left = _JoinedView(left_file, both.left_rows, packed, places)
    right = _JoinedView(right_file, both.right_rows, packed, places)
    left.convert(begin)
    right.convert(begin)
    complete = ~(left.incomplete | right.incomplete)
    table = _table(left, right, complete)
    return table, LoadReport(
        joined=table.rows,
        incomplete=int(np.count_nonzero(~complete)),
        left=left_file.counts(both.left_only),
        right=right_file.counts(both.right_only),
        attributes=(*left.counts(), *right.counts()),
        slips=(*left.slips(), *right.slips()),
        unit=schema.unit,
    )


class _JoinedView:
    """One view of the entities that both have, while its columns are converted.

    rows: int64[common], the row of each entity
    """

    def __init__(self, file: FileView, rows: Rows, packed: bool, places: int) -> None:  # noqa: FBT001
        self._file = file
        self._rows = rows
        self._wanted = None if is_everything(rows, len(file.keys.texts)) else rows
        self._places = places
        self._attributes = file.view.attributes
        self._packed = PackedView(file.view, len(rows)) if packed else None
        self._values: dict[int, Column] = {}
        self._counts: dict[int, AttributeCounts] = {}
        self._odd: dict[int, list[tuple[Slip, str, Rows]]] = {}
        self._lacking: dict[int, BoolArray] = {}

    def convert(self, begin: Callable[[], None]) -> None:
        """Convert all columns, several at a time if they are long; `begin` is called for each."""

        def one(number: int) -> None:
            begin()
            self._convert(number, self._file.take(number, self._wanted))

        work = [partial(one, number) for number in range(len(self._attributes))]
        if len(self._file.keys.texts) > _MANY_ROWS:
            run_all(work, stop=lambda: None)
        else:
            for each in work:
                each()

    def _convert(self, number: int, taken: Taken) -> None:
        attribute, missing = taken.attribute, taken.missing
        times, lacking = taken.reading.times(), int(np.count_nonzero(missing))
        self._counts[number] = AttributeCounts(
            self._file.side,
            attribute.name,
            lacking - times[Reading.UNDECLARED] - times[Reading.UNREADABLE],
            times[Reading.OUTSIDE],
            times[Reading.UNDECLARED],
            times[Reading.UNREADABLE],
            lacking if attribute.required else 0,
            tuple(taken.reading.values()),
        )
        if attribute.required and lacking:
            self._lacking[number] = missing
        if self._places:
            self._odd[number] = self._odd_rows(taken, missing)
        if self._packed is None:
            self._values[number] = valued_column(taken)
        else:
            self._packed.put(number, taken)

    def _odd_rows(self, taken: Taken, missing: BoolArray) -> list[tuple[Slip, str, Rows]]:
        """Return the rows that do not fit the schema, for every way in which they do not."""
        attribute = taken.attribute
        found = [
            (fault, attribute.name, np.sort(self._rows[taken.reading.is_(reading)]))
            for reading, fault in faults(attribute)
        ]
        if attribute.required:
            found.append((NOT_THERE, attribute.name, np.sort(self._rows[missing])))
        return found

    @property
    def incomplete(self) -> BoolArray:
        """Which of the common entities lack a required value, bool[common]."""
        lacking = np.zeros(len(self._rows), dtype=np.bool_)
        for missing in self._lacking.values():
            lacking |= missing
        return lacking

    def packed(self, complete: BoolArray) -> PackedView | None:
        """Return the view of the complete entities, if it is packed."""
        if self._packed is not None and not complete.all():
            self._packed.only(complete)
        return self._packed

    def valued(self, complete: BoolArray) -> dict[str, Column]:
        """Return the columns of the complete entities, with all values."""
        columns = [self._values[number] for number in range(len(self._attributes))]
        if not complete.all():
            columns = [column.only(complete) for column in columns]
        return {column.attribute.name: column for column in columns}

    def counts(self) -> list[AttributeCounts]:
        """Return how the values of the common entities were read."""
        return [self._counts[number] for number in range(len(self._attributes))]

    def slips(self) -> list[Slip]:
        """Return every way in which rows do not fit the schema, with some of their places."""
        if not self._places:
            return []
        keys, key = self._file.keys, self._file.view.key
        found = [
            (NO_KEY, key, np.flatnonzero(keys.absent)),
            (REPEATED_KEY, key, np.flatnonzero(keys.repeated)),
            *(odd for number in range(len(self._attributes)) for odd in self._odd[number]),
        ]
        found = [(fault, name, where) for fault, name, where in found if len(where)]
        few = self._places
        wanted = sorted({int(row) for _, _, where in found for row in where[:few]})
        places = self._file.first.where(wanted) if wanted else []
        place = dict(zip(wanted, places, strict=True))
        return [
            replace(
                fault,
                count=len(where),
                places=tuple(f"{place[int(row)]}, column {shown(name)}" for row in where[:few]),
            )
            for fault, name, where in found
        ]


def _table(left: _JoinedView, right: _JoinedView, complete: BoolArray) -> Table:
    """Return the table of the complete entities."""
    rows = int(np.count_nonzero(complete))
    one, other = left.packed(complete), right.packed(complete)
    if one is None or other is None:
        return Table(rows, left.valued(complete), right.valued(complete))
    binned = BinnedTable(rows, one.binned(), other.binned())
    return Table(
        rows,
        packed_columns(one.view, binned.left),
        packed_columns(other.view, binned.right),
        binned,
    )
