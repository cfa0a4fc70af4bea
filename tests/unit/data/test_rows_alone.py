"""How an entity's row is read depends on that row alone.

The privacy guarantee needs this: if one entity's value could change how others are read, adding
that entity would change many rows at once. Proof: data/loading.md.
"""

from __future__ import annotations

import codecs
import csv
import encodings.aliases
import tempfile
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta, timezone, tzinfo
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st
from pyarrow import parquet

from redveil.data.binning import bin_table
from redveil.data.columns import _numbers, convert
from redveil.data.csv_file import open_csv
from redveil.data.distinct import label
from redveil.data.join import read_keys
from redveil.data.layout import Layout
from redveil.data.loading import load
from redveil.data.markers import Markers
from redveil.data.table import Column, NumericColumn, Table
from redveil.errors import LoadError
from redveil.schema import Attribute, Kind, Schema, View
from redveil.schema.dates import DateRule
from redveil.schema.encoding import encoding_fault
from redveil.sealed import open_for_owner

CATEGORIES = ("1", "1.1", "2.25", "1000000", "x", "true")
NUMBER = Attribute("number", Kind.NUMERIC, minimum=0, maximum=99, cuts=(5.0,))
AMOUNT = Attribute("amount", Kind.NUMERIC, minimum=-5, maximum=5, cuts=(0.03, 1.1, 2.25))
MOMENTS = ("2015-01-01 08:00:00", "2016-01-01 09:30:00.5", "2015-01-01", "2015-01-01 00:00:00")
LABEL = Attribute("label", Kind.CATEGORICAL, categories=(*CATEGORIES, *MOMENTS))
FLAG = Attribute("flag", Kind.BOOLEAN, true_values=("yes", "1"), false_values=("no",))
NEED = Attribute("need", Kind.ORDINAL, required=True, categories=("low", "2", "high"))
ATTRIBUTES = (NUMBER, AMOUNT, LABEL, FLAG, NEED)
NAMES = ("id", *(attribute.name for attribute in ATTRIBUTES))
# Numbers as markers: written with a point, with an exponent, and as an integer.
MARKERS = ("", "NA", "-99.0", "1e3", "4")
VIEW = View("left", "id", ATTRIBUTES, missing_values=(*MARKERS, "1900-01-01 00:00:00"))
OTHER = View("right", "id", (Attribute("sick", Kind.BOOLEAN),))
SCHEMA = Schema("toy", VIEW, OTHER)

decimals = st.sampled_from(
    ["0.03", "0.0300", "1.1", "1.10", "2.25", "3", "0.0001", "-4.999", "1e3", "-99", "-99.0", "4"]
)
texts = decimals | st.sampled_from(
    [
        "",
        " 1.1 ",
        "nan",
        "inf",
        "1E6",
        "1.0",
        "x",
        ".5",
        "+2.25",
        "NA",
        "yes",
        "old",
        "4.0",
        "-99,0",
    ]
)
numbers = st.sampled_from([-99, -99.0, 4, 1000, 1, 1.1, 0, 2.25, 10**400, float("inf"), -1e-9]) | (
    st.floats(-9, 9) | st.integers(-9, 9) | decimals.map(Decimal)
)
library_numbers = st.sampled_from(
    [np.int64(4), np.float64(-99), np.float32(1.1), np.int8(1), np.uint16(1000)]
)
moments = st.sampled_from(
    [
        datetime(2015, 1, 1, 8),
        datetime(2016, 1, 1, 9, 30, 0, 500_000),
        datetime(2015, 1, 1, 8, tzinfo=UTC),
        datetime(1900, 1, 1),
        date(2015, 1, 1),
        pd.Timestamp("2017-01-01 00:00:00.000000001"),
        pd.Timestamp("2015-01-01 17:00", tz="Asia/Tokyo"),
        np.datetime64("2015", "Y"),
        np.datetime64("1900-01-01", "D"),
        np.datetime64("2015-01-01T08:00", "ms"),
    ]
)
objects = {
    "moments": moments,
    "numbers": numbers | library_numbers,
    "texts": texts,
    "Booleans": st.booleans() | st.booleans().map(np.bool_),
    "anything": numbers | library_numbers | texts | st.booleans() | st.booleans().map(np.bool_),
}
Row = tuple[Any, ...]
HandOver = Callable[[list[Row], Path], Any]


