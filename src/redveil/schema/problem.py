"""Problems of a schema: places, causes and remedies, and misspelt keys."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Final

# The keys that are read in each part, and other keys of the standard that resemble them.
_READ: Final = {
    "package": ("name", "id", "resources", "redveil"),
    "resource": ("name", "path", "schema", "dialect", "encoding", "redveil"),
    "dialect": ("delimiter", "sheetName", "sheetNumber"),
    "schema": ("fields", "primaryKey", "missingValues"),
    "field": (
        *("name", "title", "type", "constraints", "redveil", "trueValues", "falseValues"),
        *("categories", "categoriesOrdered", "decimalChar", "groupChar", "format"),
    ),
    "constraints": ("minimum", "maximum", "enum", "required"),
}
_ALSO: Final = {"package": ("sources",), "resource": ("scheme", "$schema")}
_ALIKE: Final = 0.8
# Under `redveil`, these limit what is spent. Elsewhere nobody would keep to them.
_LIMITS: Final = ("budget", "budget_delta", "bought")


@dataclass(frozen=True, slots=True)
class Problem:
    """A place in a schema, what is wrong there, and the remedy.

    >>> print(Problem("left, attribute age", "no bounds", "declare constraints.minimum"))
    left, attribute age: no bounds; declare constraints.minimum
    """

    place: str
    what: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.place}: {self.what}; {self.remedy}"


def unknown_keys(place: str, given: Iterable[str], known: Sequence[str]) -> Iterator[Problem]:
    """Yield a problem for every unknown key under `redveil`.

    >>> [str(one) for one in unknown_keys("left", ["budgett"], ["budget", "unit"])]
    ['left: unknown key redveil.budgett; did you mean redveil.budget?']
    """
    for key in given:
        if key not in known:
            close = get_close_matches(str(key), known, n=1)
            remedy = f"did you mean redveil.{close[0]}?" if close else f"use {', '.join(known)}"
            yield Problem(place, f"unknown key redveil.{key}", remedy)


def misspelt(place: str, part: str, given: object) -> Iterator[Problem]:
    """Yield a problem for every unknown key that resembles a known one.

    Other unknown keys are allowed in a data package. But a misspelt bound would be ignored without
    a message.

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


def misplaced(file: str, package: Mapping[str, object]) -> Iterator[Problem]:
    """Yield a problem for every budget that is declared outside of the package's `redveil`.

    >>> table = {"schema": {"fields": [{"name": "budget"}], "budget": "3"}}
    >>> [str(one) for one in misplaced("dp.json", {"resources": [table], "redveil": {}})]
    ["dp.json, resources[0].schema: budget outside of the package's redveil, where it limits \
nothing; write redveil.budget"]
    """
    own = {key: value for key, value in package.items() if key != "redveil"}
    for place, part in _parts(own, _LIMITS):
        for key in part if isinstance(part, Mapping) else ():
            if str(key).casefold() in _LIMITS:
                what = f"{key} outside of the package's redveil, where it limits nothing"
                there = f"{file}, {place}" if place else file
                yield Problem(there, what, f"write redveil.{str(key).casefold()}")


def unencodable(file: str, package: Mapping[str, object]) -> Iterator[Problem]:
    r"""Yield a problem for every text that no file can hold, because UTF-8 cannot encode it.

    JSON can spell half of a character, a lone surrogate: `"\ud83d"`. What is made of a schema, such
    as a result, contains its texts, so it could not be written once it has been paid for.

    >>> [str(one) for one in unencodable("dp.json", {"title": "Our clinic \ud83d"})]
    ['dp.json, title: half a character (a lone surrogate such as \\ud83d); write all of it']
    """
    if _is_encodable_as_a_whole(package):
        return
    for place, part in _parts(package):
        texts = [part] if isinstance(part, str) else part if isinstance(part, Mapping) else ()
        if not all(is_encodable(str(text)) for text in texts):
            # The place is made of keys, which may be what is wrong.
            there = place.encode("utf-8", "backslashreplace").decode()
            yield Problem(
                f"{file}, {there}" if there else file,
                "half a character (a lone surrogate such as \\ud83d)",
                "write all of it",
            )


def _is_encodable_as_a_whole(package: Mapping[str, object]) -> bool:
    """Return whether all texts are surely fine: much faster than looking at one after the other."""
    try:
        return is_encodable(json.dumps(package, ensure_ascii=False))
    except (TypeError, ValueError, RecursionError):
        return False


def is_encodable(text: str) -> bool:
    r"""Return whether UTF-8 can encode a text: whether it has no lone surrogates.

    >>> is_encodable("ε"), is_encodable("\ud83d")
    (True, False)
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _parts(package: Mapping[str, object], but: Sequence[str] = ()) -> Iterator[tuple[str, object]]:
    """Yield all parts of a descriptor with their places, but nothing below some keys."""
    # Not by recursion, which a descriptor could nest too deeply for.
    left: list[tuple[str, object]] = [("", package)]
    while left:
        place, part = left.pop()
        yield place, part
        inside: list[tuple[str, object]] = []
        if isinstance(part, Mapping):
            inside = [
                (f"{place}.{key}" if place else str(key), value)
                for key, value in part.items()
                if str(key).casefold() not in but
            ]
        elif isinstance(part, Sequence) and not isinstance(part, str | bytes):
            inside = [(f"{place}[{number}]", value) for number, value in enumerate(part)]
        left += reversed(inside)
