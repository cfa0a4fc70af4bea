"""How an entity's row is read depends on that row alone.

The privacy guarantee needs this: if one entity's value could change how others are read, adding
that entity would change many rows at once. Proof: data/loading.md.
"""

from __future__ import annotations

import csv
import tempfile
from collections.abc import Callable
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
from redveil.data.table import Column, NumericColumn, Table
from redveil.errors import LoadError
from redveil.schema import Attribute, Kind, Schema, View
from redveil.sealed import open_for_owner

CATEGORIES = ("1", "1.1", "2.25", "1000000", "x", "true")
AMOUNT = Attribute("amount", Kind.NUMERIC, minimum=-5, maximum=5, cuts=(0.03, 1.1, 2.25))
LABEL = Attribute("label", Kind.CATEGORICAL, categories=CATEGORIES)
FLAG = Attribute("flag", Kind.BOOLEAN)
NAMES = ("id", "amount", "label", "flag")
VIEW = View("left", "id", (AMOUNT, LABEL, FLAG))
OTHER = View("right", "id", (Attribute("sick", Kind.BOOLEAN),))
SCHEMA = Schema("toy", VIEW, OTHER)

decimals = st.sampled_from(
    ["0.03", "0.0300", "1.1", "1.10", "2.25", "3", "0.0001", "-4.999", "1e3"]
)
texts = decimals | st.sampled_from(["", " 1.1 ", "nan", "inf", "1E6", "1.0", "x", ".5", "+2.25"])
Row = tuple[Any, ...]
HandOver = Callable[[list[Row], Path], Any]


def frame_of(rows: list[Row]) -> dict[str, list[Any]]:
    return {name: [row[i] for row in rows] for i, name in enumerate(NAMES)}


def pandas_objects(rows: list[Row], _: Path) -> Any:
    return pd.DataFrame({n: pd.Series(v, dtype=object) for n, v in frame_of(rows).items()})


def pandas_guessed(rows: list[Row], _: Path) -> Any:
    return pd.DataFrame(frame_of(rows))


def polars_frame(rows: list[Row], _: Path) -> Any:
    return pl.DataFrame(frame_of(rows), strict=False)


def arrow_table(rows: list[Row], _: Path) -> Any:
    return pa.table(frame_of(rows))


def parquet_file(rows: list[Row], folder: Path) -> Any:
    parquet.write_table(pa.table(frame_of(rows)), folder / "left.parquet")
    return folder / "left.parquet"


def csv_file(rows: list[Row], folder: Path) -> Any:
    with (folder / "left.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(NAMES)
        writer.writerows(["" if v is None else v for v in row] for row in rows)
    return folder / "left.csv"


FRAMES: list[HandOver] = [
    pandas_objects,
    pandas_guessed,
    polars_frame,
    arrow_table,
    parquet_file,
]


def values(column: Column) -> np.ndarray:
    return column.values if isinstance(column, NumericColumn) else column.codes


def loaded(rows: list[Row], keys: list[str], hand_over: HandOver) -> Table:
    """Load some rows; the keys of the other view are text."""
    right = pa.table({"id": keys, "sick": [True] * len(keys)})
    with tempfile.TemporaryDirectory() as folder:
        return open_for_owner(load(hand_over(rows, Path(folder)), right, SCHEMA).table)


def must_agree(rows: list[Row], keys: list[str], hand_over: HandOver) -> None:
    """Check that all rows but the last are read as they are without it."""
    try:
        with_last = loaded(rows, keys, hand_over)
        without = loaded(rows[:-1], keys, hand_over)
    except LoadError:
        return  # loading talks to the owner; the guarantee is about what was loaded
    assert without.rows == len(rows) - 1
    assert with_last.rows == len(rows)
    for name in NAMES[1:]:
        kept = values(with_last.left[name])[:-1]
        assert np.array_equal(kept, values(without.left[name]), equal_nan=name == "amount")


@pytest.mark.parametrize("hand_over", FRAMES)
@settings(max_examples=60)
@given(st.lists(st.tuples(st.none() | decimals, st.none() | decimals), min_size=2, max_size=5))
def test_decimals_are_read_one_by_one(
    hand_over: HandOver, cells: list[tuple[str | None, str | None]]
) -> None:
    keys = [f"{number}.{'5' * number}" for number in range(1, len(cells) + 1)]
    rows: list[Row] = [
        (Decimal(key), *(None if text is None else Decimal(text) for text in cell), True)
        for key, cell in zip(keys, cells, strict=True)
    ]
    must_agree(rows, keys, hand_over)


def test_the_tests_above_load_something() -> None:
    rows = [(Decimal("1.5"), Decimal("0.03"), Decimal("1.1"), True)]
    more = [*rows, (Decimal("2.25"), Decimal("0.0001"), Decimal("2.25"), False)]
    for hand_over in FRAMES:
        table = loaded(more, ["1.5", "2.25"], hand_over)
        assert values(table.left["amount"]).tolist() == [0.03, 0.0001]
        assert values(table.left["label"]).tolist() == [1, 2]


@pytest.mark.parametrize("hand_over", FRAMES)
@settings(max_examples=60)
@given(
    st.lists(
        st.tuples(
            st.none() | st.floats(-9, 9) | st.sampled_from([1.0, 1.1, 1e6, float("inf")]),
            st.none() | st.sampled_from([1.0, 1.1, 2.25, 1e6, float("nan")]),
            st.none() | st.booleans(),
        ),
        min_size=2,
        max_size=5,
    )
)
def test_numbers_are_read_one_by_one(hand_over: HandOver, cells: list[Row]) -> None:
    keys = [f"p{number}" for number in range(len(cells))]
    must_agree([(key, *cell) for key, cell in zip(keys, cells, strict=True)], keys, hand_over)


@settings(max_examples=150)
@given(
    st.lists(st.tuples(texts, texts, st.sampled_from(["true", "false", "", "1", "0"])), min_size=2)
)
def test_texts_of_a_file_are_read_one_by_one(cells: list[Row]) -> None:
    keys = [f"p{number}" for number in range(len(cells))]
    must_agree([(key, *cell) for key, cell in zip(keys, cells, strict=True)], keys, csv_file)


@pytest.mark.parametrize("last", [7, 7.5, "seven", None, Decimal("7.25")])
def test_keys_are_read_one_by_one(last: object) -> None:
    whole: list[Row] = [(key, 1.0, "x", True) for key in (3, 4)]
    must_agree([*whole, (last, 1.0, "x", True)], ["3", "4", str(last)], pandas_objects)
