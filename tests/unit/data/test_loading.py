"""Loading data that fits its schema: values, missing values, keys, order, and the report."""

from __future__ import annotations

import gzip
import traceback
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

from redveil.data.dataset import Dataset
from redveil.data.draft import draft
from redveil.data.loading import load
from redveil.data.reading import Reading, ValueCount
from redveil.data.report import AttributeCounts, LoadReport, ViewCounts
from redveil.data.table import CodedColumn, NumericColumn, Table
from redveil.errors import LoadError
from redveil.schema import Attribute, Kind, Schema, Side, View
from redveil.sealed import open_for_owner

AGE = Attribute("age", Kind.NUMERIC, minimum=0, maximum=120, cuts=(18.0,))
SICK = Attribute("sick", Kind.BOOLEAN)
SEX = Attribute("sex", Kind.CATEGORICAL, categories=("f", "m"))
GRADE = Attribute("grade", Kind.ORDINAL, categories=("1", "2", "3"))
ONE = Attribute("one", Kind.BOOLEAN)


def schema_of(attribute: Attribute, **view: Any) -> Schema:
    return Schema(
        "clinic", View("patients", "id", (attribute,), **view), View("wards", "id", (ONE,))
    )


def right_of(rows: int) -> pa.Table:
    return pa.table({"id": [str(i) for i in range(rows)], "one": [1] * rows})


def table_of(dataset: Dataset) -> Table:
    return open_for_owner(dataset.table)


def values_of(dataset: Dataset, name: str, side: Side = Side.LEFT) -> list[float]:
    column = table_of(dataset).view(side)[name]
    found = column.values if isinstance(column, NumericColumn) else column.codes
    return [float(value) for value in found]


def load_csv(folder: Path, attribute: Attribute, texts: list[str], **view: Any) -> Dataset:
    lines = ["id," + attribute.name, *(f"{i},{text}" for i, text in enumerate(texts))]
    path = folder / "left.csv"
    path.write_text("\n".join(lines), encoding="utf-8")
    return load(path, right_of(len(texts)), schema_of(attribute, **view))


def load_frame(attribute: Attribute, values: Any, **view: Any) -> Dataset:
    ids = pa.array([str(i) for i in range(len(values))])
    left = pa.table({"id": ids, attribute.name: values})
    return load(left, right_of(len(values)), schema_of(attribute, **view))


def counts_of(dataset: Dataset) -> AttributeCounts:
    return open_for_owner(dataset.report).attributes[0]


def test_numbers_in_text(tmp_path: Path) -> None:
    texts = ["1", " 2.5\t", "+3", ".5", "4.", "1e1", "-0", "NaN", "nan", ""]
    dataset = load_csv(tmp_path, AGE, texts)
    np.testing.assert_array_equal(
        values_of(dataset, "age"), [1, 2.5, 3, 0.5, 4, 10, 0, np.nan, np.nan, np.nan]
    )
    assert counts_of(dataset) == AttributeCounts(Side.LEFT, "age", missing=3)


def test_numbers_outside_their_bounds_stay_and_are_counted(tmp_path: Path) -> None:
    texts = ["120", "120.5", "-1", "inf", "-Infinity", "1e308", "1e400", "NaN", "0"]
    dataset = load_csv(tmp_path, AGE, texts)
    np.testing.assert_array_equal(
        values_of(dataset, "age"),
        [120, 120.5, -1, np.inf, -np.inf, 1e308, np.inf, np.nan, 0],
    )
    times = {"120.5": 1, "-1": 1, "inf": 2, "-inf": 1, str(int(1e308)): 1}
    values = sorted((-count, value) for value, count in times.items())
    assert counts_of(dataset) == AttributeCounts(
        Side.LEFT,
        "age",
        missing=1,
        outside=6,
        values=tuple(ValueCount(Reading.OUTSIDE, value, -count) for count, value in values),
    )


@pytest.mark.parametrize(
    "values",
    [
        pa.array([1, None, 99], pa.int8()),
        pa.array([1, None, 99], pa.uint64()),
        pa.array([1.0, float("nan"), 99.0]),
        pa.array([1.0, None, 99.0], pa.float32()),
        pa.array(np.array([1.0, np.nan, 99.0], dtype=np.float16)),
        pa.array([Decimal("1.00"), None, Decimal("99.00")]),
        pa.array(["1", "", "99"]),
        pa.array(["1", None, "99.0 "], pa.large_string()),
        pa.array([b"1", b"", b"99"]),
        pa.array([b"1", None, b"99"], pa.large_binary()),
        pa.ExtensionArray.from_storage(pa.bool8(), pa.array([1, None, 99], pa.int8())),
        pa.array(["1", None, "99"]).dictionary_encode(),
        pa.chunked_array([["1"], ["", "99"]]),
    ],
)
def test_numbers_of_any_type(values: Any) -> None:
    np.testing.assert_array_equal(values_of(load_frame(AGE, values), "age"), [1, np.nan, 99])


