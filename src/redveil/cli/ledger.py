"""The ledger that a command charges: where it is, and what is said when it is new."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from redveil.budget.charging import must_be_chargeable
from redveil.cli.arguments import DEFAULT
from redveil.cli.console import say
from redveil.errors import InputError, LedgerWarning, OverBudgetError
from redveil.files import followed, is_stream, is_there
from redveil.privacy.loss import Loss
from redveil.schema import Schema

NAME: Final = "datapackage.ledger.sqlite"


def find_ledger(given: Path | None, schema: Path) -> Path:
    """Return the ledger given by --ledger, or the one in the schema's folder.

    All schemas in a folder share a ledger, so that a copy of a schema under another name does not
    begin a new one. A symbolic link leads to the ledger beside the file that it names. If the
    default schema of the folder is one, so do the others in it.

    >>> find_ledger(None, Path("study/new.json")).as_posix()
    'study/datapackage.ledger.sqlite'
    """
    if given is not None:
        return given
    if is_stream(schema):
        raise InputError(f"{schema}: not a file, so no ledger is beside it; name one with --ledger")
    own, shared = _usual(schema)
    if is_there(own) and not _is_same(own, shared):
        raise InputError(
            f"{own}: another ledger than {shared}, to which {default_schema(schema)} leads as a "
            "symbolic link; name one of them with --ledger, or move the link elsewhere"
        )
    return shared


def default_schema(schema: Path) -> Path:
    """Return the default schema in a schema's folder, or in that of the file that it links to.

    >>> default_schema(Path("study/new.json")).as_posix()
    'study/datapackage.json'
    """
    return _followed(schema).with_name(DEFAULT)


def _usual(schema: Path) -> tuple[Path, Path]:
    """Return the ledger in a schema's folder, and the one that the folder's default leads to."""
    beside = _followed(schema)
    return beside.with_name(NAME), _followed(beside.with_name(DEFAULT)).with_name(NAME)


def _followed(path: Path) -> Path:
    # Path.is_symlink raises an error in a folder that cannot be searched.
    return followed(path) if os.path.islink(path) else path  # noqa: PTH114


def _is_same(one: Path, other: Path) -> bool:
    return followed(one) == followed(other)


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
    return os.access(path if is_there(path) else path.parent, os.W_OK)


@contextmanager
def announcing() -> Iterator[None]:
    """Print what is said about a new ledger, however quiet a command is, when the block ends.

    If the ledger refuses the charge after all, because the disk is full, there is nothing to say.
    """
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
        except (InputError, OverBudgetError):
            heard.clear()
            raise
        finally:
            for text in heard:
                say(text, "bold yellow")
