"""Raw files, row by row, whatever their size; and two views and a schema, ready to be written."""

from __future__ import annotations

import csv
import gzip
import io
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

from redveil import InputError, Schema
from redveil.seam.results import FileKind, is_there, write_text
from redveil_research.experiments.datasets import KEY, Field, schema


@dataclass(slots=True)
class Row:
    """The wanted fields of one row, and where they are from.

    >>> Row(Path("claims.csv"), 7, ("Y", "12.5")).number(1)
    12.5
    """

    path: Path
    line: int
    fields: Sequence[str]

    @property
    def place(self) -> str:
        """Where the row is, for messages."""
        return f"{self.path}, line {self.line}"

    def number(self, position: int) -> float:
        """Return a field as a number, 0 if it is empty."""
        text = self.fields[position].strip()
        if not text:
            return 0.0
        try:
            number = float(text)
        except ValueError:
            number = math.nan
        if not math.isfinite(number):
            raise InputError(f"{self.place}: {text[:20]!r} is not a number; correct it")
        return number


def find_file(folder: Path, pattern: str, example: str) -> Path:
    """Return the file whose name matches a pattern, gzipped or not; refuse none and several."""
    found = find_files(folder, pattern)
    if not found:
        raise InputError(f"{folder}: no file such as {example}; put the publisher's file there")
    if len(found) > 1:
        names = " and ".join(path.name for path in found[:2])
        raise InputError(f"{folder}: {names} are both such a file; leave only one of them there")
    return found[0]


def find_files(folder: Path, pattern: str) -> list[Path]:
    """Return the files whose names match a pattern, in order of their names."""
    try:
        paths = sorted(folder.iterdir())
    except OSError:
        raise InputError(f"{folder}: not a folder that can be read; name the raw files'") from None
    wanted = re.compile(rf"(?i){pattern}(\.gz)?")
    return [path for path in paths if wanted.fullmatch(path.name)]


def open_raw(path: Path) -> IO[str]:
    """Open a raw file as text. Bytes that are not UTF-8 can only be in labels."""
    if path.suffix.lower() == ".gz":
        return gzip.open(path, "rt", encoding="utf-8-sig", errors="replace", newline="")
    return path.open(encoding="utf-8-sig", errors="replace", newline="")


def lines(path: Path) -> Iterator[tuple[str, str]]:
    """Yield each line without its end, and where it is."""
    for number, line in enumerate(_careful(path), start=1):
        yield f"{path}, line {number}", line.rstrip("\r\n")


def rows(path: Path, wanted: Sequence[str]) -> Iterator[Row]:
    """Yield each row's fields of some columns, in this order.

    Names of columns may be in upper or lower case. Tabs separate fields if there are any in the
    header, otherwise commas.
    """
    header, delimiter = header_of(path)
    places = _places(path, header, wanted)
    body = csv.reader(_careful(path), delimiter=delimiter)
    try:
        next(body, None)
        for fields in body:
            if len(fields) == len(header):
                yield Row(path, body.line_num, [fields[at] for at in places])
            elif fields:
                raise InputError(
                    f"{path}, line {body.line_num}: {len(fields)} fields, expected {len(header)}; "
                    "download the file again"
                )
    except csv.Error:
        raise InputError(
            f"{path}, line {body.line_num}: cannot be read; download the file again"
        ) from None


def header_of(path: Path) -> tuple[list[str], str]:
    """Return the names of a file's columns, in upper case, and what separates them."""
    first = next(iter(_careful(path)), "")
    delimiter = "\t" if "\t" in first else ","
    names = next(csv.reader([first], delimiter=delimiter), [])
    return [name.strip(" '\"\r\n").upper() for name in names], delimiter


def _places(path: Path, header: Sequence[str], wanted: Sequence[str]) -> list[int]:
    for name in wanted:
        if name.upper() not in header:
            raise InputError(f"{path}, line 1: no column {name}; is this the publisher's file?")
    return [header.index(name.upper()) for name in wanted]


def _careful(path: Path) -> Iterator[str]:
    """Yield a file's lines; an error is one line that names the file."""
    try:
        with open_raw(path) as file:
            yield from file
    except (OSError, EOFError):
        raise InputError(f"{path}: cannot be read to its end; download it again") from None


NAMES: Final = ("left.csv", "right.csv", "datapackage.json")


@dataclass(frozen=True, slots=True)
class Prepared:
    """What preparation made.

    left, right: the rows of both views, each with the entity's key first
    notes:       what was left out, for the owner only
    """

    schema: Schema
    left: Iterable[Sequence[str]]
    right: Iterable[Sequence[str]]
    notes: tuple[str, ...] = ()

    def write(self, folder: Path) -> None:
        """Write left.csv, right.csv and datapackage.json to a folder that has none of them."""
        must_be_free(folder)
        folder.mkdir(parents=True, exist_ok=True)
        for name, view, rows in zip(
            NAMES, (self.schema.left, self.schema.right), (self.left, self.right), strict=False
        ):
            columns = [one.name for one in view.attributes]
            write_text(folder / name, _text(columns, rows), FileKind.CSV)
        self.schema.save(folder / NAMES[2])


def must_be_free(folder: Path) -> None:
    """Refuse a folder with files that would be replaced, before anything is read."""
    for name in NAMES:
        if is_there(folder / name):
            raise InputError(f"{folder / name}: is there already; name another folder")
    if is_there(folder) and not folder.is_dir():
        raise InputError(f"{folder}: is not a folder; name another one")


def schema_of(name: str, unit: str, left: Iterable[Field], right: Iterable[Field]) -> Schema:
    """Return a declared schema with an id of its own."""
    return schema(name, unit, [*left], [*right], paths=(NAMES[0], NAMES[1])).accept()


def _text(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    written = io.StringIO()
    writer = csv.writer(written, lineterminator="\n")
    writer.writerow([KEY, *columns])
    writer.writerows(rows)
    return written.getvalue()
