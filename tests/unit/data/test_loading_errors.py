"""Data that does not fit its schema: one line that names the place and the remedy."""

from __future__ import annotations

import gzip
import os
from collections.abc import Callable
from datetime import date
from pathlib import Path
from struct import pack
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

from redveil.data import text_file
from redveil.data.frame import open_parquet
from redveil.data.loading import load
from redveil.data.synthetic import clinic_frames, clinic_schema
from redveil.data.text_file import read_bytes
from redveil.errors import LoadError, SchemaError
from redveil.schema import Attribute, Kind, Schema, View

AGE = Attribute("age", Kind.NUMERIC, minimum=0, maximum=120, cuts=(18.0,))
SICK = Attribute("sick", Kind.BOOLEAN)
SEX = Attribute("sex", Kind.CATEGORICAL, categories=("f", "m"))
RIGHT = pa.table({"id": ["1", "2"], "one": [1, 0]})


def schema_of(*attributes: Attribute, **view: Any) -> Schema:
    one = Attribute("one", Kind.BOOLEAN)
    return Schema("clinic", View("patients", "id", attributes, **view), View("wards", "id", (one,)))


def complaint(left: object, schema: Schema, right: object = RIGHT, *, strict: bool = False) -> str:
    with pytest.raises(LoadError) as caught:
        load(left, right, schema, strict=strict)
    message = str(caught.value)
    assert len(message.splitlines()) == 1
    assert "; " in message or message.endswith("?")
    # The cause is dropped, because a library's message may quote a row.
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None
    return message


HOSTILE = {
    "empty": (b"", "left.csv: the file is empty; export it again"),
    "blank": (b"\n\r\n\n", "left.csv: the file is empty; export it again"),
    "short line": (
        b"id,age\n1,2\n\n3\n",
        "left.csv, line 4: 1 field, but the header has 2; check the delimiter, and "
        "quote fields that contain it",
    ),
    "long line": (
        b'id,age\n1,"2\n\n"\n3,4,5\n',
        "left.csv, line 5: 3 fields, but the header has 2; check the delimiter, and "
        "quote fields that contain it",
    ),
    "long line after a very long field": (
        b"id,age\n" + b"1" * 200_000 + b",2\n3,4,5\n",
        "left.csv, line 3: 3 fields, but the header has 2; check the delimiter, and "
        "quote fields that contain it",
    ),
    "two byte order marks": (
        "\ufeff\ufeffid,age\n1,2\n".encode(),
        "left.csv: two byte order marks; save the file again as UTF-8",
    ),
    "not UTF-8": (
        b"id,age\n1,2\n\xe9,3\n",
        "left.csv, line 3: not utf-8; declare the resource's encoding",
    ),
    "UTF-16": (
        "id,age\n1,2\n".encode("utf-16"),
        "left.csv, line 1: not utf-8; declare the resource's encoding",
    ),
    "UTF-16 without a mark": (
        "id,age\n1,2\n".encode("utf-16-le"),
        "left.csv, line 1: a NUL character; save the file as text, or "
        "declare its encoding in the resource",
    ),
    "NUL": (
        b"id,age\n1,2\n3,\0\n",
        "left.csv, line 3: a NUL character; save the file as text, or "
        "declare its encoding in the resource",
    ),
    "duplicate columns": (
        b"id,age,x,age\n1,2,3,4\n",
        "left.csv: columns 2 and 4 have the same name; rename one of them",
    ),
    "empty name": (
        b"id,,age\n1,2,3\n",
        "left.csv: column 2 has no name; name every column in the header",
    ),
    "blank name": (
        b"id,age,  \n1,2,3\n",
        "left.csv: column 3 has no name; name every column in the header",
    ),
    "open quotation mark": (
        b'id,age\n1,2\n3,"4\n5,6\n',
        "left.csv, line 3: a quotation mark is not closed; close it, or double "
        "quotation marks within a field",
    ),
    "open quotation mark in the header": (
        b'id,"age\n1,2\n',
        "left.csv, line 1: a quotation mark in the header is not closed; close it, or double "
        "quotation marks within a field",
    ),
    "other spelling": (b"id,Age \n1,2\n", "left.csv: no column age; did you mean Age ?"),
    "several spellings": (
        b"id,AGE,a_ge\n1,2,3\n",
        "left.csv: no column age; did you mean AGE or a_ge?",
    ),
    "a close name in what may be no header": (
        b"id,ages\n1,2\n",
        "left.csv: no column age; check the order of the files, add it, or "
        "remove it from the schema",
    ),
    "absent column": (
        b"id,x\n1,2\n",
        "left.csv: no column age; check the order of the files, add it, or "
        "remove it from the schema",
    ),
    "absent key": (
        b"person,age\n1,2\n",
        "left.csv: no key column id; set primaryKey, or make the index a column",
    ),
    "key of another spelling": (b"ID,age\n1,2\n", "left.csv: no key column id; did you mean ID?"),
    "gzip without its name": (
        gzip.compress(b"id,age\n1,2\n"),
        "left.csv: compressed with gzip; rename it to end in .gz",
    ),
    "Parquet as CSV": (
        b"PAR1....PAR1",
        "left.csv: a Parquet file; rename it to end in .parquet",
    ),
    "spreadsheet as CSV": (
        b"PK\x03\x04....",
        "left.csv: a workbook or archive, not text; rename a workbook to end in .xlsx",
    ),
    "old spreadsheet as CSV": (
        b"\xd0\xcf\x11\xe0....",
        "left.csv: an old workbook, not text; save it as .xlsx",
    ),
}

