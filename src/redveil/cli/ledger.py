"""The ledger that a command charges: where it is, and what is said when it is new."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from redveil.cli.console import say
from redveil.errors import InputError, LedgerWarning

NAME: Final = "datapackage.ledger.sqlite"


def find_ledger(given: Path | None, schema: Path, output: Path | None = None) -> Path:
    """Return the ledger given by --ledger, or the one in the schema's folder.

    All schemas in a folder share a ledger, so that a copy of a schema under another name does not
    begin a new one. A symbolic link leads to the ledger beside the file that it names.

    output: what the command will write; it must not be the ledger

    >>> find_ledger(None, Path("study/new.json")).as_posix()
    'study/datapackage.ledger.sqlite'
    """
    beside = schema.resolve() if schema.is_symlink() else schema
    path = given or beside.with_name(NAME)
    if output is not None and output.resolve() == path.resolve():
        raise InputError(f"{output}: this is the ledger; name another output")
    return path


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
