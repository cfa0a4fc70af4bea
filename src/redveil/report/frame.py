"""A result as a data frame."""

from __future__ import annotations

from typing import TYPE_CHECKING

from redveil.report.document import RedescriptionPart, ResultDocument

if TYPE_CHECKING:
    import polars as pl


def to_frame(document: ResultDocument) -> pl.DataFrame:
    """Return one row for each redescription; the true values too, where an owner has added them."""
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
    }
    evaluated = any(one.true for one in document.redescriptions)
    if evaluated:
        schema |= {"true_jaccard": pl.Float64, "true_support_both": pl.Int64}
        schema |= {"true_p_value": pl.Float64}
    rows = [_row(one, evaluated=evaluated) for one in document.redescriptions]
    return pl.DataFrame(rows, schema=schema, orient="row")


def _row(one: RedescriptionPart, *, evaluated: bool) -> list[str | float | None]:
    row: list[str | float | None] = [one.left.text, one.right.text]
    for interval in (one.jaccard, one.support.both, one.support.left, one.support.right):
        row += [interval.estimate, interval.low, interval.high]
    row += [one.p_value, one.expected_jaccard]
    if evaluated:
        true = one.true
        row += [true.jaccard, true.support.both, true.p_value] if true else [None] * 3
    return row
