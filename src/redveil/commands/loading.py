"""Load tables for a command, and tell the data owner what was left out or read as missing."""

from __future__ import annotations

import sys
from importlib.abc import MetaPathFinder
from pathlib import Path
from typing import TYPE_CHECKING

from redveil.base.files import typed
from redveil.cli.console import progress, say
from redveil.errors import LoadError
from redveil.schema import Schema, Status
from redveil.schema.on_disk import must_be_unchanged

if TYPE_CHECKING:
    from redveil.data.address import Address
    from redveil.data.dataset import Dataset
    from redveil.data.report import LoadReport


def load_tables(
    left: Address,
    right: Address,
    schema: Schema,
    schema_path: Path,
    *,
    strict: bool = False,
    few_in_common: bool = True,
    packed: bool = False,
    cluster: str | None = None,
    quiet: bool = False,
) -> Dataset:
    """Load two tables, and print the load report, which depends on the rows, unless quiet.

    few_in_common: whether to go on if few keys are in both tables; if not, the report says how many
    """
    from redveil import owner
    from redveil.data.loading import mismatch

    keep_pandas_out()
    from redveil.loading import load

    with progress("loading") as show:
        dataset = load(
            left,
            right,
            schema,
            strict=strict,
            few_in_common=True,
            packed=packed,
            cluster=cluster,
            progress=lambda _, share: show(share),
        )
    # Loading takes time, in which a budget may have been declared.
    must_be_unchanged(schema_path, schema)
    report = owner.load_report(dataset)
    if not quiet:
        for line in report.lines():
            say(f"owner only: {line}", "dim")
        warn(report, "`redveil schema check SCHEMA LEFT RIGHT` shows where")
    if not few_in_common and (message := mismatch(report, schema)):
        raise LoadError(f"{message}; nothing was charged")
    if schema.status is Status.DRAFT:
        say(
            "warning: the schema is a draft; values from the data in it are not private, and this "
            "run is charged like any other. "
            f"Review it, then run `redveil schema accept {typed(schema_path)}`.",
            "bold yellow",
        )
    return dataset


def keep_pandas_out() -> None:
    """Keep Arrow from importing pandas, which takes longer than to mine a small table.

    Arrow tries that once, with the first value that it is given, so as to know data frames. A
    command reads files.
    """
    if "pandas" in sys.modules:
        return
    import pyarrow as pa

    without = _WithoutPandas()
    sys.meta_path.insert(0, without)
    try:
        pa.scalar(0)
    finally:
        sys.meta_path.remove(without)


class _WithoutPandas(MetaPathFinder):
    """Imports everything but pandas, as if it were not installed."""

    def find_spec(self, fullname: str, _path: object, _target: object = None) -> None:
        if fullname == "pandas":
            raise ModuleNotFoundError(fullname)


def warn(report: LoadReport, remedy: str) -> None:
    """Print the warnings of a load report, and what to do about them."""
    warnings = report.warnings()
    for line in warnings:
        say(f"owner only: WARNING: {line}", "bold red")
    if warnings:
        say(f"owner only: {remedy}", "bold red")