#: Rows that are left out or read as missing, unless the owner would rather stop.
NOBODY = (
    "no common entity; check that columns id and id contain the same keys (`redveil schema check`, "
    "redveil.examine), or go on with --few-in-common (few_in_common=True)"
)
DEPARTING = {
    "header only": (
        b"id,age",
        NOBODY,
    ),
    "header and blank lines": (
        b"id,age\n\r\n\n",
        NOBODY,
    ),
    "empty key": (
        b"id,age\n1,2\n ,3\n",
        "left.csv, line 3, column id: no entity key; give every row a key",
    ),
    "marked key": (
        b"id,age\n1,2\nNA,3\n",
        "left.csv, line 3, column id: no entity key; give every row a key",
    ),
    "one duplicate key": (
        b"id,age\n1,2\n2,3\n1 ,4\n",
        "left.csv, line 2, column id: one of several rows of an entity; keep one row per entity",
    ),
    "duplicate keys": (
        b"id,age\n1,2\n\n1,3\n3,4\n3,4\n3,5\n",
        "left.csv, line 2, column id: one of several rows of an entity; keep one row per entity",
    ),
    "text for a number": (
        b"id,age\n1,2\n2,young\n3,old\n",
        "left.csv, line 3, column age: not a number; correct it, or list it in missingValues if it "
        "means missing",
    ),
    "decimal comma": (
        b'id,age\n1,"1,5"\n',
        "left.csv, line 2, column age: not a number; correct it, or list it in missingValues if it "
        "means missing",
    ),
    "digits that are not ASCII": (
        "id,age\n1,٣\n".encode(),
        "left.csv, line 2, column age: not a number; correct it, or list it in missingValues if it "
        "means missing",
    ),
    "text for a number, after a very long field": (
        b"id,age\n" + b"1" * 200_000 + b",2\n2,young\n",
        "left.csv, line 3, column age: not a number; correct it, or list it in missingValues if it "
        "means missing",
    ),
    "no common entity": (
        b"id,age\n3,2\n4,3\n",
        NOBODY,
    ),
}


