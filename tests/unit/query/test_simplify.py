import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracle.query_rows import Order, Row
from redveil.query.formula import Not, Query, evaluate, literal_count
from redveil.query.simplify import simplified
from redveil.query.text import parse_text, to_text
from strategies.queries import (
    ORDER,
    VALUES,
    all_rows,
    columns_of,
    queries_of,
    table_literals,
    tables,
    unions,
)

QUERIES = queries_of(table_literals())
KNOWN = st.frozensets(st.sampled_from(sorted(VALUES)))
ORDERS = st.sampled_from([{}, ORDER])


@given(QUERIES, tables(), ORDERS)
def test_the_support_stays(query: Query, rows: list[Row], order: Order) -> None:
    columns = columns_of(rows)
    before, after = evaluate(query, columns), evaluate(simplified(query, order=order), columns)
    assert after.true.tolist() == before.true.tolist()


@given(QUERIES, tables(), ORDERS)
def test_under_a_negation_the_false_entities_stay(
    query: Query, rows: list[Row], order: Order
) -> None:
    columns = columns_of(rows)
    before, after = evaluate(query, columns), evaluate(simplified(Not(query), order=order), columns)
    assert after.true.tolist() == before.false.tolist()


@given(QUERIES, KNOWN, ORDERS, st.data())
def test_the_support_stays_where_attributes_are_known(
    query: Query, known: frozenset[str], order: Order, data: st.DataObject
) -> None:
    columns = columns_of(data.draw(tables(known=known)))
    before = evaluate(query, columns)
    assert evaluate(simplified(query, known, order), columns).true.tolist() == before.true.tolist()
    negated = evaluate(simplified(Not(query), known, order), columns)
    assert negated.true.tolist() == before.false.tolist()


FEW = ("wet", "depth", "state")


@settings(max_examples=300, deadline=None)
@given(unions(FEW), st.booleans(), st.frozensets(st.sampled_from(FEW)))
def test_the_support_of_a_union_stays_for_every_entity_that_there_can_be(
    union: Query,
    negated: bool,  # noqa: FBT001
    known: frozenset[str],
) -> None:
    columns = columns_of(all_rows(FEW, known))
    query = Not(union) if negated else union
    shorter = simplified(query, known)
    assert evaluate(shorter, columns).true.tolist() == evaluate(query, columns).true.tolist()
    assert literal_count(shorter) <= literal_count(query)
    assert simplified(shorter, known) == shorter


@given(QUERIES, KNOWN, ORDERS)
def test_simplifying_twice_changes_nothing_more(
    query: Query, known: frozenset[str], order: Order
) -> None:
    once = simplified(query, known, order)
    assert simplified(once, known, order) == once


@given(QUERIES, KNOWN, ORDERS)
def test_there_are_never_more_literals_than_before(
    query: Query, known: frozenset[str], order: Order
) -> None:
    assert literal_count(simplified(query, known, order)) <= literal_count(query)


@pytest.mark.parametrize(
    ("query", "shorter"),
    [
        ('[grade > "low"] & [grade > "mid"]', '[grade > "mid"]'),
        ('[grade <= "mid"] & [wet] & [grade <= "high"]', '[grade <= "mid"] & [wet]'),
        ('["low" < grade <= "mid"] | ["mid" < grade <= "high"]', '["low" < grade <= "high"]'),
        ('[grade <= "low"] | [grade <= "mid"]', '[grade <= "mid"]'),
        ('[grade <= "low"] | [grade > "low"]', "[grade is known]"),
        ('[grade <= "mid"] & [wet] | [grade > "low"] & [wet]', "[wet] & [grade is known]"),
        ('[grade is known] & [grade > "low"] & [grade > "mid"]', '[grade > "mid"]'),
        # A label that is not declared has no place in the order.
        ('[grade > "low"] & [grade > "top"]', '[grade > "low"] & [grade > "top"]'),
    ],
)
def test_labels_with_an_order_are_simplified_like_numbers(query: str, shorter: str) -> None:
    assert to_text(simplified(parse_text(query), order=ORDER)) == shorter


