"""A result as a data frame."""

from __future__ import annotations

from typing import TYPE_CHECKING

from redveil.report.document import RedescriptionPart, ResultDocument
from redveil.report.wording import is_confirmed

if TYPE_CHECKING:
    import polars as pl


def to_frame(document: ResultDocument) -> pl.DataFrame:
    """Return one row for each redescription, with true values if an owner has added them.

    `confirmed` is null if the share of false discoveries was not bounded.
    """
    import polars as pl

    schema: dict[str, type[pl.DataType]] = {
        "left": pl.String,
        "right": pl.String,
        **{
            f"{what}{end}": pl.Float64
            for what in ("jaccard", "support_both", "support_left", "support_right")
            for end in ("", "_low", "_high")
        },
        "p_value": pl.Float64,
        "expected_jaccard": pl.Float64,
        "confirmed": pl.Boolean,
    }
    evaluated = any(one.true for one in document.redescriptions)
    if evaluated:
        schema |= {"true_jaccard": pl.Float64, "true_support_both": pl.Int64}
        schema |= {"true_p_value": pl.Float64}
    rows = [
        _row(document, number, one, evaluated=evaluated)
        for number, one in enumerate(document.redescriptions, start=1)
    ]
    return pl.DataFrame(rows, schema=schema, orient="row")


def _row(
    document: ResultDocument, number: int, one: RedescriptionPart, *, evaluated: bool
) -> list[str | float | None]:
    row: list[str | float | None] = [one.left.text, one.right.text]
    for interval in (one.jaccard, one.support.both, one.support.left, one.support.right):
        row += [interval.estimate, interval.low, interval.high]
    bounded = document.false_discoveries is not None
    row += [one.p_value, one.expected_jaccard]
    row.append(is_confirmed(document, number) if bounded else None)
    if evaluated:
        true = one.true
        row += [true.jaccard, true.support.both, true.p_value] if true else [None] * 3
    return row
