"""The loaded pair of tables: a public schema and sealed rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Protocol

from redveil.base.display import Block, Displayed
from redveil.data.origin import Origin
from redveil.data.report import LoadReport
from redveil.data.table import Table
from redveil.errors import InputError
from redveil.schema import Schema, Side
from redveil.schema.beside import USUAL
from redveil.schema.listing import view_listing
from redveil.sealed import Sealed, within

if TYPE_CHECKING:
    from redveil.budget.charging import Charged
    from redveil.counting.backend import Backend
    from redveil.handover import Keep
    from redveil.report.result import Result
    from redveil.trees.splits import Splits


class Elsewhere(Protocol):
    """Where rows are that are not on this machine (`counting/cluster.py`)."""

    def mapped(self, function: Callable[[Table], Table]) -> Elsewhere:
        """Return the rows after a function that works on each entity alone."""

    def counts(self, schema: Schema, splits: Mapping[Side, Splits]) -> Backend:
        """Return the backend that counts these entities."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Dataset(Displayed):
    """Two joined views of the same entities. The rows are sealed, even their number.

    Made by `redveil.load`, used by `redveil.mine`. The load report is sealed too; it is for the
    data owner. `derived` tells how the rows follow from those that were loaded, if they are others,
    and `packed` whether numbers are kept as their bins only. If the rows are `elsewhere`, on the
    workers of a cluster, the table is empty.

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
    derived: Origin | None = None
    packed: bool = False
    elsewhere: Elsewhere | None = None

    @property
    def origin(self) -> Origin:
        """How these rows follow from those that were loaded."""
        return self.derived or Origin(self.schema)

    def describe(  # noqa: PLR0913 - the parameters of the public function
        self,
        query: str,
        epsilon: str | float | Fraction,
        *,
        delta: str | float | Fraction | None = None,
        within: str | Sequence[str] | None = None,
        depth: int | None = None,
        trials: int | None = None,
        tree_share: str | float | Fraction | None = None,
        max_p_value: float = 0.01,
        min_jaccard: float = 0.1,
        min_support: int = 10,
        max_support: float = 0.8,
        max_disjuncts: int | None = None,
        result_name: str | None = None,
        ledger: Charged = USUAL,
        progress: Callable[[float], None] | None = None,
        keep: Keep | None = None,
    ) -> Result:
        """Describe a query of one view by queries of the other: see `redveil.describe`."""
        # The public function: what it needs is built on data sets.
        import redveil

        return redveil.describe(
            self,
            query,
            epsilon,
            delta=delta,
            within=within,
            depth=depth,
            trials=trials,
            tree_share=tree_share,
            max_p_value=max_p_value,
            min_jaccard=min_jaccard,
            min_support=min_support,
            max_support=max_support,
            max_disjuncts=max_disjuncts,
            result_name=result_name,
            ledger=ledger,
            progress=progress,
            keep=keep,
        )

    def mapped(self, function: Callable[[Table], Table]) -> Dataset:
        """Return the data set after a function that works on each entity alone."""
        if self.elsewhere is not None:
            return replace(self, elsewhere=self.elsewhere.mapped(function))
        return replace(self, table=within(function, self.table))

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


def must_have_values(dataset: Dataset, what: str) -> None:
    """Refuse what needs the numbers themselves, if only their bins were kept."""
    if dataset.packed:
        raise InputError(f"{what} needs all values; load the tables without packed")


def must_be_here(dataset: Dataset, what: str) -> None:
    """Refuse what needs the rows on this machine, if they are on a cluster."""
    if dataset.elsewhere is not None:
        raise InputError(f"{what} needs the rows on this machine; load the tables without cluster")
