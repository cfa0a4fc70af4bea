"""One thing that is wrong with a schema, and how to put it right."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Problem:
    """Where a schema is wrong, what is wrong there, and the remedy.

    >>> print(Problem("left, attribute age", "no bounds", "declare constraints.minimum"))
    left, attribute age: no bounds; declare constraints.minimum
    """

    place: str
    what: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.place}: {self.what}; {self.remedy}"
