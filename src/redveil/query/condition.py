"""Queries that a person gives: read, checked against the schema, and placed on a side.

They are public: whoever gives one has not looked at the rows. A query that the schema does not
allow is refused here, before anything is charged.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from redveil.errors import QueryError
from redveil.query.coverage import certain, check_literal, suggestion
from redveil.query.formula import And, Query, attributes, literal_count, literals
from redveil.query.text import parse_text, to_text
from redveil.schema import Attribute, Schema, Side

# Results hold what is given in larger queries: negated, or joined with others. They can be read
# again up to 100 levels (`MAX_DEPTH`), and long queries take long, so both are limited beforehand.
MOST_LEVELS: Final = 50
MOST_LITERALS: Final = 100
# Queries of results may have grown, and can start another run as long as they leave room for it.
MOST_RELEASED_LEVELS: Final = 80
MOST_RELEASED_LITERALS: Final = 400


@dataclass(frozen=True, slots=True)
class Condition:
    """A query over one view.

    >>> from redveil.query.formula import Literal
    >>> Condition(Side.LEFT, Literal("gout", "=", True)).text
    '[gout]'
    """

    side: Side
    query: Query

    @property
    def text(self) -> str:
        """The query as text."""
        return to_text(self.query)


def read_condition(text: str, schema: Schema, name: str) -> Condition:
    """Read a query over one view, which its attributes tell, or a prefix: `left: [age > 65]`.

    name: what the query is given for, for messages

    >>> from redveil.data.synthetic import clinic_schema
    >>> read_condition("[gout]", clinic_schema(), "within")
    Condition(side=<Side.LEFT: 'left'>, query=Literal(attribute='gout', op='=', value=True))
    >>> read_condition("[gout] & [TSH > 4]", clinic_schema(), "within")
    Traceback (most recent call last):
    redveil.errors.QueryError: within: gout is an attribute of the left view, and TSH is one of \
the right view; use attributes of one view
    """
    if not isinstance(text, str):
        raise QueryError(f"{name}: give a query as text, as in [age > 65]")
    try:
        given, rest = _prefixed(text)
        query = parse_text(rest)
        _must_be_short(query, MOST_LEVELS, MOST_LITERALS)
        side = given or _side_of(query, schema)
    except QueryError as error:
        raise QueryError(f"{name}: {error}") from None
    return check_condition(side, query, schema, name)


def check_condition(side: Side, query: Query, schema: Schema, name: str) -> Condition:
    """Return a query over a view, or refuse one that the schema does not allow.

    >>> from redveil.data.synthetic import clinic_schema
    >>> check_condition(Side.LEFT, parse_text("[gout = 3]"), clinic_schema(), "of")
    Traceback (most recent call last):
    redveil.errors.QueryError: of: [gout = 3]: gout is Boolean; write [gout] or ![gout]
    """
    declared = _declared(side, schema)
    try:
        _must_be_short(query, MOST_RELEASED_LEVELS, MOST_RELEASED_LITERALS)
        for literal in literals(query):
            check_literal(literal, declared)
    except QueryError as error:
        raise QueryError(f"{name}: {error}") from None
    return Condition(side, query)


def read_conditions(
    given: str | Sequence[str] | None, schema: Schema, name: str
) -> tuple[Condition, ...]:
    """Read queries that must all hold: one for each view, of all that are given for it.

    >>> from redveil.data.synthetic import clinic_schema
    >>> both = read_conditions(["[gout]", "[age > 40]"], clinic_schema(), "within")
    >>> [one.text for one in both]
    ['[gout] & [age > 40]']
    """
    texts = [given] if isinstance(given, str) else given or ()
    if not isinstance(texts, Iterable):
        raise QueryError(f"{name}: give a query as text, as in [age > 65], or a list of them")
    read = [read_condition(text, schema, name) for text in texts]
    sides = {side: [one.query for one in read if one.side is side] for side in Side}
    joined = {side: _all(queries) for side, queries in sides.items() if queries}
    part = tuple(check_condition(side, query, schema, name) for side, query in joined.items())
    for one in part:
        if certain(one.query, None, _declared(one.side, schema)) is False:
            raise QueryError(f"{name}: true for no {schema.unit}, by the schema alone; correct it")
    return part


def must_be_open(asked: Condition, part: Sequence[Condition], schema: Schema, name: str) -> None:
    """Refuse a query that the schema answers for everyone whom a question is about.

    part: the queries that tell whom it is about; none for everyone

    >>> from redveil.data.synthetic import clinic_schema
    >>> gout = read_condition("[gout]", clinic_schema(), "query")
    >>> must_be_open(gout, [], clinic_schema(), "query")
    >>> must_be_open(gout, [gout], clinic_schema(), "query")
    Traceback (most recent call last):
    redveil.errors.QueryError: query: true for every patient that the question is about, by the \
schema alone; ask about something that the rows decide
    """
    beside = next((one.query for one in part if one.side is asked.side), None)
    answer = certain(asked.query, beside, _declared(asked.side, schema))
    if answer is not None:
        raise QueryError(
            f"{name}: true for {'every' if answer else 'no'} {schema.unit} that the question is "
            "about, by the schema alone; ask about something that the rows decide"
        )


def _declared(side: Side, schema: Schema) -> dict[str, Attribute]:
    return {one.name: one for one in schema.view(side).attributes}


def _must_be_short(query: Query, levels: int, most: int) -> None:
    """Refuse a query that is too deep or too long."""
    # A literal is no operator, and has no level of its own.
    if getattr(query, "depth", 1) > levels:
        raise QueryError(f"the query nests deeper than {levels} levels; flatten it")
    if literal_count(query) > most:
        raise QueryError(f"the query has more than {most} literals; shorten it")


def _all(queries: Sequence[Query]) -> Query:
    return queries[0] if len(queries) == 1 else And(tuple(queries))


def _prefixed(text: str) -> tuple[Side | None, str]:
    """Return the side that a text begins with, if any, and the rest. A query begins otherwise."""
    head, colon, rest = text.partition(":")
    known = {side.value: side for side in Side}
    return (known[head.strip()], rest) if colon and head.strip() in known else (None, text)


def _side_of(query: Query, schema: Schema) -> Side:
    """Return the only view that has all attributes of a query."""
    names = attributes(query)
    fitting = [side for side in Side if set(names) <= set(schema.view(side).names)]
    if len(fitting) == 1:
        return fitting[0]
    if fitting:
        raise QueryError(
            f"both views have {names[0]}; say which one is meant, as in left: {to_text(query)}"
        )
    known = {name: side for side in Side for name in schema.view(side).names}
    strange = [name for name in names if name not in known]
    if strange:
        raise QueryError(f"no attribute {strange[0]}; {suggestion(strange[0], known)}")
    first = next(name for name in names if known[name] is Side.LEFT)
    second = next(name for name in names if name not in schema.left.names)
    raise QueryError(
        f"{first} is an attribute of the left view, and {second} is one of the right view; "
        "use attributes of one view"
    )
