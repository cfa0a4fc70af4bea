"""Queries: Boolean formulas over the attributes of one view, and their evaluation.

A query is a literal (`Literal` or `Known`), or a `Not`, `And` or `Or` of queries. Evaluation is
three-valued: a `Literal` on a missing value is unknown, while `Known` is always true or false.
`And` is evaluated from left to right up to the first operand that is not true, so the conjunction
of the literals on a tree's path treats every entity as the tree does: if an entity is stuck at a
node, all leaves below that node are unknown.
"""

from __future__ import annotations

import math
import numbers
import typing
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from redveil.errors import QueryError

Op: TypeAlias = typing.Literal["=", "!=", "<=", ">"]
Value: TypeAlias = bool | float | str
BoolArray: TypeAlias = NDArray[np.bool_]

#: The deepest nesting of a query. Code that handles queries is recursive and relies on it.
MAX_DEPTH = 100

_COMPLEMENT: Mapping[Op, Op] = {"=": "!=", "!=": "=", "<=": ">", ">": "<="}


@dataclass(frozen=True, slots=True, eq=False)
class Literal:
    """A comparison of one attribute with a value.

    Numbers become floats, and a Boolean `!=` becomes `=` with the other value. Labels of ordinal
    attributes can be compared with `<=` and `>`, too.

    >>> Literal("age", "<=", 40)
    Literal(attribute='age', op='<=', value=40.0)
    >>> Literal("smokes", "!=", True)
    Literal(attribute='smokes', op='=', value=False)
    """

    attribute: str
    op: Op
    value: Value

    def __post_init__(self) -> None:
        object.__setattr__(self, "attribute", _normal_name(self.attribute))
        if self.op not in _COMPLEMENT:
            raise QueryError(f"literal on {self.attribute!r}: the operator must be =, !=, <= or >")
        value = _normal_value(self.attribute, self.value)
        if isinstance(value, bool):
            if self.op in ("<=", ">"):
                raise QueryError(f"literal on {self.attribute!r}: a Boolean takes only = or !=")
            # A Boolean has two values, so one operator is enough.
            value = value if self.op == "=" else not value
            object.__setattr__(self, "op", "=")
        object.__setattr__(self, "value", value)

    # True == 1.0 in Python, yet [a] and [a = 1] are different literals.
    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Literal):
            return NotImplemented
        return self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[str, Op, type, Value]:
        return self.attribute, self.op, type(self.value), self.value


@dataclass(frozen=True, slots=True)
class Known:
    """True where an attribute has a value, false where the value is missing; never unknown.

    >>> Not(Known("age")).operand
    Known(attribute='age')
    """

    attribute: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "attribute", _normal_name(self.attribute))


def _normal_name(attribute: object) -> str:
    if not isinstance(attribute, str) or not attribute:
        raise QueryError("literal: the attribute's name must be a string that is not empty")
    _check_encodable(attribute, "the attribute's name")
    return str(attribute)


def _normal_value(attribute: str, value: object) -> Value:
    if isinstance(value, bool | np.bool_):
        return bool(value)
    if isinstance(value, str):
        _check_encodable(value, f"the value of {attribute!r}")
        return str(value)
    if isinstance(value, numbers.Real):
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
        if math.isfinite(number):
            return number + 0.0  # -0.0 becomes 0.0: they compare equal, so they should print equal.
        raise QueryError(f"literal on {attribute!r}: the number must be finite")
    raise QueryError(f"literal on {attribute!r}: the value must be a Boolean, a number or a string")


def _check_encodable(text: str, place: str) -> None:
    if any("\ud800" <= character <= "\udfff" for character in text):
        raise QueryError(
            f"literal: {place} contains a lone surrogate; use text that UTF-8 can encode"
        )


@dataclass(frozen=True, slots=True)
class Not:
    """True where its operand is false, false where it is true.

    >>> Not(Literal("smokes", "=", True)).operand
    Literal(attribute='smokes', op='=', value=True)
    """

    operand: Query
    depth: int = field(init=False, repr=False, compare=False, default=1)

    def __post_init__(self) -> None:
        object.__setattr__(self, "depth", _depth_above((self.operand,), "not"))


