"""Loading on the workers of a Dask cluster: every worker reads pieces of the files.

Rows are divided by the hash of their key, so that all rows of an entity, in both views, meet in one
partition, which joins them as a single machine would. Only the load report's counts come back.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from redveil.counting.cluster import (
    ClusterTable,
    Failed,
    Partition,
    quietly_on_worker,
    received,
)
from redveil.data.address import Address, Where
from redveil.data.binning import code_type
from redveil.data.dataset import Dataset
from redveil.data.file_view import FileView
from redveil.data.folder import CsvFolder, ParquetFolder
from redveil.data.frame import ParquetFile, open_parquet
from redveil.data.join import join, keys_of
from redveil.data.loading import joined, mismatch
from redveil.data.packing import FileColumn, FilePiece
from redveil.data.raw import RawTable, Stream, caught
from redveil.data.report import LoadReport
from redveil.data.source import open_source, open_stream, split_sheet
from redveil.data.table import BoolArray, Table
from redveil.errors import InputError, LoadError
from redveil.kernels.hashing import text_places
from redveil.losses.score import MOST_ENTITIES
from redveil.schema import Schema, Side, View
from redveil.sealed import Sealed, within

if TYPE_CHECKING:
    from distributed import Client, Future

# Partitions for each thread of the workers, so that none is idle while another ends.
PARTITIONS_PER_THREAD: Final = 2
Stamp = tuple[int, int]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Bucket:
    """The rows of a piece of a file that belong to one partition. Private."""

    keys: pa.Array
    absent: BoolArray
    columns: tuple[FilePiece, ...]
    ignored: tuple[str, ...]

    def __repr__(self) -> str:
        return "<rows>"


@dataclass(frozen=True, slots=True)
class Refused:
    """What a task returns instead of raising an error that is for the data owner."""

    message: str


def load_on_cluster(
    client: Client,
    left: object,
    right: object,
    schema: Schema,
    partitions: int | None = None,
    *,
    few_in_common: bool = False,
) -> Dataset:
    """Load two files that all workers can read, packed, and leave the rows with the workers.

    partitions: into how many the entities are divided; by default, two for each thread
    few_in_common: go on although few keys are in both files
    """
    threads = sum(client.nthreads().values())  # type: ignore[no-untyped-call]
    if not threads:
        raise InputError("the cluster has no workers; start some, then run again")
    number = partitions or PARTITIONS_PER_THREAD * threads
    divided = {
        side: [
            client.submit(_divided, work, schema.view(side), number)
            for work in _pieces(given, side, schema.view(side))
        ]
        for side, given in ((Side.LEFT, left), (Side.RIGHT, right))
    }
    met = [
        client.submit(
            _met,
            [client.submit(_of, one, place) for one in divided[Side.LEFT]],
            [client.submit(_of, one, place) for one in divided[Side.RIGHT]],
            schema,
        )
        for place in range(number)
    ]
    report = _report(client, met, None if few_in_common else schema)
    tables = [client.submit(_partition, one) for one in met]
    rows = Sealed(Table(0, {}, {}))
    return Dataset(schema, rows, report, packed=True, elsewhere=ClusterTable(client, tables))


def _report(
    client: Client, met: Sequence[Future[Any]], matched: Schema | None
) -> Sealed[LoadReport]:
    """Wait until everything is loaded, and return the load report of all partitions together.

    matched: the schema of tables that must have keys in common
    """
    outcome = received(client, lambda: client.submit(_reports, met))
    if isinstance(outcome, BaseException):
        raise outcome
    refused: list[Refused] = []
    # A refusal is for the owner, and holds no value.
    within(lambda found: refused.extend(_refusals(found, matched)), outcome)
    if refused:
        raise LoadError(refused[0].message)
    return outcome


def _refusals(found: LoadReport | Refused, matched: Schema | None) -> list[Refused]:
    """Return why the owner is not to go on."""
    if isinstance(found, Refused):
        return [found]
    message = None if matched is None else mismatch(found, matched)
    return [] if message is None else [Refused(message)]


@dataclass(frozen=True, slots=True)
class _Work:
    """A piece of a file: some row groups, or all of it.

    address: of the one file, by its absolute path
    stamp:   the size and time of the file; a partition is not made again from another file
    """

    address: Address
    side: Side
    groups: tuple[int, ...] | None
    stamp: Stamp

    def stream(self, view: View) -> Stream:
        """Open the piece."""
        if _stamp(self.address.path) != self.stamp:
            raise LoadError(f"{self.address}: has changed since loading began; load it again")
        if self.groups is None:
            return open_stream(self.address, self.side, view)
        return open_parquet(self.address.path, str(self.address)).only(self.groups)


def _pieces(given: object, side: Side, view: View) -> list[_Work]:
    """Divide a file into what workers read one by one."""
    if not isinstance(given, str | Path | Address):
        raise InputError(f"{side} table: a cluster reads files; pass a path that workers can read")
    address = Address.of(given)
    if address.where in (Where.SQLITE, Where.POSTGRESQL):
        raise InputError(
            f"{address.place}: a cluster reads files; write the table to Parquet files that "
            "workers can read"
        )
    found = caught(partial(_files, address, side, view), "loading")
    if isinstance(found, BaseException):
        raise found
    return found


def _files(address: Address, side: Side, view: View) -> list[_Work]:
    """Return the pieces of all files of a table, which must have the same columns."""
    source = open_source(address, side, view)
    if isinstance(source, CsvFolder):
        return [_work(path, Where.CSV, side) for path in source.checked()]
    files = source.files if isinstance(source, ParquetFolder) else (source,)
    if not all(isinstance(file, ParquetFile) for file in files):
        return [_work(address.path, Where.FILE, side)]
    return [
        _work(file.path, Where.PARQUET, side, tuple(groups))
        for file in files
        if isinstance(file, ParquetFile)
        for groups in file.groups()
    ]


def _work(path: Path, where: Where, side: Side, groups: tuple[int, ...] | None = None) -> _Work:
    known = path.absolute()
    return _Work(Address(where, str(known), known), side, groups, _stamp(known))


def _stamp(path: Path) -> Stamp:
    status = split_sheet(path)[0].stat()
    return status.st_size, status.st_mtime_ns


def _refusing(function: Callable[..., Any], *arguments: Any) -> Any:
    """Return what a function returns, or why it refuses its input."""
    refusal = next((one for one in arguments if isinstance(one, Refused | Failed)), None)
    if refusal is not None:
        return refusal

    def attempt() -> Any:
        try:
            return function(*arguments)
        except LoadError as error:
            return Refused(str(error))

    return quietly_on_worker(attempt)


def _divided(work: _Work, view: View, places: int) -> Any:
    """Read a piece of a file, and divide its rows by the hash of their keys."""

    def divide() -> tuple[Bucket, ...]:
        read = partial(
            FileView.read, side=work.side, view=view, packed=True, progress=lambda _: None
        )
        file = read(work.stream(view))
        found = places_of(file.keys.as_text().texts, places)
        rows = [np.flatnonzero(found == place) for place in range(places)]
        columns = [file.divided(number, rows) for number in range(len(view.attributes))]
        return tuple(
            Bucket(
                file.keys.texts.take(pa.array(some)),
                file.keys.absent[some],
                tuple(column[place] for column in columns),
                file.ignored,
            )
            for place, some in enumerate(rows)
        )

    return _refusing(divide)


def places_of(texts: pa.Array, places: int) -> NDArray[np.int32]:
    """Return the place of each text, int32[texts]; a text is in the same place everywhere.

    >>> places_of(pa.array(["a", "b", "a", None], pa.large_string()), 2).tolist()
    [0, 1, 0, 1]
    """
    filled = texts.fill_null("")
    _, offsets, text = filled.buffers()
    found = np.zeros(len(filled), dtype=np.int32)
    begins = np.frombuffer(offsets, dtype=np.int64)[filled.offset :][: len(filled) + 1]
    letters = np.frombuffer(text, dtype=np.uint8) if text else np.zeros(0, dtype=np.uint8)
    text_places(begins, letters, places, found)
    return found


def _of(divided: Any, place: int) -> Any:
    return divided if isinstance(divided, Refused | Failed) else divided[place]


def _met(left: Sequence[Any], right: Sequence[Any], schema: Schema) -> Any:
    """Join the rows that meet in one partition."""

    def meet(*buckets: Bucket) -> tuple[Partition, LoadReport]:
        left_file = _file_view(Side.LEFT, schema, buckets[: len(left)])
        right_file = _file_view(Side.RIGHT, schema, buckets[len(left) :])
        both = join(left_file.keys, right_file.keys)
        table, report = joined(left_file, right_file, both, schema, 0, lambda: None, packed=True)
        return Partition(table), report

    return _refusing(meet, *left, *right)


def _file_view(side: Side, schema: Schema, buckets: Sequence[Bucket]) -> FileView:
    """Return the rows of one view that meet, as if a file had them."""
    view = schema.view(side)
    keys = [one.keys for one in buckets]
    if len({one.type for one in keys}) > 1:
        # The files of a table may have keys of several types.
        keys = [one.cast(pa.large_string()) for one in keys]
    texts = pa.concat_arrays(keys)
    absent = np.concatenate([one.absent for one in buckets])
    columns = tuple(FileColumn(attribute, code_type(view)) for attribute in view.attributes)
    for bucket in buckets:
        for column, piece in zip(columns, bucket.columns, strict=True):
            column.append(piece)
    first = RawTable(f"{side} view", len(texts), {}, lambda _: [])
    return FileView(side, view, None, first, keys_of(texts, absent), buckets[0].ignored, columns)


def _partition(met: Any) -> Any:
    return met if isinstance(met, Refused | Failed) else met[0]


def _reports(met: Sequence[Any]) -> Any:
    def together(*found: tuple[Partition, LoadReport]) -> LoadReport:
        report = LoadReport.together([one for _, one in found])
        if report.joined > MOST_ENTITIES:
            raise LoadError(
                f"more than {MOST_ENTITIES:,} entities; scores are exact only up to that number, "
                "so mine a sample"
            )
        return report

    return _refusing(together, *met)
