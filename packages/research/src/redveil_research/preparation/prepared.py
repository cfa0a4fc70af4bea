"""Two views and a schema, ready to be written to a folder."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from redveil import InputError, Schema
from redveil.seam.results import FileKind, is_there, write_text
from redveil_research.experiments.declarations import KEY, Field, schema

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
