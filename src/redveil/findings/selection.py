"""Selection: what else a reader may ask of a list, once it has been mined."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from redveil.errors import InputError
from redveil.findings.redescription import Redescription
from redveil.privacy.loss import read_count, read_fraction
from redveil.query.formula import Query, literal_count

MOST_LITERALS: Final = 1000


@dataclass(frozen=True, slots=True)
class Selection:
    """What a redescription must satisfy to be listed, besides the constraints of the run.

    min_corrected: the smallest chance-corrected index, judged at the estimate
    max_literals:  the most literals on a side; an interval counts as two; None for any number
    confirmed:     whether to list only what is confirmed

    >>> Selection(min_corrected=2)
    Traceback (most recent call last):
    redveil.errors.InputError: min_corrected must lie between 0 and 1
    >>> Selection(max_literals=0)
    Traceback (most recent call last):
    redveil.errors.InputError: max_literals must lie between 1 and 1000
    """

    min_corrected: float = 0.0
    max_literals: int | None = None
    confirmed: bool = False

    def __post_init__(self) -> None:
        least = read_fraction(self.min_corrected)
        if least is None or not 0 <= least <= 1:
            raise InputError("min_corrected must lie between 0 and 1")
        object.__setattr__(self, "min_corrected", float(least))
        if self.max_literals is not None:
            count = read_count(self.max_literals)
            if count is None:
                raise InputError("max_literals must be a whole number")
            if not 1 <= count <= MOST_LITERALS:
                raise InputError(f"max_literals must lie between 1 and {MOST_LITERALS}")
            object.__setattr__(self, "max_literals", count)
        if not isinstance(self.confirmed, bool):
            raise InputError("confirmed must be True or False")

    def allows_words(self, query: Query) -> bool:
        """Return whether a query is short enough.

        >>> from redveil.query.formula import And, Literal
        >>> both = And((Literal("gout", "=", True), Literal("age", ">", 40)))
        >>> [Selection(max_literals=most).allows_words(both) for most in (1, 2)]
        [False, True]
        """
        return self.max_literals is None or literal_count(query) <= self.max_literals

    def allows(self, one: Redescription) -> bool:
        """Return whether a redescription may be listed, as far as its words and index tell."""
        words = self.allows_words(one.left) and self.allows_words(one.right)
        # An index of 0 or less is no reason to hide what nobody asked about.
        asked = self.min_corrected > 0
        return words and (not asked or one.statistics.corrected.estimate >= self.min_corrected)