def frame_of(rows: list[Row]) -> dict[str, list[Any]]:
    return {name: [row[i] for row in rows] for i, name in enumerate(NAMES)}


def pandas_objects(rows: list[Row], _: Path) -> Any:
    return pd.DataFrame({n: pd.Series(v, dtype=object) for n, v in frame_of(rows).items()})


def pandas_categories(rows: list[Row], folder: Path) -> Any:
    objects = pandas_objects(rows, folder)
    try:
        return objects.astype(dict.fromkeys(NAMES[2:], "category"))
    except (ValueError, OverflowError):
        # pandas itself refuses categories that are equal, of different types, or too large.
        return reject()


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
    array: np.ndarray = column.values if isinstance(column, NumericColumn) else column.codes
    return array


def loaded(rows: list[Row], keys: list[str], hand_over: HandOver) -> Table:
    """Load some rows; the keys of the other view are text."""
    right = pa.table({"id": keys, "sick": [True] * len(keys)})
    with tempfile.TemporaryDirectory() as folder:
        left = hand_over(rows, Path(folder))
        table = open_for_owner(load(left, right, SCHEMA, few_in_common=True).table)
        packed = open_for_owner(
            load(left, right, SCHEMA, few_in_common=True, packed=True).table
        ).binned
    # Packed, the same entities are loaded, with the bins of their values.
    assert packed is not None
    assert packed.left.codes.tolist() == bin_table(table, SCHEMA).left.codes.tolist()
    assert packed.left.bits.tolist() == bin_table(table, SCHEMA).left.bits.tolist()
    return table


def entities(table: Table) -> dict[float, tuple[str, ...]]:
    """Return the values of each entity, by its number."""
    columns = [values(table.left[attribute.name]).tolist() for attribute in ATTRIBUTES]
    # As text, because NaN differs from itself, and without the sign of zero.
    rows = [
        tuple(repr(value).removeprefix("-0.0") for value in row)
        for row in zip(*columns, strict=True)
    ]
    found = dict(zip(columns[0], rows, strict=True))
    assert len(found) == len(rows) == table.rows
    return found


def must_agree(rows: list[Row], keys: list[str], hand_over: HandOver) -> None:
    """Check that the last row adds or removes one entity at most, and changes no other."""
    try:
        with_last = entities(loaded(rows, keys, hand_over))
        without = entities(loaded(rows[:-1], keys, hand_over))
    except LoadError:
        # A column that mixes types. Its owner is told, and nothing is loaded.
        return
    assert len(with_last.keys() ^ without.keys()) <= 1
    for number in with_last.keys() & without.keys():
        assert with_last[number] == without[number]


def numbered(cells: list[Row], keys: list[Any]) -> list[Row]:
    """Return rows with keys and numbers, so that an entity can be told from the others."""
    return [
        (key, number, *cell) for number, (key, cell) in enumerate(zip(keys, cells, strict=True))
    ]


def cells_of(*columns: st.SearchStrategy[Any]) -> st.SearchStrategy[list[Row]]:
    need = st.sampled_from(["low", "2", "high", None, "unheard of"])
    return st.lists(
        st.tuples(*(st.none() | column for column in columns), need), min_size=2, max_size=5
    )


@pytest.mark.parametrize("hand_over", FRAMES)
@settings(max_examples=60)
@given(cells_of(decimals.map(Decimal), decimals.map(Decimal), st.booleans()))
def test_decimals_are_read_one_by_one(hand_over: HandOver, cells: list[Row]) -> None:
    keys = [f"{number}.{'5' * number}" for number in range(1, len(cells) + 1)]
    must_agree(numbered(cells, [Decimal(key) for key in keys]), keys, hand_over)