def test_a_column_of_nothing_but_nulls_is_all_missing() -> None:
    dataset = load_frame(AGE, pa.nulls(2))
    assert counts_of(dataset).missing == 2
    assert counts_of(load_frame(SICK, pa.nulls(2))).missing == 2


@pytest.mark.parametrize("values", [["-9", "5"], [-9, 5], [-9.0, 5.0]])
def test_numbers_can_be_missing_markers(values: Any) -> None:
    dataset = load_frame(AGE, values, missing_values=("", "-9"))
    np.testing.assert_array_equal(values_of(dataset, "age"), [np.nan, 5])
    assert counts_of(dataset) == AttributeCounts(Side.LEFT, "age", missing=1)


def test_booleans_in_text(tmp_path: Path) -> None:
    texts = ["true", "True", "TRUE", "1", " 1.0 ", "false", "False", "FALSE", "0", "0.0", ""]
    dataset = load_csv(tmp_path, SICK, texts)
    assert values_of(dataset, "sick") == [1] * 5 + [0] * 5 + [255]
    assert counts_of(dataset) == AttributeCounts(Side.LEFT, "sick", missing=1)


@pytest.mark.parametrize(
    "values", [[True, False, None], [1, 0, None], [1.0, 0.0, float("nan")], ["ja", "nein", ""]]
)
def test_booleans_need_no_declaration_in_typed_columns(values: Any) -> None:
    german = Attribute("sick", Kind.BOOLEAN, true_values=("ja",), false_values=(" nein ",))
    assert values_of(load_frame(german, values), "sick") == [1, 0, 255]


def test_declared_booleans_come_first() -> None:
    upside_down = Attribute("sick", Kind.BOOLEAN, true_values=("0",), false_values=("1",))
    assert values_of(load_frame(upside_down, [0, 1]), "sick") == [1, 0]


def test_categories(tmp_path: Path) -> None:
    dataset = load_csv(tmp_path, SEX, ["f", " m ", "x", "F", "", "NA"], missing_values=("", "NA"))
    assert values_of(dataset, "sex") == [0, 1, 255, 255, 255, 255]
    assert counts_of(dataset) == AttributeCounts(Side.LEFT, "sex", missing=2, undeclared=2)


def test_other_spaces_belong_to_the_text(tmp_path: Path) -> None:
    assert values_of(load_csv(tmp_path, SEX, ["\u00a0f", "m"]), "sex") == [255, 1]


@pytest.mark.parametrize(
    "values",
    [["1", "2.0", "3", "4", "2.5"], [1, 2, 3, 4, 5], [1.0, 2.0, 3.0, 4.0, 2.5]],
)
def test_categories_may_be_numbers(values: Any) -> None:
    assert values_of(load_frame(GRADE, values), "grade") == [0, 1, 2, 255, 255]


def test_a_category_written_with_a_point_is_taken_at_its_word() -> None:
    both = Attribute("grade", Kind.CATEGORICAL, categories=("3", "3.0"))
    assert values_of(load_frame(both, ["3", "3.0", "3.00"]), "grade") == [0, 1, 0]


def test_categories_may_be_booleans() -> None:
    flag = Attribute("flag", Kind.CATEGORICAL, categories=("true", "false"))
    assert values_of(load_frame(flag, [True, False]), "flag") == [0, 1]


def test_a_marker_beats_a_category() -> None:
    country = Attribute("country", Kind.CATEGORICAL, categories=("NA", "DE"))
    dataset = load_frame(country, ["NA", "DE"], missing_values=("", "NA"))
    assert values_of(dataset, "country") == [255, 1]


def test_all_255_categories_have_a_code() -> None:
    many = Attribute("many", Kind.CATEGORICAL, categories=tuple(f"c{i}" for i in range(255)))
    assert values_of(load_frame(many, [f"c{i}" for i in range(256)]), "many") == [
        *range(255),
        255,
    ]


