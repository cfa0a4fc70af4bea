"""Read the files of a folder as one table: Parquet column by column, CSV block by block.

Every file is read by itself, with its own types, so that no row of one file can change how a row of
another is read.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import accumulate, groupby
from pathlib import Path

import pyarrow as pa

from redveil.data.csv_file import CsvFile, find_csv
from redveil.data.frame import ParquetFile, open_parquet
from redveil.data.layout import Layout, layout_of
from redveil.data.raw import Piece, RawTable, combined
from redveil.errors import LoadError
from redveil.schema import View


@dataclass(frozen=True, slots=True, eq=False)
class ParquetFolder:
    """Some Parquet files with the same columns, as one table. Their types may differ.

    >>> ParquetFolder("visits", ("id", "age"), ()).columnar
    True
    """

    place: str
    names: tuple[str, ...]
    files: tuple[ParquetFile, ...]
    layout: Layout = field(default_factory=Layout)

    @property
    def columnar(self) -> bool:
        """Whether a column can be read without the others."""
        return True

    def read(self, wanted: Sequence[str]) -> RawTable:
        """Read some of the columns of all files."""
        return combined(self.place, [file.read(wanted) for file in self.files], self._where)

    def pieces(self, wanted: Sequence[str]) -> Iterator[Piece]:
        """Yield what reads some columns of the next row groups, for all files in turn."""
        total, begun = sum(file.rows for file in self.files) or 1, 0
        for number, file in enumerate(self.files, start=1):
            for piece in file.pieces(wanted):
                is_last = number == len(self.files) and piece.share >= 1
                share = (begun + piece.share * file.rows) / total
                yield Piece(partial(self._piece, piece), 1.0 if is_last else min(share, 0.999))
            begun += file.rows

    def _piece(self, piece: Piece) -> RawTable:
        return replace(piece.read(), where=self._where)

    def _where(self, rows: Sequence[int]) -> list[str]:
        def places(file: int, own: Sequence[int]) -> list[str]:
            return [f"{self.files[file].place}, row {row + 1}" for row in own]

        return _places([file.rows for file in self.files], rows, places)


def open_parquet_folder(paths: Sequence[Path], place: str) -> ParquetFolder:
    """Read the footers of Parquet files, which must have the same columns."""
    files = tuple(open_parquet(path, _place(path)) for path in paths)
    for file in files:
        _check_same(file.names, file.place, files[0].names, files[0].place)
    return ParquetFolder(place, files[0].names, files)


@dataclass(frozen=True, slots=True, eq=False)
class CsvFolder:
    """Some CSV files with the same columns, as one table.

    first: the place of the file whose header gave the names
    """

    place: str
    names: tuple[str, ...]
    layout: Layout
    paths: tuple[Path, ...]
    first: str

    @property
    def columnar(self) -> bool:
        """Whether a column can be read without the others."""
        return False

    def read(self, wanted: Sequence[str]) -> RawTable:
        """Read some of the columns of all files as text."""
        tables = [piece.read() for piece in self.pieces(wanted)]
        return combined(self.place, tables, tables[0].where)

    def pieces(self, wanted: Sequence[str]) -> Iterator[Piece]:
        """Yield what reads some columns of the next rows, for all files in turn."""
        sizes = [path.stat().st_size for path in self.paths]
        total, begun = sum(sizes) or 1, 0
        # How many rows each piece of each file has, once it is read.
        rows: dict[tuple[int, int], int] = {}
        for number, (path, size) in enumerate(zip(self.paths, sizes, strict=True)):
            for turn, piece in enumerate(self._pieces(path, wanted)):
                is_last = number == len(sizes) - 1 and piece.share >= 1
                share = 1.0 if is_last else min((begun + piece.share * size) / total, 0.999)
                yield Piece(partial(self._counted, piece, rows, (number, turn)), share)
            begun += size

    def checked(self) -> list[Path]:
        """Return the files that are not empty; raise a LoadError if one has other columns."""
        return [path for path in self.paths if self._opened(path) is not None]

    def _pieces(self, path: Path, wanted: Sequence[str]) -> Iterator[Piece]:
        """Yield what reads one file, which may be empty."""
        file = self._opened(path)
        if file is not None:
            yield from file.pieces(wanted)
            return
        nothing = {name: pa.chunked_array([], pa.string()) for name in wanted}
        yield Piece(lambda: RawTable(_place(path), 0, nothing, lambda _: []), 1.0)

    def _opened(self, path: Path) -> CsvFile | None:
        """Read the header of a file, and check it; None if the file is empty."""
        file = find_csv(path, self.layout, _place(path))
        if file is not None:
            _check_same(file.names, file.place, self.names, self.first)
        return file

    def _counted(
        self, piece: Piece, rows: dict[tuple[int, int], int], key: tuple[int, int]
    ) -> RawTable:
        """Read a piece, and note how many rows it has."""
        table = piece.read()
        rows[key] = table.rows
        return replace(table, where=partial(self._where, rows))

    def _where(self, counted: dict[tuple[int, int], int], rows: Sequence[int]) -> list[str]:
        """Return the places of some rows; each file is read again for them."""
        lengths = [0] * len(self.paths)
        for (number, _), count in counted.items():
            lengths[number] += count

        def places(number: int, own: Sequence[int]) -> list[str]:
            file = self._opened(self.paths[number])
            return [] if file is None else file.places(own)

        return _places(lengths, rows, places)


def open_csv_folder(paths: Sequence[Path], view: View | None, place: str) -> CsvFolder:
    """Read the header of the first CSV file that is not empty.

    A program that writes a table in parts may write an empty file for a part without rows.

    view: declares the layout of all files; without a view, it is guessed
    """
    layout = layout_of(paths, view)
    for path in paths:
        file = find_csv(path, layout, _place(path))
        if file is not None:
            return CsvFolder(place, file.names, layout, tuple(paths), file.place)
    raise LoadError(f"{place}: all files are empty; export them again")


def _places(
    lengths: Sequence[int],
    rows: Sequence[int],
    places: Callable[[int, Sequence[int]], list[str]],
) -> list[str]:
    """Return the places of rows of a table that several files are.

    lengths: how many rows each file has
    places:  returns the places of some rows of one file

    >>> _places([2, 0, 3], [0, 2, 4], lambda file, own: [f"{file}: {row}" for row in own])
    ['0: 0', '2: 0', '2: 2']
    """
    ends = list(accumulate(lengths))
    found: list[str] = []
    for file, some in groupby(rows, lambda row: bisect_right(ends, row)):
        found += places(file, [row - (ends[file] - lengths[file]) for row in some])
    return found


def _check_same(names: tuple[str, ...], place: str, others: tuple[str, ...], first: str) -> None:
    """Raise a LoadError unless two files have the same columns, in any order.

    The message has no name: in a file without a header, the first line is the row of an entity.
    """
    if set(names) != set(others):
        raise LoadError(
            f"{place}: other columns than in {first}; give all files the same columns, or name "
            "those that have them"
        )


def _place(path: Path) -> str:
    return " ".join(str(path).splitlines())