@pytest.mark.parametrize(
    ("query", "shorter"),
    [
        # Repeats and shapes.
        ("[a] & [b] & [a]", "[a] & [b]"),
        ("([a] & [b]) & [c]", "[a] & [b] & [c]"),
        ("([a] | [b]) | [c]", "[a] | [b] | [c]"),
        ("(& (| [a]))", "[a]"),
        ("!!([a] & [b])", "[a] & [b]"),
        ("![x <= 3]", "[x > 3]"),
        ("!([a])", "![a]"),
        # Intervals in a conjunction.
        ("[x <= 5] & [b] & [x <= 3]", "[x <= 3] & [b]"),
        ("[x <= 5] & [b] & [x > 1] & [x > 2]", "[2 < x <= 5] & [b]"),
        ("[x <= 5] & [x != 7] & [x != 4]", "[x <= 5] & [x != 4]"),
        ("[x > 5] & [x != 5]", "[x > 5]"),
        ("[x = 4] & [x <= 5] & [x > 1]", "[x = 4]"),
        # Categories and labels.
        ("[s = CA] & [s != NV]", "[s = CA]"),
        ("[s != NV] & [b] & [s = CA]", "[s = CA] & [b]"),
        ('[g <= "b"] & [g = b]', "[g = b]"),
        ('[g > "b"] & [g != b]', '[g > "b"]'),
        ('[g <= "b"] & [g <= "c"]', '[g <= "b"] & [g <= "c"]'),
        # Disjunctions.
        ("[a] | [b] | [a]", "[a] | [b]"),
        ("[a] & [b] | [b]", "[b]"),
        ("[a] | [b] & [a]", "[a]"),
        ("[x <= 3] & [b] | [x <= 5]", "[x <= 5]"),
        ("[a] & [b] | [b] & [a]", "[a] & [b]"),
        ("[x <= 3] | [3 < x <= 5]", "[x <= 5]"),
        ("[1 < x <= 3] | [c] | [2 < x <= 5]", "[1 < x <= 5] | [c]"),
        ("[b] & [x <= 3] | [3 < x <= 5] & [b]", "[b] & [x <= 5]"),
        ("[x <= 1] | [3 < x <= 5] | [1 < x <= 3]", "[x <= 5]"),
        # Contradictions.
        ("[x > 5] & [x <= 3] | [b]", "[b]"),
        ("[a] & ![a] | [s = CA] & [s = NV]", "[a] & ![a]"),
        ("[s = CA] & [s = NV]", "[s = CA] & [s = NV]"),
        # Under a negation, what is exact only.
        ("!([a] & [b] & [a])", "!([a] & [b])"),
        ("!([x <= 3] & [b] & [x <= 5])", "!([x <= 3] & [b])"),
        ("!([x <= 5] & [x <= 3] & [b])", "!([x <= 3] & [b])"),
        ("!([x <= 3] | [3 < x <= 5])", "[x > 5]"),
        ("!([a] | [a] & [b])", "![a]"),
        # What is true of every value asks only whether there is one.
        ("[h > 165] & [p <= 90] | [h > 165] & [p > 90]", "[h > 165] & [p is known]"),
        ("[p <= 90] & [h > 165] | [h > 165] & [p > 90]", "[h > 165] & [p is known]"),
        ("[x <= 3] | [x > 3]", "[x is known]"),
        ("[x <= 5] | [x > 3]", "[x is known]"),
        ("[x <= 1] | [x > 3] | [1 < x <= 3]", "[x is known]"),
        ("[a] | ![a]", "[a is known]"),
        ("[s = CA] & [b] | [s != CA] & [b]", "[b] & [s is known]"),
        ("[s != CA] | [s != NV]", "[s is known]"),
        (
            "[s = CA] & [b] | [s = NV] & [b] | [s != CA] & [s != NV] & [b]",
            "[b] & [s is known]",
        ),
        ("([x <= 3] | [x > 3]) & [b]", "[b] & [x is known]"),
        ("[a] & [b] | [a] & ![b] | ![a] & [b] | ![a] & ![b]", "[a is known] & [b is known]"),
        ("[b] & [c] & [x <= 3] | [b] & ![c] & [x <= 3]", "[b] & [x <= 3] & [c is known]"),
        ("[a] & [x <= 3] | [b] & [x > 3] | [a] & [x > 3]", "[a] & [x is known] | [b] & [x > 3]"),
        # A value that is compared is known.
        ("[x <= 3] & [x is known]", "[x <= 3]"),
        ("[x is known] & [b] & [x <= 3]", "[x <= 3] & [b]"),
        ("[x is known] | [x <= 3]", "[x is known]"),
        ("[1 < x <= 5] & [b] | [x > 5]", "[x > 1] & [b] | [x > 5]"),
        ("![x is known] & [x <= 3] | [b]", "[b]"),
        ("[x is known] & ![x is known] | [b]", "[b]"),
        # Known or missing: one of the two is true.
        ("[b] & [x is known] | [b] & ![x is known]", "[b]"),
        ("[b] & [x <= 3] | [b] & ![x is known] | [b] & [x > 3]", "[b]"),
        ("[x is known] | [b] & ![x is known]", "[x is known] | [b]"),
        ("!!([x is known])", "[x is known]"),
        ("!([x <= 3] & [x is known])", "[x > 3]"),
        ("!([x is known] & [x is known])", "![x is known]"),
    ],
)
def test_simplification(query: str, shorter: str) -> None:
    assert to_text(simplified(parse_text(query))) == shorter


