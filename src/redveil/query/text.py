r"""Queries as text: `[t3~ <= 12.5] & ![Moose] | [State = CA]`.

`!` binds tightest, then `&`, then `|`; `¬ ∧ ∨ ≤ ≠` also mean `! & | <= !=`.

    [a]  ![a]             a Boolean attribute is true, is false
    [a = v]  [a != v]     v is a number, a bare word or a "quoted string"
    [a <= x]  [a > x]     x is a number, a date (2019-03, 2019-03-31), or the "quoted label" of an
                          ordinal attribute
    [x < a <= y]          the same as [a > x] & [a <= y]
    [a is known]          the value of a is not missing

A name needs no quotes if it consists of letters, digits, inner spaces and `_~+-.:;,/#()%$@*^?{}`
and neither looks like a number nor ends in `is known`. In quotes, `\" \\ \n \t \u0007` are escapes.

Parsing the text of a query returns the same query, whatever its shape. Parentheses nest a
conjunction in a conjunction, and `(& …)` and `(| …)` have a single operand. An interval adds its
two literals to the surrounding conjunction; in parentheses it is a conjunction of its own.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from redveil.errors import QueryError
from redveil.query.formula import (
    MAX_DEPTH,
    And,
    AnyLiteral,
    Known,
    Literal,
    Not,
    Op,
    Or,
    Query,
    Value,
    interval_pairs,
    is_empty,
)

#: The longest text that is parsed.
MAX_TEXT = 100_000

_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}(-[0-9]{2})?")
_IS_KNOWN = re.compile(r"is\s+known", re.IGNORECASE)
_ENDS_IN_IS_KNOWN = re.compile(r"(?:(.*) )?is +known", re.IGNORECASE)
_BARE_MARKS = frozenset("_~+-.:;,/#()%$@*^?{}")
_RESERVED_WORDS = frozenset({"true", "false", "nan", "inf", "infinity"})
_ESCAPES = {'"': '"', "\\": "\\", "n": "\n", "t": "\t"}
_SYMBOLS = {"&": "&", "∧": "&", "|": "|", "∨": "|", "!": "!", "¬": "!"}
_OPS: dict[str, Op] = {"<=": "<=", "≤": "<=", "!=": "!=", "≠": "!=", "=": "=", ">": ">"}
_OTHER_OPS = ("<=", ">=", "==", "!=", "≤", "≥", "≠", "=", "<", ">")


@dataclass(frozen=True, slots=True)
class Notation:
    """The operators and literals of a notation, for `render`.

    >>> words = Notation(" and ", " or ", "not ", lambda l: l.attribute, lambda low, high: "…")
    >>> render(Not(Or((Literal("a", "=", True), Literal("b", "=", True)))), words)
    'not (a or b)'
    """

    conjunction: str
    disjunction: str
    negation: str
    literal: Callable[[AnyLiteral], str]
    interval: Callable[[Literal, Literal], str]


def to_text(query: Query) -> str:
    """Return a query as text; `parse_text` returns the same query from it.

    >>> to_text(Or((Literal("t3~", "<=", 12.5), Literal("State", "!=", "new york"))))
    '[t3~ <= 12.5] | [State != "new york"]'
    >>> to_text(Not(And((Literal("age", ">", 20), Literal("age", "<=", 40)))))
    '![20 < age <= 40]'
    >>> to_text(And((Known("age"), Literal("age is known", "=", True))))
    '[age is known] & ["age is known"]'
    """
    return render(query, _TEXT)


def enclosed_text(query: Query) -> str:
    """Return a query as text that can stand beside an "and".

    >>> enclosed_text(Or((Literal("a", "=", True), Literal("b", "=", True))))
    '([a] | [b])'
    """
    return _enclosed(query, _TEXT)


def render(query: Query, notation: Notation) -> str:
    """Return a query in a notation, with parentheses where needed.

    >>> signs = Notation(" ∧ ", " ∨ ", "¬", lambda l: l.attribute, lambda low, high: low.attribute)
    >>> a, b, c = (Literal(name, "=", True) for name in "abc")
    >>> render(And((Or((a, b)), c)), signs)
    '(a ∨ b) ∧ c'
    """
    match query:
        case Literal() | Known():
            return notation.literal(query)
        case Not(operand):
            return notation.negation + _negated(operand, notation)
        case And(operands):
            sign = notation.conjunction
            parts = [_conjunct(group, notation) for group in interval_pairs(operands)]
        case Or(operands):
            sign = notation.disjunction
            parts = [
                _enclosed(operand, notation)
                if isinstance(operand, Or)
                else render(operand, notation)
                for operand in operands
            ]
    return sign.join(parts) if len(operands) > 1 else f"({sign.strip()} {parts[0]})"


def _conjunct(group: tuple[Query, ...], notation: Notation) -> str:
    match group:
        case (Literal() as low, Literal() as high):
            return notation.interval(low, high)
        case _:
            return _enclosed(group[0], notation)


def _negated(operand: Query, notation: Notation) -> str:
    # ![a] is a literal of its own (a is false), so the negation of [a] needs parentheses.
    if isinstance(operand, Literal) and operand.value is True:
        return f"({notation.literal(operand)})"
    if isinstance(operand, And) and [len(g) for g in interval_pairs(operand.operands)] == [2]:
        return render(operand, notation)
    return _enclosed(operand, notation)


def _enclosed(query: Query, notation: Notation) -> str:
    """Return a query's text, in parentheses if it is a conjunction or disjunction."""
    text = render(query, notation)
    is_loose = isinstance(query, And | Or) and len(query.operands) > 1
    return f"({text})" if is_loose else text


