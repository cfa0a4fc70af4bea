from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from oracle.query_rows import evaluate_row
from redveil.query.formula import Literal, Query
from redveil.query.meaning import spelled_out, substituted
from redveil.query.text import parse_text
from redveil.schema import Attribute, Kind, View
from strategies.queries import queries_of

NAMES = ("a", "b", "c")
VIEW = View("view", "id", tuple(Attribute(name, Kind.BOOLEAN) for name in NAMES))
plain = st.builds(Literal, st.sampled_from(NAMES), st.just("="), st.booleans())
derived = st.builds(Literal, st.just("[x]"), st.just("="), st.booleans())
values = st.sampled_from([True, False, None])


@settings(max_examples=200, deadline=None)
@given(
    queries_of(plain, max_leaves=3),
    queries_of(plain | derived, max_leaves=4),
    st.tuples(values, values, values),
)
def test_a_derived_attribute_has_the_value_of_its_query(
    meaning: Query, query: Query, row: tuple[bool | None, ...]
) -> None:
    entity = dict(zip(NAMES, row, strict=True))
    with_derived = entity | {"[x]": evaluate_row(meaning, entity)}
    value = evaluate_row(query, with_derived)
    assert evaluate_row(substituted(query, {"[x]": meaning}), entity) is value
    shorter = evaluate_row(spelled_out(query, {"[x]": meaning}, VIEW), entity)
    assert (shorter is True) == (value is True)


def test_a_given_query_by_itself_stays_as_it_was_given() -> None:
    meaning = parse_text("[a] & [b] & [a]")
    assert spelled_out(Literal("[x]", "=", value=True), {"[x]": meaning}, VIEW) == meaning
