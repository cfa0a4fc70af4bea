"""Taste: what the queries of a reported redescription must and must not say.

Taste is about words. It is public and costs nothing: it is applied to released trees only.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from redveil.errors import InputError
from redveil.losses.loss import read_count
from redveil.losses.promise import Parameter
from redveil.query.formula import And, Known, Literal, Not, Or, Query, attributes, literal_count
from redveil.schema import Attribute, Side
from redveil.schema.unmatched import Group

MOST_LITERALS = 1000


@dataclass(frozen=True, slots=True)
class Taste:
    """What the queries of a redescription may say.

    max_literals:   the most literals on a side; an interval counts as two; None for any number
    negation:       whether queries may say "not": `![gout]`, `[ward != north]` or `!(…)`. `[age <=
                    40]` and `[age > 40]` say what is, so both are allowed without negation; and
                    "not one of two categories" is said as the other one (`said_plainly`)
    disjunction:    whether queries may say "or": `… | …`, or `!(… & …)`, which is the same
    required_left:  names, of which the left query mentions one; any, if there are none
    required_right: names, of which the right query mentions one
    unmatched:      groups of attributes that may not stand on both sides

    >>> gout, high = Literal("gout", "=", True), Literal("uric acid", ">", 7.5)
    >>> Taste(max_literals=1).allows(gout, high), Taste(required_left=("age",)).allows(gout, high)
    (True, False)
    >>> Taste(max_literals=0)
    Traceback (most recent call last):
    redveil.errors.InputError: max_literals must lie between 1 and 1000
    """

    max_literals: int | None = None
    negation: bool = True
    disjunction: bool = True
    required_left: tuple[str, ...] = ()
    required_right: tuple[str, ...] = ()
    unmatched: tuple[Group, ...] = ()

    def __post_init__(self) -> None:
        if self.max_literals is not None:
            count = read_count(self.max_literals)
            if count is None:
                raise InputError("max_literals must be a whole number")
            if not 1 <= count <= MOST_LITERALS:
                raise InputError(f"max_literals must lie between 1 and {MOST_LITERALS}")
            object.__setattr__(self, "max_literals", count)
        for name in ("negation", "disjunction"):
            if not isinstance(getattr(self, name), bool):
                raise InputError(f"{name} must be True or False")

    @property
    def allows_all(self) -> bool:
        """Whether there is nothing to check."""
        return self == Taste()

    def allows(self, left: Query, right: Query) -> bool:
        """Return whether a redescription may be reported."""
        return (
            self.allows_on(Side.LEFT, left)
            and self.allows_on(Side.RIGHT, right)
            and not self._matches_a_group(left, right)
        )

    def allows_on(self, side: Side, query: Query) -> bool:
        """Return whether a query may stand on a side, whatever stands on the other.

        >>> Taste(required_left=("age",)).allows_on(Side.RIGHT, Literal("gout", "=", True))
        True
        """
        required = self.required_left if side is Side.LEFT else self.required_right
        return self.allows_words(query) and _mentions(query, required)

    def allows_words(self, query: Query) -> bool:
        """Return whether a query is short enough, and says neither "not" nor "or" if it must not.

        >>> either = Or((Literal("gout", "=", True), Literal("age", ">", 40)))
        >>> Taste(negation=False).allows_words(either)
        True
        >>> Taste(disjunction=False).allows_words(either)
        False
        """
        return (
            (self.max_literals is None or literal_count(query) <= self.max_literals)
            and (self.negation or not negates(query))
            and (self.disjunction or not disjoins(query))
        )

    def _matches_a_group(self, left: Query, right: Query) -> bool:
        names = attributes(left), attributes(right)
        return any(group.is_matched(*names) for group in self.unmatched)

    def public(self) -> dict[str, Parameter]:
        """Return the wishes about words as plain values, for a certificate.

        What is required or unmatched is listed with the run's steering.

        >>> Taste(max_literals=3, negation=False).public()
        {'max_literals': 3, 'negation': False}
        """
        usual = Taste()
        names = ("max_literals", "negation", "disjunction")
        return {n: getattr(self, n) for n in names if getattr(self, n) != getattr(usual, n)}


ANY_TASTE: Final = Taste()


def negates(query: Query) -> bool:
    """Return whether a query says "not" anywhere.

    >>> negates(Literal("gout", "=", False)), negates(Literal("age", "<=", 40))
    (True, False)
    """
    match query:
        case Literal():
            return query.op == "!=" or query.value is False
        case Known():
            return False
        case Not():
            return True
        case And(operands) | Or(operands):
            return any(map(negates, operands))


def said_plainly(query: Query, declared: Iterable[Attribute]) -> Query:
    """Return a query in which "not one of two categories" is the other one.

    Where a value is missing, both are unknown.

    >>> from redveil.schema import Attribute, Kind
    >>> sex = Attribute("sex", Kind.CATEGORICAL, categories=("f", "m"))
    >>> said_plainly(Literal("sex", "!=", "f"), [sex])
    Literal(attribute='sex', op='=', value='m')
    """
    twofold = {a.name: a.categories for a in declared if len(a.categories) == 2}

    def said(one: Query) -> Query:
        match one:
            case Literal(attribute=name, op="!=") if name in twofold:
                (other,) = (label for label in twofold[name] if label != one.value)
                return Literal(name, "=", other)
            case Literal() | Known():
                return one
            case Not(operand):
                return Not(said(operand))
            case And(operands):
                return And(tuple(map(said, operands)))
            case Or(operands):
                return Or(tuple(map(said, operands)))

    return said(query)


def disjoins(query: Query, *, negated: bool = False) -> bool:
    """Return whether a query says "or" anywhere; a negated "and" does, a negated "or" does not.

    >>> gout, old = Literal("gout", "=", True), Literal("age", ">", 40)
    >>> [disjoins(one) for one in (Or((gout, old)), Not(And((gout, old))), Not(Or((gout, old))))]
    [True, True, False]
    """
    match query:
        case Literal() | Known():
            return False
        case Not(operand):
            return disjoins(operand, negated=not negated)
        case And(operands) | Or(operands):
            is_or = isinstance(query, Or) is not negated
            return (is_or and len(operands) > 1) or any(
                disjoins(one, negated=negated) for one in operands
            )


def _mentions(query: Query, names: Sequence[str]) -> bool:
    return not names or not set(names).isdisjoint(attributes(query))
