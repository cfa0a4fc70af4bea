"""A schema file as it was read, so that it can be changed without losing what others changed."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from redveil.base.files import is_stream
from redveil.errors import InputError
from redveil.schema.model import Schema
from redveil.schema.reader import read_once


@dataclass(frozen=True, slots=True)
class SchemaOnDisk:
    """What one reading of a schema file found.

    path:    where it is
    schema:  what it declares
    raw:     its descriptor, with what redveil does not read
    content: the file itself

    >>> SchemaOnDisk.read(Path("no.json"))
    Traceback (most recent call last):
    redveil.errors.SchemaError: no.json: no such file; name a schema, such as datapackage.json
    """

    path: Path
    schema: Schema
    raw: dict[str, Any]
    content: bytes

    @classmethod
    def read(cls, path: Path) -> SchemaOnDisk:
        """Read a schema, or raise a SchemaError that names the first problem."""
        return cls(path, *read_once(path, Schema))


def must_be_unchanged(path: Path, schema: Schema) -> None:
    """Refuse to go on with a schema that is no longer what its file declares.

    Its owner may have declared a budget meanwhile.
    """
    if not is_stream(path) and Schema.read(path) != schema:
        raise InputError(
            f"{path}: changed since it was read; run the command again (nothing was charged)"
        )
