"""Parts of a population and derived attributes, against one entity at a time."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import redveil
from oracle.query_rows import Row, evaluate_row
from redveil.algorithms.derived import with_derived
from redveil.algorithms.population import part_of
from redveil.data.dataset import Dataset
from redveil.data.report import LoadReport
from redveil.data.synthetic import clinic_frames, clinic_schema
from redveil.data.table import MISSING, CodedColumn, Column, NumericColumn, Table
from redveil.query.condition import Condition
from redveil.query.formula import Literal, Query
from redveil.query.text import parse_text, to_text
from redveil.schema import Attribute, Kind, Schema, Side, View
from redveil.schema.unmatched import Group
from redveil.sealed import Sealed, open_for_owner
from strategies.queries import queries_of

WET = Attribute("wet", Kind.BOOLEAN)
DEPTH = Attribute("depth", Kind.NUMERIC, minimum=0, maximum=4, cuts=(1.0, 2.0))
FISH = Attribute("fish", Kind.CATEGORICAL, required=True, categories=("carp", "pike"))
SCHEMA = Schema("lakes", View("shape", "id", (WET, DEPTH)), View("life", "id", (FISH,)))
Entity = tuple[bool | None, float | None, str]

entities = st.tuples(
    st.sampled_from([True, False, None]),
    st.sampled_from([0.0, 1.0, 1.5, 4.0, None]),
    st.sampled_from(["carp", "pike"]),
)
left_literals = st.builds(Literal, st.just("wet"), st.just("="), st.booleans()) | st.builds(
    Literal, st.just("depth"), st.sampled_from(["<=", ">"]), st.sampled_from([1.0, 1.25, 3.0])
)
right_literals = st.builds(Literal, st.just("fish"), st.sampled_from(["=", "!="]), st.just("carp"))
left_queries = queries_of(left_literals, max_leaves=4)
right_queries = queries_of(right_literals, max_leaves=2)


def dataset_of(rows: list[Entity]) -> Dataset:
    wet = np.array([MISSING if one[0] is None else one[0] for one in rows], np.uint8)
    depth = np.array([math.nan if one[1] is None else one[1] for one in rows])
    fish = np.array([FISH.categories.index(one[2]) for one in rows], np.uint8)
    left: dict[str, Column] = {"wet": CodedColumn(WET, wet), "depth": NumericColumn(DEPTH, depth)}
    table = Table(len(rows), left, {"fish": CodedColumn(FISH, fish)})
    return Dataset(SCHEMA, Sealed(table), Sealed(LoadReport(len(rows))))


def rows_of(dataset: Dataset) -> list[Entity]:
    table = open_for_owner(dataset.table)
    wet, depth, fish = table.left["wet"], table.left["depth"], table.right["fish"]
    assert isinstance(wet, CodedColumn)
    assert isinstance(depth, NumericColumn)
    assert isinstance(fish, CodedColumn)
    return [
        (
            None if w == MISSING else bool(w),
            None if math.isnan(d) else float(d),
            FISH.categories[f],
        )
        for w, d, f in zip(wet.codes, depth.values, fish.codes, strict=True)
    ]


def as_row(entity: Entity) -> Row:
    return dict(zip(("wet", "depth", "fish"), entity, strict=True))


@settings(max_examples=100, deadline=None)
@given(st.lists(entities, max_size=8), left_queries, right_queries)
def test_an_entity_is_in_by_its_own_row_alone(
    rows: list[Entity], left: Query, right: Query
) -> None:
    conditions = Condition(Side.LEFT, left), Condition(Side.RIGHT, right)
    part = part_of(dataset_of(rows), conditions)
    kept = [
        one for one in rows if all(evaluate_row(c.query, as_row(one)) is True for c in conditions)
    ]
    assert rows_of(part) == kept
    assert open_for_owner(part.table).rows == len(kept)
    assert part.schema == SCHEMA
    assert part.origin.part == conditions


@settings(max_examples=100, deadline=None)
@given(st.lists(entities, max_size=6), entities, st.integers(0, 6), left_queries)
def test_an_entity_more_is_at_most_that_entity_more(
    rows: list[Entity], newcomer: Entity, place: int, query: Query
) -> None:
    conditions = (Condition(Side.LEFT, query),)
    before = rows_of(part_of(dataset_of(rows), conditions))
    with_newcomer = [*rows[:place], newcomer, *rows[place:]]
    after = rows_of(part_of(dataset_of(with_newcomer), conditions))
    inside = evaluate_row(query, as_row(newcomer)) is True
    assert sorted(after, key=repr) == sorted([*before, *([newcomer] if inside else [])], key=repr)


@pytest.mark.parametrize("keep", [True, False])
@settings(max_examples=60, deadline=None)
@given(rows=st.lists(entities, max_size=8), queries=st.lists(left_queries, min_size=1, max_size=3))
def test_a_derived_attribute_has_the_querys_value_for_every_entity(
    *, rows: list[Entity], queries: list[Query], keep: bool
) -> None:
    derived = with_derived(dataset_of(rows), {Side.LEFT: queries}, keep=keep)
    added = derived.schema.left.attributes[-len(queries) :]
    assert len(derived.schema.left.attributes) == len(queries) + 2 * keep
    assert derived.schema.right == SCHEMA.right
    assert derived.origin.declared == SCHEMA
    table = open_for_owner(derived.table)
    for attribute, query in zip(added, queries, strict=True):
        assert derived.origin.meanings[Side.LEFT][attribute.name] == query
        column = table.left[attribute.name]
        assert isinstance(column, CodedColumn)
        found = [None if code == MISSING else bool(code) for code in column.codes]
        assert found == [evaluate_row(query, as_row(one)) for one in rows]


def test_a_derived_attribute_is_required_if_all_it_asks_for_is() -> None:
    carp, wet = Literal("fish", "=", "carp"), Literal("wet", "=", value=True)
    derived = with_derived(dataset_of([]), {Side.LEFT: [wet], Side.RIGHT: [carp]}, keep=True)
    assert derived.schema.right.attributes[-1].required
    assert not derived.schema.left.attributes[-1].required


def test_names_of_derived_attributes_are_new() -> None:
    wet = Literal("wet", "=", value=True)
    derived = with_derived(dataset_of([]), {Side.LEFT: [wet, wet]}, keep=True)
    assert derived.schema.left.names == ("wet", "depth", "[wet]", "[wet]'")


def test_without_a_condition_nothing_changes() -> None:
    dataset = dataset_of([])
    assert part_of(dataset, ()) is dataset


@pytest.mark.parametrize("text", ["[wet]", "[fish = carp]"])
def test_a_part_is_named_where_the_whole_was(text: str) -> None:
    literal = Literal("wet", "=", value=True) if text == "[wet]" else Literal("fish", "=", "carp")
    side = Side.LEFT if text == "[wet]" else Side.RIGHT
    part = part_of(dataset_of([]), (Condition(side, literal),))
    assert [to_text(one.query) for one in part.origin.part] == [text]


def test_a_derived_attribute_may_not_be_matched_with_what_its_query_may_not() -> None:
    schema = clinic_schema().replace(unmatched=[["gout", "uric acid"], ["age", "eGFR"]])
    dataset = redveil.load(*clinic_frames(50), schema)
    query = parse_text("[gout] & [asthma]")
    for keep, gout in ((True, ("[gout] & [asthma]", "gout")), (False, ("[gout] & [asthma]",))):
        derived = with_derived(dataset, {Side.LEFT: [query]}, keep=keep).schema
        rest = [Group(("age",), ("eGFR",))] if keep else []
        assert set(derived.unmatched) == {Group(gout, ("uric acid",)), *rest}
