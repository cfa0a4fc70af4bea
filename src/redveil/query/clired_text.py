"""Queries in the syntax of clired, the command-line tool behind ReReMi and Siren.

A variable is called by its name, or by its column as `v0`, `v1` and so on. Literals are `[a]`,
`[a=CA]`, `[a!=CA]` and `[3.0<a<4.2]`, where either bound may be left out; `!` negates. A
conjunction may hold literals and disjunctions in parentheses, a disjunction literals and
conjunctions.

What carries over, and how:

- clired's bounds are inclusive at both ends, though it prints `<`. Ours exclude the lower end, so
  `a > x` is written with the next float above x as its bound, and read back with the next one
  below. This is exact for floats. A number is compared for equality as an interval of width zero.
- A conjunction within a conjunction, and such, is flattened; a negated conjunction within a
  conjunction is written as a disjunction of negations (and the other way round). This keeps the
  meaning where no value is missing; where one is, clired has rules of its own in any case.
- Comparisons of ordinal labels, and texts with any of clired's signs in them, cannot be written.
  Dates, and clired's placeholders for a whole variable, cannot be read.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import TypeAlias

from redveil.errors import QueryError
from redveil.query.formula import (
    MAX_DEPTH,
    And,
    Literal,
    Not,
    Or,
    Query,
    interval_pairs,
    negate,
)

Names: TypeAlias = Sequence[str] | None

_SIGNS = "<>=![](){}&|,∧∨≤≥∈∉≠¬"
_WORD = re.compile(rf"[^\s\d?@{re.escape(_SIGNS)}][^\n\t\r{re.escape(_SIGNS)}]*(?<!\s)")
_NUMBER = re.compile(r"[+-]?[0-9]+\.?[0-9]*([Ee][+-]?[0-9]+)?")
_DIGITS = re.compile(r"[0-9]+\.?[0-9]*")
_COLUMN = re.compile(r"v([0-9]+)")
_CATEGORY_TEST = re.compile(r"(.*?)(!=|≠|∉|=|∈)(.*)", re.DOTALL)
_LITERAL_END = re.compile(r"[\[\]()&|∧∨]|$")


def to_clired(query: Query, names: Names = None) -> str:
    """Write a query in clired's syntax; with the names of all columns, as `v0`, `v1` and so on.

    >>> to_clired(And((Literal("t5~", "<=", -3.375), Literal("Moose", "=", False))))
    '[t5~<-3.375] & ![Moose]'
    >>> to_clired(Literal("a & b", "=", "CA"), names=["x", "a & b"])
    '[v1=CA]'
    """
    return _written(_flat(query), names)


def from_clired(text: str, names: Names = None) -> Query:
    """Read a query in clired's syntax; without names, a column is called by its number.

    >>> from_clired("! v3 | ( [v1=CA] & v0<4.5 )", names=["age", "state", "sex", "sick"]) == Or(
    ...     (
    ...         Literal("sick", "=", False),
    ...         And((Literal("state", "=", "CA"), Literal("age", "<=", 4.5))),
    ...     )
    ... )
    True
    """
    return _Parser(text, names).whole()


def _flat(query: Query) -> Query:
    """Merge nested conjunctions and disjunctions, and drop double and single-operand shells."""
    match query:
        case Literal():
            return query
        case Not(operand):
            return negate(_flat(operand))
        case And(operands):
            parts = map(_flat, operands)
            flat = [each for q in parts for each in (q.operands if isinstance(q, And) else (q,))]
            return flat[0] if len(flat) == 1 else And(tuple(flat))
        case Or(operands):
            parts = map(_flat, operands)
            flat = [each for q in parts for each in (q.operands if isinstance(q, Or) else (q,))]
            return flat[0] if len(flat) == 1 else Or(tuple(flat))


def _written(query: Query, names: Names) -> str:
    """Write a flat query as a whole."""
    match query:
        case Not(And(operands)) if (interval := _whole_interval(operands, names)) is not None:
            return "!" + interval
        case Not(operand):
            return f"!( {_written(operand, names)} )"
        case And(operands):
            parts = [_conjunct(group, names) for group in interval_pairs(operands)]
            return " & ".join(part for group in parts for part in group)
        case Or(operands):
            return " | ".join(_operand(operand, Or, names) for operand in operands)
        case Literal():
            return _literal(query, names)


def _conjunct(group: tuple[Query, ...], names: Names) -> list[str]:
    interval = _whole_interval(group, names)
    return [interval] if interval else [_operand(operand, And, names) for operand in group]


def _operand(query: Query, parent: type[And] | type[Or], names: Names) -> str:
    """Write an operand; clired's syntax has no negated conjunction within a conjunction."""
    match query:
        case Literal():
            return _literal(query, names)
        case And(operands) | Not(And(operands)) if _whole_interval(operands, names) is not None:
            return _written(query, names)
        case Not(And(operands)) if parent is And:
            return _operand(_flat(Or(tuple(map(negate, operands)))), parent, names)
        case Not(Or(operands)) if parent is Or:
            return _operand(_flat(And(tuple(map(negate, operands)))), parent, names)
        case Not():
            return _written(query, names)
        case _:
            return f"( {_written(query, names)} )"