@pytest.mark.parametrize(("content", "message"), HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_csv_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: bytes, message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("left.csv").write_bytes(content)
    assert complaint("left.csv", schema_of(AGE, missing_values=("", "NA"))) == message


@pytest.mark.parametrize(("content", "message"), DEPARTING.values(), ids=DEPARTING)
def test_rows_that_do_not_fit_stop_loading_only_if_it_is_strict(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: bytes, message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("left.csv").write_bytes(content)
    schema = schema_of(AGE, missing_values=("", "NA"))
    load("left.csv", RIGHT, schema, few_in_common=True)
    assert complaint("left.csv", schema, strict=True) == message


def test_a_boolean_that_is_none(tmp_path: Path) -> None:
    path = tmp_path / "left.csv"
    path.write_text("id,sick\n1,1\n2,perhaps\n", encoding="utf-8")
    assert complaint(path, schema_of(SICK), strict=True) == (
        f"{path}, line 3, column sick: neither true nor false; correct it, or list it in "
        "trueValues, falseValues or missingValues"
    )
    frame = pa.table({"id": [1, 2], "sick": [1, 2]})
    message = complaint(frame, schema_of(SICK), strict=True)
    assert message.startswith("left frame, row 2, column sick: neither")


NO_VALUE = "no value in a required attribute; correct the row"


@pytest.mark.parametrize(
    ("attribute", "values", "what"),
    [
        (Attribute("x", Kind.NUMERIC, required=True), ["1", ""], NO_VALUE),
        (Attribute("x", Kind.NUMERIC, required=True), [1.0, float("nan")], NO_VALUE),
        (Attribute("x", Kind.BOOLEAN, required=True), [True, None], NO_VALUE),
        (Attribute("x", Kind.CATEGORICAL, True, ("a", "b")), ["a", None], NO_VALUE),  # noqa: FBT003 - short
        (Attribute("x", Kind.ORDINAL, True, ("a", "b")), ["a", "c"], "an undeclared category"),  # noqa: FBT003 - short
    ],
)
def test_a_required_value_that_is_missing(attribute: Attribute, values: Any, what: str) -> None:
    frame = pa.table({"id": ["1", "2"], "x": values})
    message = complaint(frame, schema_of(attribute), strict=True)
    assert message.startswith(f"left frame, row 2, column x: {what}")


def test_the_right_view_is_checked_too() -> None:
    left = pa.table({"id": ["1"], "age": [3]})
    message = complaint(left, schema_of(AGE), right=pa.table({"id": ["1"]}))
    assert message.startswith("right frame: no column one;")


NO_FILES = "a folder with no CSV or Parquet file; name the files, as in csv:folder/*.csv"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("nowhere.csv", "no such file; check the path"),
        ("nowhere.parquet", "no such file; check the path"),
        ("nowhere.tab.gz", "no such file; check the path"),
        ("file.csv/left.csv", "no such file; check the path"),
        ("folder", NO_FILES),
        ("folder.csv", NO_FILES),
        ("folder.parquet", NO_FILES),
        ("left.doc", "unknown file type; use .csv, .tsv, .xlsx or .parquet"),
        ("left.xlsx", "no such file; check the path"),
        ("left", "unknown file type; use .csv, .tsv, .xlsx or .parquet"),
        ("empty.parquet", "the file is empty; export it again"),
        ("text.parquet", "not a Parquet file; rename it to match its format"),
        ("text.csv.gz", "not compressed with gzip; remove .gz from its name"),
        ("empty.csv.gz", "the file is empty; export it again"),
        ("loop.csv", "cannot be read; check the path and the permissions"),
        ("pipe.csv", "not a regular file; copy its content to one"),
        ("pipe.parquet", "not a regular file; copy its content to one"),
    ],
)
def test_a_path_that_leads_nowhere(tmp_path: Path, name: str, message: str) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder.csv").mkdir()
    (tmp_path / "folder.parquet").mkdir()
    (tmp_path / "file.csv").write_text("id,age\n", encoding="utf-8")
    (tmp_path / "text.parquet").write_text("id,age\n1,2\n", encoding="utf-8")
    (tmp_path / "text.csv.gz").write_text("id,age\n1,2\n", encoding="utf-8")
    (tmp_path / "empty.parquet").touch()
    (tmp_path / "empty.csv.gz").write_bytes(gzip.compress(b""))
    (tmp_path / "loop.csv").symlink_to(tmp_path / "loop.csv")
    os.mkfifo(tmp_path / "pipe.csv")
    os.mkfifo(tmp_path / "pipe.parquet")
    assert complaint(tmp_path / name, schema_of(AGE)) == f"{tmp_path / name}: {message}"


