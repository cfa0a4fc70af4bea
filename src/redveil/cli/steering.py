"""What a user says about attributes and words on the command line."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from redveil.errors import InputError

_EXAMPLE = "write 'A, B', or a JSON list if a name has a comma"


def attribute_wishes(
    ignore: Sequence[str] | None,
    only: Sequence[str] | None,
    require: Sequence[str] | None,
    unmatched: Sequence[str] | None,
) -> dict[str, Any]:
    """Return what is said about attributes, as the keywords of `mine` and `plan`.

    >>> attribute_wishes(None, ["age"], None, ["told, measured"])["unmatched"]
    [['told', 'measured']]
    """
    groups = [read_group(text) for text in unmatched or ()]
    named = {"ignore": ignore, "only": only, "require": require, "unmatched": groups}
    return {name: list(value) if value else None for name, value in named.items()}


def read_group(text: str) -> list[str]:
    """Read a group of attributes: names with commas between them, or a JSON list.

    >>> read_group("weight self-reported, weight measured")
    ['weight self-reported', 'weight measured']
    >>> read_group('["height, standing", "height, lying"]')
    ['height, standing', 'height, lying']
    """
    if not text.lstrip().startswith("["):
        return [name.strip() for name in text.split(",")]
    try:
        names = json.loads(text)
    except ValueError:
        raise InputError(f"--unmatched: not a JSON list; {_EXAMPLE}") from None
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise InputError(f"--unmatched: not a list of names; {_EXAMPLE}")
    return names
