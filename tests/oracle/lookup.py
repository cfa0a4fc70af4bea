"""Bytes replaced by the entries of a table, one at a time."""

from __future__ import annotations

from collections.abc import Sequence


def look_up(table: Sequence[int], index: Sequence[int]) -> list[int]:
    """Return the entry of a table for each index."""
    return [table[one] for one in index]