def test_a_path_with_a_nul_or_a_newline() -> None:
    assert complaint("a.xlsx#Labs", schema_of(AGE)) == "a.xlsx: no such file; check the path"
    assert "cannot be read" in complaint("a\0b.xlsx#Labs", schema_of(AGE))
    assert "cannot be read" in complaint("a" * 5000 + ".xlsx#Labs", schema_of(AGE))
    assert "cannot be read" in complaint("a\0b.csv", schema_of(AGE))
    assert complaint("a\nb.csv", schema_of(AGE)) == "a b.csv: no such file; check the path"


def test_a_file_that_may_not_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "left.csv"
    path.write_text("id,age\n1,2\n", encoding="utf-8")

    def refuse(*_: object) -> None:
        raise PermissionError

    monkeypatch.setattr(text_file, "_read", refuse)
    assert complaint(path, schema_of(AGE)) == f"{path}: cannot be read; check the permissions"


def test_a_file_too_large_for_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "left.csv"
    path.write_text("id,age\n1,2\n", encoding="utf-8")

    def swell(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr(text_file, "_read", swell)
    assert "does not fit in memory" in complaint(path, schema_of(AGE))


def test_a_file_that_decompresses_to_too_much_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "bomb.csv.gz"
    path.write_bytes(gzip.compress(b"0" * 100_000))
    with pytest.raises(LoadError, match="more than 1000 bytes of text; split it or use Parquet"):
        read_bytes(path, "bomb.csv.gz", most=1000)
    assert len(read_bytes(path, "bomb.csv.gz", most=100_000)) == 100_000


def test_decompression_stops_at_the_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_file, "_PIECE", 10)
    path = tmp_path / "bomb.csv.gz"
    path.write_bytes(gzip.compress(b"0" * 1000))
    sizes: list[int] = []
    read = text_file._read

    def counted(file: Any, size: int) -> bytes:
        sizes.append(size)
        return read(file, size)

    monkeypatch.setattr(text_file, "_read", counted)
    with pytest.raises(LoadError, match="more than 25 bytes"):
        read_bytes(path, "bomb.csv.gz", most=25)
    assert sum(sizes) <= 50