def test_the_tests_above_load_something() -> None:
    rows = [(Decimal("1.5"), 0, Decimal("0.03"), Decimal("1.1"), True, "low")]
    more = [*rows, (Decimal("2.25"), 1, Decimal("0.0001"), Decimal("2.25"), False, "2")]
    for hand_over in FRAMES:
        table = loaded(more, ["1.5", "2.25"], hand_over)
        assert values(table.left["amount"]).tolist() == [0.03, 0.0001]
        assert values(table.left["label"]).tolist() == [1, 2]
        assert values(table.left["flag"]).tolist() == [1, 0]


@pytest.mark.parametrize("hand_over", FRAMES)
@settings(max_examples=60)
@given(
    cells_of(
        st.floats(-9, 9) | st.sampled_from([1.0, 1.1, 1e6, float("inf"), -99.0, 4.0]),
        st.sampled_from([1.0, 1.1, 2.25, 1e6, float("nan"), -99.0]),
        st.booleans(),
    )
)
def test_numbers_are_read_one_by_one(hand_over: HandOver, cells: list[Row]) -> None:
    keys = [f"p{number}" for number in range(len(cells))]
    must_agree(numbered(cells, keys), keys, hand_over)


@pytest.mark.parametrize("kind", objects)
@pytest.mark.parametrize("hand_over", [pandas_objects, pandas_guessed, pandas_categories])
@settings(max_examples=40)
@given(data=st.data())
def test_objects_are_read_one_by_one(hand_over: HandOver, kind: str, data: st.DataObject) -> None:
    cells = data.draw(cells_of(objects[kind], objects[kind], objects[kind]))
    keys = [f"p{number}" for number in range(len(cells))]
    must_agree(numbered(cells, keys), keys, hand_over)


@settings(max_examples=150)
@given(cells_of(texts, texts, st.sampled_from(["true", "false", "", "1", "0", "yes", "4.0"])))
def test_texts_of_a_file_are_read_one_by_one(cells: list[Row]) -> None:
    keys = [f"p{number}" for number in range(len(cells))]
    must_agree(numbered(cells, keys), keys, csv_file)


LINES = Attribute("label", Kind.CATEGORICAL, categories=("one\r\ntwo", "one\rtwo", "x"))


@settings(max_examples=150)
@given(
    st.lists(st.sampled_from(["one\r\ntwo", "one\rtwo", "x", "\r\n"]), min_size=1, max_size=6),
    st.text("x\r\n,", max_size=9),
    st.integers(1, 40),
)
def test_a_row_that_moves_the_others_changes_none_of_them(
    tmp_path_factory: pytest.TempPathFactory, labels: list[str], added: str, piece: int
) -> None:
    """A large file is read in pieces, and a row more moves the places where it is cut."""
    rows = [(f"k\r\n{number}", label) for number, label in enumerate(labels)]
    found = []
    for some in (rows, [("added", added), *rows]):
        path = tmp_path_factory.getbasetemp() / "moving.csv"
        with path.open("w", encoding="utf-8", newline="") as text:
            csv.writer(text, lineterminator="\r\n").writerows([("id", "label"), *some])
        file = open_csv(path, Layout(), "left.csv", piece)
        raw = file.read(["id", "label"])
        codes = values(convert(raw, LINES, [""]).column).tolist()
        keys = read_keys(raw, "id", [""]).texts.to_pylist()
        found.append(list(zip(keys, codes, strict=True)))
    without, with_added = found
    assert with_added[1:] == without
    assert [key for key, _ in without] == [key for key, _ in rows]


