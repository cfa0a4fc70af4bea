"""Keys of the Table Schema standard that are misspelt, and would be passed over.

A descriptor may hold keys of its own, so an unknown key is no problem unless it looks like one that
is read: a bound that nobody reads is a bound that nobody keeps.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from typing import Final

from redveil.schema.problem import Problem

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
