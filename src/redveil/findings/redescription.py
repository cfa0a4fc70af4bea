"""A redescription: two queries that describe nearly the same entities, and how sure we are."""

from __future__ import annotations

from dataclasses import dataclass

from redveil.query.formula import Query, literal_count


@dataclass(frozen=True, slots=True)
class Interval:
    """An estimate with its bounds.

    >>> Interval(0.5, 0.4, 0.6).low
    0.4
    """

    estimate: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Redescription:
    """A pair of queries with noisy statistics. Everything in it has been released.

    `p_value` is taken at the pessimistic end of all intervals, `p_value_estimate` at the
    estimates. `table` is the number of the leaf table it was read from, and `left_ends`,
    `right_ends` the cells of that table that its queries cover.
    """

    left: Query
    right: Query
    jaccard: Interval
    support_left: Interval
    support_right: Interval
    support_both: Interval
    p_value: float
    p_value_estimate: float
    table: int
    left_ends: tuple[int, ...]
    right_ends: tuple[int, ...]

    @property
    def literals(self) -> int:
        """How many literals the two queries have together."""
        return literal_count(self.left) + literal_count(self.right)
