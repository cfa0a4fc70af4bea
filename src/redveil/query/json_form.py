"""Queries as JSON.

    {"and": [query, ...]}   {"or": [query, ...]}   {"not": query}
    {"attribute": "age", "op": "<=", "value": 40.0}   {"attribute": "age", "op": "known"}

A value is true or false, a number or a string; an operator is one of `=`, `!=`, `<=` and `>`, or
`known`, which takes no value.
"""

from __future__ import annotations

from redveil.errors import QueryError
from redveil.query.formula import MAX_DEPTH, And, Known, Literal, Not, Or, Query

_LITERAL_KEYS = {"attribute", "op", "value"}
_KNOWN_KEYS = {"attribute", "op"}


def to_json(query: Query) -> dict[str, object]:
    """Return a query as a dictionary for `json.dumps`.

    >>> to_json(Not(Literal("age", "<=", 40)))
    {'not': {'attribute': 'age', 'op': '<=', 'value': 40.0}}
    >>> to_json(Known("age"))
    {'attribute': 'age', 'op': 'known'}
    """
    match query:
        case Literal(attribute, op, value):
            return {"attribute": attribute, "op": op, "value": value}
        case Known(attribute):
            return {"attribute": attribute, "op": "known"}
        case Not(operand):
            return {"not": to_json(operand)}
        case And(operands):
            return {"and": [to_json(operand) for operand in operands]}
        case Or(operands):
            return {"or": [to_json(operand) for operand in operands]}


def from_json(obj: object) -> Query:
    """Return the query of a parsed JSON object.

    >>> from_json({"and": [{"attribute": "sick", "op": "=", "value": True}]})
    And(operands=(Literal(attribute='sick', op='=', value=True),))
    >>> from_json({"not": {"attribute": "age", "op": "<", "value": 40}})
    Traceback (most recent call last):
    redveil.errors.QueryError: $.not.op: expected =, !=, <= or >
    """
    return _read(obj, "$", 1)


def _read(obj: object, path: str, depth: int) -> Query:
    if depth > MAX_DEPTH:
        raise QueryError(f"$: the query nests deeper than {MAX_DEPTH} levels; flatten it")
    if not isinstance(obj, dict):
        raise QueryError(f"{path}: expected an object")
    keys = set(obj)
    if keys == {"not"}:
        return Not(_read(obj["not"], f"{path}.not", depth + 1))
    if keys == {"and"}:
        return And(_read_list(obj["and"], f"{path}.and", depth + 1))
    if keys == {"or"}:
        return Or(_read_list(obj["or"], f"{path}.or", depth + 1))
    if keys == _LITERAL_KEYS:
        return _read_literal(obj, path)
    if keys == _KNOWN_KEYS and obj["op"] == "known":
        return _read_known(obj, path)
    raise QueryError(f'{path}: expected either "and", "or" or "not", or attribute, op and value')


def _read_list(items: object, path: str, depth: int) -> tuple[Query, ...]:
    if not isinstance(items, list) or not items:
        raise QueryError(f"{path}: expected a non-empty list")
    return tuple(_read(item, f"{path}[{index}]", depth) for index, item in enumerate(items))


def _read_literal(obj: dict[str, object], path: str) -> Literal:
    attribute, op, value = _read_name(obj, path), obj["op"], obj["value"]
    if op == "known":
        raise QueryError(f"{path}.op: known takes no value; leave it out")
    if op not in ("=", "!=", "<=", ">"):
        raise QueryError(f"{path}.op: expected =, !=, <= or >")
    if not isinstance(value, bool | int | float | str):
        raise QueryError(f"{path}.value: expected true, false, a number or a string")
    try:
        return Literal(attribute, op, value)
    except QueryError as error:
        raise QueryError(f"{path}: {error}") from None


def _read_known(obj: dict[str, object], path: str) -> Known:
    attribute = _read_name(obj, path)
    try:
        return Known(attribute)
    except QueryError as error:
        raise QueryError(f"{path}: {error}") from None


def _read_name(obj: dict[str, object], path: str) -> str:
    if not isinstance(obj["attribute"], str):
        raise QueryError(f"{path}.attribute: expected a string")
    return obj["attribute"]
