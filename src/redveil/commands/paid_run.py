"""What every command does that pays for a result: check, load, run, save and show."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from redveil.base.file_kind import FileKind
from redveil.base.files import sqlite_files
from redveil.budget.place import find_ledger
from redveil.cli.console import display, output, progress, say
from redveil.cli.outputs import check_output, is_standard_output
from redveil.cli.paid_output import PaidOutput
from redveil.commands.ledger import announcing, chargeable_ledger
from redveil.commands.loading import load_tables

if TYPE_CHECKING:
    from redveil.data.address import Address
    from redveil.data.dataset import Dataset
    from redveil.handover import Keep
    from redveil.losses.loss import Loss
    from redveil.report.result import Result
    from redveil.schema import Schema


@dataclass(frozen=True, slots=True)
class Tables:
    """The two tables of a command, their schema, and how they are read."""

    left: Address
    right: Address
    schema: Schema
    schema_path: Path
    strict: bool
    few_in_common: bool
    quiet: bool

    def load(self, *, packed: bool = False, cluster: str | None = None) -> Dataset:
        """Load them, and tell the owner what was found.

        packed:  whether the bins between cut points are enough
        cluster: the address of a Dask scheduler, to load them there
        """
        return load_tables(
            self.left,
            self.right,
            self.schema,
            self.schema_path,
            strict=self.strict,
            few_in_common=self.few_in_common,
            packed=packed,
            cluster=cluster,
            quiet=self.quiet,
        )


@dataclass(frozen=True, slots=True)
class Destination:
    """Where the result goes, and the ledger that is charged for it."""

    path: Path
    ledger: Path | None
    quiet: bool

    @property
    def name(self) -> str | None:
        """The name under which the result is kept, if it is kept."""
        return None if is_standard_output(self.path) else self.path.name


def destination(
    path: Path, tables: Tables, ledger: Path | None, loss: Loss, inputs: Iterable[Path] = ()
) -> Destination:
    """Refuse an output that could not be written or paid for, before any data is read.

    inputs: further files that the command needs
    """
    charges = find_ledger(ledger, tables.schema_path)
    tabled = [*tables.left.needed(), *tables.right.needed()]
    needed = [*tabled, tables.schema_path, *inputs, *sqlite_files(charges)]
    check_output(path, FileKind.RESULT, needed)
    charged = chargeable_ledger(ledger, tables.schema, tables.schema_path, loss)
    return Destination(path, charged, tables.quiet)


def run_and_save(
    what: str, run: Callable[[Callable[[float], None], Keep], Result], where: Destination
) -> None:
    """Run, save the result, and show it.

    what: what is going on, for the progress bar
    run:  runs and charges, given a function that is told about progress, and one that keeps what
          was released until the result is there
    """
    from redveil.report.text import result_view

    paid = PaidOutput(where.path)
    with paid.naming():
        with announcing(), progress(what) as report:
            found = run(report, paid.begin)
        kept = paid.finish(found.to_json())
    if where.quiet or is_standard_output(where.path):
        return
    try:
        display(result_view(found.document, width=output().width))
    finally:
        if kept:
            say(f"previous result kept as {kept}")
        if where.ledger:
            say(f"recorded in {where.ledger}")
        say(f"written to {where.path}")
