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
from redveil.data.loading import load
from redveil.data.table import NumericColumn
from redveil.errors import LoadError
from redveil.schema import Attribute, Kind, Schema, View
from redveil.sealed import open_for_owner


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


FAR_AWAY = ["-0044-03-15", "0000-12-31", "10000-01-01", "40000-12-14"]
NEAR = ["0001-01-01", "9999-12-31"]
ENDS = np.array([*FAR_AWAY, *NEAR], dtype="datetime64[s]")
SECONDS = pa.array(ENDS)
DAYS = pa.array(ENDS.astype("datetime64[D]").astype(np.int32)).cast(pa.date32())
AWARE = pd.Series(ENDS).dt.tz_localize("UTC").dt.tz_convert("Asia/Kolkata")
ENDS_OF_TIME: dict[str, Any] = {
    "objects of numpy": pd.Series(list(ENDS), dtype=object),
    "objects of days": pd.Series(list(ENDS.astype("datetime64[D]")), dtype=object),
    "objects of pandas": pd.Series(ENDS).astype(object),
    "pandas": pd.Series(ENDS),
    "polars": pl.Series(ENDS.astype("datetime64[us]")),
    "seconds": SECONDS,
    "milliseconds": SECONDS.cast(pa.timestamp("ms")),
    "microseconds": SECONDS.cast(pa.timestamp("us")),
    "dates": DAYS,
    "dates in milliseconds": DAYS.cast(pa.date64()),
}
if tuple(map(int, pd.__version__.split(".")[:2])) >= (3, 1):
    # Earlier versions of pandas fail to make such objects, or crash.
    ENDS_OF_TIME["objects in time zones"] = AWARE.astype(object)


ENDS_OF_TIME["categories in time zones"] = AWARE.astype("category")


@pytest.mark.parametrize("unit", ["ns", "ps", "fs", "as"])
def test_a_moment_of_any_unit_has_a_text(unit: str) -> None:
    moments = [np.datetime64(5, "s"), np.array(5, f"datetime64[{unit}]")[()], None]
    short, fine, nothing = texts(pd.DataFrame({"x": pd.Series(moments, dtype=object)}))
    assert (short, nothing) == ("1970-01-01 00:00:05", None)
    assert (fine or "").startswith("1970-01-01 00:00:00")


@pytest.mark.parametrize("kind", ENDS_OF_TIME)
def test_a_moment_outside_the_years_1_to_9999_has_no_text(kind: str) -> None:
    """Libraries write them in different ways, and one more moment may change the type."""
    column = ENDS_OF_TIME[kind]
    frames = {pd.Series: pd.DataFrame, pl.Series: pl.DataFrame}
    frame = frames.get(type(column), pa.table)({"x": column})
    time = "" if kind.startswith("dates") else " 00:00:00"
    assert texts(frame) == [None] * 4 + [f"{day}{time}" for day in NEAR]


def test_an_unbounded_moment_has_no_text() -> None:
    """Not that of another moment, which it would become if its number wrapped around."""
    most = 2**63 - 1
    milliseconds = pa.array([most, -most]).cast(pa.date64())
    assert texts(pa.table({"x": milliseconds})) == [None, None]
    for unit in ("s", "ms", "us"):
        assert texts(pa.table({"x": pa.array([most], pa.timestamp(unit))})) == [None]
    year: list[Any] = [np.datetime64(10**15, "Y"), np.datetime64(2**50, "D")]
    assert texts(pd.DataFrame({"x": pd.Series(year, dtype=object)})) == [None, None]


@pytest.mark.parametrize("more", ["2021-01-01T00:00Z", "2021-01-01"])
def test_one_more_moment_does_not_change_a_key_far_away(more: str) -> None:
    schema = Schema(
        "toy",
        View("left", "id", (Attribute("n", Kind.NUMERIC, maximum=9, cuts=(1.0,)),)),
        View("right", "id", (Attribute("sick", Kind.BOOLEAN),)),
    )
    days = pd.Series(np.array([*FAR_AWAY, "2020-01-01"], dtype="datetime64[s]"))
    left = pd.DataFrame({"id": days, "n": range(5)})
    right = pd.DataFrame({"id": days, "sick": [True] * 5})
    odd = pd.DataFrame({"id": [pd.Timestamp(more).as_unit("ms")], "n": [7]})
    for given in (left, pd.concat([left, odd], ignore_index=True)):
        table = open_for_owner(load(given, right, schema).table)
        column = table.left["n"]
        assert isinstance(column, NumericColumn)
        assert column.values.tolist() == [4]


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
