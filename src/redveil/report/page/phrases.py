"""Queries in words: noun phrases that follow "with" and "have".

    [diabetes type 2]                  diabetes type 2
    ![gout] & ![asthma]                neither gout nor asthma
    [HbA1c > 6.5]                      HbA1c above 6.5 %
    [blood group = A]                  blood group “A”
    [admitted <= "2018"]               admitted up to 2018

Words are for reading. Where a value is missing they may say less than the query, which stands
beside them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from redveil.query.formula import (
    And,
    AnyLiteral,
    Known,
    Literal,
    Not,
    Or,
    Query,
    complement,
    interval_pairs,
)
from redveil.query.text import number_text
from redveil.report.document import AttributePart
from redveil.report.page.markup import harmless

# The longest list of labels that is spelled out.
MOST_LABELS: Final = 3
_DATE: Final = re.compile(r"([0-9]{4})(?:-([0-9]{2}))?(?:-([0-9]{2}))?")
_MONTHS: Final = (
    *("January", "February", "March", "April", "May", "June", "July"),
    *("August", "September", "October", "November", "December"),
)
_IN_BRACKETS: Final = re.compile(r"(.+?)\s*[(\[]([^()\[\]]{1,16})[)\]]")
# What is in brackets is a unit if it looks like one; otherwise it belongs to the name.
_UNIT: Final = re.compile(
    r".*[/%°²³µ€$£].*|[munkMG]?[glm]|[cdk]m|mol|mmol|[kMm]?Pa|mmHg|bpm|[kM]?U|IU|[kM]?[WJVA]|h|min|s"
    r"|seconds?|minutes?|hours?|days?|weeks?|months?|years?|points?|USD|EUR|GBP|K|ppm|kcal"
)
_BEFORE: Final = ("$", "€", "£")


@dataclass(frozen=True, slots=True)
class Phrases:
    """The words for the queries of one view.

    >>> age = AttributePart(name="age", kind="numeric", minimum=0, maximum=110)
    >>> Phrases.of([age]).phrase(Literal("age", ">", 65))
    'an age above 65'
    """

    attributes: dict[str, AttributePart]

    @classmethod
    def of(cls, attributes: Iterable[AttributePart]) -> Phrases:
        """Return the words for the attributes of a view."""
        return cls({one.name: one for one in attributes})

    def label(self, name: str) -> str:
        """Return what an attribute is called, without its unit."""
        return self._label_and_unit(name)[0]

    def phrase(self, query: Query) -> str:
        """Return a query in words."""
        match query:
            case Literal() | Known():
                return self._positive(query) or f"no {self._negated(query)}"
            case Not(operand):
                return self._not(operand)
            case And(operands):
                return self._and(operands)
            case Or(operands):
                return self._or(operands)

    def _not(self, query: Query) -> str:
        match query:
            case Literal():
                return self.phrase(complement(query))
            case Known():
                return f"no known value of {self.label(query.attribute)}"
            case Not(operand):
                return self.phrase(operand)
            case And(operands):
                return self._or(tuple(map(_negation, operands)))
            case Or(operands):
                return self._and(tuple(map(_negation, operands)))

    def _and(self, operands: Sequence[Query]) -> str:
        held: list[str] = []
        missing: list[str] = []
        for group in _grouped(tuple(operands), "!="):
            match group:
                case (Literal(op=">") as low, Literal() as high):
                    held.append(self._between(low, high))
                case (Literal() as first, *_):
                    values = [str(one.value) for one in group if isinstance(one, Literal)]
                    word = None if len(values) > 1 else self._positive(first)
                    if len(values) > 1:
                        held.append(f"{self.label(first.attribute)} other than {_either(values)}")
                    elif word is None:
                        missing.append(self._negated(first))
                    else:
                        held.append(word)
                case (Not(Known() as known),):
                    missing.append(f"known value of {self.label(known.attribute)}")
                case (one, *_):
                    held.append(self._enclosed(one))
        return _listed([*held, *_without(missing)], "and")

    def _or(self, operands: Sequence[Query]) -> str:
        parts: list[str] = []
        for group in _grouped(tuple(operands), "="):
            if len(group) > 1 and isinstance(group[0], Literal):
                values = [str(one.value) for one in group if isinstance(one, Literal)]
                parts.append(f"{self.label(group[0].attribute)} {_either(values)}")
            else:
                parts.append(self._enclosed(group[0]))
        return _listed(parts, "or")

    def _enclosed(self, query: Query) -> str:
        words = self.phrase(query)
        compound = isinstance(query, And | Or) or (
            isinstance(query, Not) and isinstance(query.operand, And | Or)
        )
        return f"({words})" if compound else words

    def _positive(self, literal: AnyLiteral) -> str | None:
        """Return a literal that says what there is; None if it says what there is not."""
        if isinstance(literal, Known):
            return f"a known value of {self.label(literal.attribute)}"
        name, value = literal.attribute, literal.value
        if isinstance(value, bool):
            return self.label(name) if value else None
        if isinstance(value, float):
            least = self.attributes[name].minimum if name in self.attributes else None
            # "costs of $0" instead of "costs up to $0", but "number of claims equal to 0"
            if literal.op == "<=" and value == least:
                joint = "of" if self._label_and_unit(name)[1] else "equal to"
                return f"{self._noun(name)} {joint} {self._number(name, value)}"
            return f"{self._noun(name, literal.op)} {self._number(name, value)}"
        if literal.op in ("=", "!="):
            return self._category(literal)
        return self._ordered(name, [literal])

    def _negated(self, literal: AnyLiteral) -> str:
        return self.label(literal.attribute)

    def _category(self, literal: Literal) -> str:
        label, value = self.label(literal.attribute), str(literal.value)
        declared = self._declared(literal.attribute)
        if literal.op == "!=" and len(declared) == 2 and value in declared:
            return f"{label} {_quoted(next(one for one in declared if one != value))}"
        return f"{label} {'other than ' if literal.op == '!=' else ''}{_quoted(value)}"

    def _between(self, low: Literal, high: Literal) -> str:
        name = low.attribute
        if isinstance(low.value, float) and isinstance(high.value, float):
            first = self._number(name, low.value, unit=False)
            last = self._number(name, high.value)
            return f"{self._noun(name)} between {first} and {last}"
        return self._ordered(name, [low, high])

    def _ordered(self, name: str, bounds: Sequence[Literal]) -> str:
        """Return bounds of an ordinal attribute: its labels if they are few, or else the bounds."""
        declared, label = self._declared(name), self.label(name)
        if all(_DATE.fullmatch(one) for one in declared):
            said = [f"{_DATE_WORDS[one.op]} {_day(str(one.value))}" for one in bounds]
            return f"{label} {' and '.join(said)}"
        left = declared
        for one in bounds:
            place = declared.index(str(one.value)) + 1 if one.value in declared else 0
            kept = declared[:place] if one.op == "<=" else declared[place:]
            left = tuple(label for label in left if label in kept)
        if 0 < len(left) <= MOST_LABELS:
            return f"{label} {_either(left)}"
        said = [f"{_WORDS[one.op]} {_quoted(str(one.value))}" for one in bounds]
        return f"{label} {' and '.join(said)}"

    def _number(self, name: str, value: float, *, unit: bool = True) -> str:
        unit_text = self._label_and_unit(name)[1]
        written = plain_number(value, year=not unit_text)
        if unit_text in _BEFORE:
            return f"{unit_text}{written}"
        return f"{written}\N{NO-BREAK SPACE}{unit_text}" if unit_text and unit else written

    def _noun(self, name: str, op: str | None = None) -> str:
        """Return what a number is called, and how it is compared: nobody says "have age up to"."""
        label, word = self.label(name), "" if op is None else f" {_WORDS[op]}"
        if label.casefold() != "age":
            return f"{label}{word}"
        return f"an {label}{' of' if op == '<=' else ''}{word}"

    def _declared(self, name: str) -> tuple[str, ...]:
        return self.attributes[name].categories if name in self.attributes else ()

    def _label_and_unit(self, name: str) -> tuple[str, str]:
        """Return what an attribute is called, and its unit if there is one."""
        attribute = self.attributes.get(name)
        text = harmless((attribute and attribute.title) or name)
        found = _IN_BRACKETS.fullmatch(text)
        numeric = attribute is not None and attribute.kind == "numeric"
        if numeric and found is not None and _UNIT.fullmatch(found[2].strip()):
            return found[1], found[2].strip()
        return text, ""


_WORDS: Final = {"<=": "up to", ">": "above", "=": "equal to", "!=": "other than"}
_DATE_WORDS: Final = {"<=": "up to", ">": "after", "=": "in", "!=": "not in"}


def plain_number(value: float, *, year: bool = True) -> str:
    """Return a number as one reads it. What may be a year has no separator.

    >>> plain_number(115.0), plain_number(-2.15), plain_number(40000.0), plain_number(1960.0)
    ('115', '−2.15', '40,000', '1960')
    """
    text = number_text(abs(value))
    whole, dot, rest = text.partition(".")
    if whole.isdigit() and len(whole) > (4 if year else 3):
        text = f"{int(whole):,}{dot}{rest}"
    return f"−{text}" if value < 0 else text


def _day(category: str) -> str:
    """Return a year, month or day in words.

    >>> _day("2018"), _day("2019-03"), _day("2019-06-30")
    ('2018', 'March 2019', '30 June 2019')
    """
    found = _DATE.fullmatch(category)
    if found is None or found[2] is None or not 1 <= int(found[2]) <= 12:
        return category
    month = f"{_MONTHS[int(found[2]) - 1]} {found[1]}"
    return f"{int(found[3])} {month}" if found[3] else month


def _negation(query: Query) -> Query:
    match query:
        case Not(operand):
            return operand
        case Literal():
            return complement(query)
        case _:
            return Not(query)


def _grouped(operands: tuple[Query, ...], op: str) -> list[tuple[Query, ...]]:
    """Group operands: intervals, and labels of one attribute that are joined by one operator."""
    groups: list[tuple[Query, ...]] = []
    pairs = interval_pairs(operands) if op == "!=" else [(one,) for one in operands]
    for group in pairs:
        last = groups[-1][-1] if groups else None
        if len(group) == 1 and last is not None and _is_label(group[0], last, op):
            groups[-1] = (*groups[-1], *group)
        else:
            groups.append(group)
    return groups


def _is_label(one: Query, other: Query, op: str) -> bool:
    return (
        isinstance(one, Literal)
        and isinstance(other, Literal)
        and one.op == other.op == op
        and one.attribute == other.attribute
        and isinstance(one.value, str)
    )


def _quoted(value: str) -> str:
    return f"“{harmless(value)}”"


def _either(values: Sequence[str]) -> str:
    return _listed([_quoted(one) for one in values], "or")


def _without(missing: Sequence[str]) -> list[str]:
    """Return what there is not, as one phrase.

    >>> _without(["gout"]), _without(["gout", "asthma"]), _without(["a", "b", "c"])
    (['no gout'], ['neither gout nor asthma'], ['none of a, b and c'])
    """
    match missing:
        case []:
            return []
        case [one]:
            return [f"no {one}"]
        case [one, other]:
            return [f"neither {one} nor {other}"]
        case _:
            return [f"none of {_listed(missing, 'and')}"]


def _listed(parts: Sequence[str], word: str) -> str:
    """Return a list in words.

    >>> _listed(["a", "b", "c"], "and")
    'a, b and c'
    """
    if len(parts) == 1:
        return parts[0]
    return f"{', '.join(parts[:-1])} {word} {parts[-1]}"
