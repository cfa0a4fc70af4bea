from __future__ import annotations

import csv
import gzip
from collections.abc import Iterator
from pathlib import Path

import pytest

from redveil.errors import InputError
from redveil_research.experiments.datasets import flag
from redveil_research.preparation.prepared import Prepared, Row, find_file, lines, rows, schema_of


def written(path: Path, text: str) -> Path:
    path.write_bytes(text.encode())
    return path


@pytest.fixture(autouse=True)
def usual_limit() -> Iterator[None]:
    """Set the longest field that Python reads: libraries in this process may have raised it."""
    before = csv.field_size_limit(131_072)
    yield
    csv.field_size_limit(before)


@pytest.mark.parametrize("gzipped", [False, True])
@pytest.mark.parametrize("delimiter", [",", "\t"])
def test_columns_are_found_by_name(tmp_path: Path, delimiter: str, *, gzipped: bool) -> None:
    text = "\ufeffid,B,a\r\n1,x,7\r\n2,,8\r\n".replace(",", delimiter)
    path = tmp_path / ("raw.csv.gz" if gzipped else "raw.csv")
    path.write_bytes(gzip.compress(text.encode()) if gzipped else text.encode())
    assert [row.fields for row in rows(path, ["A", "b"])] == [["7", "x"], ["8", ""]]
    assert [row.line for row in rows(path, ["A"])] == [2, 3]
    assert find_file(tmp_path, r"RAW\.csv", "raw.csv") == path


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b\n1,2\n1,2,3\n", "raw.csv, line 3: 3 fields, expected 2; download"),
        ("a,c\n1,2\n", "raw.csv, line 1: no column b; is this"),
        ("", "raw.csv, line 1: no column a; is this"),
        ('a,b\n1,"' + "x" * 200_000 + '"\n', "raw.csv, line 2: cannot be read; download"),
    ],
)
def test_a_bad_file_is_refused_with_its_line(tmp_path: Path, text: str, message: str) -> None:
    path = written(tmp_path / "raw.csv", text)
    with pytest.raises(InputError, match=message) as caught:
        list(rows(path, ["a", "b"]))
    assert "\n" not in str(caught.value)


def test_a_gzip_file_that_was_cut_short_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "raw.csv.gz"
    path.write_bytes(gzip.compress(b"a,b\n" + b"1,2\n" * 99)[:-20])
    with pytest.raises(InputError, match=r"raw\.csv\.gz: cannot be read to its end; download"):
        list(rows(path, ["a"]))
    with pytest.raises(InputError, match="cannot be read to its end"):
        list(lines(tmp_path / "no.names"))


def test_files_must_be_there_and_only_once(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no file such as data\.csv; put"):
        find_file(tmp_path, r"data\.csv", "data.csv")
    for name in ("data.csv", "data.csv.gz"):
        written(tmp_path / name, "x")
    with pytest.raises(InputError, match=r"data\.csv and data\.csv\.gz are both"):
        find_file(tmp_path, r"data\.csv", "data.csv")
    with pytest.raises(InputError, match="not a folder that can be read"):
        find_file(tmp_path / "no", r"data\.csv", "data.csv")


@pytest.mark.parametrize("text", ["x", "nan", "1e999"])
def test_what_is_no_number_is_refused(text: str) -> None:
    row = Row(Path("raw.csv"), 7, ["", text])
    assert row.number(0) == 0
    with pytest.raises(InputError, match=rf"raw\.csv, line 7: '{text}' is not a number"):
        row.number(1)


def test_nothing_is_written_over(tmp_path: Path) -> None:
    prepared = Prepared(
        schema_of("x", "cell", [flag()("a")], [flag()("b")]), [["1", "0"]], [["1", "1"]]
    )
    prepared.write(tmp_path / "new" / "folder")
    with pytest.raises(InputError, match=r"left\.csv: is there already; name another folder"):
        prepared.write(tmp_path / "new" / "folder")
    written(tmp_path / "file", "x")
    with pytest.raises(InputError, match="is not a folder"):
        prepared.write(tmp_path / "file")
