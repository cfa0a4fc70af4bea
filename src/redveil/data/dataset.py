"""The loaded pair of tables: a public schema and sealed rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from redveil.data.report import LoadReport
from redveil.data.table import Table
from redveil.display import Block, Displayed
from redveil.errors import InputError
from redveil.schema import Schema, Side
from redveil.schema.listing import view_listing
from redveil.sealed import Sealed


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Dataset(Displayed):
    """Two joined views of the same entities. The rows are sealed, even their number.

    Made by `redveil.load`, used by `redveil.mine`. The load report is sealed too; it is for the
    data owner.

    >>> from redveil.schema import Attribute, Kind, View
    >>> clinic = Schema(
    ...     "clinic",
    ...     View("diagnoses", "id", (Attribute("asthma", Kind.BOOLEAN),)),
    ...     View("laboratory", "id", (Attribute("crp", Kind.NUMERIC, cuts=(0.5,)),)),
    ... )
    >>> dataset = Dataset(clinic, Sealed(Table(0, {}, {})), Sealed(LoadReport(0)))
    >>> dataset
    <Dataset clinic: 1 left and 1 right attributes>
    >>> dataset.table
    <sealed>
    """

    schema: Schema
    table: Sealed[Table]
    report: Sealed[LoadReport]

    def under(self, schema: Schema) -> Dataset:
        """Return the data set under another schema, of whose attributes it has the columns."""
        return replace(self, schema=schema)

    def _shown(self) -> Iterator[Block]:
        yield f"data set {self.schema.name}: its rows are sealed, its schema is public"
        for side in Side:
            yield view_listing(self.schema.view(side), side)

    def __repr__(self) -> str:
        left, right = len(self.schema.left.attributes), len(self.schema.right.attributes)
        return f"<Dataset {self.schema.name}: {left} left and {right} right attributes>"


def must_be_loaded(given: object, function: str) -> Dataset:
    """Return what a function was given, if it is a data set; refuse frames and file names.

    >>> must_be_loaded("left.csv", "mine")
    Traceback (most recent call last):
    redveil.errors.InputError: mine takes what redveil.load returns; load the two tables first
    """
    if not isinstance(given, Dataset):
        raise InputError(f"{function} takes what redveil.load returns; load the two tables first")
    return given