def _cut(content: bytes) -> bytes:
    return content[: len(content) // 2]


def _flip(content: bytes) -> bytes:
    middle = len(content) // 2
    flipped = bytes(255 - byte for byte in content[middle : middle + 8])
    return content[:middle] + flipped + content[middle + 8 :]


@pytest.mark.parametrize("damage", [_cut, _flip])
def test_damaged_gzip(tmp_path: Path, damage: Callable[[bytes], bytes]) -> None:
    path = tmp_path / "left.csv.gz"
    rows = "".join(f"{i},{i * 7919 % 120}\n" for i in range(1000))
    path.write_bytes(damage(gzip.compress(f"id,age\n{rows}".encode())))
    message = f"{path}: damaged gzip data; copy or compress the file again"
    assert complaint(path, schema_of(AGE)) == message


@pytest.mark.parametrize("damage", [_cut, _flip])
def test_damaged_parquet(tmp_path: Path, damage: Callable[[bytes], bytes]) -> None:
    path = tmp_path / "left.parquet"
    table = pa.table({"id": [str(i) for i in range(1000)], "age": [i % 120 for i in range(1000)]})
    parquet.write_table(table, path, use_dictionary=False, compression="gzip")
    path.write_bytes(damage(path.read_bytes()))
    message = f"{path}: damaged Parquet data; copy or write the file again"
    assert complaint(path, schema_of(AGE)) == message


def varint(number: int) -> bytes:
    """Return a whole number as a Parquet footer spells it."""
    rest, spelled = 2 * number, b""
    while rest > 127:
        spelled, rest = spelled + bytes([rest & 127 | 128]), rest >> 7
    return spelled + bytes([rest])


def with_footer(path: Path, change: Callable[[bytes], bytes]) -> None:
    """Change the footer of a Parquet file, and not its length."""
    raw = path.read_bytes()
    size = int.from_bytes(raw[-8:-4], "little")
    start = len(raw) - 8 - size
    changed = change(raw[start:-8])
    assert len(changed) == size
    assert changed != raw[start:-8]
    path.write_bytes(raw[:start] + changed + raw[-8:])


@pytest.mark.parametrize("place", ["first", "last"])
@pytest.mark.parametrize("claimed", [4999, 5001])
def test_a_parquet_file_that_says_how_many_rows_it_has_in_two_ways(
    tmp_path: Path, place: str, claimed: int
) -> None:
    """Arrow reads no more rows than its footer claims, and would leave out the last."""
    path = tmp_path / "right.parquet"
    parquet.write_table(pa.table({"id": range(5000), "x": [0.5] * 5000}), path)
    true, lie = varint(5000), varint(claimed)

    def change(footer: bytes) -> bytes:
        if place == "first":
            return footer.replace(true, lie, 1)
        before, _, after = footer.rpartition(true)
        return before + lie + after

    with_footer(path, change)
    with pytest.raises(LoadError, match=r"damaged Parquet data; copy or write the file again"):
        open_parquet(path, "right.parquet").read(["id", "x"])


def test_minima_and_maxima_of_a_parquet_file_are_not_believed(tmp_path: Path) -> None:
    path = tmp_path / "right.parquet"
    values = [0.25, 7.5, None]
    parquet.write_table(pa.table({"id": [1, 2, 3], "x": values}), path)
    with_footer(path, lambda footer: footer.replace(pack("<d", 7.5), pack("<d", 1e9)))
    assert parquet.ParquetFile(path).metadata.row_group(0).column(1).statistics.max == 1e9
    assert open_parquet(path, "right.parquet").read(["x"]).columns["x"].to_pylist() == values


def test_parquet_with_the_same_name_twice(tmp_path: Path) -> None:
    path = tmp_path / "left.parquet"
    twice = pa.Table.from_arrays([pa.array(["1"])] * 2, names=["id", "id"])
    parquet.write_table(twice, path)
    assert complaint(path, schema_of(AGE)) == (
        f"{path}: columns 1 and 2 have the same name; rename one of them"
    )


@pytest.mark.parametrize(
    "frame",
    [
        None,
        3,
        [{"id": 1}],
        {"id": [1]},
        pd.Series([1]),
        pa.array([1]),
        object,
    ],
)
def test_other_objects_are_not_tables(frame: object) -> None:
    assert complaint(frame, schema_of(AGE)) == (
        "left frame: not a table; pass a path, or a pandas, Polars or Arrow table"
    )


@pytest.mark.parametrize("frame", [pl.LazyFrame({"id": [1]}), pl.Series([1])])
def test_a_lazy_frame_has_to_be_collected(frame: object) -> None:
    assert complaint(frame, schema_of(AGE)) == (
        "left frame: not a Polars DataFrame; collect or convert it first"
    )


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (pd.Series([1, "a"], dtype=object), "object"),
        (pd.Series(pd.to_timedelta(["1 day", "2 days"])), "timedelta64"),
        (pd.Series([date(2020, 1, 1), 7], dtype=object), "object"),
        (pd.Series([[1], [2]]), "object"),
        (pd.Series([1j, 2j]), "complex128"),
        (pd.Series([b"\xff", b"1"]), "object"),
        (pd.Series([1.0, 2.0], dtype=pd.SparseDtype(float, 2.0)), "Sparse"),
    ],
)
def test_a_column_of_a_strange_type(values: Any, kind: str) -> None:
    frame = pd.DataFrame({"id": ["1", "2"], "age": values})
    assert complaint(frame, schema_of(AGE)) == (
        f"left frame, column age: mixed or unsupported types ({kind}); "
        "convert it to text, numbers, dates or Booleans"
    )


