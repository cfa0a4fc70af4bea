"""Query evaluation one row at a time, from the definitions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from redveil.query.formula import And, BoolArray, Known, Literal, Not, Op, Query, Value

Row: TypeAlias = Mapping[str, bool | float | str | None]
Order: TypeAlias = Mapping[str, Sequence[str]]


def evaluate_row(query: Query, row: Row, order: Order | None = None) -> bool | None:
    """Return True, False, or None for unknown."""
    if isinstance(query, Known | Literal):
        value = row[query.attribute]
        known = value is not None
        return known if isinstance(query, Known) else _literal_holds(query, value, order or {})
    if isinstance(query, Not):
        inner = evaluate_row(query.operand, row, order)
        return None if inner is None else not inner
    if isinstance(query, And):
        for operand in query.operands:
            answer = evaluate_row(operand, row, order)
            if answer is not True:
                return answer
        return True
    answers = [evaluate_row(operand, row, order) for operand in query.operands]
    if True in answers:
        return True
    return False if set(answers) == {False} else None


def _literal_holds(literal: Literal, value: Value | None, order: Order) -> bool | None:
    if value is None:
        return None
    if literal.op == "=":
        return value == literal.value
    if literal.op == "!=":
        return value != literal.value
    scale = order.get(literal.attribute)
    if scale is None:
        is_above = float(value) > float(literal.value)
    else:
        is_above = scale.index(str(value)) > scale.index(str(literal.value))
    return is_above if literal.op == ">" else not is_above


@dataclass(frozen=True)
class ListColumn:
    """A column over plain values, None for missing."""

    values: Sequence[Value | None]
    scale: Sequence[str] | None = None

    @property
    def known(self) -> BoolArray:
        return np.array([value is not None for value in self.values], dtype=np.bool_)

    def test(self, op: Op, value: Value) -> tuple[BoolArray, BoolArray]:
        order = {"it": self.scale} if self.scale is not None else {}
        answers = [_literal_holds(Literal("it", op, value), each, order) for each in self.values]
        holds = np.array([answer is True for answer in answers], dtype=np.bool_)
        return holds, np.array([answer is not None for answer in answers], dtype=np.bool_)
