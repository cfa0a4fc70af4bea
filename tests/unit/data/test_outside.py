"""Values outside declared bounds: compared as they are, and counted by value for the owner."""

from __future__ import annotations

import csv
import sqlite3
from collections.abc import Callable
from datetime import date
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

import redveil
from redveil.data.loading import examine
from redveil.data.reading import MOST_NAMED, Reading, Readings, ValueCount
from redveil.data.report import AttributeCounts, LoadReport
from redveil.errors import LoadError
from redveil.query.formula import evaluate
from redveil.query.text import parse_text
from redveil.schema import Attribute, Kind, Schema, Side, View
from redveil.schema.dates import DateRule
from redveil.sealed import open_for_owner
from support.pieces import must_be_the_same_in_pieces
from support.workbooks import write_xlsx

INCOME = Attribute("income", Kind.NUMERIC, minimum=0, maximum=200, cuts=(0.0, 50.0, 100.0))
MOOD = Attribute("mood", Kind.ORDINAL, categories=("1", "2", "3", "4", "5"))
SEEN = Attribute(
    "seen",
    Kind.ORDINAL,
    categories=("2010", "2015", "2019"),
    date=DateRule(date(2010, 1, 1), date(2019, 12, 31)),
)
SICK = Attribute("sick", Kind.BOOLEAN)
SCHEMA = Schema(
    "survey",
    View("left", "id", (INCOME, MOOD, SEEN, SICK)),
    View("right", "id", (Attribute("owns", Kind.BOOLEAN),)),
)
DAY, NEVER = date(2012, 5, 1), date(2999, 12, 31)
# -9 stands for no answer, 77 for "do not know", 2999-12-31 for never.
ROWS = [
    (f"p{n}", *values)
    for n, values in enumerate(
        [
            *[(-9, 3, DAY, 0)] * 6,
            *[(-8, 77, NEVER, 9)] * 2,
            (250, 2, DAY, 1),
            *[(40, 5, DAY, 1)] * 11,
        ]
    )
]
NAMES = ("id", "income", "mood", "seen", "sick")
RIGHT = pa.table({"id": [row[0] for row in ROWS], "owns": [True] * len(ROWS)})
COLUMNS = {name: [row[n] for row in ROWS] for n, name in enumerate(NAMES)}


