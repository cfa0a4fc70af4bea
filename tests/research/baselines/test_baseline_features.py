from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from redveil.data.table import NumericColumn
from redveil.query.formula import Literal, evaluate
from redveil.schema import Attribute, Kind, Side
from redveil_research.baselines.branches import between, features_of
from support.mixed import mixed_table


@pytest.mark.parametrize("side", Side)
def test_a_comparison_of_codes_is_its_literal(side: Side) -> None:
    table = mixed_table(60, seed=1)
    columns = table.view(side)
    features = features_of(columns, table.rows)
    tried = 0
    for place, feature in enumerate(features.columns):
        codes = features.matrix[:, place]
        for code in np.unique(codes[~np.isnan(codes)])[:-1]:
            truth = evaluate(feature.up_to(float(code) + 0.5), columns)
            assert truth.true.tolist() == (codes <= code).tolist()
            assert truth.false.tolist() == (codes > code).tolist()
            tried += 1
        known = evaluate(feature.up_to(np.inf), columns)
        assert known.true.tolist() == (~np.isnan(codes)).tolist()
    assert tried > 20


def test_numbers_that_single_precision_cannot_tell_apart_stay_apart() -> None:
    attribute = Attribute("x", Kind.NUMERIC, minimum=0, maximum=1e12)
    column = NumericColumn(attribute, np.array([1e11, 1e11 + 1, 1e11 + 2]))
    features = features_of({"x": column}, 3)
    truth = evaluate(features.columns[0].up_to(0.5), {"x": column})
    assert truth.true.tolist() == [True, False, False]


@given(st.floats(-1e300, 1e300), st.floats(-1e300, 1e300))
def test_what_is_between_is_between(first: float, second: float) -> None:
    low, high = sorted((first, second))
    if low < high:
        assert low <= between(low, high) < high


def test_numbers_outside_the_bounds_are_moved_to_them() -> None:
    attribute = Attribute("x", Kind.NUMERIC, minimum=0, maximum=9)
    column = NumericColumn(attribute, np.array([-np.inf, 4.0, np.inf, np.nan, -9.0]))
    features = features_of({"x": column}, 5)
    assert features.columns[0].up_to(0.5) == Literal("x", "<=", 2)
    np.testing.assert_array_equal(features.matrix[:, 0], [0, 1, 2, np.nan, 0])