def number_text(number: float) -> str:
    """Return a number in the fewest digits that parse to the same float.

    >>> number_text(5.0), number_text(12.5), number_text(1e20)
    ('5', '12.5', '1e+20')
    """
    return repr(number).removesuffix(".0")


def _literal_text(literal: AnyLiteral) -> str:
    name = attribute_text(literal.attribute)
    if isinstance(literal, Known):
        return f"[{name} is known]"
    if isinstance(literal.value, bool):
        return f"[{name}]" if literal.value else f"![{name}]"
    return f"[{name} {literal.op} {value_text(literal.op, literal.value)}]"


def _interval_text(low: Literal, high: Literal) -> str:
    name = attribute_text(low.attribute)
    return f"[{value_text('>', low.value)} < {name} <= {value_text('<=', high.value)}]"


@lru_cache(maxsize=1024)
def attribute_text(name: str) -> str:
    """Return an attribute's name as it is written in a query, in quotes where needed.

    >>> attribute_text("age"), attribute_text("a=b")
    ('age', '"a=b"')
    """
    is_odd = _NUMBER.fullmatch(name) or _ENDS_IN_IS_KNOWN.fullmatch(name)
    is_bare = all(map(_is_bare, name)) and name == name.strip() and not is_odd
    return name if is_bare else _quoted(name)


def value_text(op: Op, value: Value) -> str:
    """Return a value as it is written beside an operator.

    >>> value_text("=", "new york"), value_text("<=", 5.0)
    ('"new york"', '5')
    """
    if isinstance(value, float):
        return number_text(value)
    text = str(value)
    is_word = text != "" and " " not in text and text.lower() not in _RESERVED_WORDS
    return attribute_text(text) if is_word and op in ("=", "!=") else _quoted(text)


def _is_bare(character: str) -> bool:
    is_word_character = unicodedata.category(character)[0] in "LMN"
    return is_word_character or character == " " or character in _BARE_MARKS


def _quoted(text: str) -> str:
    shown = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t")
    return '"' + "".join(map(_visible, shown)) + '"'


def _visible(character: str) -> str:
    # Control and direction characters can make one text look like another.
    is_hidden = unicodedata.category(character) in ("Cc", "Cf", "Zl", "Zp")
    return f"\\u{ord(character):04x}" if is_hidden and character <= "\uffff" else character


