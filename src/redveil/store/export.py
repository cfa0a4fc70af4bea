"""A ledger as lines of JSON: what `redveil ledger export` writes, and what a witness keeps.

The first line names the ledger, each of the others is an entry with its hash and its signature.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

from redveil.budget.entry import Entry, NotAnEntryError, read_entry
from redveil.errors import InputError, LedgerError
from redveil.signing.canonical import canonical

FORMAT: Final = "redveil-ledger"


def first_line(identity: str | None) -> bytes:
    r"""Return the line that names a ledger.

    >>> first_line("7e57")
    b'{"format":"redveil-ledger","ledger":"7e57","version":1}\n'
    """
    return canonical({"format": FORMAT, "version": 1, "ledger": identity}) + b"\n"


def entry_line(entry: Entry) -> bytes:
    """Return the line of an entry."""
    return canonical(entry.row) + b"\n"


def lines(identity: str | None, entries: Iterable[Entry]) -> Iterator[bytes]:
    """Yield the lines of an export."""
    yield first_line(identity)
    yield from map(entry_line, entries)


def is_export(path: Path) -> bool:
    """Return whether a file begins like an export."""
    try:
        with path.open("rb") as file:
            return file.read(len(FORMAT) + 12) == b'{"format":"' + FORMAT.encode() + b'"'
    except OSError:
        return False


def read_export(path: Path) -> tuple[str | None, list[Entry]]:
    """Return the identity and the entries of an export, without a last line that was cut off."""
    try:
        content = path.read_bytes()
    except OSError:
        raise InputError(f"{path}: cannot be read; name a file of entries") from None
    whole = content[: content.rfind(b"\n") + 1].splitlines()
    if not whole:
        raise InputError(f"{path}: not the entries of a ledger; name another file")
    identity = identity_in(whole[0], path)
    try:
        return identity, [read_entry(object_in(line)) for line in whole[1:]]
    except (NotAnEntryError, ValueError, RecursionError):
        raise LedgerError(f"{path}: a line is not an entry; the file was changed") from None


def identity_in(line: bytes, path: Path) -> str | None:
    """Return the identity of a ledger from its first line."""
    try:
        found = object_in(line)
    except (ValueError, RecursionError):
        found = {}
    identity = found.get("ledger")
    if found.get("format") != FORMAT or not isinstance(identity, str | None):
        raise InputError(f"{path}: not the entries of a ledger; name another file")
    if found.get("version") != 1:
        raise InputError(f"{path}: written by a newer redveil; use that one")
    return identity


def object_in(line: bytes) -> dict[str, Any]:
    """Return the JSON object in a line."""
    found = json.loads(line)
    if not isinstance(found, dict):
        raise ValueError("not an object")  # noqa: TRY004 - what json raises, too
    return found
