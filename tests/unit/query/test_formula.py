import math
import pickle

import numpy as np
import pytest
from hypothesis import given

from oracle.query_rows import ListColumn, Row, evaluate_row
from redveil.errors import QueryError
from redveil.query.formula import (
    MAX_DEPTH,
    And,
    BoolArray,
    Known,
    Literal,
    Not,
    Op,
    Or,
    Query,
    Value,
    attributes,
    evaluate,
    interval_pairs,
    literal_count,
    negate,
)
from strategies.queries import ORDER, columns_of, queries_of, table_literals, tables

A = Literal("a", "=", value=True)
B = Literal("b", "=", value=True)


@given(queries_of(table_literals()), tables())
def test_evaluation_agrees_with_the_row_by_row_oracle(query: Query, rows: list[Row]) -> None:
    truth = evaluate(query, columns_of(rows))
    answers = [evaluate_row(query, row, ORDER) for row in rows]
    assert truth.true.tolist() == [answer is True for answer in answers]
    assert truth.false.tolist() == [answer is False for answer in answers]
    assert truth.unknown.tolist() == [answer is None for answer in answers]


@given(queries_of(table_literals()), tables())
def test_a_negation_is_true_where_the_query_is_false(query: Query, rows: list[Row]) -> None:
    columns = columns_of(rows)
    truth, negation = evaluate(query, columns), evaluate(negate(query), columns)
    assert truth.true.tolist() == negation.false.tolist()
    assert truth.false.tolist() == negation.true.tolist()


@pytest.mark.parametrize(
    ("a", "b", "answer"),
    [
        (None, False, None),
        (None, True, None),
        (False, None, False),
        (True, None, None),
        (True, False, False),
        (True, True, True),
    ],
)
def test_a_conjunction_stops_at_the_first_operand_that_is_not_true(
    a: Value | None, b: Value | None, answer: Value | None
) -> None:
    truth = evaluate(And((A, B)), {"a": ListColumn([a]), "b": ListColumn([b])})
    assert (truth.true[0], truth.false[0]) == (answer is True, answer is False)


@pytest.mark.parametrize(
    ("a", "b", "answer"),
    [(None, True, True), (True, None, True), (None, False, None), (False, False, False)],
)
def test_a_disjunction_does_not_mind_the_order(
    a: Value | None, b: Value | None, answer: Value | None
) -> None:
    for operands in ((A, B), (B, A)):
        truth = evaluate(Or(operands), {"a": ListColumn([a]), "b": ListColumn([b])})
        assert (truth.true[0], truth.false[0]) == (answer is True, answer is False)


def test_whether_a_value_is_known_is_never_unknown() -> None:
    columns = {"a": ListColumn([True, False, None]), "b": ListColumn([None, None, True])}
    for query, true in (
        (Known("a"), [True, True, False]),
        (Not(Known("a")), [False, False, True]),
        (And((Not(Known("a")), B)), [False, False, True]),
        (Or((A, Not(Known("a")))), [True, False, True]),
    ):
        assert evaluate(query, columns).true.tolist() == true
    assert not evaluate(Known("a"), columns).unknown.any()
    # The order of a conjunction matters as always.
    assert evaluate(And((A, Known("a"))), columns).unknown.tolist() == [False, False, True]
    assert evaluate(And((Known("a"), A)), columns).false.tolist() == [False, True, True]


def test_an_unknown_attribute_is_named() -> None:
    with pytest.raises(QueryError, match="'c'"):
        evaluate(Known("c"), {"a": ListColumn([True])})
    with pytest.raises(QueryError, match="'b'"):
        evaluate(Or((A, B)), {"a": ListColumn([True])})


def test_what_a_column_says_of_missing_values_does_not_leak_into_the_answer() -> None:
    class Careless:
        known = np.array([True, False])

        def test(self, _op: Op, _value: Value, /) -> tuple[BoolArray, BoolArray]:
            return np.array([True, True]), self.known

    truth = evaluate(A, {"a": Careless()})
    assert truth.true.tolist() == [True, False]
    assert truth.false.tolist() == [False, False]


def test_numbers_become_floats_and_booleans_stay() -> None:
    assert isinstance(Literal("a", "=", 1).value, float)
    assert type(Literal("a", "=", np.float64(1)).value) is float
    assert Literal("a", "=", np.True_).value is True  # type: ignore[arg-type]
    assert math.copysign(1.0, float(Literal("a", "=", -0.0).value)) == 1.0


