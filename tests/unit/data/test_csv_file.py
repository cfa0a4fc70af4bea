"""The rows of a CSV text, compared with the standard library and with Arrow."""

from __future__ import annotations

import csv
import io
from dataclasses import replace

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from redveil.data.csv_file import open_csv, pieces, records, split
from redveil.data.layout import Layout
from redveil.errors import LoadError

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


@given(st.text('a," \n\r', max_size=12))
def test_arrow_finds_the_same_rows(text: str) -> None:
    found = list(records(text, ","))
    faults = [
        f"line {record.line + 1}: {fields} field" if record.is_closed else "a quotation mark"
        for record in found
        if (fields := len(split(record.text, ","))) != 2 or not record.is_closed
    ]
    data = f"x,y\n{text}".encode()
    if faults:
        with pytest.raises(LoadError, match=faults[0]):
            open_csv(data, Layout(), "a.csv").read(["x", "y"])
        return
    columns = open_csv(data, Layout(), "a.csv").read(["x", "y"]).columns.values()
    cells = zip(*(column.to_pylist() for column in columns), strict=True)
    assert [list(row) for row in cells] == [split(record.text, ",") for record in found]


fields = st.sampled_from(
    [
        *("a", "", '""', '"a,b"', '"a\r\nb"', '"\r\n"', '"a\nb"', '"\r"', 'a"b', '"a""b"'),
        *('"a"b', "\ufeff", "é", '"y\r\ny\r\ny"', '"""\r\n"""', " "),
    ]
)


@settings(max_examples=300)
@given(
    st.lists(st.tuples(fields, fields), min_size=1, max_size=8),
    st.lists(st.sampled_from(["\n", "\r\n", "\r", "\n\n", "\r\n\r\n"]), min_size=8, max_size=8),
    st.integers(1, 40),
)
def test_rows_do_not_depend_on_where_the_file_is_cut(
    rows: list[tuple[str, str]], ends: list[str], piece: int
) -> None:
    text = "".join(",".join(row) + end for row, end in zip(rows, ends, strict=False))
    expected = [split(record.text, ",") for record in records(text, ",")]
    file = open_csv(f"x,y\n{text}".encode(), Layout(), "a.csv")
    for one in (file, replace(file, piece=piece)):
        columns = one.read(["x", "y"]).columns.values()
        cells = zip(*(column.to_pylist() for column in columns), strict=True)
        assert [list(row) for row in cells] == expected


@given(st.text('a," \n\r', max_size=30), st.integers(1, 12))
@example('"a\r\n""b"\r\nc', 4)
def test_a_piece_ends_below_a_row(text: str, size: int) -> None:
    for delimiter, written in ((",", text), (None, text.replace('"', ""))):
        found = list(pieces(written.encode(), delimiter, size))
        assert "".join(written[start:end] for start, end in found) == written
        rows = {len(written[: record.end].rstrip("\r\n")) for record in records(written, ",")}
        # Among the line ends below a row, or in front of all rows.
        ends = {len(written[:end].rstrip("\r\n")) for _, end in found[:-1]}
        assert ends <= rows | {0}


def test_a_long_row_is_in_a_long_piece() -> None:
    long = b'3,"4\r\n' + b"5" * 100 + b'"\r\n'
    body = b"1,2\n" + long + b"6,7\n" * 50
    found = [body[start:end] for start, end in pieces(body, ",", 10)]
    assert found[0] == b"1,2\n"
    assert found[1].startswith(long)
    assert {len(piece) for piece in found[2:-1]} == {8}


def test_lines_are_counted() -> None:
    text = '\n\na,b\r\n"c\r\nd",e\r\rf,"g\n\n'
    assert [(record.line, record.is_closed) for record in records(text, ",")] == [
        (3, True),
        (4, True),
        (7, False),
    ]
    assert [record.line for record in records(text, ",", first_line=10)] == [12, 13, 16]