def _whole_interval(operands: tuple[Query, ...], names: Names) -> str | None:
    """Write operands that are one interval together, unless it is empty: clired has none such."""
    match operands:
        case (Literal(name, ">", float() as low), Literal(other, "<=", float() as high)):
            lowest = _above(name, low)
            if name == other and lowest <= high:
                return f"[{lowest!r}<{_name(name, names)}<{high!r}]"
    return None


def _literal(literal: Literal, names: Names) -> str:
    name = _name(literal.attribute, names)
    match literal.op, literal.value:
        case "=", bool() as value:
            return f"[{name}]" if value else f"![{name}]"
        case "<=", float() as value:
            return f"[{name}<{value!r}]"
        case ">", float() as value:
            return f"[{_above(literal.attribute, value)!r}<{name}]"
        case "=" | "!=" as op, float() as value:
            return f"{'!' if op == '!=' else ''}[{value!r}<{name}<{value!r}]"
        case "=" | "!=" as op, str() as value if _is_category(value) and value.isprintable():
            return f"[{name}{op}{value}]"
        case "=" | "!=", _:
            raise QueryError(f"literal on {name!r}: clired cannot read this category; rename it")
    raise QueryError(f"literal on {name!r}: clired cannot compare labels; use = and != instead")


def _is_category(text: str) -> bool:
    return bool(_WORD.fullmatch(text) or _DIGITS.fullmatch(text))


def _above(attribute: str, number: float) -> float:
    above = math.nextafter(number, math.inf)
    if math.isinf(above):
        raise QueryError(f"literal on {attribute!r}: no number is above this bound")
    return above


def _name(attribute: str, names: Names) -> str:
    if names is not None:
        if attribute not in names:
            raise QueryError(f"attribute {attribute!r}: not among the names of the columns")
        return f"v{list(names).index(attribute)}"
    if _COLUMN.fullmatch(attribute):
        raise QueryError(f"attribute {attribute!r}: clired would take it for a column; give names")
    if not _WORD.fullmatch(attribute) or _NUMBER.match(attribute) or not attribute.isprintable():
        raise QueryError(f"attribute {attribute!r}: clired cannot read this name; give names")
    return attribute


