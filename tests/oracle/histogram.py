"""Entities counted one by one. A missing value is None; group `groups` is not counted."""

from __future__ import annotations

from collections.abc import Sequence


def count_codes(
    columns: Sequence[Sequence[int | None]],
    bins: Sequence[int],
    group: Sequence[int],
    groups: int,
) -> list[list[int]]:
    """Return a row of group counts for every bin of every column."""
    rows: list[list[int]] = []
    for values, count in zip(columns, bins, strict=True):
        cells = {(code, g): 0 for code in range(count) for g in range(groups)}
        for value, g in zip(values, group, strict=True):
            if value is not None and g != groups:
                cells[value, g] += 1
        rows += [[cells[code, g] for g in range(groups)] for code in range(count)]
    return rows


def count_flags(
    columns: Sequence[Sequence[bool | None]], group: Sequence[int], groups: int
) -> list[list[int]]:
    """Return, for every column, a row of group counts of False and one of True."""
    as_codes = [[None if value is None else int(value) for value in column] for column in columns]
    return count_codes(as_codes, [2] * len(columns), group, groups)
