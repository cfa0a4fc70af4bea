"""Frames: what a value is read as does not depend on the type that its column has."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from redveil.data.draft import draft
from redveil.data.frame import open_frame
from redveil.errors import LoadError


def texts(frame: Any) -> list[Any]:
    found: list[Any] = open_frame(frame, "left").read(["x"]).columns["x"].to_pylist()
    return found


MOMENTS = [datetime(2015, 1, 1, 8), datetime(2016, 1, 1, 9, 30, 0, 500_000)]
WRITTEN = ["2015-01-01 08:00:00", "2016-01-01 09:30:00.5"]


@pytest.mark.parametrize(
    "more",
    [
        [],
        [pd.Timestamp("2017-01-01 00:00:00.000000001")],
        [date(2017, 1, 1)],
        [datetime(2017, 1, 1, tzinfo=UTC)],
        [np.datetime64("2017", "Y")],
        [None],
    ],
    ids=["nothing", "nanoseconds", "a date", "a time zone", "a year", "missing"],
)
def test_one_more_value_does_not_change_the_text_of_moments(more: list[Any]) -> None:
    """Keys, labels and missing-value markers are compared as texts."""
    assert texts(pd.DataFrame({"x": [*MOMENTS, *more]}))[:2] == WRITTEN
    objects = pd.Series([*MOMENTS, *more], dtype=object)
    assert texts(pd.DataFrame({"x": objects}))[:2] == WRITTEN


@pytest.mark.parametrize("unit", ["ms", "us", "ns"])
def test_the_unit_of_a_column_does_not_show(unit: Any) -> None:
    column = pa.array(MOMENTS, pa.timestamp(unit))
    assert texts(pa.table({"x": column})) == WRITTEN
    assert texts(pa.table({"x": column.cast(pa.timestamp(unit, "Asia/Tokyo"))})) == WRITTEN
    assert texts(pl.DataFrame({"x": pl.Series(MOMENTS).dt.cast_time_unit(unit)})) == WRITTEN
    kind: Any = f"datetime64[{unit}]"
    frame = pd.DataFrame({"x": pd.Series(MOMENTS).astype(kind)})
    assert texts(frame) == WRITTEN
    objects: list[Any] = [np.datetime64(str(one), unit) for one in MOMENTS]
    assert texts(pd.DataFrame({"x": pd.Series(objects, dtype=object)})) == WRITTEN


@pytest.mark.parametrize("unit", ["Y", "M", "D", "h", "m", "s"])
def test_a_coarse_moment_is_its_first_second(unit: Any) -> None:
    moments: list[Any] = [np.datetime64("2015", unit), None]
    assert texts(pd.DataFrame({"x": pd.Series(moments, dtype=object)})) == [
        "2015-01-01 00:00:00",
        None,
    ]


def test_moments_of_all_time_zones_are_in_utc() -> None:
    there = timezone(timedelta(hours=-5))
    moments = pd.Series([datetime(2015, 1, 1, 3, tzinfo=there), MOMENTS[1]], dtype=object)
    assert texts(pd.DataFrame({"x": moments})) == WRITTEN


@pytest.mark.parametrize("kind", ["Int128", "UInt128"])
def test_large_integers_of_polars_are_exact(kind: str) -> None:
    if not hasattr(pl, kind):
        pytest.skip("this version of Polars has no such type")
    series = pl.Series([7, 2**100, None], dtype=getattr(pl, kind))
    assert texts(pl.DataFrame({"x": series})) == ["7", str(2**100), None]


def test_a_null_among_structs_is_a_row_of_nulls() -> None:
    structs = pa.array([{"x": "a"}, None, {"x": "b"}])
    assert texts(structs) == ["a", None, "b"]
    assert texts(pa.chunked_array([structs])) == ["a", None, "b"]


def test_text_that_is_not_utf_8_is_not_quoted_by_a_draft() -> None:
    ends = np.arange(31, dtype=np.int32)
    bad = pa.StringArray.from_buffers(30, pa.py_buffer(ends), pa.py_buffer(b"\xff" * 30))
    table = pa.table({"id": list(map(str, range(30))), "x": bad})
    with pytest.raises(LoadError, match="column x: cannot be read; check that its text") as caught:
        draft(table, table)
    assert caught.value.__context__ is None