_TEXT = Notation(" & ", " | ", "!", _literal_text, _interval_text)


def parse_text(text: str) -> Query:
    """Return the query of a text; a `QueryError` names the position (from 1) of a mistake.

    >>> parse_text("[age > 20] & ![smokes]") == And(
    ...     (Literal("age", ">", 20), Literal("smokes", "=", False))
    ... )
    True
    >>> parse_text("[age < 20]")
    Traceback (most recent call last):
    redveil.errors.QueryError: position 6: '<' is not supported; write <= or >
    """
    if len(text) > MAX_TEXT:
        raise QueryError(f"the query is longer than {MAX_TEXT} characters; shorten it")
    return _Parser(text).whole()


class _Parser:
    """A recursive descent parser. An interval stays a pair until its context is known."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._depth = 0

    def whole(self) -> Query:
        query = self._disjunction()
        if self._peek():
            raise self._error("expected '&', '|' or the end")
        return query

    def _disjunction(self) -> Query:
        parts = [self._conjunction()]
        while self._take("|"):
            parts.append(self._conjunction())
        return parts[0] if len(parts) == 1 else Or(tuple(parts))

    def _conjunction(self) -> Query:
        parts = self._operands()
        while self._take("&"):
            parts += self._operands()
        return parts[0] if len(parts) == 1 else And(parts)

    def _operands(self) -> tuple[Query, ...]:
        """Return the next operand; an interval is two."""
        if self._depth > MAX_DEPTH:
            raise self._error(f"the query nests deeper than {MAX_DEPTH} levels")
        if self._take("!"):
            return (self._negation(),)
        if self._peek() == "(":
            return (self._group(),)
        if self._peek() == "[":
            return self._bracket()
        raise self._error("expected '[', '(' or '!'")

    def _negation(self) -> Query:
        stands_before_bracket = self._peek() == "["
        self._depth += 1
        operands = self._operands()
        self._depth -= 1
        match operands:
            case (Literal(name, "=", True),) if stands_before_bracket:
                return Literal(name, "=", value=False)
            case (operand,):
                return Not(operand)
            case _:
                return Not(And(operands))

    def _group(self) -> Query:
        self._at += 1
        self._depth += 1
        query: Query
        if self._take("&"):
            query = And(self._operands())
        elif self._take("|"):
            query = Or((self._conjunction(),))
        else:
            query = self._disjunction()
        if self._peek() != ")":
            raise self._error("expected ')'")
        self._at += 1
        self._depth -= 1
        return query

    def _bracket(self) -> tuple[Query, ...]:
        self._at += 1
        start = self._here()
        first, is_quoted = self._word()
        sign = self._sign()
        if not sign and (known := self._known(first, is_quoted=is_quoted)) is not None:
            found: tuple[Query, ...] = (Known(self._as_name(start, known, is_quoted=is_quoted)),)
        elif sign == "<" and (is_quoted or _NUMBER.fullmatch(first) or _DATE.fullmatch(first)):
            found = self._interval(start, first, is_quoted=is_quoted)
        else:
            name = self._as_name(start, first, is_quoted=is_quoted)
            found = (self._literal(name, sign),)
        if self._peek() != "]":
            raise self._error("expected ']'; put unusual names and values in double quotes")
        self._at += 1
        return found

    def _known(self, word: str, *, is_quoted: bool) -> str | None:
        """Return the name before `is known` and consume these words; None if they are not here."""
        if not is_quoted:
            ending = _ENDS_IN_IS_KNOWN.fullmatch(word)
            return None if ending is None else (ending[1] or "").rstrip(" ")
        words = _IS_KNOWN.match(self._text, self._at)
        if words is None:
            return None
        self._at = words.end()
        return word

    def _interval(self, start: int, first: str, *, is_quoted: bool) -> tuple[Query, ...]:
        low, opening = self._as_value(start, ">", first, is_quoted=is_quoted), start
        self._at += 1
        start = self._here()
        word, is_quoted = self._word()
        name = self._as_name(start, word, is_quoted=is_quoted)
        if self._sign() not in ("<=", "≤"):
            raise self._error("expected '<=', as in [x < a <= y]; for one bound write [a > x]")
        lower, upper = self._made(start, name, ">", low), self._literal(name, self._sign())
        if is_empty(lower.value, upper.value):
            low_text, high_text = value_text(">", lower.value), value_text("<=", upper.value)
            raise self._error(
                f"nothing is above {low_text} and at most {high_text}; the first must be smaller",
                opening,
            )
        return lower, upper

    def _literal(self, name: str, sign: str) -> Literal:
        if not sign:
            return Literal(name, "=", value=True)
        if sign not in _OPS:
            remedy = "=" if sign == "==" else "<= or >"
            raise self._error(f"'{sign}' is not supported; write {remedy}")
        self._at += len(sign)
        op = _OPS[sign]
        start = self._here()
        word, is_quoted = self._word()
        return self._made(start, name, op, self._as_value(start, op, word, is_quoted=is_quoted))

    def _made(self, start: int, name: str, op: Op, value: Value) -> Literal:
        try:
            return Literal(name, op, value)
        except QueryError as error:
            raise self._error(str(error), start) from None

    def _as_name(self, start: int, word: str, *, is_quoted: bool) -> str:
        if not is_quoted and _NUMBER.fullmatch(word):
            raise self._error("expected an attribute; quote a name that looks like a number", start)
        if not word:
            raise self._error("expected an attribute", start)
        return word

    def _as_value(self, start: int, op: Op, word: str, *, is_quoted: bool) -> Value:
        if is_quoted:
            return word
        if _NUMBER.fullmatch(word):
            return float(word)
        if not word:
            raise self._error("expected a value", start)
        if op in ("<=", ">") and not _DATE.fullmatch(word):
            raise self._error("expected a number, a date or a label in double quotes", start)
        return word.lower() == "true" if word.lower() in ("true", "false") else word

    def _word(self) -> tuple[str, bool]:
        """Return the next name or value, and whether it was in quotes."""
        if self._peek() == '"':
            return self._quoted(), True
        start = self._at
        while self._at < len(self._text) and _is_bare(self._text[self._at]):
            self._at += 1
        return self._text[start : self._at].rstrip(" "), False

    def _quoted(self) -> str:
        opening = self._at
        self._at += 1
        characters: list[str] = []
        while self._at < len(self._text) and self._text[self._at] != '"':
            if self._text[self._at] == "\\":
                characters.append(self._escape())
            else:
                characters.append(self._text[self._at])
                self._at += 1
        if self._at == len(self._text):
            raise self._error("this quote is not closed", opening)
        self._at += 1
        return "".join(characters)

    def _escape(self) -> str:
        found = re.compile(r'\\(?:(["\\nt])|u([0-9a-fA-F]{4}))').match(self._text, self._at)
        if found is None or (found[2] and 0xD800 <= int(found[2], 16) <= 0xDFFF):
            raise self._error(r"expected an escape: \" \\ \n \t, or \u and four hexadecimal digits")
        self._at = found.end()
        return _ESCAPES[found[1]] if found[1] else chr(int(found[2], 16))

    def _sign(self) -> str:
        """Return the comparison operator at this position, if any, without consuming it."""
        self._peek()
        return next((sign for sign in _OTHER_OPS if self._text.startswith(sign, self._at)), "")

    def _take(self, symbol: str) -> bool:
        is_there = _SYMBOLS.get(self._peek()) == symbol
        self._at += is_there
        return is_there

    def _here(self) -> int:
        self._peek()
        return self._at

    def _peek(self) -> str:
        """Skip white space; return the next character, or an empty string at the end."""
        while self._at < len(self._text) and self._text[self._at].isspace():
            self._at += 1
        return self._text[self._at : self._at + 1]

    def _error(self, message: str, at: int | None = None) -> QueryError:
        return QueryError(f"position {(self._at if at is None else at) + 1}: {message}")
