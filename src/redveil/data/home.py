"""The schema's file that is beside the tables, if the schema is in no other."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from redveil.base.files import is_there, located
from redveil.data.address import Address
from redveil.schema import Schema
from redveil.schema.model import FILE_NAME


def at_home(schema: Schema, *tables: object) -> Schema:
    """Return a schema that knows beside which file its ledger is, if there is one.

    That is its own file, or the one in the folder of a table, as for the command line.

    >>> from redveil.data.synthetic import clinic_schema
    >>> at_home(clinic_schema(), "nowhere/left.csv", "nowhere/right.csv").file
    """
    homes = [Address.of(one).home for one in tables if isinstance(one, str | Path | Address)]
    beside = next((home / FILE_NAME for home in homes if is_there(home / FILE_NAME)), None)
    if schema.file is not None or beside is None:
        return schema
    return replace(schema, file=located(beside))