def test_columns_know_their_attributes() -> None:
    table = table_of(load_frame(AGE, [1, 2]))
    assert table.rows == 2
    age, one = table.left["age"], table.right["one"]
    assert isinstance(age, NumericColumn)
    assert age.values.dtype == np.float64
    assert isinstance(one, CodedColumn)
    assert one.codes.dtype == np.uint8
    assert (age.attribute, one.attribute) == (AGE, ONE)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (["7", "8"], [8, 7]),
        ([7, 8], [8.0, 7.0]),
        (["7 ", "\t8"], ["8", "7"]),
        (pa.array([7, 8], pa.uint8()), pa.array(["8", "7"], pa.large_string())),
        ([Decimal("7.0"), Decimal("8.0")], ["8", "7"]),
        ([7.5, 8.0], ["8", "7.5"]),
    ],
)
def test_keys_are_compared_as_texts(left: Any, right: Any) -> None:
    dataset = load(
        pa.table({"id": left, "age": [1, 2]}),
        pa.table({"id": right, "one": [0, 1]}),
        schema_of(AGE),
    )
    assert values_of(dataset, "age") == [1, 2]
    assert values_of(dataset, "one", Side.RIGHT) == [1, 0]


@given(st.permutations(range(6)), st.permutations(range(6)), st.integers(1, 6))
def test_rows_may_come_in_any_order(left: list[int], right: list[int], common: int) -> None:
    kept = [key for key in right if key < common]
    dataset = load(
        pa.table({"id": left, "age": [10 * key for key in left]}),
        pa.table({"one": [key % 2 for key in kept], "id": kept}),
        schema_of(AGE),
    )
    order = [key for key in left if key < common]
    assert values_of(dataset, "age") == [10 * key for key in order]
    assert values_of(dataset, "one", Side.RIGHT) == [key % 2 for key in order]
    report = open_for_owner(dataset.report)
    assert (report.joined, report.left.only, report.right.only) == (common, 6 - common, 0)


def test_only_joined_entities_are_counted() -> None:
    dataset = load(
        pa.table({"id": [1, 2, 3], "age": [200, None, 500], "note": ["x", "y", "z"]}),
        pa.table({"id": [4, 1, 2], "one": [1, 0, 1]}),
        schema_of(AGE),
    )
    assert open_for_owner(dataset.report) == LoadReport(
        joined=2,
        left=ViewCounts(only=1, ignored=("note",)),
        right=ViewCounts(only=1),
        attributes=(
            AttributeCounts(
                Side.LEFT,
                "age",
                missing=1,
                outside=1,
                values=(ValueCount(Reading.OUTSIDE, "200", 1),),
            ),
            AttributeCounts(Side.RIGHT, "one"),
        ),
    )


def test_keys_may_be_named_differently() -> None:
    schema = Schema("clinic", View("a", "id", (AGE,)), View("b", "ID", (ONE,)))
    dataset = load(pa.table({"id": [1], "age": [3]}), pa.table({"ID": [1], "one": [1]}), schema)
    assert table_of(dataset).rows == 1


GOOD_FILES = {
    "plain": b"id,age\n0,30\n1,40\n",
    "no newline at the end": b"id,age\n0,30\n1,40",
    "CRLF": b"id,age\r\n0,30\r\n1,40\r\n",
    "CR": b"id,age\r0,30\r1,40\r",
    "blank lines": b"\n\nid,age\n\n0,30\n\n1,40\n\n\n\n",
    "byte order mark": b"\xef\xbb\xbfid,age\n0,30\n1,40\n",
    "quoted": b'"id","age"\n"0","30"\n"1","40"\n',
    "extra columns": b"x,id,age,y\n,0,30,\n,1,40,\n",
    "quoted newline and commas": b'note,id,age\n"a\nb, ""c""",0,30\n\xc3\xa9,1,40\n',
    "an inch": b'note,id,age\n5" pipe,0,30\n,1,40\n',
    "header over two lines": b'id,"a\nb",age\n0,,30\n1,,40\n',
    "a long field": b"note,id,age\n" + b"x" * 300_000 + b",0,30\n,1,40\n",
    "a field longer than a block": b'note,id,age\n"' + b"x" * 9_000_000 + b'",0,30\n,1,40\n',
}


@pytest.mark.parametrize("content", GOOD_FILES.values(), ids=GOOD_FILES)
@pytest.mark.parametrize("packed", [False, True])
def test_csv_files_of_all_sorts(tmp_path: Path, content: bytes, packed: bool) -> None:  # noqa: FBT001 - a table of cases
    path = tmp_path / ("left.CSV.gz" if packed else "left.csv")
    path.write_bytes(gzip.compress(content, 1) if packed else content)
    assert values_of(load(path, right_of(2), schema_of(AGE)), "age") == [30, 40]