@dataclass(frozen=True, slots=True)
class And:
    """A conjunction, evaluated from left to right up to the first operand that is not true.

    >>> And((Literal("age", ">", 20), Literal("age", "<=", 40))).operands[1].value
    40.0
    """

    operands: tuple[Query, ...]
    depth: int = field(init=False, repr=False, compare=False, default=1)

    def __post_init__(self) -> None:
        object.__setattr__(self, "operands", tuple(self.operands))
        object.__setattr__(self, "depth", _depth_above(self.operands, "and"))


@dataclass(frozen=True, slots=True)
class Or:
    """A disjunction: true where any operand is, false where all are. Order does not matter.

    >>> Or((Literal("state", "=", "CA"), Literal("state", "=", "NV"))).operands[0].value
    'CA'
    """

    operands: tuple[Query, ...]
    depth: int = field(init=False, repr=False, compare=False, default=1)

    def __post_init__(self) -> None:
        object.__setattr__(self, "operands", tuple(self.operands))
        object.__setattr__(self, "depth", _depth_above(self.operands, "or"))


#: One test of one attribute.
AnyLiteral: TypeAlias = Literal | Known
Query: TypeAlias = AnyLiteral | Not | And | Or


def _depth_above(operands: tuple[Query, ...], name: str) -> int:
    if not operands:
        raise QueryError(f"{name}: give at least one operand")
    if not all(isinstance(operand, Query) for operand in operands):
        raise QueryError(f"{name}: every operand must be a Literal, Known, Not, And or Or")
    depth = 1 + max(1 if isinstance(one, Literal | Known) else one.depth for one in operands)
    if depth > MAX_DEPTH:
        raise QueryError(f"{name}: the query nests deeper than {MAX_DEPTH} levels; flatten it")
    return depth


def literals(query: Query) -> Iterator[AnyLiteral]:
    """Yield the literals in order, with repeats.

    >>> query = And((Literal("age", ">", 20), Not(Literal("sick", "=", True))))
    >>> [literal.attribute for literal in literals(query)]
    ['age', 'sick']
    """
    # Without recursion, which would hand every literal up through all levels.
    waiting: list[Query] = [query]
    while waiting:
        match waiting.pop():
            case Not(operand):
                waiting.append(operand)
            case And(operands) | Or(operands):
                waiting.extend(reversed(operands))
            case Literal() | Known() as found:
                yield found


def literal_count(query: Query) -> int:
    """Return the number of literals in a query, with repeats.

    >>> literal_count(And((Literal("age", ">", 20), Literal("age", "<=", 40))))
    2
    """
    return sum(1 for _ in literals(query))


def attributes(query: Query) -> tuple[str, ...]:
    """Return the names of the attributes in a query, in order of first appearance.

    >>> attributes(And((Literal("sick", "=", True), Literal("age", ">", 20))))
    ('sick', 'age')
    """
    return tuple(dict.fromkeys(literal.attribute for literal in literals(query)))


def complement(literal: Literal) -> Literal:
    """Return the comparison that is true where this one is false, and vice versa.

    >>> complement(Literal("age", "<=", 40))
    Literal(attribute='age', op='>', value=40.0)
    """
    return Literal(literal.attribute, _COMPLEMENT[literal.op], literal.value)


def negate(query: Query) -> Query:
    """Return the negation of a query, without a `Not` where possible.

    >>> negate(Literal("sick", "=", True))
    Literal(attribute='sick', op='=', value=False)
    >>> negate(Not(Known("age")))
    Known(attribute='age')
    """
    match query:
        case Literal():
            return complement(query)
        case Not(operand):
            return operand
        case _:
            return Not(query)


