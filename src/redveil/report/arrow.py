"""A result as an Arrow table, which every library for data frames reads."""

from __future__ import annotations

import pyarrow as pa

from redveil.report.document import RedescriptionPart, ResultDocument


def to_arrow(document: ResultDocument) -> pa.Table:
    """Return one row for each redescription, with true values if an owner has added them.

    `confirmed` is null if the share of false discoveries was not bounded. `leaf_table` is the
    number of the table that it was read off, counted from 1. `detail` is the row of the story that
    it adds to, counted from 1; null for a story.
    """
    types = {
        "left": pa.string(),
        "right": pa.string(),
        **{
            f"{what}{end}": pa.float64()
            for what in ("jaccard", "corrected", "support_both", "support_left", "support_right")
            for end in ("", "_low", "_high")
        },
        "p_value": pa.float64(),
        "expected_jaccard": pa.float64(),
        "confirmed": pa.bool_(),
        "leaf_table": pa.int64(),
        "detail": pa.int64(),
    }
    repeated = any(one.before for one in document.redescriptions)
    if repeated:
        types |= {
            f"{what}{end}": pa.float64()
            for what in ("jaccard_before", "difference")
            for end in ("", "_low", "_high")
        }
    evaluated = any(one.true for one in document.redescriptions)
    if evaluated:
        types |= {"true_jaccard": pa.float64(), "true_support_both": pa.int64()}
        types |= {"true_p_value": pa.float64()}
    rows = [
        dict(zip(types, _row(one, repeated=repeated, evaluated=evaluated), strict=True))
        for one in document.redescriptions
    ]
    return pa.Table.from_pylist(rows, schema=pa.schema(types))


def _row(one: RedescriptionPart, *, repeated: bool, evaluated: bool) -> list[str | float | None]:
    row: list[str | float | None] = [one.left.text, one.right.text]
    counts = one.support.both, one.support.left, one.support.right
    for interval in (one.jaccard, one.corrected, *counts):
        row += [interval.estimate, interval.low, interval.high]
    row += [one.p_value, one.expected_jaccard, one.confirmed, one.source.tree_pair + 1]
    row.append(one.detail)
    if repeated:
        before = one.before
        for old in (before.jaccard, before.difference) if before else (None, None):
            row += [old.estimate, old.low, old.high] if old else [None] * 3
    if evaluated:
        true = one.true
        row += [true.jaccard, true.support.both, true.p_value] if true else [None] * 3
    return row
