"""A result as an Arrow table, which every library for data frames reads."""

from __future__ import annotations

import pyarrow as pa

from redveil.report.document import RedescriptionPart, ResultDocument
from redveil.report.wording import is_confirmed


def to_arrow(document: ResultDocument) -> pa.Table:
    """Return one row for each redescription, with true values if an owner has added them.

    `confirmed` is null if the share of false discoveries was not bounded.
    """
    types = {
        "left": pa.string(),
        "right": pa.string(),
        **{
            f"{what}{end}": pa.float64()
            for what in ("jaccard", "support_both", "support_left", "support_right")
            for end in ("", "_low", "_high")
        },
        "p_value": pa.float64(),
        "expected_jaccard": pa.float64(),
        "confirmed": pa.bool_(),
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
        dict(zip(types, _row(document, number, one, repeated, evaluated), strict=True))
        for number, one in enumerate(document.redescriptions, start=1)
    ]
    return pa.Table.from_pylist(rows, schema=pa.schema(types))


def _row(
    document: ResultDocument,
    number: int,
    one: RedescriptionPart,
    repeated: bool,  # noqa: FBT001 - both say which columns there are
    evaluated: bool,  # noqa: FBT001
) -> list[str | float | None]:
    row: list[str | float | None] = [one.left.text, one.right.text]
    for interval in (one.jaccard, one.support.both, one.support.left, one.support.right):
        row += [interval.estimate, interval.low, interval.high]
    bounded = document.false_discoveries is not None
    row += [one.p_value, one.expected_jaccard]
    row.append(is_confirmed(document, number) if bounded else None)
    if repeated:
        before = one.before
        for old in (before.jaccard, before.difference) if before else (None, None):
            row += [old.estimate, old.low, old.high] if old else [None] * 3
    if evaluated:
        true = one.true
        row += [true.jaccard, true.support.both, true.p_value] if true else [None] * 3
    return row
