"""The ledger that a command charges: where it is, and what is said when it is new."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from redveil.budget.charging import must_be_chargeable
from redveil.cli.console import say
from redveil.errors import LedgerWarning
from redveil.privacy.loss import Loss
from redveil.schema import Schema

NAME: Final = "datapackage.ledger.sqlite"


def find_ledger(given: Path | None, schema: Path) -> Path:
    """Return the ledger given by --ledger, or the one in the schema's folder.

    All schemas in a folder share a ledger, so that a copy of a schema under another name does not
    begin a new one. A symbolic link leads to the ledger beside the file that it names.

    >>> find_ledger(None, Path("study/new.json")).as_posix()
    'study/datapackage.ledger.sqlite'
    """
    beside = schema.resolve() if schema.is_symlink() else schema
    return given or beside.with_name(NAME)


def ledger_files(ledger: Path) -> list[Path]:
    """Return a ledger and the files that SQLite makes beside it, and removes.

    SQLite names them after the file at the end of all symbolic links.

    >>> [path.name for path in ledger_files(Path("a.sqlite"))][:4]
    ['a.sqlite', 'a.sqlite-journal', 'a.sqlite-wal', 'a.sqlite-shm']
    """
    places = (ledger, Path(os.path.realpath(ledger)))
    return [Path(f"{one}{end}") for one in places for end in ("", "-journal", "-wal", "-shm")]


def chargeable_ledger(
    given: Path | None, schema: Schema, schema_path: Path, loss: Loss
) -> Path | None:
    """Return the ledger that a run is recorded in, or refuse what it would refuse.

    Without a budget, a run need not be recorded. Then a folder that cannot be written is no reason
    to refuse it, and the ledger is None.
    """
    path = find_ledger(given, schema_path)
    if given is None and schema.budget is None and not _is_writable(path):
        say(f"{path}: cannot be written, so this run is not recorded; use --ledger", "yellow")
        return None
    must_be_chargeable(schema, loss, path)
    return path


def _is_writable(path: Path) -> bool:
    return os.access(path if path.exists() else path.parent, os.W_OK)


@contextmanager
def announcing() -> Iterator[None]:
    """Print what is said about a new ledger, however quiet a command is, when the block ends."""
    heard: list[str] = []
    with warnings.catch_warnings():
        warnings.simplefilter("always", LedgerWarning)
        usual = warnings.showwarning

        def show(message: Any, category: Any, *rest: Any, **more: Any) -> None:
            if issubclass(category, LedgerWarning):
                heard.append(str(message))
            else:
                usual(message, category, *rest, **more)

        warnings.showwarning = show
        try:
            yield
        finally:
            for text in heard:
                say(text, "bold yellow")