class _Parser:
    def __init__(self, text: str, names: Names) -> None:
        self._text = text
        self._names = names
        self._at = 0
        self._depth = 0

    def whole(self) -> Query:
        query = self._chain()
        if self._peek():
            raise self._error("expected '&', '|' or the end")
        return _flat(query)

    def _chain(self) -> Query:
        """Read operands that are all joined by the same sign."""
        parts = [self._operand()]
        first = self._sign()
        while sign := self._sign():
            if sign != first:
                raise self._error("'&' and '|' side by side; say by parentheses which comes first")
            self._at += 1
            parts.append(self._operand())
        if len(parts) == 1:
            return parts[0]
        return And(tuple(parts)) if first == "&" else Or(tuple(parts))

    def _sign(self) -> str:
        return {"∧": "&", "&": "&", "∨": "|", "|": "|"}.get(self._peek(), "")

    def _operand(self) -> Query:
        if self._depth >= MAX_DEPTH:
            raise self._error(f"the query nests deeper than {MAX_DEPTH} levels")
        self._depth += 1
        query: Query
        if self._peek() in ("!", "¬"):
            self._at += 1
            query = negate(self._operand())
        elif self._peek() == "(":
            self._at += 1
            query = self._chain()
            self._close(")")
        elif self._peek() == "[":
            self._at += 1
            query = self._literal()
            self._close("]")
        else:
            query = self._literal()
        self._depth -= 1
        return query

    def _close(self, sign: str) -> None:
        if self._peek() != sign:
            raise self._error(f"expected '{sign}'")
        self._at += 1

    def _literal(self) -> Query:
        self._peek()
        end = _LITERAL_END.search(self._text, self._at)
        content = self._text[self._at : end.start() if end else None].strip()
        if not content:
            raise self._error("expected a literal")
        query = self._comparison(content)
        self._at += len(content)
        return query

    def _comparison(self, content: str) -> Query:
        if test := _CATEGORY_TEST.fullmatch(content):
            return self._categories(test[1].strip(), test[2], test[3].strip())
        parts = [part.strip() for part in re.split(r"([<≤>≥])", content)]
        words, signs = parts[::2], [">" if sign in ">≥" else "<" for sign in parts[1::2]]
        if not signs:
            return Literal(self._variable(words[0]), "=", value=True)
        if len(set(signs)) > 1 or len(signs) > 2:
            raise self._error("expected a literal such as [a], [a=CA] or [3.0<a<4.2]")
        # Read from the smallest to the largest.
        words = words if signs[0] == "<" else words[::-1]
        if len(words) == 2:
            words = [*words, ""] if _NUMBER.fullmatch(words[0]) else ["", *words]
        low, name, high = words
        return self._interval(self._variable(name), low, high)

    def _interval(self, name: str, low_text: str, high_text: str) -> Query:
        low, high = self._number(low_text), self._number(high_text)
        if low is not None and low == high:
            return Literal(name, "=", low)
        parts: list[Query] = []
        if low is not None:
            below = math.nextafter(low, -math.inf)
            if math.isinf(below):
                raise self._error("no number is below this bound")
            parts.append(Literal(name, ">", below))
        if high is not None:
            parts.append(Literal(name, "<=", high))
        return And(tuple(parts)) if len(parts) == 2 else parts[0]

    def _number(self, text: str) -> float | None:
        if not text:
            return None
        if not _NUMBER.fullmatch(text) or math.isinf(float(text)):
            raise self._error("expected a finite number as the bound; times are not supported")
        return float(text)

    def _categories(self, name: str, sign: str, text: str) -> Query:
        variable = self._variable(name)
        listed = text[1:-1].split(",") if text.startswith("{") and text.endswith("}") else [text]
        categories = [category.strip() for category in listed]
        if not all(map(_is_category, categories)):
            raise self._error("expected a category, or several in braces")
        query = Or(tuple(Literal(variable, "=", each) for each in categories))
        return _flat(query if sign in ("=", "∈") else Not(query))

    def _variable(self, word: str) -> str:
        if not _WORD.fullmatch(word):
            raise self._error("expected a variable: its name, or v and its column's number")
        column = _COLUMN.fullmatch(word)
        if self._names is None:
            return word
        if column is None:
            if word not in self._names:
                raise self._error("no column has this name")
            return word
        if int(column[1]) >= len(self._names):
            raise self._error("no column has this number")
        return self._names[int(column[1])]

    def _peek(self) -> str:
        while self._at < len(self._text) and self._text[self._at].isspace():
            self._at += 1
        return self._text[self._at : self._at + 1]

    def _error(self, message: str) -> QueryError:
        return QueryError(f"position {self._at + 1}: {message}")
