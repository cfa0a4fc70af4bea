"""The two tables of a command, by their addresses, and the schema beside them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final

import typer

from redveil.base.files import is_there, typed
from redveil.data.address import Address
from redveil.errors import InputError
from redveil.schema import Schema
from redveil.schema.model import FILE_NAME

FORMS: Final = (
    "a file (CSV, TSV, Parquet, book.xlsx#Sheet), a folder or 'visits/*.csv', "
    "clinic.sqlite#table, or postgresql://host/clinic#table"
)

Left = Annotated[
    Address,
    typer.Argument(metavar="LEFT", parser=Address.of, help=f"Left table: {FORMS}."),
]
Right = Annotated[
    Address,
    typer.Argument(
        metavar="RIGHT", parser=Address.of, help="Right table, likewise, with the same entities."
    ),
]


def find_schema(given: Path | None, left: Address) -> tuple[Schema, Path]:
    """Read the schema given by --schema, or the one beside the left table."""
    path = given or left.home / FILE_NAME
    if given is None and not is_there(path):
        raise InputError(
            f"{path}: no such file; name a schema with --schema, "
            f"or draft one with `redveil schema draft {typed(left)} RIGHT`"
        )
    return Schema.read(path), path
