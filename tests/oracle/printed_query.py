"""Printed queries evaluated row by row on CSV text; shares no code with the package.

A row is what a CSV file says: texts by column, an empty text where a value is missing. Answers are
True, False or None (unknown); whether a value is known is never unknown. A conjunction is read from
left to right and stops at the first part that is not true; a disjunction is true if any part is,
false if all are, unknown otherwise.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

Row = Mapping[str, str]
Answer = bool | None
Question = Callable[[Row], Answer]
Orders = Mapping[str, Sequence[str]]

_TOKEN = re.compile(r'\s*(\[(?:"(?:[^"\\]|\\.)*"|[^\]"])*\]|[()&|!])')
_WORD = r'\s*("(?:[^"\\]|\\.)*"|[^"<>=!]+?)\s*'
_INTERVAL = re.compile(rf"\[{_WORD}<{_WORD}<={_WORD}\]")
_COMPARISON = re.compile(rf"\[{_WORD}(<=|>|!=|=){_WORD}\]")
_KNOWN = re.compile(rf'\[{_WORD}(?<=[ "])is known\s*\]')
_BOOLEAN = re.compile(rf"\[{_WORD}\]")


@dataclass(frozen=True)
class Supports:
    """How many entities satisfy the left query, the right one, both, and either."""

    left: int
    right: int
    both: int
    either: int


def read_rows(path: Path, key: str) -> dict[str, Row]:
    """Return a CSV file's rows by their key."""
    with path.open(encoding="utf-8", newline="") as file:
        return {row[key]: row for row in csv.DictReader(file)}


def supports(
    left: str,
    right: str,
    lefts: Mapping[str, Row],
    rights: Mapping[str, Row],
    orders: Orders | None = None,
) -> Supports:
    """Count the entities that two printed queries describe, among those that both tables have."""
    ask_left, ask_right = question(left, orders or {}), question(right, orders or {})
    shared = lefts.keys() & rights.keys()
    answers = [(ask_left(lefts[key]) is True, ask_right(rights[key]) is True) for key in shared]
    return Supports(
        left=sum(a for a, _ in answers),
        right=sum(b for _, b in answers),
        both=sum(a and b for a, b in answers),
        either=sum(a or b for a, b in answers),
    )


def question(text: str, orders: Orders) -> Question:
    """Read a printed query."""
    tokens = _TOKEN.findall(text)
    assert "".join(tokens).replace(" ", "") == text.replace(" ", ""), text
    rest = [*tokens, "end"]
    made = _disjunction(rest, orders)
    assert rest == ["end"], text
    return made


def _disjunction(tokens: list[str], orders: Orders) -> Question:
    parts = list(_operands(tokens, "|", _conjunction, orders))

    def ask(row: Row) -> Answer:
        answers = [part(row) for part in parts]
        return True if True in answers else (None if None in answers else False)

    return ask


def _conjunction(tokens: list[str], orders: Orders) -> Question:
    parts = list(_operands(tokens, "&", _negation, orders))

    def ask(row: Row) -> Answer:
        for part in parts:
            answer = part(row)
            if answer is not True:
                return answer
        return True

    return ask


def _operands(
    tokens: list[str],
    sign: str,
    read: Callable[[list[str], Orders], Question],
    orders: Orders,
) -> Iterator[Question]:
    yield read(tokens, orders)
    while tokens[0] == sign:
        tokens.pop(0)
        yield read(tokens, orders)


def _negation(tokens: list[str], orders: Orders) -> Question:
    token = tokens.pop(0)
    if token == "!":
        inner = _negation(tokens, orders)
        return lambda row: None if (answer := inner(row)) is None else not answer
    if token == "(":
        if tokens[0] in "&|":
            tokens.pop(0)  # "(& [a])" is a conjunction of one
        inner = _disjunction(tokens, orders)
        assert tokens.pop(0) == ")"
        return inner
    return _literal(token, orders)


def _literal(token: str, orders: Orders) -> Question:
    if found := _INTERVAL.fullmatch(token):
        low, name, high = found.groups()
        parts = _comparison(name, ">", low, orders), _comparison(name, "<=", high, orders)
        return lambda row: parts[1](row) if parts[0](row) else parts[0](row)
    if found := _COMPARISON.fullmatch(token):
        name, sign, value = found.groups()
        return _comparison(name, sign, value, orders)
    if found := _KNOWN.fullmatch(token):
        name = _plain(found[1])
        return lambda row: row[name] != ""
    found = _BOOLEAN.fullmatch(token)
    assert found, token
    name = _plain(found[1])
    return lambda row: None if row[name] == "" else row[name] in ("1", "true", "yes")


def _comparison(quoted_name: str, sign: str, value: str, orders: Orders) -> Question:
    name = _plain(quoted_name)

    def ask(row: Row) -> Answer:
        here = row[name]
        if here == "":
            return None
        if sign in ("=", "!="):
            return (here == _plain(value)) is (sign == "=")
        if name in orders:
            rank = orders[name].index
            return (rank(here) <= rank(_plain(value))) is (sign == "<=")
        return (float(here) <= float(value)) is (sign == "<=")

    return ask


def _plain(word: str) -> str:
    """Return a name or value without its quotes."""
    if not word.startswith('"'):
        return word
    return re.sub(
        r"\\(.)", lambda found: {"n": "\n", "t": "\t"}.get(found[1], found[1]), word[1:-1]
    )
