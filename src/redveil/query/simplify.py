"""Shorter queries with the same support.

A rewriting preserves either the support or the exact value. Outside negations only the entities for
which a part is *true* matter, so literals may move and merge freely. Under a negation false becomes
true, and with missing values falsity depends on the order of a conjunction; there a rewriting must
be *exact*: it preserves true, false and unknown. For example, `[a <= 5] & [b] & [a <= 3]` and
`[a <= 3] & [b]` have the same support, but with a = 4 and b missing one is unknown and the other
false.

If an attribute is declared as never missing, either a literal on it or the complement is true;
without unknown values both kinds of rewriting are the same. Otherwise one of the two is true where
the value is known: `[a <= 5] & [b] | [a > 5] & [b]` becomes `[b] & [a is known]`. This is not
exact, because the first is unknown and the second false where a is missing.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import TypeAlias

from redveil.query.formula import (
    And,
    Known,
    Literal,
    Not,
    Op,
    Or,
    Query,
    complement,
    literals,
    negate,
)

_Conjunction: TypeAlias = tuple[Query, ...]

_RANK = {"=": 0, ">": 1, "<=": 2, "!=": 3}


def simplified(
    query: Query,
    known: frozenset[str] = frozenset(),
    order: Mapping[str, Sequence[str]] = MappingProxyType({}),
) -> Query:
    """Return a query with the same support in every table, and no more literals.

    known: attributes that are never missing, in any table
    order: the labels of ordinal attributes, in order

    >>> a3, a5, b = Literal("a", "<=", 3), Literal("a", "<=", 5), Literal("b", "=", True)
    >>> simplified(And((a5, b, a3))) == And((a3, b))
    True
    >>> simplified(Not(And((a5, b, a3)))) == Not(And((a5, b, a3)))
    True
    >>> either_way = Or((And((a3, b)), And((Literal("a", ">", 3), b))))
    >>> simplified(either_way, frozenset("a"))
    Literal(attribute='b', op='=', value=True)
    >>> simplified(either_way) == And((b, Known("a")))
    True
    >>> low, mid = Literal("grade", ">", "low"), Literal("grade", ">", "mid")
    >>> simplified(And((low, mid)), order={"grade": ("low", "mid", "high")}) == mid
    True
    """
    numbered = _with_positions(query, order)
    following = _simplify(numbered, known, exact=False)
    while following != numbered:
        numbered, following = following, _simplify(following, known, exact=False)
    # Nothing is left to be simplified, and no position is new.
    return _with_labels(numbered, _numbered(query, order))


def _numbered(query: Query, order: Mapping[str, Sequence[str]]) -> dict[str, Sequence[str]]:
    """Return the labels of ordinal attributes that a query compares with such labels only."""
    strange = {
        one.attribute
        for one in literals(query)
        if isinstance(one, Literal) and one.value not in order.get(one.attribute, ())
    }
    return {name: labels for name, labels in order.items() if name not in strange}


def _with_positions(query: Query, order: Mapping[str, Sequence[str]]) -> Query:
    """Return a query with the position of each label of an ordinal attribute in its place."""
    positions = {
        name: {label: float(place) for place, label in enumerate(labels)}
        for name, labels in _numbered(query, order).items()
    }

    def position(one: Literal) -> Literal:
        places = positions.get(one.attribute)
        return one if places is None else Literal(one.attribute, one.op, places[str(one.value)])

    return _mapped(query, position)


def _with_labels(query: Query, order: Mapping[str, Sequence[str]]) -> Query:
    """Return a query with labels in the place of positions."""

    def label(one: Literal) -> Literal:
        labels = order.get(one.attribute)
        return one if labels is None else Literal(one.attribute, one.op, labels[int(one.value)])

    return _mapped(query, label)


def _mapped(query: Query, change: Callable[[Literal], Literal]) -> Query:
    match query:
        case Literal():
            return change(query)
        case Known():
            return query
        case Not(operand):
            return Not(_mapped(operand, change))
        case And(operands):
            return And(tuple(_mapped(operand, change) for operand in operands))
        case Or(operands):
            return Or(tuple(_mapped(operand, change) for operand in operands))


def _simplify(query: Query, known: frozenset[str], *, exact: bool) -> Query:
    """Simplify once, from the literals up."""
    match query:
        case Literal() | Known():
            return query
        case Not(operand):
            compared = {one.attribute for one in literals(operand) if isinstance(one, Literal)}
            return negate(_simplify(operand, known, exact=not compared <= known))
        case And(operands):
            parts = [_simplify(operand, known, exact=exact) for operand in operands]
            return _simplify_and(parts, known, exact=exact)
        case Or(operands):
            parts = [_simplify(operand, known, exact=exact) for operand in operands]
            return _simplify_or(parts, known, exact=exact)


def _simplify_and(parts: Iterable[Query], known: frozenset[str], *, exact: bool) -> Query:
    operands = list(itertools.chain.from_iterable(map(_conjuncts, parts)))
    kept: list[Query] = []
    for operand in [each for each in operands if not _always(each, known)] or operands[:1]:
        # It is evaluated only where all earlier operands are true, so it is redundant if implied.
        if not any(_implies(earlier, operand) for earlier in kept):
            kept.append(operand)
    if exact:
        return _conjunction(_merge_runs(kept))
    # What is known comes last: it says least.
    return _conjunction(sorted(_merge_all(kept), key=lambda each: isinstance(each, Known)))


def _merge_runs(operands: Sequence[Query]) -> list[Query]:
    """Merge adjacent literals on one attribute, which are known or unknown together."""
    merged: list[Query] = []
    for attribute, run in itertools.groupby(operands, key=_attribute_of):
        neighbours = list(run)
        merged += neighbours if attribute is None else _tightest(neighbours)
    return merged


def _merge_all(operands: Sequence[Query]) -> list[Query]:
    """Merge all literals on one attribute, at the position of the first."""
    groups: dict[str, list[Query]] = {}
    for operand in operands:
        if isinstance(operand, Literal | Known):
            groups.setdefault(operand.attribute, []).append(operand)
    merged: list[Query] = []
    for operand in operands:
        if not isinstance(operand, Literal | Known):
            merged.append(operand)
        elif operand.attribute in groups:
            merged += _tightest(groups.pop(operand.attribute))
    return merged


def _tightest(group: Sequence[Query]) -> list[Query]:
    """Drop literals that another one implies; put lower bounds before upper ones."""
    kept = [
        literal
        for literal in group
        if not any(other != literal and _implies(other, literal) for other in group)
    ]
    return sorted(
        kept, key=lambda literal: _RANK[literal.op] if isinstance(literal, Literal) else 0
    )


def _simplify_or(parts: Iterable[Query], known: frozenset[str], *, exact: bool) -> Query:
    disjuncts = [_conjuncts(part) for part in itertools.chain.from_iterable(map(_disjuncts, parts))]
    # One that is always true says everything.
    disjuncts = [each for each in disjuncts if _always(each[0], known)][:1] or disjuncts
    if not exact:
        # Drop disjuncts that are never true, but keep one if there is no other.
        disjuncts = [each for each in disjuncts if not _contradicts(each, known)] or disjuncts[:1]
    disjuncts = _absorb(disjuncts, exact=exact)
    if not exact:
        disjuncts = [_without_settled(each, disjuncts, known) for each in disjuncts]
        disjuncts = _join_where_known(disjuncts)
    disjuncts = _join_intervals(disjuncts, exact=exact)
    queries = tuple(_conjunction(each) for each in disjuncts)
    return queries[0] if len(queries) == 1 else Or(queries)


def _always(query: Query, known: frozenset[str]) -> bool:
    """Return whether a query asks only whether a value is known that is never missing."""
    return isinstance(query, Known) and query.attribute in known


def _contradicts(conjunction: _Conjunction, known: frozenset[str]) -> bool:
    """Return whether two of its operands exclude each other, or one is never true."""
    negations = [negate(operand) for operand in conjunction]
    # An operand never implies its own negation.
    return any(
        _always(negation, known) or any(_implies(operand, negation) for operand in conjunction)
        for negation in negations
    )


def _absorb(disjuncts: Sequence[_Conjunction], *, exact: bool) -> list[_Conjunction]:
    """Drop a disjunct if another is true wherever it is; of two equal ones, drop the later."""
    kept: list[_Conjunction] = []
    for each in disjuncts:
        if any(_covers(earlier, each, exact=exact) for earlier in kept):
            continue
        kept = [earlier for earlier in kept if not _covers(each, earlier, exact=exact)]
        kept.append(each)
    return kept


def _covers(general: _Conjunction, special: _Conjunction, *, exact: bool) -> bool:
    if exact:
        # Only a prefix is exact: [b] & [a] may be unknown where [a] is false.
        return special[: len(general)] == general
    return all(any(_implies(have, want) for have in special) for want in general)


def _without_settled(
    disjunct: _Conjunction, disjuncts: Sequence[_Conjunction], known: frozenset[str]
) -> _Conjunction:
    """Drop a literal if another disjunct is true wherever only this literal is false."""
    for literal in disjunct:
        rest = tuple(operand for operand in disjunct if operand != literal)
        if not rest or not _is_decided(literal, rest, known):
            continue
        otherwise = (negate(literal), *rest)
        if any(_covers(other, otherwise, exact=False) for other in disjuncts if other != disjunct):
            return rest
    return disjunct


def _is_decided(query: Query, rest: _Conjunction, known: frozenset[str]) -> bool:
    """Return whether a literal is certainly true or false wherever the rest is true."""
    match query:
        case Known() | Not(Known()):
            return True
        case Literal(name):
            return name in known or any(_implies(one, Known(name)) for one in rest)
        case _:
            return False


def _join_where_known(disjuncts: list[_Conjunction]) -> list[_Conjunction]:
    """Ask only whether a value is known, where that makes another disjunct needless.

    If another disjunct is true wherever `!l & rest` is, `l & rest` may as well be
    `rest & [a is known]`. That is worthwhile if the wider disjunct covers another one.
    """
    for place, disjunct in enumerate(disjuncts):
        others = disjuncts[:place], disjuncts[place + 1 :]
        for literal in disjunct:
            if not isinstance(literal, Literal):
                continue
            rest = tuple(operand for operand in disjunct if operand != literal)
            otherwise = (complement(literal), *rest)
            if not any(
                _covers(other, otherwise, exact=False) for other in itertools.chain(*others)
            ):
                continue
            wider = (*rest, Known(literal.attribute))
            before, after = (
                [other for other in part if not _covers(wider, other, exact=False)]
                for part in others
            )
            if len(before) + len(after) + 1 < len(disjuncts):
                return [*before, wider, *after]
    return disjuncts


def _join_intervals(disjuncts: Sequence[_Conjunction], *, exact: bool) -> list[_Conjunction]:
    """Join disjuncts that differ only in the interval of one attribute, if the intervals meet."""
    joined: list[_Conjunction] = []
    for each in disjuncts:
        current = each
        place = len(joined)
        for index in reversed(range(len(joined))):
            union = _union(joined[index], current, exact=exact)
            if union is not None:
                current, place = union, index
                del joined[index]
        joined.insert(place, current)
    return joined


def _union(first: _Conjunction, second: _Conjunction, *, exact: bool) -> _Conjunction | None:
    for attribute in dict.fromkeys(map(_attribute_of, first)):
        if attribute is None:
            continue
        others = [operand for operand in first if _attribute_of(operand) != attribute]
        others_too = [operand for operand in second if _attribute_of(operand) != attribute]
        if set(others) != set(others_too) or (exact and others):
            continue
        ranges = _range_of(first, attribute), _range_of(second, attribute)
        if ranges[0] is None or ranges[1] is None:
            continue
        (low, high), (low_too, high_too) = ranges[0], ranges[1]
        bounds = _bounds(attribute, min(low, low_too), max(high, high_too))
        if max(low, low_too) <= min(high, high_too) and bounds:
            place = [_attribute_of(operand) for operand in first].index(attribute)
            return (*others[:place], *bounds, *others[place:])
    return None


def _range_of(conjunction: _Conjunction, attribute: str) -> tuple[float, float] | None:
    """Return (low, high) if the literals on an attribute mean low < attribute <= high."""
    low, high = -math.inf, math.inf
    for operand in conjunction:
        if not isinstance(operand, Literal) or operand.attribute != attribute:
            continue
        if operand.op not in (">", "<=") or not isinstance(operand.value, float):
            return None
        if operand.op == ">":
            low = max(low, operand.value)
        else:
            high = min(high, operand.value)
    return (low, high) if low < high else None


def _bounds(attribute: str, low: float, high: float) -> list[Query]:
    bounds: list[Query] = []
    if low > -math.inf:
        bounds.append(Literal(attribute, ">", low))
    if high < math.inf:
        bounds.append(Literal(attribute, "<=", high))
    return bounds


def _implies(first: Query, second: Query) -> bool:
    """Return whether the second query is certainly true where the first is."""
    if not isinstance(first, Literal) or not isinstance(second, Literal | Known):
        return first == second
    if first.attribute != second.attribute:
        return False
    return isinstance(second, Known) or first == second or _implies_comparison(first, second)


def _implies_comparison(first: Literal, second: Literal) -> bool:
    """Compare two literals on one attribute."""
    if isinstance(first.value, float) and isinstance(second.value, float):
        return _implies_number(first.op, first.value, second.op, second.value)
    if isinstance(first.value, str) and isinstance(second.value, str):
        return _implies_label(first.op, first.value, second.op, second.value)
    return False


def _implies_number(op: Op, number: float, op_too: Op, number_too: float) -> bool:
    match op, op_too:
        case "=", "!=":
            return number != number_too
        case "=" | "<=", "<=":
            return number <= number_too
        case "<=", "!=":
            return number < number_too
        case "=", ">":
            return number > number_too
        case ">", ">" | "!=":
            return number >= number_too
        case _:
            return False


def _implies_label(op: Op, label: str, op_too: Op, label_too: str) -> bool:
    """Compare labels without an order."""
    match op, op_too:
        case "=", "!=":
            return label != label_too
        case ("=", "<=") | (">", "!="):
            return label == label_too
        case _:
            return False


def _conjuncts(query: Query) -> _Conjunction:
    return query.operands if isinstance(query, And) else (query,)


def _disjuncts(query: Query) -> tuple[Query, ...]:
    return query.operands if isinstance(query, Or) else (query,)


def _conjunction(operands: Sequence[Query]) -> Query:
    return operands[0] if len(operands) == 1 else And(tuple(operands))


def _attribute_of(query: Query) -> str | None:
    return query.attribute if isinstance(query, Literal) else None
