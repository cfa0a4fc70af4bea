"""Binning and packing, compared with a computation value by value."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracle.binning import bins_of, flag, words
from redveil.data.binning import BinnedView, bin_codes, bin_table, bin_view
from redveil.data.table import CodedColumn, Column, NumericColumn, pack
from redveil.schema import Attribute, Kind, Schema, Side, View
from strategies.arrays import row_counts, spread
from strategies.schemas import KEY, attributes, columns, schemas, tables, view_columns, views

OTHER_KINDS = tuple(kind for kind in Kind if kind is not Kind.BOOLEAN)


def read_back(binned: BinnedView, view: View, number: int) -> list[int | None]:
    """Return the bins of one attribute from the packed view."""
    row = int(binned.row[number])
    if view.attributes[number].kind is not Kind.BOOLEAN:
        return [None if code == 255 else code for code in binned.codes[row].tolist()]
    bits = binned.bits[row].tolist()
    where = int(binned.absent_row[row])
    absent = [0] * len(bits) if where < 0 else binned.absent[where].tolist()
    return [None if flag(absent, i) else int(flag(bits, i)) for i in range(binned.rows)]


def check(view: View, columns: Mapping[str, Column], rows: int) -> BinnedView:
    binned = bin_view(columns, view, rows)
    booleans = sum(a.kind is Kind.BOOLEAN for a in view.attributes)
    width = math.ceil(rows / 64)
    assert binned.rows == rows
    assert binned.bits.shape == (booleans, width)
    assert binned.absent.shape[1] == width
    assert binned.absent_row.shape == (booleans,)
    assert binned.codes.shape == (len(view.attributes) - booleans, rows)
    dtypes = (binned.bits, binned.absent, binned.absent_row, binned.codes, binned.row)
    assert [a.dtype.name for a in dtypes] == ["uint64", "uint64", "int32", "uint8", "int32"]
    for number, attribute in enumerate(view.attributes):
        values = bins_of(columns[attribute.name], attribute)
        assert read_back(binned, view, number) == values
        if attribute.kind is Kind.BOOLEAN:
            row = int(binned.row[number])
            assert binned.bits[row].tolist() == words([v == 1 for v in values])
            where = int(binned.absent_row[row])
            assert (where == -1) == (None not in values)
            if where >= 0:
                assert binned.absent[where].tolist() == words([v is None for v in values])
    return binned


@settings(max_examples=60, deadline=None)
@given(st.data(), row_counts)
def test_flags_are_packed_lowest_bit_first(data: st.DataObject, rows: int) -> None:
    flags = data.draw(spread(st.booleans(), rows))
    packed = pack(np.array(flags, np.bool_))
    assert packed.dtype == np.uint64
    assert packed.tolist() == words(flags)


@settings(max_examples=100, deadline=None)
@given(st.data(), st.integers(0, 30), attributes("a", OTHER_KINDS))
def test_a_value_is_at_most_a_cut_exactly_when_its_bin_is(
    data: st.DataObject, rows: int, attribute: Attribute
) -> None:
    column = data.draw(columns(attribute, rows))
    dtype = np.dtype(data.draw(st.sampled_from([np.uint8, np.uint16, np.uint32])))
    codes = bin_codes(column, attribute, dtype)
    assert codes.dtype == dtype
    missing = 2 ** (8 * dtype.itemsize) - 1
    assert [None if c == missing else c for c in codes.tolist()] == bins_of(column, attribute)
    if isinstance(column, NumericColumn):
        for value, code in zip(column.values.tolist(), codes.tolist(), strict=True):
            for j, cut in enumerate(attribute.cuts):
                assert math.isnan(value) or (value <= cut) == (code <= j)


@settings(max_examples=60, deadline=None)
@given(st.data(), row_counts, views())
def test_a_packed_view_contains_every_value(data: st.DataObject, rows: int, view: View) -> None:
    check(view, data.draw(view_columns(view, rows)), rows)


@settings(max_examples=20, deadline=None)
@given(st.data(), row_counts, st.sampled_from([(Kind.BOOLEAN,), OTHER_KINDS]))
def test_a_view_may_lack_booleans_or_have_nothing_else(
    data: st.DataObject, rows: int, kinds: tuple[Kind, ...]
) -> None:
    view = data.draw(views(kinds=kinds))
    check(view, data.draw(view_columns(view, rows)), rows)


@settings(max_examples=20, deadline=None)
@given(st.data(), schemas(), row_counts)
def test_a_table_is_packed_side_by_side(data: st.DataObject, schema: Schema, rows: int) -> None:
    table = data.draw(tables(schema, rows))
    binned = bin_table(table, schema)
    assert binned.rows == rows
    for side in Side:
        expected = check(schema.view(side), table.view(side), rows)
        assert binned.view(side).bits.tolist() == expected.bits.tolist()
        assert binned.view(side).codes.tolist() == expected.codes.tolist()


@pytest.mark.parametrize("cuts", [1, 253, 254])
def test_every_bin_up_to_the_last_has_its_own_code(cuts: int) -> None:
    points = tuple(float(i) for i in range(cuts))
    attribute = Attribute("a", Kind.NUMERIC, minimum=-1, maximum=cuts, cuts=points)
    values = [-1.0, *(x + d for x in points for d in (0.0, 0.5)), float(cuts), math.nan]
    column = NumericColumn(attribute, np.array(values))
    view = View("v", KEY, (attribute,))
    codes = check(view, {"a": column}, len(values)).codes[0].tolist()
    assert set(codes) == {*range(cuts + 1), 255}


@pytest.mark.parametrize("kind", [Kind.CATEGORICAL, Kind.ORDINAL])
def test_255_categories_and_missing_fill_the_byte(kind: Kind) -> None:
    attribute = Attribute("a", kind, categories=tuple(str(i) for i in range(255)))
    column = CodedColumn(attribute, np.arange(256, dtype=np.uint8))
    check(View("v", KEY, (attribute,)), {"a": column}, 256)


@pytest.mark.parametrize("rows", [0, 1, 63, 64, 65, 128])
def test_everything_may_be_missing(rows: int) -> None:
    flag_ = Attribute("flag", Kind.BOOLEAN)
    number = Attribute("number", Kind.NUMERIC, cuts=(0.5,))
    given_columns: dict[str, Column] = {
        "number": NumericColumn(number, np.full(rows, np.nan)),
        "flag": CodedColumn(flag_, np.full(rows, 255, np.uint8)),
    }
    check(View("v", KEY, (number, flag_)), given_columns, rows)


def test_minus_zero_is_zero() -> None:
    attribute = Attribute("a", Kind.NUMERIC, minimum=-1, maximum=1, cuts=(0.0,))
    column = NumericColumn(attribute, np.array([-0.0, 0.0, 5e-324, -5e-324]))
    assert bin_codes(column, attribute, np.dtype(np.uint8)).tolist() == [0, 0, 1, 0]


def test_columns_are_found_by_name_not_by_order() -> None:
    a, b = Attribute("a", Kind.BOOLEAN), Attribute("b", Kind.BOOLEAN)
    false, true = np.array([0], np.uint8), np.array([1], np.uint8)
    given_columns = {"b": CodedColumn(b, true), "a": CodedColumn(a, false)}
    binned = check(View("v", KEY, (a, b)), given_columns, 1)
    assert binned.bits[binned.row].tolist() == [[0], [1]]
