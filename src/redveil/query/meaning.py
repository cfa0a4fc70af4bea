"""Derived attributes in words: the query that each stands for, in the place of its name."""

from __future__ import annotations

from collections.abc import Mapping

from redveil.query.formula import And, Literal, Not, Or, Query, negate
from redveil.query.simplify import simplified
from redveil.schema import View


def spelled_out(query: Query, meanings: Mapping[str, Query], view: View) -> Query:
    """Return a query over declared attributes that has the same support.

    meanings: the query that each derived attribute stands for
    view:     the declared view

    >>> from redveil.query.text import parse_text, to_text
    >>> from redveil.data.synthetic import clinic_schema
    >>> sick = {"sick": parse_text("[gout] & [age > 40]")}
    >>> query = parse_text("![sick] | [sick] & [age > 65]")
    >>> to_text(spelled_out(query, sick, clinic_schema().left))
    '!([gout] & [age > 40]) | [gout] & [age > 65]'
    """
    exact = substituted(query, meanings)
    # A given query by itself stays as it was given.
    if exact == query or isinstance(query, Literal):
        return exact
    known = frozenset(one.name for one in view.attributes if one.required)
    return simplified(exact, known, view.orders)


def substituted(query: Query, meanings: Mapping[str, Query]) -> Query:
    """Return a query with the meaning of each derived attribute in its place.

    It has the same value for every entity: a derived attribute is missing where its query is
    unknown.

    >>> gout = Literal("gout", "=", True)
    >>> substituted(Literal("sick", "=", False), {"sick": gout})
    Literal(attribute='gout', op='=', value=False)
    """
    match query:
        case Literal(attribute, _, value):
            meaning = meanings.get(attribute)
            if meaning is None:
                return query
            return meaning if value is True else negate(meaning)
        case Not(operand):
            return Not(substituted(operand, meanings))
        case And(operands):
            return And(tuple(substituted(one, meanings) for one in operands))
        case Or(operands):
            return Or(tuple(substituted(one, meanings) for one in operands))
