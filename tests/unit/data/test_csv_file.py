"""The rows of a CSV text, compared with the standard library and with Arrow."""

from __future__ import annotations

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redveil.data.csv_file import open_csv, records, split
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


def test_lines_are_counted() -> None:
    text = '\n\na,b\r\n"c\r\nd",e\r\rf,"g\n\n'
    assert [(record.line, record.is_closed) for record in records(text, ",")] == [
        (3, True),
        (4, True),
        (7, False),
    ]
    assert [record.line for record in records(text, ",", first_line=10)] == [12, 13, 16]
