"""No message, traceback or chained exception contains data, and no frame of one holds a row."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import parquet

from redveil.data.csv_file import open_csv
from redveil.data.draft import draft
from redveil.data.layout import Layout
from redveil.data.loading import load
from redveil.data.raw import quietly
from redveil.errors import LoadError, SealedError
from redveil.owner import load_report
from redveil.schema import Attribute, Kind, Schema, View
from support.workbooks import write_xlsx

SECRET = "s3cret"
AGE = Attribute("age", Kind.NUMERIC, required=True, maximum=120, cuts=(18.0,))
SICK = Attribute("sick", Kind.BOOLEAN, required=True)
SEX = Attribute("sex", Kind.CATEGORICAL, required=True, categories=("f", "m"))
SCHEMA = Schema("clinic", View("l", "id", (AGE, SICK, SEX)), View("r", "id", (SICK,)))
RIGHT = pa.table({"id": ["1", "2", SECRET], "sick": [1, 0, 1]})

BAD_ROWS = {
    "number": ["1,30,1,f", f"2,{SECRET},1,f"],
    "boolean": ["1,30,1,f", f"2,30,{SECRET},f"],
    "category": ["1,30,1,f", f"2,30,1,{SECRET}"],
    "missing number": ["1,30,1,f", f"{SECRET},,1,f"],
    "missing boolean": ["1,30,1,f", f"{SECRET},30,,f"],
    "missing category": ["1,30,1,f", f"{SECRET},30,1,"],
    "duplicate key": [f"{SECRET},30,1,f", f"{SECRET},30,1,f"],
    "missing key": [f"1,{SECRET},1,f", f",{SECRET},1,f"],
    "no common key": [f"{SECRET}1,30,1,f", f"{SECRET}{SECRET},30,1,f"],
}
BAD_TEXT = {
    "ragged": f"id,age,sick,sex\n1,30,1,f\n2,30,1,f,{SECRET}\n",
    "short": f"id,age,sick,sex\n1,30,1,f\n{SECRET}\n",
    "open quotation mark": f'id,age,sick,sex\n1,30,1,f\n"{SECRET},30,1,f\n',
    "NUL": f"id,age,sick,sex\n1,30,1,f\n{SECRET}\0,30,1,f\n",
    "no header": f"{SECRET},{SECRET},1,f\n2,30,1,f\n",
    "no header, one line": f"{SECRET},30,1,f\n",
}


def check(left: Any) -> None:
    must_not_tell(lambda: load(left, RIGHT, SCHEMA, strict=True))


def must_not_tell(action: Callable[[], object]) -> None:
    with pytest.raises(LoadError) as caught:
        action()
    assert SECRET not in str(caught.value)
    assert SECRET not in "".join(traceback.format_exception(caught.value))
    seen: BaseException | None = caught.value
    while seen is not None:
        assert SECRET not in repr(seen.args)
        seen = seen.__context__
    for frame, _ in traceback.walk_tb(caught.value.__traceback__):
        if frame.f_globals["__name__"].startswith("redveil"):
            assert not leaks_in(frame.f_locals)


def leaks_in(variables: dict[str, Any]) -> list[str]:
    """Return the variables that hold a table, or something that was read of one."""
    harmless = (str, int, float, bool, Schema, BaseException, type(None), type(check))
    return [name for name, value in variables.items() if not isinstance(value, harmless)]


def cells(rows: list[str]) -> dict[str, list[str | None]]:
    columns = zip(*(row.split(",") for row in rows), strict=True)
    names = ("id", "age", "sick", "sex")
    return {n: [v or None for v in c] for n, c in zip(names, columns, strict=True)}


WRITERS: dict[str, Callable[[Path, list[str]], Any]] = {
    "csv": lambda path, rows: path.write_text(
        "\n".join(["id,age,sick,sex", *rows]), encoding="utf-8"
    ),
    "parquet": lambda path, rows: parquet.write_table(pa.table(cells(rows)), path),
}


@pytest.mark.parametrize("rows", BAD_ROWS.values(), ids=BAD_ROWS)
@pytest.mark.parametrize("suffix", WRITERS)
def test_bad_rows_in_files(tmp_path: Path, rows: list[str], suffix: str) -> None:
    path = tmp_path / f"left.{suffix}"
    WRITERS[suffix](path, rows)
    check(path)


@pytest.mark.parametrize("rows", BAD_ROWS.values(), ids=BAD_ROWS)
@pytest.mark.parametrize("library", [pa.table, pd.DataFrame, pl.DataFrame])
def test_bad_rows_in_frames(rows: list[str], library: Callable[[Any], Any]) -> None:
    check(library(cells(rows)))


@pytest.mark.parametrize("text", BAD_TEXT.values(), ids=BAD_TEXT)
def test_bad_files(tmp_path: Path, text: str) -> None:
    path = tmp_path / "left.csv"
    path.write_text(text, encoding="utf-8")
    check(path)


@pytest.mark.parametrize("suffix", ["csv", "xlsx", "frame"])
@pytest.mark.parametrize("first", ["patient-4711,41", "41,patient_4711", "PATIENT 4711,age"])
def test_a_row_without_a_header_is_no_suggestion(tmp_path: Path, suffix: str, first: str) -> None:
    view = View("l", "patient", (AGE, SICK))
    path = tmp_path / f"left.{suffix}"
    table: Any = path
    if suffix == "xlsx":
        write_xlsx(path, {"Labs": [(*first.split(","), 1), ("patient-4712", 42, 0)]})
    else:
        path.write_text(f"{first},1\npatient-4712,42,0\n")
    if suffix == "frame":
        table = pd.read_csv(path)
    with pytest.raises(LoadError, match="no key column patient; set primaryKey") as caught:
        load(table, RIGHT, Schema("clinic", view, SCHEMA.right))
    assert "4711" not in str(caught.value)
    with pytest.raises(LoadError, match="no key column patient; check --key") as caught:
        draft(table, RIGHT, key="patient")
    assert "4711" not in str(caught.value)


UNDRAFTABLE: dict[str, dict[str, list[str]]] = {
    "repeated keys": {"id": [SECRET] * 3, "sex": ["f", "m", "f"]},
    "no key": {"name": [SECRET, "x", SECRET], "sex": ["f", "m", "f"]},
    "no attribute": {"id": ["1", "2", "3"], "sex": [SECRET] * 3},
    "no rows": {"id": [], SECRET: []},
}


@pytest.mark.parametrize("name", UNDRAFTABLE)
def test_an_error_of_a_draft_holds_no_rows(name: str) -> None:
    table = pd.DataFrame(UNDRAFTABLE[name])
    must_not_tell(lambda: draft(table, RIGHT))
    must_not_tell(lambda: draft(RIGHT, pa.table(UNDRAFTABLE[name])))


def test_an_error_of_a_draft_of_a_file_holds_no_rows(tmp_path: Path) -> None:
    (tmp_path / "left.csv").write_text(BAD_TEXT["ragged"])
    must_not_tell(lambda: draft(tmp_path / "left.csv", RIGHT, key="id"))


def test_a_failure_of_a_draft_stays_sealed(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise ValueError(SECRET)

    monkeypatch.setattr("redveil.data.draft.propose", fail)
    with pytest.raises(SealedError, match=r"drafting failed \(ValueError in redveil") as caught:
        draft(RIGHT, RIGHT)
    assert SECRET not in "".join(traceback.format_exception(caught.value))


def test_a_row_with_the_names_of_other_columns_is_no_suggestion(tmp_path: Path) -> None:
    """Columns named 0 and 1 made a header of a row with these values."""
    path = tmp_path / "left.csv"
    path.write_text("patient-4711,0,1\npatient-4712,1,0\n")
    flags = tuple(Attribute(name, Kind.BOOLEAN) for name in "01")
    with pytest.raises(LoadError, match="no key column patient; set primaryKey") as caught:
        load(path, RIGHT, Schema("clinic", View("l", "patient", flags), SCHEMA.right))
    assert "4711" not in str(caught.value)


def test_bad_bytes(tmp_path: Path) -> None:
    path = tmp_path / "left.csv"
    path.write_bytes(f"id,age,sick,sex\n{SECRET},30,1,".encode() + b"\xff\n")
    check(path)


def test_mixed_types_in_a_frame() -> None:
    columns: dict[str, Any] = {"id": ["1", "2"], "sick": [1, 1], "sex": ["f", "f"]}
    check(pd.DataFrame({**columns, "age": pd.Series([1, SECRET], dtype=object)}))
    check(pd.DataFrame({**columns, "age": pd.Series([[SECRET], 3], dtype=object)}))


def test_an_error_of_another_library_is_replaced_and_forgotten() -> None:
    with pytest.raises(LoadError) as caught:
        quietly(lambda: int(SECRET), "left.csv: cannot be read; check it")
    assert str(caught.value) == "left.csv: cannot be read; check it"
    assert caught.value.__context__ is None


def test_an_error_about_bytes_does_not_hold_them(tmp_path: Path) -> None:
    path = tmp_path / "left.csv"
    path.write_bytes(SECRET.encode() + b"\xff")
    with pytest.raises(LoadError) as caught:
        open_csv(path, Layout(), "left.csv")
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None


def test_rows_without_a_key_are_no_entity() -> None:
    left = pa.table({"id": ["1", None, ""], "age": [30] * 3, "sick": [1] * 3, "sex": ["f"] * 3})
    right = pa.table({"id": ["1", None, ""], "sick": [1, 0, 1]})
    assert load_report(load(left, right, SCHEMA, few_in_common=True)).joined == 1


class Panic(BaseException):
    """What a library in another language may raise."""


def test_a_panic_is_an_error_like_any_other_and_holds_no_rows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(*_: object) -> None:
        raise Panic(SECRET)

    monkeypatch.setattr("redveil.data.packing.convert", fail)
    frame = pa.table(cells(["1,30,1,f"]))
    with pytest.raises(SealedError, match=r"loading failed \(Panic in redveil") as caught:
        load(frame, RIGHT, SCHEMA)
    assert SECRET not in "".join(traceback.format_exception(caught.value))
