"""Malicious files: their values are not executed, do not break lines, and are not quoted."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pytest
from pyarrow import parquet

import redveil
from redveil.base.csv_text import csv_text
from redveil.data.table import NumericColumn
from redveil.errors import InputError, LoadError
from redveil.owner import load_report
from redveil.report.html import fragment
from redveil.schema import Attribute, Kind, Schema, View
from redveil.sealed import open_for_owner
from support.command_line import Command, caller
from support.console import is_one_line
from support.page import Page, must_be_ours
from support.pieces import must_be_the_same_in_pieces
from support.wall import leaks_in_text

#: Cells, each with a mark.
CELLS = {
    "formula": '=HYPERLINK("http://example.org/Q7X","Q7X")',
    "command": "@SUM(1+1)*cmd|' /C Q7X'!A0",
    "markup": "[bold red]Q7X[/bold red][link=file:///Q7X]x[/link]",
    "escape sequence": "\x1b]0;Q7X\x07\x1b[2J\x1b[31mQ7X",
    "script": "<script>alert('Q7X')</script>",
    "line ends": "Q7X\nredveil: fine\r\nQ7X",
    "path": "../../../etc/Q7X",
    "absolute path": "/Q7X/passwd",
    "huge": "Q7X" * 50_000,
    "nested": "{[(<" * 5_000 + "Q7X",
    "entities": '<!DOCTYPE a [<!ENTITY b "Q7X">]><a>&b;&b;</a>',
    "right to left": "\u202eQ7X\u2066",
    "format": "{0.__class__} %s %n Q7X",
    "quotes": '"Q7X\'""`',
}
VIEW = View(
    "left",
    "id",
    (
        Attribute("age", Kind.NUMERIC, maximum=120, cuts=(18.0, 65.0)),
        Attribute("sick", Kind.BOOLEAN),
        Attribute("ward", Kind.CATEGORICAL, categories=("north", "south")),
    ),
)
SCHEMA = Schema("clinic", VIEW, View("right", "id", (Attribute("cough", Kind.BOOLEAN),)))
COLUMNS = ("id", "age", "sick", "ward", "note")
ROWS = 40

Cells = dict[str, list[str]]
Writer = Callable[[Cells, Path], None]


def rows(**changed: str) -> Cells:
    """Return harmless cells, but for one row."""
    cells = {
        "id": [f"p{i}" for i in range(ROWS)],
        "age": [str(20 + i) for i in range(ROWS)],
        "sick": [str(i % 2) for i in range(ROWS)],
        "ward": [("north", "south")[i % 2] for i in range(ROWS)],
        "note": ["" for _ in range(ROWS)],
    }
    for name, value in changed.items():
        cells[name][7] = value
    return cells


WRITERS: dict[str, Writer] = {
    "csv": lambda cells, path: pl.DataFrame(cells).write_csv(path, quote_style="always"),
    "parquet": lambda cells, path: parquet.write_table(pa.table(cells), path),
}


def loaded(folder: Path, suffix: str, *, strict: bool = False, **changed: str) -> redveil.Dataset:
    path = folder / f"left.{suffix}"
    cells = rows(**changed)
    WRITERS[suffix](cells, path)
    right = pl.DataFrame({"id": cells["id"], "cough": cells["sick"]})
    return redveil.load(path, right, SCHEMA, strict=strict)


def must_be_harmless(message: str) -> None:
    """One printable line that is short and repeats no cell."""
    assert message.isprintable()
    assert len(message) < 400
    assert leaks_in_text(message) == []


@pytest.mark.parametrize("cell", CELLS.values(), ids=CELLS)
@pytest.mark.parametrize("suffix", WRITERS)
def test_an_invalid_value_is_refused_and_not_quoted(tmp_path: Path, suffix: str, cell: str) -> None:
    for column in ("age", "sick"):
        with pytest.raises(LoadError) as caught:
            loaded(tmp_path, suffix, strict=True, **{column: cell})
        message = str(caught.value)
        must_be_harmless(message.replace(str(tmp_path), ""))
        assert f"column {column}" in message
        assert ("row 8" if suffix == "parquet" else "line ") in message


@pytest.mark.parametrize("cell", CELLS.values(), ids=CELLS)
@pytest.mark.parametrize("suffix", WRITERS)
def test_a_cell_that_is_ignored_or_undeclared_reaches_no_result(
    tmp_path: Path, suffix: str, cell: str
) -> None:
    before = sorted(path.name for path in tmp_path.parent.iterdir())
    dataset = loaded(tmp_path, suffix, id=cell, ward=cell, note=cell)
    assert leaks_in_text(repr(dataset)) == []
    if cell == CELLS["path"] or suffix == "csv":
        result = redveil.mine(dataset, 1, depth=1, trials=1)
        assert leaks_in_text(result.to_json() + result._repr_html_()) == []
    assert [path.name for path in tmp_path.iterdir()] == [f"left.{suffix}"]
    assert sorted(path.name for path in tmp_path.parent.iterdir()) == before


@pytest.mark.parametrize("cell", CELLS.values(), ids=CELLS)
@pytest.mark.parametrize("suffix", WRITERS)
def test_a_repeated_key_is_refused_and_not_quoted(tmp_path: Path, suffix: str, cell: str) -> None:
    cells = rows(id=cell)
    cells["id"][23] = cell
    path = tmp_path / f"left.{suffix}"
    WRITERS[suffix](cells, path)
    with pytest.raises(LoadError, match="several rows of an entity") as caught:
        redveil.load(path, pl.DataFrame({"id": ["p1"], "cough": [1]}), SCHEMA, strict=True)
    must_be_harmless(str(caught.value).replace(str(tmp_path), ""))


@pytest.mark.parametrize("cell", CELLS.values(), ids=CELLS)
@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_file_in_pieces_is_the_file(
    tmp_path: Path, suffix: str, cell: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = pl.DataFrame({"id": rows()["id"], "cough": rows()["sick"]})
    path = tmp_path / f"left.{suffix}"
    for number, column in enumerate(COLUMNS):
        WRITERS[suffix](rows(**{column: cell}), path)
        # Blocks that end in the cell, and blocks of some rows.
        size = (97, 350)[number % 2] + len(cell) // 20
        blocks = must_be_the_same_in_pieces(
            path, right, SCHEMA, size, monkeypatch, packed=bool(number % 3)
        )
        assert suffix == "parquet" or blocks > 1


@pytest.mark.parametrize("number", ["1e308", "-1e308", "inf", "-inf", "1e999", "9" * 400])
@pytest.mark.parametrize("suffix", WRITERS)
def test_numbers_beyond_all_bounds_stay_as_they_are(
    tmp_path: Path, suffix: str, number: str
) -> None:
    dataset = loaded(tmp_path, suffix, age=number)
    column = open_for_owner(dataset.table).left["age"]
    assert isinstance(column, NumericColumn)
    assert column.values[7] == float(number)
    assert load_report(dataset).attributes[0].outside == 1


@pytest.mark.parametrize("tail", ["\x1b", "\x07", "\n.", "\r.", "\u202e", "\x9b", "\u2028"])
def test_a_header_is_suggested_on_one_printable_line(tmp_path: Path, tail: str) -> None:
    """Names of columns are public, but not to be trusted."""
    cells = {(f"age{tail}" if name == "age" else name): cell for name, cell in rows().items()}
    path = tmp_path / "left.csv"
    WRITERS["csv"](cells, path)
    with pytest.raises(LoadError, match="no column age; did you mean age") as caught:
        redveil.load(path, pl.DataFrame({"id": ["p1"], "cough": [1]}), SCHEMA)
    assert str(caught.value).isprintable()


DAMAGED = {
    "left.csv": b'id,age,sick,ward\nQ7X,"Q7X\n' * 50,
    "left.csv.gz": b"\x1f\x8bQ7X",
    "left.parquet": b"PAR1Q7XPAR1",
    "left.pq": b"PAR1" + bytes(range(64)) + b"Q7X\x00\x00\x00\x00PAR1",
    "nul.csv": b"id,age,sick,ward\nQ7X\0,1,1,north\n",
    "encoding.csv": b"id,age,sick,ward\nQ7X\xff,1,1,north\n",
}


@pytest.mark.parametrize("name", DAMAGED)
def test_a_damaged_file_is_refused_in_one_line(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / name).write_bytes(DAMAGED[name])
    right = tmp_path / "right.csv"
    right.write_text("id,cough\np1,1\n", encoding="utf-8")
    SCHEMA.save(tmp_path / "datapackage.json")
    command: Command = caller(monkeypatch, capsys)
    done = command("mine", tmp_path / name, right, "--epsilon", "1", "-o", tmp_path / "r.json")
    assert (done.code, done.out) == (2, "")
    assert is_one_line(done.err)
    must_be_harmless(done.err.strip().replace(str(tmp_path), ""))


@pytest.mark.parametrize("name", DAMAGED)
def test_a_damaged_file_in_pieces_is_refused_like_the_file(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / name).write_bytes(DAMAGED[name])
    right = pl.DataFrame({"id": ["p1"], "cough": [1]})
    must_be_the_same_in_pieces(tmp_path / name, right, SCHEMA, 16, monkeypatch, packed=True)


@pytest.mark.parametrize(
    "text", ["[" * 100_000, '{"a":' * 100_000, '{"resources": [[[[]]]]}', "\0"]
)
def test_deeply_nested_descriptors_and_results_are_refused_in_one_line(
    tmp_path: Path, text: str
) -> None:
    path = tmp_path / "file.json"
    path.write_text(text, encoding="utf-8")
    for read in (Schema.read, redveil.Result.read):
        with pytest.raises(InputError) as caught:
            read(path)
        assert "\n" not in str(caught.value)
        assert len(str(caught.value)) < 600


SCRIPT = "=1+1<script>alert(1)</script>"
BOLD = "[bold]x[/bold]"
LABELS = ("<img src=x onerror=alert(1)>", "\"><b onclick='x'>")


@pytest.fixture(scope="module")
def result_with_names() -> redveil.Result:
    """Names and labels that would do something on a page, in a spreadsheet or in a terminal."""
    number = range(400)
    left = pl.DataFrame({"id": [*number], SCRIPT: [i % 2 for i in number]})
    right = pl.DataFrame({"id": [*number], BOLD: [LABELS[i % 2] for i in number]})
    schema = Schema(
        LABELS[0],
        View("left", "id", (Attribute(SCRIPT, Kind.BOOLEAN),)),
        View("right", "id", (Attribute(BOLD, Kind.CATEGORICAL, categories=LABELS),)),
        unit=LABELS[1],
    )
    anything: dict[str, Any] = {"max_p_value": 1, "min_jaccard": 0, "min_support": 0}
    dataset = redveil.load(left, right, schema)
    return redveil.mine(dataset, 20, depth=1, trials=1, max_support=1, **anything)


def test_names_and_labels_are_no_markup_on_a_page(result_with_names: redveil.Result) -> None:
    page = Page(fragment(result_with_names.document))
    must_be_ours(page)
    assert len(result_with_names) > 0
    queries = [q.text for one in result_with_names for q in (one.left, one.right)]
    assert [text for text in queries if text not in page.text] == []
    assert all(SCRIPT in text or BOLD in text for text in queries)


def test_names_and_labels_are_no_formulas_in_a_spreadsheet(
    result_with_names: redveil.Result,
) -> None:
    lines = list(csv.reader(io.StringIO(csv_text(result_with_names.to_arrow()))))
    texts = [cell for line in lines for cell in line if not _is_number(cell)]
    assert [cell for cell in texts if cell.startswith(("=", "+", "-", "@", "\t", "\r"))] == []


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def test_names_and_labels_are_no_markup_in_a_terminal(
    result_with_names: redveil.Result,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    result_with_names.save(tmp_path / "r.json")
    done = caller(monkeypatch, capsys)("show", tmp_path / "r.json", "--plan")
    assert done.code == 0
    assert BOLD in done.out


def test_a_result_file_cannot_steer_the_terminal(
    result_with_names: redveil.Result,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    document = result_with_names.document.model_copy(update={"message": CELLS["escape sequence"]})
    redveil.Result(document).save(tmp_path / "r.json")
    done = caller(monkeypatch, capsys)("show", tmp_path / "r.json")
    assert done.code == 0
    assert "\x1b" not in done.out


def test_a_header_cannot_steer_the_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    cells = rows()
    cells[CELLS["escape sequence"]] = cells.pop("note")
    WRITERS["csv"](cells, tmp_path / "left.csv")
    pl.DataFrame({"id": cells["id"], "cough": cells["sick"]}).write_csv(tmp_path / "right.csv")
    SCHEMA.accept().save(tmp_path / "datapackage.json")
    files = tmp_path / "left.csv", tmp_path / "right.csv"
    done = caller(monkeypatch, capsys)("mine", *files, "--epsilon", "1", "-o", tmp_path / "r.json")
    assert done.code == 0
    assert "\x1b" not in done.err
