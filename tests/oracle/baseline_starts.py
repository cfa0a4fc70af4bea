"""Starts of baselines, one pair of literals at a time, on the columns themselves."""

from __future__ import annotations

from collections.abc import Iterator

from redveil.data.table import Column, NumericColumn, Table
from redveil.query.formula import Literal, complement, evaluate
from redveil.schema import Kind, Side


def single_literals(column: Column) -> Iterator[Literal]:
    """Yield every literal on a column that its values tell apart, and the complements."""
    attribute = column.attribute
    if isinstance(column, NumericColumn):
        numbers = sorted({float(x) for x in column.values[column.known]})
        one_way = [Literal(attribute.name, "<=", x) for x in numbers[:-1]]
    elif attribute.kind is Kind.BOOLEAN:
        one_way = [Literal(attribute.name, "=", value=True)]
    elif attribute.kind is Kind.ORDINAL:
        one_way = [Literal(attribute.name, "<=", x) for x in attribute.categories[:-1]]
    else:
        one_way = [Literal(attribute.name, "=", x) for x in attribute.categories]
    for literal in one_way:
        yield literal
        yield complement(literal)


def best_matches(
    table: Table, min_support: int, max_support: float
) -> dict[tuple[Side, str], float]:
    """Return, for each attribute of either side, its best Jaccard index with a single literal."""
    best: dict[tuple[Side, str], float] = {}
    for one in table.left.values():
        for other in table.right.values():
            for mine in single_literals(one):
                for yours in single_literals(other):
                    left = evaluate(mine, table.left).true
                    right = evaluate(yours, table.right).true
                    both, either = int((left & right).sum()), int((left | right).sum())
                    too_large = max(left.sum(), right.sum()) > max_support * table.rows
                    if both < max(min_support, 1) or too_large:
                        continue
                    for key in ((Side.LEFT, mine.attribute), (Side.RIGHT, yours.attribute)):
                        best[key] = max(best.get(key, 0.0), both / either)
    return best
