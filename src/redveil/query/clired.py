"""Queries and .queries files of clired, the command-line tool behind ReReMi and Siren.

A variable has its name, or its column number as in `v0`, `v1`. Literals are `[a]`, `[a=CA]`,
`[a!=CA]` and `[3.0<a<4.2]`, in which either bound may be left out; `!` negates. A conjunction may
contain literals and disjunctions in parentheses, a disjunction literals and conjunctions.

How queries are translated:

- clired's bounds are inclusive, though it prints `<`. Ours exclude the lower end, so `a > x` is
  written with the next float above x as its bound, and read with the next one below, which is
  exact. A number is compared for equality as an interval of width zero.
- Nested conjunctions are flattened. A negated conjunction within a conjunction is written as a
  disjunction of negations, and vice versa. Without missing values the meaning stays the same;
  clired has its own rules for missing values.
- Comparisons of ordinal labels, whether a value is known, and text that contains clired's
  operators cannot be written; `report.queries_file` spells out the first two. Dates, and clired's
  placeholders for a whole variable, cannot be read.

A .queries file is tab-separated. Its header names `query_LHS`, `query_RHS` and statistics such as
`acc` (the Jaccard index), `pval`, and the sizes `card_Exo`, `card_Eox`, `card_Exx` and `card_Eoo`
of the four parts into which two supports divide the entities.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

from redveil.errors import QueryError
from redveil.file_kind import FileKind
from redveil.files import replace_text
from redveil.query.formula import (
    MAX_DEPTH,
    And,
    AnyLiteral,
    Known,
    Literal,
    Not,
    Or,
    Query,
    interval_pairs,
    negate,
)

Names: TypeAlias = Sequence[str] | None

_LEADING = ("rid", "query_LHS", "query_RHS")
_STATISTICS = ("acc", "pval", "card_Exo", "card_Eox", "card_Exx", "card_Eoo")
_SIGNS = "<>=![](){}&|,∧∨≤≥∈∉≠¬"
_WORD = re.compile(rf"[^\s\d?@{re.escape(_SIGNS)}][^\n\t\r{re.escape(_SIGNS)}]*(?<!\s)")
_NUMBER = re.compile(r"[+-]?[0-9]+\.?[0-9]*([Ee][+-]?[0-9]+)?")
_DIGITS = re.compile(r"[0-9]+\.?[0-9]*")
_COLUMN = re.compile(r"v([0-9]+)")
_CATEGORY_TEST = re.compile(r"(.*?)(!=|≠|∉|=|∈)(.*)", re.DOTALL)
_LITERAL_END = re.compile(r"[\[\]()&|∧∨]|$")


def to_clired(query: Query, names: Names = None) -> str:
    """Return a query in clired's syntax.

    names: the names of all columns; with them, a name that clired cannot read becomes the number
           of its column, as in `v0`, `v1`

    >>> to_clired(And((Literal("t5~", "<=", -3.375), Literal("Moose", "=", False))))
    '[t5~<-3.375] & ![Moose]'
    >>> to_clired(Literal("a & b", "=", "CA"), names=["x", "a & b"])
    '[v1=CA]'
    """
    return _written(_flat(query), names)


def from_clired(text: str, names: Names = None) -> Query:
    """Return the query of a text in clired's syntax; `names` are the names of all columns.

    >>> from redveil.query.text import to_text
    >>> to_text(from_clired("! v2 | ( [v1=CA] & v0<4.5 )", names=["age", "state", "sick"]))
    '![sick] | [state = CA] & [age <= 4.5]'
    """
    return _Parser(text, names).whole()


def _flat(query: Query) -> Query:
    """Merge nested conjunctions and disjunctions; unwrap single operands and double negations."""
    match query:
        case Literal() | Known():
            return query
        case Not(operand):
            return negate(_flat(operand))
        case And(operands) | Or(operands):
            kind, parts = type(query), map(_flat, operands)
            flat = [each for q in parts for each in (q.operands if isinstance(q, kind) else (q,))]
            return flat[0] if len(flat) == 1 else kind(tuple(flat))


def _written(query: Query, names: Names) -> str:
    """Return the text of a flat query."""
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
        case Literal() | Known():
            return _literal(query, names)


def _conjunct(group: tuple[Query, ...], names: Names) -> list[str]:
    interval = _whole_interval(group, names)
    return [interval] if interval else [_operand(operand, And, names) for operand in group]


def _operand(query: Query, parent: type[And] | type[Or], names: Names) -> str:
    """Return an operand's text; clired has no negated conjunction within a conjunction."""
    match query:
        case Literal() | Known():
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
    """Return the text of two literals that form an interval; clired has no empty intervals."""
    match operands:
        case (Literal(name, ">", float() as low), Literal(other, "<=", float() as high)):
            lowest = _above(name, low)
            if name == other and lowest <= high:
                return f"[{lowest!r}<{_name(name, names)}<{high!r}]"
    return None


