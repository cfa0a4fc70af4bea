"""A query that is true exactly where another is not."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from redveil.query.formula import And, Column, Known, Literal, Not, Op, Or, Query, Value, evaluate
from redveil.query.not_true import not_true

NAMES = ("a", "b", "c")
BoolArray = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Values:
    """A Boolean column, some values missing."""

    holds: BoolArray
    known: BoolArray

    def test(self, op: Op, value: Value, /) -> tuple[BoolArray, BoolArray]:
        assert op == "="
        return self.known & (self.holds == value), self.known


def every_entity(required: frozenset[str]) -> dict[str, Column]:
    """Return one entity for each combination of true, false and missing."""
    cases = [(True, False) if name in required else (True, False, None) for name in NAMES]
    rows = list(itertools.product(*cases))
    return {
        name: Values(
            np.array([row[place] is True for row in rows]),
            np.array([row[place] is not None for row in rows]),
        )
        for place, name in enumerate(NAMES)
    }


names = st.sampled_from(NAMES)
literals = st.builds(Literal, names, st.just("="), st.booleans()) | st.builds(Known, names)
queries: st.SearchStrategy[Query] = st.recursive(
    literals,
    lambda inner: st.one_of(
        st.builds(Not, inner),
        st.builds(And, st.lists(inner, min_size=1, max_size=3).map(tuple)),
        st.builds(Or, st.lists(inner, min_size=1, max_size=3).map(tuple)),
    ),
    max_leaves=8,
)


@given(queries, st.frozensets(names))
def test_it_is_true_exactly_where_the_query_is_not(query: Query, required: frozenset[str]) -> None:
    entities = every_entity(required)
    expected = ~evaluate(query, entities).true
    assert evaluate(not_true(query, required), entities).true.tolist() == expected.tolist()