@pytest.mark.parametrize("last", [7, 7.5, "seven", None, Decimal("7.25"), 3, 4, 3.0, "3", -99])
@pytest.mark.parametrize("hand_over", [pandas_objects, csv_file])
def test_keys_are_read_one_by_one(hand_over: HandOver, last: object) -> None:
    cells = [(1.0, "x", "yes", "low")] * 3
    must_agree(numbered(cells, [3, 5, last]), ["3", "4", "5", "-99", str(last)], hand_over)


def test_a_second_row_takes_its_entity_out_and_no_other() -> None:
    cells = [(1.0, "x", "yes", "low")] * 3
    rows = numbered(cells, ["a", "b", "a"])
    assert entities(loaded(rows[:-1], ["a", "b"], csv_file)).keys() == {0, 1}
    assert entities(loaded(rows, ["a", "b"], csv_file)).keys() == {1}
    # Nor does it matter which view the second row is in.
    assert entities(loaded(rows[:-1], ["a", "b", "b"], csv_file)).keys() == {0}


def test_a_decimal_among_integers_does_not_turn_numeric_markers_into_text() -> None:
    marked = [-99] * 10 + [3] * 10
    rows = numbered([(value, "x", "yes", "low") for value in marked], list(range(10, 30)))
    keys = [str(key) for key in range(10, 31)]
    with_decimal = [*rows, (30, 20, Decimal("0.5"), "x", "yes", "low")]
    for some in (rows, with_decimal):
        amounts = values(loaded(some, keys, pandas_objects).left["amount"])[:20]
        assert np.isnan(amounts).tolist() == [True] * 10 + [False] * 10


@pytest.mark.parametrize("where", ["amount", "label", "flag", "id"])
@pytest.mark.parametrize(
    "odd",
    ["NaN", "sNaN", "-sNaN7", "Infinity", "1E+999999999999", "1E-999999999999", "-0E-999999999"],
)
def test_a_decimal_of_any_size_is_a_value_like_any_other(where: str, odd: str) -> None:
    column = dict(zip(NAMES, range(len(NAMES)), strict=True))[where]
    usual = [Decimal("1.5"), Decimal(2), Decimal("2.25")]
    rows = [list(row) for row in numbered([(1.0, "x", "yes", "low")] * 3, ["p", "q", "r"])]
    for row, value in zip(rows, usual, strict=True):
        row[column] = value
    last = ["s", 3, 1.0, "x", "yes", "low"]
    last[column] = Decimal(odd)
    keys = [*"pqrs", "1.5", "2", "2.25", "inf", "1E-999999999999", "0"]
    must_load = loaded([tuple(row) for row in rows], keys, pandas_objects)
    with_odd = loaded([tuple(row) for row in [*rows, last]], keys, pandas_objects)
    assert {0, 1, 2} <= entities(with_odd).keys() <= {0, 1, 2, 3}
    for number, entity in entities(must_load).items():
        assert entities(with_odd)[number] == entity


def test_decimals_of_one_value_have_one_text() -> None:
    same = [Decimal("1E-500"), Decimal("10E-501"), Decimal("1.000E-500")]
    assert {label(value) for value in same} == {"1E-500"}
    assert label(Decimal("-1.250E-999999999")) == "-125E-1000000001"
    assert label(Decimal("1E-400")) == "0." + "0" * 399 + "1"


def test_an_integer_among_booleans_is_refused() -> None:
    flags = [*np.array([True, False]), 1]
    rows = numbered([(1.0, "x", flag, "low") for flag in flags], ["a", "b", "c"])
    assert values(loaded(rows[:-1], ["a", "b"], pandas_objects).left["flag"]).tolist() == [1, 0]
    with pytest.raises(LoadError, match="column flag: mixed or unsupported types"):
        loaded(rows, ["a", "b", "c"], pandas_objects)


