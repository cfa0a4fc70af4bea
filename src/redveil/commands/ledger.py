"""The ledger that a command charges: whether it can, and what is said when it is new."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from redveil.base.files import is_there
from redveil.budget.charging import must_be_chargeable
from redveil.budget.place import find_ledger
from redveil.cli.console import say
from redveil.errors import InputError, LedgerWarning, OverBudgetError
from redveil.losses.loss import Loss
from redveil.schema import Schema


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