@pytest.mark.parametrize("name", ["", 3, None, "a\ud800"])
def test_what_is_known_has_a_name(name: str) -> None:
    with pytest.raises(QueryError, match="literal: the attribute's name"):
        Known(name)


def test_true_is_not_the_number_one() -> None:
    number = Literal("a", "=", 1)
    assert number != A
    assert len({number, A}) == 2
    assert And((number,)) != And((A,))
    assert Literal("a", "=", "1") not in {number, A}
    assert A != "a"


def test_equal_queries_hash_and_pickle_alike() -> None:
    query = Or((And((A, Literal("x", "<=", 2.5), Known("x"))), Not(B)))
    copy = pickle.loads(pickle.dumps(query))
    assert copy == query
    assert hash(copy) == hash(query)


def test_a_boolean_inequality_is_an_equality_with_the_opposite() -> None:
    assert Literal("a", "!=", value=False) == A


@pytest.mark.parametrize(
    ("attribute", "op", "value"),
    [
        ("", "=", 1.0),
        (3, "=", 1.0),
        ("a", "<", 1.0),
        ("a", ">=", 1.0),
        ("a", "<=", True),
        ("a", ">", False),
        ("a", "=", math.nan),
        ("a", "<=", math.inf),
        ("a", "<=", 10**400),
        ("a", "=", None),
        ("a", "=", 1j),
        ("a\ud800", "=", 1.0),
        ("a", "=", "\udfff"),
    ],
)
def test_literals_that_make_no_sense_are_refused(attribute: str, op: str, value: object) -> None:
    with pytest.raises(QueryError) as caught:
        Literal(attribute, op, value)  # type: ignore[arg-type]
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("node", [And, Or])
def test_a_conjunction_or_disjunction_needs_operands(node: type[And] | type[Or]) -> None:
    with pytest.raises(QueryError, match="at least one"):
        node(())
    with pytest.raises(QueryError, match="must be a Literal"):
        node(("a",))  # type: ignore[arg-type]
    assert node([A, B]).operands == (A, B)  # type: ignore[arg-type]


def test_nesting_is_kept() -> None:
    assert And((And((A, B)), A)) != And((A, B, A))


def test_nesting_is_limited_so_that_nothing_runs_out_of_stack() -> None:
    query: Query = A
    for _ in range(MAX_DEPTH - 1):
        query = Not(query)
    assert evaluate(query, {"a": ListColumn([True])}).true.tolist() == [False]
    with pytest.raises(QueryError, match="nests deeper"):
        And((B, query))


def test_attributes_come_in_the_order_of_first_appearance() -> None:
    assert attributes(Or((Not(B), And((A, B, Literal("c", ">", 1)))))) == ("b", "a", "c")


def test_literals_are_counted_with_repeats() -> None:
    assert literal_count(Or((Not(B), And((A, B, Literal("c", ">", 1)))))) == 4
    assert literal_count(And((Not(Known("b")), Known("b")))) == 2


def test_negation_needs_no_operator_on_literals_and_negations() -> None:
    assert negate(Literal("x", ">", 1)) == Literal("x", "<=", 1)
    assert negate(Literal("s", "!=", "CA")) == Literal("s", "=", "CA")
    assert negate(A) == Literal("a", "=", value=False)
    assert negate(Not(And((A, B)))) == And((A, B))
    assert negate(Known("a")) == Not(Known("a"))
    assert negate(Not(Known("a"))) == Known("a")
    assert negate(And((A, B))) == Not(And((A, B)))


def test_intervals_pair_a_lower_bound_with_the_upper_bound_right_after_it() -> None:
    low, high, other = Literal("x", ">", 1), Literal("x", "<=", 2), Literal("y", "<=", 2)
    assert interval_pairs((low, low, high, high)) == [(low,), (low, high), (high,)]
    assert interval_pairs((high, low, other, Not(low), high)) == [
        (high,),
        (low,),
        (other,),
        (Not(low),),
        (high,),
    ]


@pytest.mark.parametrize(
    ("low", "high"), [(69, 53), (53, 53), ("mid", "mid"), ("2019-03", "2019-03")]
)
def test_ends_that_leave_nothing_between_them_are_no_interval(low: Value, high: Value) -> None:
    ends = Literal("x", ">", low), Literal("x", "<=", high)
    assert interval_pairs(ends) == [(ends[0],), (ends[1],)]
