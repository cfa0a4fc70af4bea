"""The chain of a ledger: every entry contains the hash of the one before it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from redveil.signing.canonical import digest

# What the first entry of a ledger without an identity follows.
NOTHING: Final = "0" * 64


def beginning(identity: str | None) -> str:
    """Return what the first entry of a ledger follows; ledgers of servers have an identity.

    >>> beginning(None) == NOTHING, beginning("7e57") == NOTHING
    (True, False)
    """
    return NOTHING if identity is None else digest({"ledger": identity})


def link(fields: Mapping[str, Any], previous: str) -> str:
    """Return the hash of an entry that follows another.

    >>> link({"number": 1}, NOTHING) == digest({"number": 1, "previous": NOTHING})
    True
    """
    return digest({**fields, "previous": previous})
