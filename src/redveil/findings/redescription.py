"""A redescription: two queries that describe nearly the same entities, and how sure we are."""

from __future__ import annotations

from dataclasses import dataclass

from redveil.findings.statistics import Statistics
from redveil.query.formula import Query, literal_count


@dataclass(frozen=True, slots=True)
class Redescription:
    """A pair of queries with noisy statistics. Everything in it has been released.

    `table` is the number of the leaf table it comes from, counted from 0; `left_ends` and
    `right_ends` are the ends of that table's trees that its queries cover, by their place.
    `confirmed` says whether it survives correction for all comparable pairs; None if nobody asked.
    `detail` is the number of the entry whose story it adds to; None if it tells its own.
    """

    left: Query
    right: Query
    statistics: Statistics
    table: int
    left_ends: tuple[int, ...]
    right_ends: tuple[int, ...]
    confirmed: bool | None = None
    detail: int | None = None

    @property
    def literals(self) -> int:
        """How many literals the two queries have together."""
        return literal_count(self.left) + literal_count(self.right)
