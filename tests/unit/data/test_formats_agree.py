"""The same table in ten formats gives the same dataset."""

from __future__ import annotations

import csv
import gzip
from collections.abc import Callable
from dataclasses import dataclass
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

from redveil.data.distinct import TRIMMED
from redveil.data.loading import load
from redveil.data.table import Column, NumericColumn
from redveil.schema import Attribute, Kind, Schema, View
from redveil.sealed import open_for_owner
from support.workbooks import write_xlsx

ODD = "aB9 ~+-:|,;'\"%{}\\=[]é漢\n\t"
names = st.text(ODD, min_size=1, max_size=6).filter(
    lambda name: name.strip() and name not in ("id", "one")
)
labels = st.text(ODD, min_size=1, max_size=6).filter(
    lambda text: text == text.strip(TRIMMED) and text != "?"
)
numbers = st.floats(-1e9, 1e9, width=64) | st.integers(-5, 5).map(float)

Values = list[Any]


@dataclass(frozen=True)
class Plain:
    """Columns of Python values; None is missing."""

    attributes: list[Attribute]
    columns: dict[str, Values]


@st.composite
def plain_tables(draw: st.DrawFn) -> Plain:
    rows = draw(st.integers(1, 6))
    attributes: list[Attribute] = []
    columns: dict[str, Values] = {"id": [f"p{i}" for i in range(rows)]}
    for name in draw(st.lists(names, min_size=1, max_size=4, unique=True)):
        kind = draw(st.sampled_from(Kind))
        values: st.SearchStrategy[Any]
        if kind is Kind.NUMERIC:
            attribute = Attribute(name, kind, minimum=-1e6, maximum=1e6, cuts=(0.0,))
            values = numbers
        elif kind is Kind.BOOLEAN:
            attribute = Attribute(name, kind)
            values = st.booleans()
        else:
            found = draw(st.lists(labels, min_size=2, max_size=4, unique=True))
            attribute = Attribute(name, kind, categories=tuple(found))
            values = st.sampled_from([*found, "undeclared"])
        attributes.append(attribute)
        cells = st.none() | values
        columns[name] = draw(st.lists(cells, min_size=rows, max_size=rows))
    return Plain(attributes, columns)


def typed(plain: Plain) -> dict[str, pa.Array]:
    kinds = {Kind.NUMERIC: pa.float64(), Kind.BOOLEAN: pa.bool_()}
    types = {a.name: kinds.get(a.kind, pa.string()) for a in plain.attributes}
    return {n: pa.array(v, types.get(n, pa.string())) for n, v in plain.columns.items()}


def texts(values: Values, missing: str) -> list[str]:
    return [missing if v is None else str(v) for v in values]


def write_csv(plain: Plain, path: Path) -> Path:
    opener: Any = gzip.open if path.suffix == ".gz" else open
    with opener(path, "wt", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter="\t" if ".t" in path.name else ",")
        writer.writerow(plain.columns)
        writer.writerows(zip(*(texts(v, "") for v in plain.columns.values()), strict=True))
    return path


def write_excel(plain: Plain, path: Path) -> Path:
    rows = zip(*plain.columns.values(), strict=True)
    return write_xlsx(path, {"Sheet 1": [tuple(plain.columns), *rows]})


def write_parquet(plain: Plain, path: Path) -> Path:
    parquet.write_table(pa.table(typed(plain)), path)
    return path


WAYS: dict[str, Callable[[Plain, Path], Any]] = {
    "csv": lambda plain, folder: write_csv(plain, folder / "left.csv"),
    "csv.gz": lambda plain, folder: write_csv(plain, folder / "left.csv.gz"),
    "tsv": lambda plain, folder: write_csv(plain, folder / "left.tsv"),
    "tab.gz": lambda plain, folder: write_csv(plain, folder / "left.tab.gz"),
    "xlsx": lambda plain, folder: write_excel(plain, folder / "left.xlsx"),
    "parquet": lambda plain, folder: write_parquet(plain, folder / "left.parquet"),
    "arrow": lambda plain, _: pa.table(typed(plain)),
    "pandas": lambda plain, _: pd.DataFrame(
        {name: pd.Series(values, dtype=object) for name, values in plain.columns.items()}
    ),
    "polars": lambda plain, _: pl.DataFrame(
        {
            name: pl.Series(
                column.to_pylist(), dtype=pl.Float64 if pa.types.is_floating(column.type) else None
            )
            for name, column in typed(plain).items()
        }
    ),
}


def expected(attribute: Attribute, values: Values) -> list[float]:
    """Return the expected values of a column, computed one by one."""
    if attribute.kind is Kind.NUMERIC:
        return [float("nan") if v is None else v for v in values]
    codes: dict[Any, float] = {True: 1, False: 0}
    if attribute.kind is not Kind.BOOLEAN:
        codes = {label: i for i, label in enumerate(attribute.categories)}
    return [codes.get(v, 255) for v in values]


def contents(column: Column) -> Any:
    return column.values if isinstance(column, NumericColumn) else column.codes


@pytest.mark.parametrize("way", WAYS)
@settings(max_examples=40)
@given(plain=plain_tables())
def test_every_way_gives_the_same_table(
    tmp_path_factory: pytest.TempPathFactory, way: str, plain: Plain
) -> None:
    one = Attribute("one", Kind.BOOLEAN)
    schema = Schema("odd", View("left", "id", tuple(plain.attributes)), View("right", "id", (one,)))
    keys = plain.columns["id"]
    right = pa.table({"id": keys, "one": [1] * len(keys)})
    dataset = load(WAYS[way](plain, tmp_path_factory.getbasetemp()), right, schema)
    table = open_for_owner(dataset.table)
    assert table.rows == len(keys)
    for attribute in plain.attributes:
        np.testing.assert_allclose(
            contents(table.left[attribute.name]),
            expected(attribute, plain.columns[attribute.name]),
            # The library that writes the test's workbooks rounds to 16 digits.
            rtol=1e-15 if way == "xlsx" else 0,
        )
