"""What audited questions ask: one of the splits of a view, as a query that a person gave."""

from __future__ import annotations

from functools import singledispatch

from redveil import Dataset
from redveil.seam.neighbours import (
    Algorithm,
    Confirm,
    Describe,
    Refine,
    Splits,
    split_literal,
    with_derived,
)
from redveil.seam.queries import Query, Side, View


@singledispatch
def asked(_algorithm: Algorithm, dataset: Dataset) -> Dataset:
    """Return a data set with the queries that an algorithm starts from, if it does from any.

    >>> from redveil_research.audit.pairs import pair
    >>> asked(Describe(), pair("a stranger").dataset(with_entity=False)).schema.left.names
    ('[number <= 6]',)
    """
    return dataset


@asked.register
def _(algorithm: Describe, dataset: Dataset) -> Dataset:
    side = algorithm.given_side
    return with_derived(dataset, {side: [middle(dataset.schema.view(side))]}, keep=False)


@asked.register
def _(_algorithm: Refine, dataset: Dataset) -> Dataset:
    # The first split leaves most entities together, so that what is below it matters most.
    views = {side: Splits.of(dataset.schema.view(side)) for side in Side}
    queries = {side: [split_literal(splits, 0, held=True)] for side, splits in views.items()}
    return with_derived(dataset, queries, keep=True)


@asked.register
def _(_algorithm: Confirm, dataset: Dataset) -> Dataset:
    queries = {side: [middle(dataset.schema.view(side))] for side in Side}
    return with_derived(dataset, queries, keep=False, unknown_is_false=True)


def middle(view: View) -> Query:
    """Return the split in the middle of a view's list.

    >>> from redveil_research.audit.pairs import pair
    >>> middle(pair("a newcomer").schema.left)
    Literal(attribute='number', op='<=', value=5.0)
    """
    splits = Splits.of(view)
    return split_literal(splits, len(splits) // 2, held=True)
