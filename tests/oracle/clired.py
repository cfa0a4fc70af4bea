"""A reader of clired's notation and of its `.queries` files, to read back what was written."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TypeAlias

from redveil.errors import InputError
from redveil.query.formula import MAX_DEPTH, And, Literal, Not, Or, Query, negate
from redveil_research.clired import _WORD, _flat, _is_category

Names: TypeAlias = Sequence[str] | None

_NUMBER = re.compile(r"[+-]?[0-9]+\.?[0-9]*([Ee][+-]?[0-9]+)?")
_DIGITS = re.compile(r"[0-9]+\.?[0-9]*")
_COLUMN = re.compile(r"v([0-9]+)")
_CATEGORY_TEST = re.compile(r"(.*?)(!=|≠|∉|=|∈)(.*)", re.DOTALL)
_LITERAL_END = re.compile(r"[\[\]()&|∧∨]|$")


def from_clired(text: str, names: Names = None) -> Query:
    """Return the query of a text in clired's syntax; `names` are the names of all columns.

    >>> from redveil.query.text import to_text
    >>> to_text(from_clired("! v2 | ( [v1=CA] & v0<4.5 )", names=["age", "state", "sick"]))
    '![sick] | [state = CA] & [age <= 4.5]'
    """
    return _Parser(text, names).whole()


def read_queries(
    path: str | os.PathLike[str],
    names: tuple[Sequence[str], Sequence[str]] | None = None,
) -> list[tuple[Query, Query]]:
    r"""Return the pairs of queries in a file; skip empty lines and lines that start with `#`.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "my.queries"
    ...     _ = path.write_text("query_LHS\tquery_RHS\nMoose\tt5~<4.5\n")
    ...     read_queries(path)[0][1]
    Literal(attribute='t5~', op='<=', value=4.5)
    """
    try:
        lines = Path(path).read_text(encoding="utf-8-sig").split("\n")
    except (OSError, ValueError):
        raise InputError(f"{path}: cannot be read; it must be a UTF-8 text file") from None
    places: list[int] | None = None
    pairs: list[tuple[Query, Query]] = []
    for number, line in enumerate(lines, start=1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        fields = [field.strip() for field in line.split("\t")]
        if places is None:
            places = _query_places(fields, f"{path}, line {number}")
            continue
        left, right = (
            _read_field(fields, place, f"{path}, line {number}", side_names)
            for place, side_names in zip(places, names or (None, None), strict=True)
        )
        pairs.append((left, right))
    if places is None:
        raise InputError(f"{path}: no header with query_LHS and query_RHS")
    return pairs


def _query_places(header: Sequence[str], place: str) -> list[int]:
    # Older versions write these columns without the underscore.
    older = {"queryLHS": "query_LHS", "queryRHS": "query_RHS"}
    spelled = [older.get(field, field) for field in header]
    if "query_LHS" not in spelled or "query_RHS" not in spelled:
        raise InputError(f"{place}: expected a tab-separated header with query_LHS and query_RHS")
    return [spelled.index("query_LHS"), spelled.index("query_RHS")]


def _read_field(fields: Sequence[str], index: int, place: str, names: Names) -> Query:
    if index >= len(fields):
        raise InputError(f"{place}: column {index + 1} is missing; separate columns by tabs")
    try:
        return from_clired(fields[index], names)
    except InputError as error:
        raise InputError(f"{place}, column {index + 1}, {error}") from None


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
        """Return operands joined by the same operator."""
        parts = [self._operand()]
        first = self._sign()
        while sign := self._sign():
            if sign != first:
                raise self._error("'&' and '|' are mixed; add parentheses")
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
        # From the smallest to the largest.
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
            raise self._error("expected a finite number as the bound; dates are not supported")
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
            raise self._error("expected a variable: a name, or v and a column number")
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

    def _error(self, message: str) -> InputError:
        return InputError(f"position {self._at + 1}: {message}")