def test_the_name_of_a_strange_type_contains_no_values() -> None:
    lists = pl.DataFrame({"id": ["1"], "age": pl.Series([["x"]], dtype=pl.List(pl.Enum(["x"])))})
    assert "mixed or unsupported types (List); convert" in complaint(lists, schema_of(AGE))
    structs = pa.table({"id": ["1"], "age": [{"s3cret": 1}]})
    assert "mixed or unsupported types (struct); convert" in complaint(structs, schema_of(AGE))


def test_strange_columns_that_are_not_declared_do_not_matter() -> None:
    when = pd.to_datetime(["2020-01-01", "2020-01-02"])
    frame = pd.DataFrame({"id": ["1", "2"], "age": [1, 2], "when": when})
    load(frame, RIGHT, schema_of(AGE), few_in_common=True)


def test_a_frame_with_the_key_in_its_index() -> None:
    frame = pd.DataFrame({"id": ["1"], "age": [3]}).set_index("id")
    assert complaint(frame, schema_of(AGE)) == (
        "left frame: no key column id; set primaryKey, or make the index a column"
    )


def test_a_missing_key_in_a_frame() -> None:
    for keys in (["1", None], [1.0, float("nan")], [1.5, float("nan")]):
        frame = pa.table({"id": keys, "age": [1, 2]})
        assert complaint(frame, schema_of(AGE), strict=True) == (
            "left frame, row 2, column id: no entity key; give every row a key"
        )


def test_column_names_are_shown_on_one_line() -> None:
    name = "a\nb" + "c" * 100
    odd = Attribute(name, Kind.NUMERIC, cuts=(0.5,))
    frame = pa.table({"id": ["1"], name: ["x"]})
    assert complaint(frame, schema_of(odd), strict=True).startswith(
        f"left frame, row 1, column a b{'c' * 56}…: not a number;"
    )


def test_a_layout_that_cannot_be(tmp_path: Path) -> None:
    path = tmp_path / "left.csv"
    path.write_text("id,age\n1,2\n", encoding="utf-8")
    for layout in ({"delimiter": "§"}, {"delimiter": "::"}, {"encoding": "hex"}):
        complaint(path, schema_of(AGE, **layout))


def test_a_schema_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(SchemaError, match="no such file"):
        load(RIGHT, RIGHT, tmp_path / "datapackage.json")


START = {
    "left.csv": b"id,age\n",
    "left.csv.gz": b"\x1f\x8b\x08\0",
    "left.parquet": b"PAR1",
}


@pytest.mark.parametrize("name", START)
@given(content=st.binary(max_size=60) | st.text("\"'{}%\n\r, ;12\0é", max_size=60).map(str.encode))
def test_any_bytes_are_loaded_or_refused(
    tmp_path_factory: pytest.TempPathFactory, name: str, content: bytes
) -> None:
    path = tmp_path_factory.getbasetemp() / name
    path.write_bytes(START[name] + content)
    message = "loaded; fine"
    try:
        load(path, RIGHT, schema_of(AGE), few_in_common=True)
    except LoadError as error:
        message = str(error)
    assert len(message.splitlines()) == 1
    assert "; " in message


def test_more_entities_than_the_proofs_cover_are_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tables = clinic_frames(3)
    load(*tables, clinic_schema())
    monkeypatch.setattr("redveil.data.loading.MOST_ENTITIES", 2)
    with pytest.raises(
        LoadError, match="more than 2 entities; scores are exact only up to that number"
    ):
        load(*tables, clinic_schema())
