"""How the steering of a run is worded, in certificates and plans."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from redveil.base.display import shortened
from redveil.losses.promise import Parameter

# A result file lists all names; text lists these many.
MOST_NAMES: Final = 12
# How each parameter that names attributes is worded.
_NAMED: Final = {
    "ignore": "leaves out {}",
    "only": "on that side, uses only {}",
    "require": "every redescription mentions, on that side, {}",
}


def steering_lines(parameters: Mapping[str, Parameter]) -> list[str]:
    """Return what was asked for about attributes and words, a line each; nothing by default.

    >>> steering_lines({"depth": 2, "ignore": ("left:age", "left:sex"), "negation": False})
    ['leaves out left:age, left:sex', 'no query says "not"']
    >>> steering_lines({"unmatched": (("left:told", "right:measured"),), "max_literals": 3})
    ['never matches left:told, right:measured with each other', 'at most 3 literals on a side']
    """
    return list(_lines(parameters))


def _lines(parameters: Mapping[str, Parameter]) -> Iterator[str]:
    for key, words in _NAMED.items():
        names = parameters.get(key)
        if isinstance(names, tuple):
            yield words.format(shortened([str(name) for name in names], MOST_NAMES))
    groups = parameters.get("unmatched")
    if isinstance(groups, tuple):
        for group in groups:
            yield f"never matches {shortened(group, MOST_NAMES)} with each other"
    if (most := parameters.get("max_literals")) is not None:
        yield f"at most {most} literals on a side"
    if parameters.get("negation") is False:
        yield 'no query says "not"'
    if parameters.get("disjunction") is False:
        yield 'no query says "or"'
