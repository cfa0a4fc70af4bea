"""Dividing text into fields: against one row at a time, and against Arrow."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from hypothesis import example, given, settings
from hypothesis import strategies as st
from pyarrow import csv

from oracle.fields import divided
from redveil.data.csv_file import read_rows
from redveil.kernels.fields import copy_fields, field_ends

# Few kinds of characters, so that rows often have the same number of fields.
fields = st.text(alphabet="0a é\t\0;", max_size=3).map(str.encode)
line_ends = st.sampled_from([b"\n", b"\r", b"\r\n", b"\n\n", b"\r\r\n"])


@st.composite
def tables(draw: st.DrawFn) -> tuple[bytes, int]:
    """Draw a text, and the number of fields that its rows have, perhaps but for one."""
    width = draw(st.integers(1, 4))
    rows = draw(st.lists(st.lists(fields, min_size=width, max_size=width), max_size=12))
    if draw(st.booleans()) and rows:
        del rows[draw(st.integers(0, len(rows) - 1))][0]
    ends = [draw(line_ends) for _ in rows]
    text = b"".join(b",".join(row) + end for row, end in zip(rows, ends, strict=True))
    return draw(st.sampled_from([b"", b"\n"])) + (text if draw(st.booleans()) else text[:-1]), width


def _columns(text: bytes, width: int, wanted: list[int]) -> list[list[str]] | None:
    found = read_rows(text, width, wanted, ",")
    return None if found is None else [column.to_pylist() for column in found]


@settings(max_examples=300, deadline=None)
@given(tables(), st.data())
@example((b",,\n", 3), None)
@example((b"\r\n\r\n", 2), None)
@example((b"a,b", 1), None)
def test_fields_are_those_of_single_rows(
    table: tuple[bytes, int], data: st.DataObject | None
) -> None:
    text, width = table
    places = st.lists(st.integers(0, width - 1), min_size=1, max_size=4)
    wanted = [width - 1] if data is None else data.draw(places)
    rows = divided(text, b",")
    regular = all(len(row) == width for row in rows)
    expected = [[row[place].decode() for row in rows] for place in wanted] if regular else None
    assert _columns(text, width, wanted) == expected


@settings(max_examples=200, deadline=None)
@given(tables())
def test_arrow_reads_the_same(table: tuple[bytes, int]) -> None:
    text, width = table
    if not text.strip(b"\r\n"):
        return
    names = [str(place) for place in range(width)]
    try:
        read = csv.read_csv(
            pa.BufferReader(text),
            csv.ReadOptions(column_names=names, use_threads=False, block_size=len(text) + 1),
            csv.ParseOptions(quote_char=False),
            csv.ConvertOptions(column_types=dict.fromkeys(names, pa.string())),
        )
    except pa.ArrowInvalid:
        assert _columns(text, width, list(range(width))) is None
    else:
        expected = [read.column(name).to_pylist() for name in names]
        assert _columns(text, width, list(range(width))) == expected


def test_more_rows_than_there_is_room_for_are_refused() -> None:
    text = np.frombuffer(b"1,2\n3,4\n", np.uint8)
    assert [field_ends(text, ord(","), np.empty((3, most), np.int32)) for most in (1, 2)] == [-1, 2]


def test_many_rows_are_copied_in_turns() -> None:
    rows = 3 * 2**17 // len("0123,x\n")
    text = "".join(f"{row % 7919:04},x\n" for row in range(rows)).encode()
    numbers = _columns(text, 2, [0])
    assert numbers == [[f"{row % 7919:04}" for row in range(rows)]]


def test_columns_follow_each_other() -> None:
    text = np.frombuffer(b"a,bc\n,d\n", np.uint8)
    ends = np.empty((3, 2), np.int32)
    assert field_ends(text, ord(","), ends) == 2
    offsets, copied = np.empty((2, 3), np.int32), np.empty(4, np.uint8)
    order = np.array([1, 0], np.int32)
    copy_fields(text, ends, order, np.array([0, 3, 4]), offsets, copied)
    assert (copied.tobytes(), offsets.tolist()) == (b"bcda", [[0, 2, 3], [0, 1, 1]])
