"""The rows of a CSV file: of its text, and block by block."""

from __future__ import annotations

import csv
import gzip
import io
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from redveil.data import csv_file
from redveil.data.csv_file import open_csv, records, row_end, split, whole_rows
from redveil.data.layout import Layout
from redveil.data.text_file import read_bytes
from redveil.errors import LoadError

Cells = list[list[str]]

rows = st.lists(
    st.lists(st.text('ab,;" \n\r\té', max_size=4), min_size=2, max_size=4), min_size=1, max_size=5
)


@given(rows, st.sampled_from(["\n", "\r\n", "\r"]), st.sampled_from(",;|^]-\\\t"))
def test_written_rows_are_read(table: list[list[str]], end: str, delimiter: str) -> None:
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter=delimiter, lineterminator=end, quoting=csv.QUOTE_ALL)
    writer.writerows(table)
    found = list(records(text.getvalue(), delimiter))
    assert [split(record.text, delimiter) for record in found] == table
    assert all(record.is_closed for record in found)
    assert found[-1].end == len(text.getvalue())


@given(st.text('a," \n\r', max_size=12))
def test_the_standard_library_finds_the_same_rows(text: str) -> None:
    lines = [text[a:b] for a, b in _line_spans(text)]
    expected = [fields for fields in csv.reader(lines) if fields]
    assert [split(record.text, ",") for record in records(text, ",")] == expected


def _line_spans(text: str) -> list[tuple[int, int]]:
    spans: list[tuple[int, int]] = []
    start = 0
    for line in text.replace("\r\n", "\0\n").replace("\r", "\n").splitlines(keepends=True):
        spans.append((start, start + len(line)))
        start += len(line)
    return spans


any_files = settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def cells(path: Path, block: int = csv_file.BLOCK) -> Cells:
    """Return the cells of a file, read so many bytes at a time."""
    file = open_csv(path, Layout(), "a.csv", block)
    columns = file.read(file.names).columns.values()
    return [list(row) for row in zip(*(one.to_pylist() for one in columns), strict=True)]


def refused(path: Path, block: int = csv_file.BLOCK) -> str | None:
    """Return why a file is refused; None if it is not."""
    try:
        cells(path, block)
    except LoadError as error:
        return str(error)
    return None


@any_files
@given(st.text('a," \n\r', max_size=12))
def test_arrow_finds_the_same_rows(tmp_path: Path, text: str) -> None:
    found = list(records(text, ","))
    faults = [
        f"line {record.line + 1}: {fields} field" if record.is_closed else "a quotation mark"
        for record in found
        if (fields := len(split(record.text, ","))) != 2 or not record.is_closed
    ]
    path = tmp_path / "a.csv"
    path.write_bytes(f"x,y\n{text}".encode())
    if faults:
        assert faults[0] in (refused(path) or "")
        return
    assert cells(path) == [split(record.text, ",") for record in found]


fields = st.sampled_from(
    [
        *("a", "", '""', '"a,b"', '"a\r\nb"', '"\r\n"', '"a\nb"', '"\r"', 'a"b', '"a""b"'),
        *('"a"b', "\ufeff", "é", '"y\r\ny\r\ny"', '"""\r\n"""', " "),
    ]
)
ends = st.lists(st.sampled_from(["\n", "\r\n", "\r", "\n\n", "\r\n\r\n"]), min_size=8, max_size=8)


@any_files
@given(
    st.lists(st.tuples(fields, fields), min_size=1, max_size=8),
    ends,
    st.integers(4, 40),
    st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "gb18030"]),
    st.sampled_from(["a.csv", "a.csv.gz"]),
)
def test_rows_and_their_lines_do_not_depend_on_the_blocks(
    tmp_path: Path,
    rows: list[tuple[str, str]],
    ends: list[str],
    block: int,
    encoding: str,
    name: str,
) -> None:
    text = "x,y\n" + "".join(",".join(row) + end for row, end in zip(rows, ends, strict=False))
    path, data = tmp_path / name, text.encode(encoding)
    path.write_bytes(gzip.compress(data, 1) if name.endswith(".gz") else data)
    file = open_csv(path, Layout(",", encoding), "a.csv", block)
    read = file.read(file.names)
    found = zip(*(one.to_pylist() for one in read.columns.values()), strict=True)
    _, *expected = records(text, ",")
    assert [list(row) for row in found] == [split(record.text, ",") for record in expected]
    places = [f"a.csv, line {record.line}" for record in expected]
    assert read.where(range(read.rows)) == places
    assert read.where([read.rows]) == [f"a.csv, row {read.rows + 1}"]


