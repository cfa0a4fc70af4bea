import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracle.query_rows import Order, Row
from redveil.query.formula import Not, Query, evaluate, literal_count
from redveil.query.simplify import simplified
from redveil.query.text import parse_text, to_text
from strategies.queries import ORDER, VALUES, columns_of, queries_of, table_literals, tables

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
        "!([b] | [5 < x <= 3])",
        # True wherever x is known, which is not everywhere.
        "[x <= 3] | [x > 3]",
        "[a] | ![a]",
        "[x <= 5] & [x != 5]",
        # Intervals with a gap.
        "[x <= 3] | [4 < x <= 5]",
        "[a] & [x <= 3] | [b] & [3 < x <= 5]",
        '[g <= "b"] | [g > "a"]',
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
        # Unknown, in b or in c; or all entities.
        ("[b] & [a] | ![b] & [a]", "[b] & [a] | ![b] & [a]"),
        ("!([a] & [b] | ![a] & [b])", "!([a] & [b] | ![a] & [b])"),
        ("[x <= 3] | [x > 3]", "[x <= 3] | [x > 3]"),
        # The other disjunct asks for more.
        ("[a] & [b] | ![a] & [b] & [c]", "[a] & [b] | [b] & [c]"),
        ("[x <= 50] & [b] | [x > 55]", "[x <= 50] & [b] | [x > 55]"),
    ],
)
def test_what_is_always_known_helps(query: str, shorter: str) -> None:
    assert to_text(simplified(parse_text(query), frozenset("asx"))) == shorter
