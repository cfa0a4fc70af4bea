"""Identifiers of data sets: random, public, and given once."""

from __future__ import annotations

from uuid import uuid4


def new_id() -> str:
    """Return a new identifier of a data set, a random UUID.

    >>> len(new_id()), new_id() == new_id()
    (36, False)
    """
    return str(uuid4())