def write_csv(path: Path, rows: list[tuple[Any, ...]]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([NAMES, *rows])
    return path


def folder(path: Path, write: Callable[[Path, slice], object]) -> Path:
    """Write the rows into several files of a folder."""
    path.mkdir()
    for number, part in enumerate((slice(0, 3), slice(3, 8), slice(8, 20))):
        write(path / str(number), part)
    return path


def sqlite_table(path: Path) -> str:
    with sqlite3.connect(path) as connection:
        connection.execute("create table t (id, income, mood, seen, sick)")
        rows = [(*row[:3], row[3].isoformat(), row[4]) for row in ROWS]
        connection.executemany("insert into t values (?, ?, ?, ?, ?)", rows)
    connection.close()
    return f"{path}#t"


def parquet_file(path: Path, part: slice = slice(None)) -> Path:
    columns = {name: values[part] for name, values in COLUMNS.items()}
    parquet.write_table(pa.table(columns), path, row_group_size=4)
    return path


SOURCES: dict[str, Callable[[Path], Any]] = {
    "csv": lambda tmp: write_csv(tmp / "left.csv", ROWS),
    "parquet": lambda tmp: parquet_file(tmp / "left.parquet"),
    "xlsx": lambda tmp: write_xlsx(tmp / "left.xlsx", {"Sheet 1": [NAMES, *ROWS]}),
    "sqlite": lambda tmp: sqlite_table(tmp / "left.sqlite"),
    "folder of csv": lambda tmp: folder(
        tmp / "left", lambda path, part: write_csv(path.with_suffix(".csv"), ROWS[part])
    ),
    "folder of parquet": lambda tmp: folder(
        tmp / "left", lambda path, part: parquet_file(path.with_suffix(".parquet"), part)
    ),
    "arrow": lambda _: pa.table(COLUMNS),
    "pandas": lambda _: pd.DataFrame(COLUMNS),
    "polars": lambda _: pl.DataFrame(COLUMNS),
}


def survey(tmp_path: Path, source: str = "arrow", *, packed: bool = False) -> redveil.Dataset:
    return redveil.load(SOURCES[source](tmp_path), RIGHT, SCHEMA, packed=packed)


def outside(*found: tuple[str, int]) -> tuple[ValueCount, ...]:
    return tuple(ValueCount(Reading.OUTSIDE, *one) for one in found)


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("source", SOURCES)
def test_every_source_counts_what_is_outside_by_value(
    tmp_path: Path, source: str, *, packed: bool
) -> None:
    report = redveil.load_report(survey(tmp_path, source, packed=packed))
    assert report.attributes[:4] == (
        AttributeCounts(
            Side.LEFT, "income", outside=9, values=outside(("-9", 6), ("-8", 2), ("250", 1))
        ),
        AttributeCounts(
            Side.LEFT, "mood", undeclared=2, values=(ValueCount(Reading.UNDECLARED, "77", 2),)
        ),
        AttributeCounts(Side.LEFT, "seen", outside=2, values=outside(("2999-12-31", 2))),
        AttributeCounts(
            Side.LEFT, "sick", unreadable=2, values=(ValueCount(Reading.UNREADABLE, "9", 2),)
        ),
    )


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("source", ["csv", "parquet"])
def test_blocks_of_a_file_are_counted_together(
    tmp_path: Path, source: str, monkeypatch: pytest.MonkeyPatch, *, packed: bool
) -> None:
    left = SOURCES[source](tmp_path)
    for size in (40, 200):
        blocks = must_be_the_same_in_pieces(left, RIGHT, SCHEMA, size, monkeypatch, packed=packed)
        assert source == "parquet" or blocks > 1


def test_only_entities_of_both_views_are_counted_by_value(tmp_path: Path) -> None:
    loaded = redveil.load(pa.table(COLUMNS), RIGHT.slice(4), SCHEMA)
    (income, *_) = redveil.load_report(loaded).attributes
    assert income.outside == 5
    assert income.values == outside(("-8", 2), ("-9", 2), ("250", 1))


def test_what_is_loaded_is_a_copy() -> None:
    incomes = np.array([5.0] * len(ROWS))
    frame = pa.table({**COLUMNS, "income": pa.array(incomes)})
    table = open_for_owner(redveil.load(frame, RIGHT, SCHEMA).table).left
    incomes[:] = 7
    assert evaluate(parse_text("[income = 5]"), table).true.all()


def test_an_outside_value_is_compared_as_it_is(tmp_path: Path) -> None:
    table = open_for_owner(survey(tmp_path).table).left

    def count(query: str) -> int:
        return int(evaluate(parse_text(query), table).true.sum())

    assert count("[income = -9]") == 6
    assert count("[income = 0]") == 0
    assert count("[income <= 0]") == 8
    assert count("[income > 200]") == 1
    assert count("[income > 250]") == 0


def test_the_owner_reads_which_codes_they_are_and_the_remedy(tmp_path: Path) -> None:
    report = redveil.load_report(survey(tmp_path))
    assert report.lines()[1:] == [
        "left, income: 9 outside the bounds (6 times -9, 2 times -8, 1 time 250)",
        "left, mood: 2 in undeclared categories (2 times 77), now missing",
        "left, seen: 2 outside the bounds (2 times 2999-12-31)",
        "left, sick: 2 unreadable (2 times 9), now missing",
    ]
    assert report.warnings() == [
        "left, income: 45.0 % of the values are outside the bounds (6 times -9, 2 times -8, "
        "1 time 250) and are compared as they are; list those that mean no answer in "
        "missingValues, or widen the bounds",
        "left, mood: 10.0 % of the values are undeclared categories (2 times 77) and count as "
        "missing",
        "left, seen: 10.0 % of the values are outside the bounds (2 times 2999-12-31) and are "
        "compared as they are; list those that mean no answer in missingValues, or widen the "
        "bounds",
        "left, sick: 10.0 % of the values are unreadable (2 times 9) and count as missing",
    ]
    assert "6 times -9" in str(report)
    assert "-9" not in repr(report)


def test_values_are_listed_only_where_few_of_them_hold_most() -> None:
    def line(*counts: int) -> str | None:
        values = outside(*((str(-n), count) for n, count in enumerate(counts, start=1)))
        return AttributeCounts(Side.LEFT, "age", outside=100, values=values).line()

    assert line(40, 11, 1) == (
        "left, age: 100 outside the bounds (40 times -1, 11 times -2, 1 time -3, …)"
    )
    assert line(40, 10) == "left, age: 100 outside the bounds"
    assert line(*[10] * 10) == "left, age: 100 outside the bounds"


def test_few_are_no_reason_for_a_warning() -> None:
    def warnings(count: int) -> list[str]:
        age = AttributeCounts(Side.LEFT, "age", outside=count)
        return LoadReport(1000, attributes=(age,)).warnings()

    assert warnings(10) == []
    assert len(warnings(11)) == 1


def test_texts_are_never_listed() -> None:
    """A number that returns is a code; a text may say anything."""
    left = pa.table({"id": ["a", "b"], "mood": ["Ann from Leeds"] * 2, "age": ["old"] * 2})
    view = View("left", "id", (MOOD, Attribute("age", Kind.NUMERIC, maximum=9, cuts=(5.0,))))
    right = pa.table({"id": ["a", "b"], "owns": [True] * 2})
    report = redveil.load_report(redveil.load(left, right, Schema("s", view, SCHEMA.right)))
    assert [one.values for one in report.attributes] == [(), (), ()]


def test_places_are_shown_and_strict_loading_refuses(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "left.csv", ROWS)
    details = examine(path, RIGHT, SCHEMA).details()
    assert details[:4] == [
        *(
            f"{path}, line {line}, column income: outside the bounds; correct it, list it in "
            "missingValues if it means missing, or widen the bounds"
            for line in (2, 3, 4)
        ),
        "… and 6 more like it",
    ]
    with pytest.raises(LoadError, match="line 2, column income: outside the bounds; ") as caught:
        redveil.load(path, RIGHT, SCHEMA, strict=True)
    assert "-9" not in str(caught.value)


codes = st.lists(st.integers(0, 3), max_size=30)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(codes, st.permutations(["-9", "77", "x"])), min_size=1, max_size=4))
def test_readings_of_several_pieces_keep_which_value_was_which(
    pieces: list[tuple[list[int], list[str]]],
) -> None:
    def reading(numbers: list[int], named: list[str]) -> Readings:
        of = [n and Reading.OUTSIDE | n << 2 for n in numbers]
        return Readings(np.array(of, dtype=np.uint8), tuple(named))

    joined = Readings.joined([reading(*piece) for piece in pieces])
    expected = [named[n - 1] if n else None for numbers, named in pieces for n in numbers]
    found = [joined.named[(code >> 2) - 1] if code else None for code in joined.codes.tolist()]
    assert found == expected
    counts = {one.value: one.count for one in joined.values()}
    assert counts == {x: expected.count(x) for x in set(expected) if x is not None}


def test_the_most_frequent_of_many_values_are_counted() -> None:
    many = np.concatenate([np.arange(-1000.0, 0.0), np.full(5000, 999.0), np.arange(9.0)])
    marks = ((many < 0) | (many > 9)).astype(np.uint8)
    counted = Readings.of_numbers(many, marks).values()
    assert counted[0] == ValueCount(Reading.OUTSIDE, "999", 5000)
    assert len(counted) == MOST_NAMED
