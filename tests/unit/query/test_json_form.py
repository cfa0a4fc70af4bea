import json

import pytest
from hypothesis import given

from redveil.errors import QueryError
from redveil.query.formula import MAX_DEPTH, And, Known, Literal, Not, Or, Query
from redveil.query.json_form import from_json, to_json
from strategies.queries import any_literals, queries_of

SICK: dict[str, object] = {"attribute": "sick", "op": "=", "value": True}


@given(queries_of(any_literals()))
def test_a_query_survives_the_way_through_a_file(query: Query) -> None:
    assert from_json(json.loads(json.dumps(to_json(query)))) == query


def test_the_form_of_the_objects() -> None:
    sick, young = Literal("sick", "=", value=True), Literal("age", "<=", 40)
    assert to_json(Or((And((sick, young)), Not(sick)))) == {
        "or": [
            {"and": [SICK, {"attribute": "age", "op": "<=", "value": 40.0}]},
            {"not": SICK},
        ]
    }


def test_a_literal_that_a_value_is_known_has_no_value() -> None:
    known = {"attribute": "p is known", "op": "known"}
    assert to_json(Known("p is known")) == known
    assert to_json(Not(Known("p is known"))) == {"not": known}
    assert from_json({"not": known}) == Not(Known("p is known"))


def test_whole_numbers_are_read_as_numbers() -> None:
    assert from_json({"attribute": "age", "op": "<=", "value": 40}) == Literal("age", "<=", 40.0)


@pytest.mark.parametrize(
    ("obj", "message"),
    [
        ([], "$: expected an object"),
        ({}, '$: expected either "and"'),
        ({"and": [SICK], "or": [SICK]}, '$: expected either "and"'),
        ({**SICK, "side": "left"}, '$: expected either "and"'),
        ({"attribute": "sick", "op": "="}, '$: expected either "and"'),
        ({**SICK, "op": "known"}, "$.op: known takes no value; leave it out"),
        ({"attribute": "sick", "op": ["known"]}, '$: expected either "and"'),
        ({"attribute": 3, "op": "known"}, "$.attribute: expected a string"),
        ({"not": {"attribute": "", "op": "known"}}, "$.not: literal: the attribute"),
        ({"attribute": "a\ud800", "op": "known"}, "$: literal: the attribute"),
        ({"and": []}, "$.and: expected a non-empty list"),
        ({"or": SICK}, "$.or: expected a non-empty list"),
        ({"or": [SICK, {"not": "sick"}]}, "$.or[1].not: expected an object"),
        ({"not": {**SICK, "attribute": 3}}, "$.not.attribute: expected a string"),
        ({"not": {**SICK, "attribute": ""}}, "$.not: literal: the attribute"),
        ({**SICK, "op": "<"}, "$.op: expected =, !=, <= or >"),
        ({**SICK, "op": ["="]}, "$.op: expected =, !=, <= or >"),
        ({**SICK, "op": "<="}, "$: literal on 'sick': a Boolean takes"),
        ({**SICK, "value": None}, "$.value: expected true, false, a number or a string"),
        ({**SICK, "value": [1]}, "$.value: expected true, false, a number or a string"),
        ({**SICK, "value": float("nan")}, "$: literal on 'sick': the number must be finite"),
        ({**SICK, "value": 10**400}, "$: literal on 'sick': the number must be finite"),
    ],
)
def test_errors_name_the_path(obj: object, message: str) -> None:
    with pytest.raises(QueryError) as caught:
        from_json(obj)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize("levels", [MAX_DEPTH, 100_000])
def test_deep_nesting_is_a_query_error(levels: int) -> None:
    obj: object = SICK
    for _ in range(levels):
        obj = {"not": obj}
    with pytest.raises(QueryError, match="nests deeper than"):
        from_json(obj)