def test_delimiter_and_encoding_are_declared(tmp_path: Path) -> None:
    word = Attribute("größe", Kind.CATEGORICAL, categories=("groß", "klein"))
    for encoding in ("latin-1", "utf-16", "cp1252", "utf-8-sig"):
        path = tmp_path / "left.csv"
        path.write_bytes("id;größe\n0;groß\n1;klein\n".encode(encoding))
        schema = schema_of(word, delimiter=";", encoding=encoding)
        assert values_of(load(path, right_of(2), schema), "größe") == [0, 1]


def test_parquet_names_with_points_are_not_paths(tmp_path: Path) -> None:
    path = tmp_path / "left.parquet"
    dotted = Attribute("a.b", Kind.NUMERIC, maximum=9, cuts=(1.0,))
    parquet.write_table(pa.table({"id": ["0"], "a": [7], "a.b": [3]}), path)
    assert values_of(load(path, right_of(1), schema_of(dotted)), "a.b") == [3]


def test_frames_of_all_libraries() -> None:
    columns: dict[str, Any] = {"id": ["0", "1"], "age": [30, None]}
    arrow = pa.table(columns)
    frames = [
        arrow,
        arrow.to_batches()[0],
        pl.DataFrame(columns),
        pd.DataFrame(columns),
        pd.DataFrame(columns).convert_dtypes(),
        pd.DataFrame(columns).astype({"id": "category"}),
    ]
    for frame in frames:
        dataset = load(frame, right_of(2), schema_of(AGE))
        np.testing.assert_array_equal(values_of(dataset, "age"), [30, np.nan])


def test_column_names_of_pandas_need_not_be_texts() -> None:
    year = Attribute("2008", Kind.NUMERIC, maximum=9, cuts=(1.0,))
    frame = pd.DataFrame({"id": ["0"], 2008: [3]})
    assert values_of(load(frame, right_of(1), schema_of(year)), "2008") == [3]


def test_the_schema_may_be_a_path(tmp_path: Path) -> None:
    schema = schema_of(AGE)
    schema.save(tmp_path / "datapackage.json")
    left = pa.table({"id": ["0"], "age": [3]})
    for path in (tmp_path / "datapackage.json", str(tmp_path / "datapackage.json")):
        assert load(left, right_of(1), path).schema == schema


def test_progress_goes_from_nothing_to_all() -> None:
    seen: list[tuple[str, float]] = []
    left = pa.table({"id": ["0"], "age": [3]})
    load(left, right_of(1), schema_of(AGE), progress=lambda *step: seen.append(step))
    assert seen[0] == ("reading the left view", 0.0)
    assert seen[-1] == ("done", 1.0)
    fractions = [fraction for _, fraction in seen]
    assert fractions == sorted(fractions)
    assert "converting columns" in [stage for stage, _ in seen]


class Relation:
    """A table of a library that we do not know, which hands out its rows once, as DuckDB does."""

    def __init__(self, table: pa.Table) -> None:
        self.reader = table.to_reader(max_chunksize=1)

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self.reader.__arrow_c_stream__(requested_schema)


@pytest.mark.parametrize("wrap", [Relation, pa.Table.to_reader, lambda t: t.to_batches()[0]])
def test_any_table_with_the_arrow_interface_is_loaded(wrap: Callable[[pa.Table], object]) -> None:
    left = pa.table({"id": [0, 1, 2], "age": [3.0, None, 4.0]})
    right = pa.table({"id": [2, 0, 1], "one": [True, False, None]})
    schema = schema_of(AGE)
    found = open_for_owner(load(wrap(left), wrap(right), schema).table)
    expected = open_for_owner(load(left, right, schema).table)
    np.testing.assert_array_equal(found.left["age"].values, expected.left["age"].values)  # type: ignore[union-attr]
    np.testing.assert_array_equal(found.right["one"].codes, expected.right["one"].codes)  # type: ignore[union-attr]
    assert found.rows == 3


def test_a_draft_takes_any_table_with_the_arrow_interface() -> None:
    table = pa.table({"id": ["a", "b"], "x": [0.25, 7.5]})
    found, expected = draft(Relation(table), Relation(table)).schema, draft(table, table).schema
    assert found == replace(expected, id=found.id)


def test_a_stream_that_fails_says_nothing_of_its_rows() -> None:
    class Failing:
        def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
            raise ValueError("secret of row 7")

    with pytest.raises(LoadError, match=r"^left frame: not a table; pass a path") as caught:
        load(Failing(), Failing(), schema_of(AGE))
    assert "secret" not in "".join(traceback.format_exception(caught.value))
