"""Derived attributes: a public query over one view as a Boolean attribute.

Its value for an entity is the query's value on that entity's row: true, false, or missing where the
query is unknown. So every algorithm works on a derived attribute as on a declared one.
Proof: algorithms/population.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from redveil.data.dataset import Dataset
from redveil.data.table import MISSING, CodedColumn, Column, Table, is_cut
from redveil.errors import InputError
from redveil.query.condition import Condition
from redveil.query.formula import Literal, Query, attributes, evaluate, literals
from redveil.query.meaning import Meanings
from redveil.query.text import to_text
from redveil.schema import Attribute, Kind, Side, View
from redveil.schema.unmatched import Group

# Derived attributes, each with the query that it stands for.
Derived = tuple[tuple[Attribute, Query], ...]


def with_derived(
    dataset: Dataset,
    queries: Mapping[Side, Sequence[Query]],
    *,
    keep: bool,
    given: tuple[Condition, ...] = (),
    searched: bool = False,
    unknown_is_false: bool = False,
) -> Dataset:
    """Return the data set with an attribute for each query, the last ones of its view.

    queries:  over the declared attributes of a view, by side; a side without any stays as it is
    keep:     whether a view with derived attributes keeps the declared ones
    given:    the queries that the question starts from, as a certificate names them
    searched: whether these queries were found by a search of the same rows
    unknown_is_false: whether an attribute is false, and not missing, where its query is unknown

    >>> from redveil.data.synthetic import wide_dataset
    >>> from redveil.query.text import parse_text
    >>> dataset = wide_dataset(100, 2, 2)
    >>> query = parse_text(f"![{dataset.schema.left.names[0]}]")
    >>> derived = with_derived(dataset, {Side.LEFT: [query]}, keep=False)
    >>> len(derived.schema.left.attributes), len(derived.schema.right.attributes)
    (1, 2)
    """
    schema, changed_rows = dataset.schema, dataset
    meanings = dict(dataset.origin.meanings)
    views = {side: schema.view(side) for side in Side}
    for side, asked in queries.items():
        if asked:
            derived = _attributes(views[side], asked, required=unknown_is_false)
            kept = views[side].attributes if keep else ()
            added = tuple(attribute for attribute, _ in derived)
            views[side] = replace(views[side], attributes=(*kept, *added))
            meanings[side] = {one.name: query for one, query in derived}
            changed_rows = changed_rows.mapped(partial(_derive, side, derived))
    origin = replace(
        dataset.origin,
        meanings=meanings,
        given=given,
        searched=searched,
        unknown_is_false=unknown_is_false,
    )
    changed = replace(
        schema,
        left=views[Side.LEFT],
        right=views[Side.RIGHT],
        unmatched=_groups(schema.unmatched, meanings, views),
    )
    return replace(changed_rows, schema=changed, derived=origin)


def must_be_told(dataset: Dataset, conditions: Iterable[tuple[Side, Query]]) -> None:
    """Refuse queries that bins do not tell, if only bins were kept. Public: no row is looked at.

    conditions: queries over the declared attributes, each with its side
    """
    if not dataset.packed:
        return
    for side, query in conditions:
        declared = {one.name: one for one in dataset.schema.view(side).attributes}
        for literal in literals(query):
            attribute = declared[literal.attribute]
            if attribute.kind is not Kind.NUMERIC or not isinstance(literal, Literal):
                continue
            if not is_cut(attribute, literal.op, literal.value):
                raise InputError(
                    f"[{attribute.name}] was loaded packed; compare it with a declared cut point "
                    "by <= or >, or load the tables without packed"
                )


def _attributes(view: View, queries: Sequence[Query], *, required: bool) -> Derived:
    """Declare an attribute for each query. It can be missing if one that it compares can be.

    required: whether it cannot be missing in any case
    """
    known = {one.name for one in view.attributes if one.required}
    taken, found = set(view.names), []
    for query in queries:
        name = to_text(query)
        while name in taken:
            name += "'"
        taken.add(name)
        compared = {one.attribute for one in literals(query) if isinstance(one, Literal)}
        always = required or known >= compared
        found.append((Attribute(name, Kind.BOOLEAN, required=always), query))
    return tuple(found)


def _groups(
    groups: Sequence[Group], meanings: Meanings, views: Mapping[Side, View]
) -> tuple[Group, ...]:
    """Return what may not be matched: a derived attribute stands for all that its query mentions.

    >>> from redveil.data.synthetic import clinic_schema
    >>> from redveil.query.formula import Literal
    >>> views = {side: clinic_schema().view(side) for side in Side}
    >>> sick = {Side.LEFT: {"sick": Literal("gout", "=", True)}, Side.RIGHT: {}}
    >>> _groups([Group(("gout",), ("TSH",))], sick, views)
    (Group(left=('gout', 'sick'), right=('TSH',)),)
    """
    found = []
    for group in groups:
        kept = [(side, name) for side, name in group.names if name in views[side].names]
        added = [
            (side, name)
            for side, known in meanings.items()
            for name, query in known.items()
            if any((side, one) in group.names for one in attributes(query))
        ]
        found.append(Group.of([*kept, *added]))
    return tuple(group for group in found if group.forbids)


def derived_column(
    attribute: Attribute, query: Query, columns: Mapping[str, Column]
) -> CodedColumn:
    """Return the values of a derived attribute, each from the entity's own row. Private.

    attribute: if it is required, it is false where the query is unknown
    columns:   the declared attributes of the view
    """
    truth = evaluate(query, columns)
    unknown = 0 if attribute.required else MISSING
    codes = np.where(truth.unknown, unknown, truth.true).astype(np.uint8)
    return CodedColumn(attribute, codes)


def _derive(side: Side, derived: Derived, table: Table) -> Table:
    declared = table.view(side)
    columns: dict[str, Column] = dict(declared)
    for attribute, query in derived:
        columns[attribute.name] = derived_column(attribute, query, declared)
    left, right = (columns, table.right) if side is Side.LEFT else (table.left, columns)
    return Table(table.rows, left, right)
