"""Columns of text: however they are read, each value is read on its own."""

from __future__ import annotations

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from redveil.data.columns import convert
from redveil.data.raw import RawTable
from redveil.data.reading import Reading
from redveil.data.table import CodedColumn
from redveil.schema import Attribute, Kind

texts = st.lists(st.sampled_from(["0", "1", "x", "é", "", " ", "10", "\t"]), max_size=8)


@settings(max_examples=200, deadline=None)
@given(st.lists(texts, min_size=1, max_size=3), st.integers(0, 2))
def test_texts_of_one_character_are_read_like_others(chunks: list[list[str]], skipped: int) -> None:
    sick = Attribute("sick", Kind.BOOLEAN, true_values=("1", "x"), false_values=("0",))
    columns = [
        pa.chunked_array([pa.array(chunk, kind) for chunk in chunks], kind)[skipped:]
        for kind in (pa.string(), pa.large_string())
    ]
    read = [
        convert(RawTable("a.csv", len(column), {"sick": column}, lambda _: []), sick, ["", "x"])
        for column in columns
    ]
    codes = [one.column.codes.tolist() for one in read if isinstance(one.column, CodedColumn)]
    assert codes[0] == codes[1]
    assert read[0].reading.values() == read[1].reading.values()
    for reading in Reading:
        assert (read[0].reading.is_(reading) == read[1].reading.is_(reading)).all()