@pytest.mark.parametrize(
    "query",
    [
        # A later bound must not move before another attribute's test.
        "!([x <= 5] & [b] & [x <= 3])",
        # Where [b] is missing and [a] false, the second disjunct is unknown.
        "!([a] | [b] & [a])",
        "!([b] & [x <= 3] | [b] & [3 < x <= 5])",
        "!([b] | [x > 5] & [x <= 3])",
        # Where x is missing, one is unknown and the other false.
        "!([x <= 3] | [x > 3])",
        "!([x is known] & [x <= 3])",
        "!([x is known] | [x <= 3])",
        "!([b] & [x <= 3] | [b] & [x > 3])",
        # It is not shorter to ask whether x is known.
        "[b] & [x <= 3] | [x > 3]",
        "[b] & [x <= 3] | [c] & [x > 3]",
        "![x is known] | [x <= 3]",
        # Which labels there are is not known here.
        "[s = CA] | [s = NV] | [s = NY]",
        "[x <= 5] & [x != 5]",
        # Intervals with a gap.
        "[x <= 3] | [4 < x <= 5]",
        "[a] & [x <= 3] | [b] & [3 < x <= 5]",
        '[g <= "b"] | [g > "a"]',
        "[x <= 3] & [b] | [x > 4] & [b]",
    ],
)
def test_what_must_stay(query: str) -> None:
    assert to_text(simplified(parse_text(query))) == query


@pytest.mark.parametrize(
    ("query", "shorter"),
    [
        ("[a] & [b] | ![a] & [b]", "[b]"),
        ("[b] & [x <= 3] & [c] | [b] & [c] & [x > 3]", "[b] & [c]"),
        ("[a] & [x > 65] & [c] | ![a] | [a] & [x <= 65] & [c]", "[c] | ![a]"),
        ("![a] | [a] & [c]", "![a] | [c]"),
        ("[x <= 60] & [b] | [x > 55]", "[b] | [x > 55]"),
        ("[s != CA] & [b] | [s = CA]", "[b] | [s = CA]"),
        # Known throughout, so that a negation needs no care.
        ("!([x <= 5] & [a] & [x <= 3])", "!([x <= 3] & [a])"),
        # What must be known, in b or in c.
        ("[b] & [a] | ![b] & [a]", "[a] & [b is known]"),
        ("!([a] & [b] | ![a] & [b])", "!([a] & [b] | ![a] & [b])"),
        # All entities.
        ("[x <= 3] | [x > 3]", "[x is known]"),
        ("[b] | [x <= 3] | [x > 3]", "[x is known]"),
        # That it is known needs no saying, and that it is missing is never true.
        ("[x is known] & [b]", "[b]"),
        ("!([x is known] & [b] & [c])", "!([b] & [c])"),
        ("[b] & ![x is known] | [c]", "[c]"),
        # Whether b is known is true or false, so that a negation needs no care.
        ("!([x <= 5] & [b is known] & [x <= 3])", "!([x <= 3] & [b is known])"),
        # The other disjunct asks for more.
        ("[a] & [b] | ![a] & [b] & [c]", "[a] & [b] | [b] & [c]"),
        ("[x <= 50] & [b] | [x > 55]", "[x <= 50] & [b] | [x > 55]"),
    ],
)
def test_what_is_always_known_helps(query: str, shorter: str) -> None:
    assert to_text(simplified(parse_text(query), frozenset("asx"))) == shorter