def interval_pairs(operands: tuple[Query, ...]) -> list[tuple[Query, ...]]:
    """Group a conjunction's operands: two literals that form an interval together, others alone.

    Bounds that no value is between are no interval.

    >>> low, high = Literal("age", ">", 20), Literal("age", "<=", 40)
    >>> [len(group) for group in interval_pairs((high, low, high))]
    [1, 2]
    """
    groups: list[tuple[Query, ...]] = []
    for operand in operands:
        last = groups[-1] if groups else ()
        if len(last) == 1 and _is_interval(last[0], operand):
            groups[-1] = (last[0], operand)
        else:
            groups.append((operand,))
    return groups


def _is_interval(first: Query, second: Query) -> bool:
    match first, second:
        case Literal(name, ">", low), Literal(other, "<=", high):
            return name == other and not is_empty(low, high)
        case _:
            return False


def is_empty(low: Value, high: Value) -> bool:
    """Return whether no value is above the one and at most the other.

    Only a schema knows the order of labels, so of these only what is the same is empty.

    >>> is_empty(69.0, 53.0), is_empty(53.0, 69.0), is_empty("mid", "mid")
    (True, False, True)
    """
    if isinstance(low, float) and isinstance(high, float):
        return low >= high
    return low == high


class Column(Protocol):
    """The interface of a column: where a literal holds, and where its value is known.

    All arrays are bool[N], and `holds` is False wherever `known` is. What is known does not depend
    on the literal, and where a value is known, exactly one of two complementary literals holds.

    >>> class Ages:
    ...     known = np.array([True, False])
    ...     def test(self, op: Op, value: Value) -> tuple[BoolArray, BoolArray]:
    ...         return np.array([True, False]), self.known
    >>> column: Column = Ages()
    """

    @property
    def known(self) -> BoolArray:
        """Where the value is known."""
        ...

    def test(self, op: Op, value: Value, /) -> tuple[BoolArray, BoolArray]:
        """Return (holds, known)."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Truth:
    """Where a query is true and where it is false, both bool[N]; elsewhere it is unknown.

    >>> Truth(np.array([True, False, False]), np.array([False, True, False])).unknown.tolist()
    [False, False, True]
    """

    true: BoolArray
    false: BoolArray

    @property
    def unknown(self) -> BoolArray:
        """Where the query is neither true nor false, bool[N].

        >>> Truth(np.array([True]), np.array([False])).unknown.tolist()
        [False]
        """
        return ~(self.true | self.false)


def evaluate(query: Query, columns: Mapping[str, Column]) -> Truth:
    """Return where a query is true and where it is false, for all entities.

    >>> class Ages:
    ...     known = np.array([True, True, False])
    ...     def test(self, op: Op, value: Value) -> tuple[BoolArray, BoolArray]:
    ...         return np.array([True, False, False]), self.known
    >>> truth = evaluate(Not(Literal("age", "<=", 40)), {"age": Ages()})
    >>> truth.true.tolist(), truth.false.tolist()
    ([False, True, False], [True, False, False])
    >>> evaluate(Not(Known("age")), {"age": Ages()}).true.tolist()
    [False, False, True]
    """
    match query:
        case Literal(name, op, value):
            holds, known = _column(name, columns).test(op, value)
            return Truth(holds & known, known & ~holds)
        case Known(name):
            known = _column(name, columns).known
            return Truth(known, ~known)
        case Not(operand):
            inner = evaluate(operand, columns)
            return Truth(inner.false, inner.true)
        case And(operands):
            first, *rest = operands
            truth = evaluate(first, columns)
            for operand in rest:
                part = evaluate(operand, columns)
                # This operand matters only where all earlier ones are true.
                truth = Truth(truth.true & part.true, truth.false | (truth.true & part.false))
            return truth
        case Or(operands):
            parts = [evaluate(operand, columns) for operand in operands]
            return Truth(
                np.logical_or.reduce([part.true for part in parts]),
                np.logical_and.reduce([part.false for part in parts]),
            )


def _column(name: str, columns: Mapping[str, Column]) -> Column:
    column = columns.get(name)
    if column is None:
        raise QueryError(f"no attribute named {name!r}; check the attributes of the view")
    return column
