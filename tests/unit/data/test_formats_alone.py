"""Decimal commas, dates and cells of a workbook: each row is read as if it were the only one."""

from __future__ import annotations

import csv
import tempfile
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import parquet

from redveil.data.loading import load
from redveil.data.table import NumericColumn
from redveil.errors import LoadError
from redveil.schema import Attribute, Kind, Schema, View
from redveil.schema.dates import DateRule
from redveil.sealed import open_for_owner
from support.workbooks import write_shared_xlsx, write_xlsx

ENDS = ("2017", "2018-06", "2018-12-24", "2019")
BOUNDS = (date(2015, 1, 1), date(2019, 12, 31))
PAID = Attribute(
    "paid", Kind.NUMERIC, minimum=-5, maximum=9999, cuts=(1.5,), decimal_char=",", group_char="."
)
SEEN = Attribute("seen", Kind.ORDINAL, categories=ENDS, date=DateRule(*BOUNDS, format="%d.%m.%Y"))
WHEN = Attribute("when", Kind.ORDINAL, categories=ENDS, date=DateRule(*BOUNDS, "datetime"))
FLAG = Attribute("flag", Kind.BOOLEAN, true_values=("ja",), false_values=("nein",))
ATTRIBUTES = (PAID, SEEN, WHEN, FLAG)
NAMES = ("id", *(attribute.name for attribute in ATTRIBUTES))
VIEW = View("left", "id", ATTRIBUTES, missing_values=("", "NA", "-1,5", "31.12.2018"))
SCHEMA = Schema("toy", VIEW, View("right", "id", (Attribute("sick", Kind.BOOLEAN),)))

numbers = st.sampled_from(["1,5", "1.234,5", "1.234", "1.5", "1234", "-1,5", "-1.5", "1e3", "x"])
days = st.dates(date(2014, 1, 1), date(2020, 12, 31))
moments = st.datetimes(datetime(2014, 1, 1), datetime(2020, 12, 31))
zones = st.integers(-12, 12).map(lambda hours: timezone(timedelta(hours=hours)))
texts = st.one_of(
    numbers,
    days.map(lambda day: f"{day:%d.%m.%Y}"),
    days.map(str),
    moments.map(lambda moment: moment.isoformat()),
    st.sampled_from(["31.12.2018", "31.2.2018", "NA", "", "ja", "true", " nein ", "2018-12"]),
)
cells = texts | st.sampled_from([1.5, -1.5, 1234, 0, 1, True, False]) | days | moments
aware = st.builds(lambda moment, zone: moment.replace(tzinfo=zone), moments, zones)
objects: dict[str, st.SearchStrategy[Any]] = {
    "texts": texts,
    "dates": days | moments | aware | moments.map(np.datetime64) | moments.map(pd.Timestamp),
    "numbers": st.sampled_from([1.5, 1234, Decimal("-1.50"), np.float32(2)]),
}

Row = tuple[Any, ...]
HandOver = Callable[[list[Row], Path], Any]


def columns_of(rows: list[Row]) -> dict[str, list[Any]]:
    return {name: [row[i] for row in rows] for i, name in enumerate(NAMES)}


