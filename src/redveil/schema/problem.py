"""One thing that is wrong with a schema, and how to put it right."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches


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


def unknown_keys(place: str, given: Iterable[str], known: Sequence[str]) -> Iterator[Problem]:
    """Yield a problem for every key under `redveil` that means nothing: it may be misspelt.

    >>> [str(one) for one in unknown_keys("left", ["budgett"], ["budget", "unit"])]
    ['left: unknown key redveil.budgett; did you mean redveil.budget?']
    """
    for key in given:
        if key not in known:
            close = get_close_matches(str(key), known, n=1)
            remedy = f"did you mean redveil.{close[0]}?" if close else f"use {', '.join(known)}"
            yield Problem(place, f"unknown key redveil.{key}", remedy)
