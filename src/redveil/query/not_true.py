"""Where a query is not true, as a query: false and unknown alike."""

from __future__ import annotations

from redveil.query.formula import And, Known, Literal, Not, Or, Query, complement


def not_true(query: Query, known: frozenset[str] = frozenset()) -> Query:
    """Return a query that is true exactly where another is false or unknown.

    known: attributes that are never missing

    >>> from redveil.query.text import to_text
    >>> old, ill = Literal("age", ">", 65), Literal("ill", "=", True)
    >>> to_text(not_true(And((old, ill)), frozenset({"age"})))
    '[age <= 65] | ![ill] | ![ill is known]'
    """
    match query:
        case Literal():
            return _or_missing(complement(query), known)
        case Known():
            return Not(query)
        case Not(operand):
            return _not_false(operand, known)
        case And(operands):
            return _any([not_true(one, known) for one in operands])
        case Or(operands):
            return _all([not_true(one, known) for one in operands])


def _not_false(query: Query, known: frozenset[str]) -> Query:
    """Return a query that is true exactly where another is true or unknown."""
    match query:
        case Literal():
            return _or_missing(query, known)
        case Known():
            return query
        case Not(operand):
            return not_true(operand, known)
        case And(operands):
            # Operands are evaluated in turn, and the first that is not true decides.
            failing = [not_true(one, known) for one in operands]
            passing = [_not_false(one, known) for one in operands]
            return _all([_any([*failing[:n], last]) for n, last in enumerate(passing)])
        case Or(operands):
            return _any([_not_false(one, known) for one in operands])


def _or_missing(literal: Literal, known: frozenset[str]) -> Query:
    sure = literal.attribute in known
    return literal if sure else Or((literal, Not(Known(literal.attribute))))


def _any(queries: list[Query]) -> Query:
    """Return a disjunction without disjunctions in it."""
    flat = [part for one in queries for part in (one.operands if isinstance(one, Or) else (one,))]
    return flat[0] if len(flat) == 1 else Or(tuple(flat))


def _all(queries: list[Query]) -> Query:
    """Return a conjunction without conjunctions in it."""
    flat = [part for one in queries for part in (one.operands if isinstance(one, And) else (one,))]
    return flat[0] if len(flat) == 1 else And(tuple(flat))