def csv_file(rows: list[Row], folder: Path) -> Any:
    with (folder / "left.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([NAMES, *rows])
    return folder / "left.csv"


def workbook(rows: list[Row], folder: Path) -> Any:
    return write_xlsx(folder / "left.xlsx", {"Labs": [NAMES, *rows]})


def workbook_of_excel(rows: list[Row], folder: Path) -> Any:
    return write_shared_xlsx(folder / "left.xlsx", {"Labs": [NAMES, *rows]})


def pandas_objects(rows: list[Row], _: Path) -> Any:
    return pd.DataFrame({n: pd.Series(v, dtype=object) for n, v in columns_of(rows).items()})


def pandas_guessed(rows: list[Row], _: Path) -> Any:
    return pd.DataFrame(columns_of(rows))


def polars_frame(rows: list[Row], _: Path) -> Any:
    return pl.DataFrame(columns_of(rows), strict=False)


def arrow_table(rows: list[Row], _: Path) -> Any:
    return pa.table(columns_of(rows))


def parquet_file(rows: list[Row], folder: Path) -> Any:
    parquet.write_table(pa.table(columns_of(rows)), folder / "left.parquet")
    return folder / "left.parquet"


def read(
    rows: list[Row], hand_over: HandOver, markers: tuple[str, ...] = VIEW.missing_values
) -> list[tuple[str, ...]]:
    """Load some rows, and return the values of each as text, because NaN differs from itself."""
    keys = [row[0] for row in rows]
    right = pa.table({"id": keys, "sick": [True] * len(keys)})
    with tempfile.TemporaryDirectory() as folder:
        schema = replace(SCHEMA, left=replace(VIEW, missing_values=markers))
        loaded = load(hand_over(rows, Path(folder)), right, schema)
    columns = open_for_owner(loaded.table).left.values()
    found = [c.values if isinstance(c, NumericColumn) else c.codes for c in columns]
    return [tuple(map(repr, row)) for row in zip(*(c.tolist() for c in found), strict=True)]


def rows_of(*kinds: st.SearchStrategy[Any]) -> st.SearchStrategy[list[Row]]:
    row = st.tuples(*(st.none() | kind for kind in kinds))
    return st.lists(row, min_size=1, max_size=5).map(
        lambda rows: [(f"p{number}", *row) for number, row in enumerate(rows)]
    )


@pytest.mark.parametrize("hand_over", [csv_file, workbook, workbook_of_excel])
@settings(max_examples=60)
@given(rows_of(cells, cells, cells, cells))
def test_cells_of_a_file_are_read_one_by_one(hand_over: HandOver, rows: list[Row]) -> None:
    together = read(rows, hand_over)
    assert together == [read([row], hand_over)[0] for row in rows]


@pytest.mark.parametrize("kind", objects)
@pytest.mark.parametrize("hand_over", [pandas_objects, pandas_guessed])
@settings(max_examples=60)
@given(data=st.data())
def test_objects_are_read_one_by_one(hand_over: HandOver, kind: str, data: st.DataObject) -> None:
    rows = data.draw(rows_of(*[objects[kind]] * 4))
    try:
        together = read(rows, hand_over)
    except LoadError:
        # A column that mixes moments with and without a time zone, which pandas refuses.
        return
    assert together == [read([row], hand_over)[0] for row in rows]


@pytest.mark.parametrize("hand_over", [pandas_guessed, polars_frame, arrow_table, parquet_file])
@pytest.mark.parametrize("kind", [days, moments, aware.map(lambda moment: moment.astimezone(UTC))])
@settings(max_examples=30)
@given(data=st.data())
def test_typed_dates_are_read_one_by_one(
    hand_over: HandOver, kind: st.SearchStrategy[Any], data: st.DataObject
) -> None:
    rows = data.draw(rows_of(st.nothing(), kind, kind, st.nothing()))
    assert read(rows, hand_over) == [read([row], hand_over)[0] for row in rows]


def test_the_tests_above_read_something() -> None:
    day, moment = (
        date(2018, 12, 24),
        datetime(2019, 1, 1, 0, 30, tzinfo=timezone(timedelta(hours=1))),
    )
    naive = datetime(2018, 12, 31, 23, 30)
    row = ("a", 1234.5, day, naive, True)
    text = ("b", "1.234,5", "24.12.2018", moment.isoformat(), "ja")
    odd = ("c", "1.5", "2018-12-24", "24.12.2018", "true")
    good = ("1234.5", "2", "3", "1")
    for hand_over in (pandas_objects, pandas_guessed, polars_frame, arrow_table, workbook):
        assert read([row], hand_over) == [good]
    assert read([("a", 1234.5, day, moment, True)], pandas_objects) == [good]
    for hand_over in (
        pandas_objects,
        pandas_guessed,
        polars_frame,
        arrow_table,
        csv_file,
        workbook,
    ):
        assert read([text, odd], hand_over) == [good, ("nan", "255", "255", "255")]
    assert read([row, text, odd], workbook) == [good, good, ("nan", "255", "255", "255")]


def test_markers_are_numbers_in_the_declared_format() -> None:
    rows = [(key, value, None, None, None) for key, value in zip("ab", (-1.5, 2.5), strict=True)]
    assert [row[0] for row in read(rows, arrow_table)] == ["nan", "2.5"]
    texts = [
        (key, value, None, None, None) for key, value in zip("ab", ("-1,50", "2"), strict=True)
    ]
    assert [row[0] for row in read(texts, csv_file)] == ["nan", "2.0"]


@pytest.mark.parametrize("more", [[], [7], [Decimal(7)], [10**20]], ids=repr)
@pytest.mark.parametrize("hand_over", [pandas_guessed, pandas_objects, polars_frame, workbook])
def test_numbers_are_compared_with_markers_by_their_value(
    hand_over: HandOver, more: list[Any]
) -> None:
    """Of the marker 1.234, which means 1234, a number 1.234 has the text and not the value."""
    numbers = [1.234, 1234.0, 2.5, *more]
    rows = [(f"p{i}", number, None, None, None) for i, number in enumerate(numbers)]
    found = [row[0] for row in read(rows, hand_over, markers=("", "1.234"))]
    assert found[:3] == ["1.234", "nan", "2.5"]


def test_texts_are_compared_with_markers_by_text_and_by_value() -> None:
    texts = ("1.234", "1234", "1,234")
    rows = [(f"p{i}", text, None, None, None) for i, text in enumerate(texts)]
    found = [row[0] for row in read(rows, csv_file, markers=("", "1.234"))]
    assert found == ["nan", "nan", "1.234"]


def test_dates_outside_their_bounds_are_in_the_outer_bins_and_counted() -> None:
    table = pa.table({"id": list("abc"), "seen": ["1.1.2014", "1.1.2021", "1.1.2018"]})
    schema = Schema("toy", View("left", "id", (SEEN,)), SCHEMA.right)
    dataset = load(table, pa.table({"id": list("abc"), "sick": [True] * 3}), schema)
    assert open_for_owner(dataset.table).left["seen"].codes.tolist() == [0, 3, 1]  # type: ignore[union-attr]
    (counts,) = open_for_owner(dataset.report).attributes[:1]
    assert (counts.outside, counts.unreadable, counts.missing) == (2, 0, 0)
