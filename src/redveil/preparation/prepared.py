"""Two views and a schema, ready to be written to a folder."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from redveil.errors import InputError
from redveil.file_kind import FileKind
from redveil.files import is_there, write_text
from redveil.schema import Attribute, Schema, View

KEY: Final = "id"
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
            write_text(folder / name, _text(view, rows), FileKind.CSV)
        self.schema.save(folder / NAMES[2])


def must_be_free(folder: Path) -> None:
    """Refuse a folder with files that would be replaced, before anything is read."""
    for name in NAMES:
        if is_there(folder / name):
            raise InputError(f"{folder / name}: is there already; name another folder")
    if is_there(folder) and not folder.is_dir():
        raise InputError(f"{folder}: is not a folder; name another one")


def schema_of(
    name: str, unit: str, left: Iterable[Attribute], right: Iterable[Attribute]
) -> Schema:
    """Return a declared schema with an id of its own."""
    views = [
        View(side, KEY, tuple(attributes), path=f"{side}.csv")
        for side, attributes in (("left", left), ("right", right))
    ]
    return Schema(name, views[0], views[1], unit=unit).accept()


def _text(view: View, rows: Iterable[Sequence[str]]) -> str:
    written = io.StringIO()
    writer = csv.writer(written, lineterminator="\n")
    writer.writerow([KEY, *(one.name for one in view.attributes)])
    writer.writerows(rows)
    return written.getvalue()
