"""One thing that is wrong with a schema, and how to put it right."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Final

# What is read of each part, and what of the standard looks like it but is another thing.
_READ: Final = {
    "package": ("name", "resources", "redveil"),
    "resource": ("name", "path", "schema", "dialect", "encoding"),
    "dialect": ("delimiter",),
    "schema": ("fields", "primaryKey", "missingValues"),
    "field": (
        *("name", "type", "constraints", "redveil", "trueValues", "falseValues"),
        *("categories", "categoriesOrdered", "decimalChar", "groupChar"),
    ),
    "constraints": ("minimum", "maximum", "enum", "required"),
}
_ALSO: Final = {"package": ("sources",), "resource": ("scheme", "$schema")}
_ALIKE: Final = 0.8


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


def misspelt(place: str, part: str, given: object) -> Iterator[Problem]:
    """Yield a problem for every key that looks like one that is read, but is not.

    >>> [str(one) for one in misspelt("left, attribute age", "constraints", {"minumum": 0})]
    ['left, attribute age: unknown key minumum in constraints; did you mean minimum?']
    >>> list(misspelt("left, attribute age", "constraints", {"unit of measurement": "years"}))
    []
    """
    if not isinstance(given, Mapping):
        return
    read = {key.casefold(): key for key in _READ[part]}
    for key in map(str, given):
        if key in _READ[part] or key in _ALSO.get(part, ()):
            continue
        close = get_close_matches(key.casefold(), read, n=1, cutoff=_ALIKE)
        if close:
            remedy = f"did you mean {read[close[0]]}?"
            yield Problem(place, f"unknown key {key} in {part}", remedy)
