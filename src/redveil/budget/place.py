"""Where the ledger of a schema is: in the folder of its file."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from redveil.base.files import followed, is_stream, is_there
from redveil.errors import InputError
from redveil.schema.model import FILE_NAME

NAME: Final = "datapackage.ledger.sqlite"


def find_ledger(given: Path | None, schema: Path) -> Path:
    """Return the ledger that is given, or the one in the schema's folder.

    All schemas in a folder share a ledger, so that a copy of a schema under another name does not
    begin a new one. A symbolic link leads to the ledger beside the file that it names. If the
    default schema of the folder is one, so do the others in it.

    >>> find_ledger(None, Path("study/new.json")).as_posix()
    'study/datapackage.ledger.sqlite'
    """
    if given is not None:
        return given
    must_be_a_file(schema)
    own, shared = _usual(schema)
    if is_there(own) and not _is_same(own, shared):
        raise InputError(
            f"{own}: another ledger than {shared}, to which {default_schema(schema)} leads as a "
            "symbolic link; name one of them with --ledger (ledger=), or move the link elsewhere"
        )
    return shared


def must_be_a_file(schema: Path) -> None:
    """Refuse a schema that comes through a pipe: nothing is beside it.

    >>> must_be_a_file(Path("study/new.json"))
    """
    if is_stream(schema):
        raise InputError(
            f"{schema}: not a file, so no ledger is beside it; name one with --ledger (ledger=)"
        )


def ledgers_beside(schema: Path) -> list[Path]:
    """Return the ledgers that local runs with a schema charge, as far as there are any.

    >>> ledgers_beside(Path("nowhere/new.json"))
    []
    """
    must_be_a_file(schema)
    return [one for one in dict.fromkeys(_usual(schema)) if is_there(one)]


def default_schema(schema: Path) -> Path:
    """Return the default schema in a schema's folder, or in that of the file that it links to.

    >>> default_schema(Path("study/new.json")).as_posix()
    'study/datapackage.json'
    """
    return _followed(schema).with_name(FILE_NAME)


def _usual(schema: Path) -> tuple[Path, Path]:
    """Return the ledger in a schema's folder, and the one that the folder's default leads to."""
    beside = _followed(schema)
    return beside.with_name(NAME), _followed(beside.with_name(FILE_NAME)).with_name(NAME)


def _followed(path: Path) -> Path:
    # Path.is_symlink raises an error in a folder that cannot be searched.
    return followed(path) if os.path.islink(path) else path  # noqa: PTH114


def _is_same(one: Path, other: Path) -> bool:
    return followed(one) == followed(other)