def _literal(literal: AnyLiteral, names: Names) -> str:
    name = _name(literal.attribute, names)
    if isinstance(literal, Known):
        raise QueryError(
            f"literal on {name!r}: clired cannot ask whether a value is known; "
            "write a comparison or its complement instead"
        )
    match literal.op, literal.value:
        case "=", bool() as value:
            return f"[{name}]" if value else f"![{name}]"
        case "<=", float() as value:
            return f"[{name}<{value!r}]"
        case ">", float() as value:
            return f"[{_above(literal.attribute, value)!r}<{name}]"
        case "=" | "!=" as op, float() as value:
            return f"{'!' if op == '!=' else ''}[{value!r}<{name}<{value!r}]"
        case "=" | "!=" as op, str() as value if is_readable_category(value):
            return f"[{name}{op}{value}]"
        case "=" | "!=", _:
            raise QueryError(f"literal on {name!r}: clired cannot read this category; rename it")
    raise QueryError(f"literal on {name!r}: clired cannot compare labels; use = and != instead")


def is_readable_category(label: str) -> bool:
    """Return whether clired can read a category.

    >>> is_readable_category("new york"), is_readable_category("65+")
    (True, False)
    """
    return _is_category(label) and label.isprintable()


def _is_category(text: str) -> bool:
    return bool(_WORD.fullmatch(text) or _DIGITS.fullmatch(text))


def _above(attribute: str, number: float) -> float:
    above = math.nextafter(number, math.inf)
    if math.isinf(above):
        raise QueryError(f"literal on {attribute!r}: no number is above this bound")
    return above


def is_readable(name: str) -> bool:
    """Return whether clired can read a name, and does not take it for something else.

    >>> is_readable("House mouse"), is_readable("House mouse (2)"), is_readable("v12")
    (True, False, False)
    """
    a_word = _WORD.fullmatch(name) and not _NUMBER.match(name) and name.isprintable()
    return bool(a_word) and not _COLUMN.fullmatch(name)


def _name(attribute: str, names: Names) -> str:
    if names is not None and attribute not in names:
        raise QueryError(f"attribute {attribute!r}: not among the column names")
    if is_readable(attribute):
        return attribute
    if names is None:
        raise QueryError(
            f"attribute {attribute!r}: clired cannot read this name; pass column names"
        )
    return f"v{list(names).index(attribute)}"


def write_queries(
    pairs: Iterable[tuple[Query, Query, Mapping[str, float]]],
    path: str | os.PathLike[str],
    names: tuple[Sequence[str], Sequence[str]] | None = None,
) -> Path | None:
    """Write pairs of queries with their statistics, atomically.

    Returns where the file that they replace is kept, None if there was none.

    Sizes (`card_…`) are rounded, because clired reads whole numbers only. Numbers that are missing
    or not finite become `-`.

    >>> from tempfile import TemporaryDirectory
    >>> left, right = from_clired("Moose"), from_clired("t5~<4.5")
    >>> with TemporaryDirectory() as folder:
    ...     _ = write_queries([(left, right, {"acc": 0.75})], f"{folder}/my.queries")
    ...     Path(f"{folder}/my.queries").read_text().split()
    ['rid', 'query_LHS', 'query_RHS', 'acc', '1', '[Moose]', '[t5~<4.5]', '0.75']
    """
    rows = list(pairs)
    given = dict.fromkeys(name for _, _, statistics in rows for name in statistics)
    columns = [name for name in _STATISTICS if name in given]
    columns += [name for name in given if name not in _STATISTICS]
    for name in columns:
        if name in _LEADING or not re.fullmatch(r"\w+", name):
            raise QueryError(f"statistic {name!r}: use only letters, digits and _ in its name")
    left, right = names or (None, None)
    lines = [[*_LEADING, *columns]]
    for number, (query_left, query_right, statistics) in enumerate(rows, start=1):
        fields = [_field(name, statistics.get(name)) for name in columns]
        lines.append(
            [str(number), to_clired(query_left, left), to_clired(query_right, right), *fields]
        )
    text = "".join("\t".join(line) + "\n" for line in lines)
    return replace_text(Path(path), text, FileKind.QUERIES)


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
        raise QueryError(f"{path}: cannot be read; it must be a UTF-8 text file") from None
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
        raise QueryError(f"{path}: no header with query_LHS and query_RHS")
    return pairs


def _query_places(header: Sequence[str], place: str) -> list[int]:
    # Older versions write these columns without the underscore.
    older = {"queryLHS": "query_LHS", "queryRHS": "query_RHS"}
    spelled = [older.get(field, field) for field in header]
    if "query_LHS" not in spelled or "query_RHS" not in spelled:
        raise QueryError(f"{place}: expected a tab-separated header with query_LHS and query_RHS")
    return [spelled.index("query_LHS"), spelled.index("query_RHS")]


def _read_field(fields: Sequence[str], index: int, place: str, names: Names) -> Query:
    if index >= len(fields):
        raise QueryError(f"{place}: column {index + 1} is missing; separate columns by tabs")
    try:
        return from_clired(fields[index], names)
    except QueryError as error:
        raise QueryError(f"{place}, column {index + 1}, {error}") from None


def _field(column: str, value: float | None) -> str:
    if value is None or not math.isfinite(value):
        return "-"
    return str(round(value)) if column.startswith("card_") else repr(float(value))


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

    def _error(self, message: str) -> QueryError:
        return QueryError(f"position {self._at + 1}: {message}")
