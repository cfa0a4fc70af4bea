"""Large CSV files, read block by block: the rows are those of the whole file."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from redveil.data.csv_file import open_csv
from redveil.data.csv_stream import CsvStream, NotStreamedError, open_csv_stream
from redveil.data.layout import Layout
from redveil.data.text_file import read_bytes
from redveil.errors import LoadError

Cells = list[list[str]]

fields = st.sampled_from(
    [
        *("a", "", '""', '"a,b"', '"a\r\nb"', '"\r\n"', '"a\nb"', '"\r"', 'a"b', '"a""b"'),
        *('"a"b', "\ufeff", "é", '"y\r\ny\r\ny"', '"""\r\n"""', " "),
    ]
)
ends = st.lists(st.sampled_from(["\n", "\r\n", "\r", "\n\n", "\r\n\r\n"]), min_size=8, max_size=8)
any_files = settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def streamed(path: Path, block: int) -> Cells | None:
    """Return the cells of a file that is read block by block; None if it is not."""
    stream = open_csv_stream(path, Layout(), "a.csv", block)
    if stream is None:
        return None
    try:
        tables = [piece.read() for piece in stream.pieces(stream.names)]
    except NotStreamedError:
        return None
    return [
        list(row)
        for table in tables
        for row in zip(*(one.to_pylist() for one in table.columns.values()), strict=True)
    ]


def whole(data: bytes) -> Cells | None:
    """Return the cells of a file that is read as a whole; None if it is refused."""
    try:
        file = open_csv(data, Layout(), "a.csv")
        columns = file.read(file.names).columns.values()
    except LoadError:
        return None
    return [list(row) for row in zip(*(one.to_pylist() for one in columns), strict=True)]


@any_files
@given(
    st.lists(st.tuples(fields, fields), min_size=1, max_size=8),
    ends,
    st.integers(4, 40),
    st.sampled_from([b"", b"\xef\xbb\xbf"]),
    st.sampled_from(["a.csv", "a.csv.gz"]),
)
def test_rows_do_not_depend_on_the_blocks(
    tmp_path: Path, rows: list[tuple[str, str]], ends: list[str], block: int, mark: bytes, name: str
) -> None:
    text = "".join(",".join(row) + end for row, end in zip(rows, ends, strict=False))
    data = mark + f"x,y\n{text}".encode()
    path = tmp_path / name
    path.write_bytes(gzip.compress(data, 1) if name.endswith(".gz") else data)
    found = streamed(path, block)
    assert found is None or found == whole(data)


@any_files
@given(st.binary(max_size=30), st.integers(4, 40))
@example(b"a,b\n\xff,c\nd,e\n", 8)
@example(b'a,b\n"c,d\ne,f\n', 8)
@example(b"a,b\nc\nd,e\n", 8)
@example(b"a,b\nc,\0\nd,e\n", 8)
def test_what_the_whole_file_is_refused_for_is_not_streamed(
    tmp_path: Path, text: bytes, block: int
) -> None:
    data = b"x,y\n" + text
    path = tmp_path / "a.csv"
    path.write_bytes(data)
    found = streamed(path, block)
    assert found is None or found == whole(data)


def test_a_large_file_is_streamed_with_growing_shares(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(b"x,y\n" + b"".join(b'%d,"a\n%d"\n' % (i, i) for i in range(100)))
    stream = open_csv_stream(path, Layout(), "a.csv", 64)
    assert isinstance(stream, CsvStream)
    pieces = list(stream.pieces(["y", "x"]))
    shares = [piece.share for piece in pieces]
    assert len(pieces) > 5
    assert shares == sorted(shares)
    assert [share == 1 for share in shares] == [False] * (len(shares) - 1) + [True]
    tables = [piece.read() for piece in pieces]
    assert [x for one in tables for x in one.columns["x"].to_pylist()] == [*map(str, range(100))]
    assert tables[0].columns["y"][0].as_py() == "a\n0"


@pytest.mark.parametrize("encoding", ["latin-1", "utf-16"])
def test_other_encodings_are_read_as_a_whole(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(("x,y\n" + "é,1\n" * 50).encode(encoding))
    assert open_csv_stream(path, Layout(",", encoding), "a.csv", 16) is None


def test_a_large_file_is_refused_for_what_a_small_one_is(tmp_path: Path) -> None:
    """Otherwise a row more, with which a file is large, would decide whether it is loaded."""
    path = tmp_path / "a.csv"
    path.write_bytes(b"PAR1,id\n5,1\n6,2\n")
    with pytest.raises(LoadError, match="a Parquet file"):
        read_bytes(path, "a.csv")
    assert open_csv_stream(path, Layout(), "a.csv", 8) is None