@pytest.mark.parametrize("hand_over", [*FRAMES, csv_file])
def test_numeric_markers_are_numbers_however_they_are_written(hand_over: HandOver) -> None:
    amounts = [-99.0, 1000.0, 4.0, 3.0]
    rows = numbered([(amount, "x", "yes", "low") for amount in amounts], list("abcd"))
    found = values(loaded(rows, list("abcd"), hand_over).left["amount"])
    assert np.isnan(found).tolist() == [True, True, True, False]


def test_a_required_value_takes_out_its_entity_and_no_other() -> None:
    needs = ["low", None, "unheard of", "high"]
    rows = numbered([(1.0, "x", "yes", need) for need in needs], list("abcd"))
    assert entities(loaded(rows, list("abcd"), csv_file)).keys() == {0, 3}


@pytest.mark.parametrize("hand_over", [*FRAMES, csv_file])
def test_no_row_and_no_common_row_are_data_sets_too(hand_over: HandOver) -> None:
    rows = numbered([(1.0, "x", "yes", "low")], ["a"])
    assert loaded(rows, ["b"], hand_over).rows == 0
    assert loaded([], ["a"], hand_over).rows == 0


#: What Arrow's own conversion of text to numbers is given first. Where it succeeds, the number
#: must be the one that a value is read as by itself: one odd value sends the whole column there.
number_texts = st.one_of(
    texts,
    st.floats().map(repr),
    st.integers(-(10**30), 10**30).map(str),
    st.text("0123456789.eE+-nifatyxob_ ,'()", max_size=9),
    st.from_regex(r"[+-]?[0-9]{0,30}(\.[0-9]{0,30})?([eE][+-]?[0-9]{1,4})?", fullmatch=True),
)


@settings(max_examples=500)
@given(number_texts)
def test_a_number_is_the_same_whether_arrow_reads_it_or_we(text: str) -> None:
    markers = Markers.of([""])
    column = pa.chunked_array([[text]])
    together, _ = _numbers(column, markers)
    alone, _ = _numbers(pa.chunked_array([[text, "no number"]]), markers)
    assert np.array_equal(together, alone[:1], equal_nan=True)


MARKED = "\ufeff17,1,0.5,x,yes,low"


def test_a_byte_order_mark_is_not_read_by_its_position(tmp_path: Path) -> None:
    """Arrow drops one from the first row, which another entity may be in front of."""
    others = ["18,2,0.5,x,yes,low", "19,3,,x,no,2"]
    right = pa.table({"id": ["17", "18", "19"], "sick": [True] * 3})
    found = []
    for rows in ([MARKED, *others], [*others, MARKED], [MARKED, others[0]]):
        path = tmp_path / "left.csv"
        path.write_text("\n".join([",".join(NAMES), *rows]), encoding="utf-8")
        found.append(
            entities(open_for_owner(load(path, right, SCHEMA, few_in_common=True).table)).keys()
        )
    assert found == [{2.0, 3.0}, {2.0, 3.0}, {2.0}]


WHEN = Attribute(
    "when",
    Kind.ORDINAL,
    categories=("2010", "2015", "2020"),
    date=DateRule(date(2010, 1, 1), date(2020, 12, 31), format="%Y%m%d"),
)


@pytest.mark.parametrize("last", [10**20, Decimal(3), 20150101.0, None])
def test_numbers_that_are_dates_are_read_by_their_format(last: object) -> None:
    schema = Schema("toy", View("left", "id", (WHEN,)), OTHER)
    right = pa.table({"id": [0, 1, 2], "sick": [True] * 3})
    for days in ([20100101, 20150101], [20100101, 20150101, last]):
        frame = pd.DataFrame({"id": range(len(days)), "when": days})
        table = open_for_owner(load(frame, right, schema, few_in_common=True).table)
        assert values(table.left["when"]).tolist()[:2] == [0, 1]


