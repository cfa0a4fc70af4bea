from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from oracle.query_rows import evaluate_row
from redveil.query.coverage import ReleasedTree
from redveil.query.formula import Literal, Query
from redveil.query.leaves import node_query
from redveil.query.meaning import Meanings, Wording, substituted
from redveil.schema import Attribute, Kind, Schema, Side, View
from redveil.trees.tree import Tree
from strategies.queries import queries_of

NAMES = ("a", "b", "c")
VIEW = View("view", "id", tuple(Attribute(name, Kind.BOOLEAN) for name in NAMES))
DERIVED = Attribute("[x]", Kind.BOOLEAN)
X = Literal("[x]", "=", value=True)
TREE = Tree(Side.LEFT, (0, 1, None), stuck=(0, 1))
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


@settings(max_examples=200, deadline=None)
@given(queries_of(plain, max_leaves=3), st.tuples(values, values, values))
def test_the_paths_of_a_tree_in_words_lead_where_those_of_derived_attributes_do(
    meaning: Query, row: tuple[bool | None, ...]
) -> None:
    derived_tree = ReleasedTree(TREE, (X, Literal("a", "=", value=True), None), {"[x]": DERIVED})
    meanings: Meanings = {Side.LEFT: {"[x]": meaning}, Side.RIGHT: {}}
    words = Wording(Schema("views", VIEW, VIEW), meanings).tree(derived_tree)
    assert set(words.attributes) == set(NAMES)
    entity = dict(zip(NAMES, row, strict=True))
    with_derived = entity | {"[x]": evaluate_row(meaning, entity)}
    for node in TREE.leaves:
        value = evaluate_row(node_query(derived_tree, node), with_derived)
        assert evaluate_row(node_query(words, node), entity) is value