@any_files
@given(st.binary(max_size=30), st.integers(4, 40))
@example(b"a,b\n\xff,c\nd,e\n", 8)
@example(b'a,b\n"c,d\ne,f\n', 8)
@example(b"a,b\nc\nd,e\n", 8)
@example(b"a,b\r\nc\r\nd,e\n", 8)
@example(b"a,b\nc,\0\nd,e\n", 8)
def test_what_is_refused_and_where_does_not_depend_on_the_blocks(
    tmp_path: Path, text: bytes, block: int
) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(b"x,y\n" + text)
    complaint = refused(path)
    found = refused(path, block)
    assert (found is None) == (complaint is None)
    # Of several faults, another may be met first.
    if complaint is None:
        assert cells(path, block) == cells(path)


@pytest.mark.parametrize("block", [4, 9, 2**20])
def test_a_fault_is_named_with_its_line_wherever_blocks_end(tmp_path: Path, block: int) -> None:
    path = tmp_path / "a.csv"
    good = b'1,"a\r\nb"\r\n2,c\r\n' * 20
    for bad, what in (
        (b"3\r\n", "a.csv, line 62: 1 field, but"),
        (b'3,"d\r\n', "a.csv, line 62: a quotation mark is not closed"),
        (b"3,\xff\r\n", "a.csv, line 62: not utf-8"),
        (b"3,\0\r\n", "a.csv, line 62: a NUL character"),
    ):
        path.write_bytes(b"x,y\r\n" + good + bad)
        assert (refused(path, block) or "").startswith(what)


@given(st.text('a," \n\r', max_size=30))
@example('"a\r\n""b"\r\nc')
def test_a_block_ends_below_a_row(text: str) -> None:
    found = len(text.encode()[: row_end(text.encode(), ",")].decode().rstrip("\r\n"))
    ends = {len(text[: record.end].rstrip("\r\n")) for record in records(text, ",")}
    assert found in ends | {0}


def test_a_long_row_is_in_a_long_block(tmp_path: Path) -> None:
    long = b'3,"4\r\n' + b"5" * 100 + b'"\r\n'
    path = tmp_path / "a.csv"
    path.write_bytes(b"1,2\n" + long + b"6,7\n" * 50)
    found = [rows.text for rows in whole_rows(path, Layout(), "a.csv", 10)]
    assert found[0] == b"1,2\n"
    assert found[1].startswith(long)
    assert {len(rows) for rows in found[2:-1]} <= {8, 12}


@any_files
@given(st.lists(st.integers(1, 40), min_size=1, max_size=6), st.integers(4, 60))
def test_only_a_row_that_is_itself_too_long_is_refused(
    tmp_path: Path, lengths: list[int], block: int
) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(b"x,y\n" + b"".join(b"1," + b"2" * (n - 2) + b"\n" for n in lengths if n > 2))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(csv_file, "LONGEST_ROW", 20)
        found = refused(path, block)
    assert (found is not None) == any(n > 20 for n in lengths)
    assert found is None or "a row of more than" in found


def test_a_large_file_is_read_with_growing_shares(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(b"x,y\n" + b"".join(b'%d,"a\n%d"\n' % (i, i) for i in range(100)))
    pieces = list(open_csv(path, Layout(), "a.csv", 64).pieces(["y", "x"]))
    shares = [piece.share for piece in pieces]
    assert len(pieces) > 5
    assert shares == sorted(shares)
    assert [share == 1 for share in shares] == [False] * (len(shares) - 1) + [True]
    tables = [piece.read() for piece in pieces]
    assert [x for one in tables for x in one.columns["x"].to_pylist()] == [*map(str, range(100))]
    assert tables[0].columns["y"][0].as_py() == "a\n0"


@pytest.mark.parametrize("block", [8, 2**20])
def test_a_large_file_is_refused_for_what_a_small_one_is(tmp_path: Path, block: int) -> None:
    """Otherwise a row more, with which a file is large, would decide whether it is loaded."""
    path = tmp_path / "a.csv"
    path.write_bytes(b"PAR1,id\n5,1\n6,2\n")
    with pytest.raises(LoadError, match="a Parquet file"):
        read_bytes(path, "a.csv")
    assert "a Parquet file" in (refused(path, block) or "")
    path.write_bytes(2 * b"\xef\xbb\xbf" + b"x,y\n1,2\n")
    assert "two byte order marks" in (refused(path, block) or "")


def test_lines_are_counted() -> None:
    text = '\n\na,b\r\n"c\r\nd",e\r\rf,"g\n\n'
    assert [(record.line, record.is_closed) for record in records(text, ",")] == [
        (3, True),
        (4, True),
        (7, False),
    ]
    assert [record.line for record in records(text, ",", first_line=10)] == [12, 13, 16]