def test_a_nan_in_another_chunk_stops_nothing() -> None:
    first = pa.array([1.0, None])
    for last in ([2.25], [2.25, float("nan")]):
        stage = pa.chunked_array([first, pa.array(last)])
        keys = pa.chunked_array([pa.array([1.5, None]), pa.array([*last[:1], *last[1:]])])
        left = pa.table({"id": keys, "label": stage})
        schema = Schema("toy", View("left", "id", (LABEL,)), OTHER)
        right = pa.table({"id": [1.5, 2.25], "sick": [True] * 2})
        table = open_for_owner(load(left, right, schema, few_in_common=True).table)
        assert values(table.left["label"]).tolist() == [0, 2]


class Nowhere(tzinfo):
    """A time zone without an offset."""

    def __init__(self, error: type[Exception]) -> None:
        self.error = error

    def utcoffset(self, _: datetime | None) -> timedelta:
        raise self.error

    dst = utcoffset

    def tzname(self, _: datetime | None) -> str:
        return "nowhere"


@pytest.mark.parametrize(
    "odd",
    [
        datetime(9999, 12, 31, 23, 59, tzinfo=timezone(timedelta(hours=-5))),
        datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=2))),
        datetime(2015, 1, 1, tzinfo=Nowhere(ValueError)),
        datetime(2015, 1, 1, tzinfo=Nowhere(LookupError)),
        datetime(2015, 1, 1, tzinfo=Nowhere(NotImplementedError)),
    ],
)
def test_a_date_beyond_all_calendars_is_missing(odd: datetime) -> None:
    schema = Schema("toy", View("left", "id", (WHEN,)), OTHER)
    frame = pd.DataFrame(
        {"id": [0, 1], "when": pd.Series([datetime(2015, 6, 1, tzinfo=UTC), odd], dtype=object)}
    )
    right = pa.table({"id": [0, 1], "sick": [True] * 2})
    table = open_for_owner(load(frame, right, schema, few_in_common=True).table)
    assert values(table.left["when"]).tolist() == [1, 255]


def test_a_moment_in_a_column_of_days_is_its_day() -> None:
    milliseconds = pa.array([1433116800000, 1433116800001], pa.int64()).cast(pa.date64())
    schema = Schema("toy", View("left", "id", (WHEN,)), OTHER)
    left = pa.table({"id": [0, 1], "when": milliseconds})
    right = pa.table({"id": [0, 1], "sick": [True] * 2})
    table = open_for_owner(load(left, right, schema, few_in_common=True).table)
    assert values(table.left["when"]).tolist() == [1, 1]


def decoded(text: bytes, encoding: str) -> str | None:
    try:
        return text.decode(encoding)
    except UnicodeDecodeError:
        return None


def test_no_line_changes_how_others_are_decoded() -> None:
    names = {*encodings.aliases.aliases.values(), "unicode_escape", "raw_unicode_escape"}
    usable = sorted(name for name in names if encoding_fault(name) is None)
    assert len(usable) > 80
    for name in usable:
        end = "\n".encode(name).removeprefix(codecs.BOM_UTF16_LE).removeprefix(b"\0\0")
        if len(end) > 1:
            # UTF-16 and UTF-32: all characters are equally long, or tell how long they are.
            continue
        rest = "a~b {x} \\ y".encode("cp037" if "a".encode(name) != b"a" else "ascii") + end
        for odd in (b"\x1b(J", b"\x1b$B", b"\x1b$)C\x0e", b"~{", b"~", b"+", b"\\", b"\x0e", b"x"):
            line = decoded(odd + end, name)
            if line is not None:
                assert decoded(odd + end + rest, name) == line + rest.decode(name), (name, odd)


@pytest.mark.parametrize("encoding", ["iso2022_jp", "hz", "utf-7", "idna"])
def test_files_in_other_encodings_are_refused(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "left.csv"
    path.write_bytes(b"id,label\nz,\x1b(Jx\n1,x\n")
    schema = Schema("toy", View("left", "id", (LABEL,), encoding=encoding), OTHER)
    with pytest.raises(LoadError, match="save the file as UTF-8"):
        load(path, pa.table({"id": ["1"], "sick": [True]}), schema)
