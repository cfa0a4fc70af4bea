"""Headers and rows of ARFF files."""

from __future__ import annotations

import pytest

from redveil.data.arff import ArffFile, open_arff
from redveil.data.layout import Layout
from redveil.errors import LoadError

HEADER = """% A comment
@RELATION 'some people'

@attribute id string
@Attribute 'a b' {yes, no}
@ATTRIBUTE "it's" numeric
@attribute mood{'very good', bad} % inline
@attribute when date "yyyy-MM-dd"
@attribute height REAL
"""


def opened(rows: str, header: str = HEADER) -> ArffFile:
    return open_arff(f"{header}@data\n{rows}".encode(), Layout(), "a.arff")


def values(rows: str) -> list[tuple[object, ...]]:
    file = opened(rows)
    table = file.read(file.names)
    assert table.markers == ("?",)
    assert table.rows == len(table.columns["id"])
    return list(zip(*(column.to_pylist() for column in table.columns.values()), strict=True))


def test_names() -> None:
    assert opened("1,yes,1,bad,x,1").names == ("id", "a b", "it's", "mood", "when", "height")


def test_plain_rows() -> None:
    assert values("p1,yes,1.5,bad,?,7\n% comment\n\n p2 , no , ? , bad,2020-01-01,8\r\n") == [
        ("p1", "yes", "1.5", "bad", "?", "7"),
        ("p2 ", " no ", " ? ", " bad", "2020-01-01", "8"),
    ]


@pytest.mark.parametrize(
    ("row", "cells"),
    [
        (
            r"""'p, 1', "no", 1, 'very good', '50% \'more\'', 7""",
            ("p, 1", "no", "1", "very good", "50% 'more'", "7"),
        ),
        (r"""'a\nb\\' ,,,,,""", ("a\nb\\", "", "", "", "", "")),
        (r"""it's, say "x", a\b, "?", '', x""", ("it's", 'say "x"', r"a\b", "?", "", "x")),
    ],
)
def test_quoted_rows(row: str, cells: tuple[str, ...]) -> None:
    assert values(row) == [cells]


def test_comments_end_rows() -> None:
    assert values("p1,yes,1,bad,x,7 % a, b") == [("p1", "yes", "1", "bad", "x", "7")]


def test_sparse_rows_leave_out_zeros_and_first_categories() -> None:
    assert values("{0 p1, 1 no, 5 2.5}\n{ 0 'p 2' , 3 bad,4 \"x\"} % end\n{}\n{2 ?}") == [
        ("p1", "no", "0", "very good", None, "2.5"),
        ("p 2", "yes", "0", "bad", "x", "0"),
        (None, "yes", "0", "very good", None, "0"),
        (None, "yes", "?", "very good", None, "0"),
    ]


def test_sparse_and_dense_rows_may_be_mixed() -> None:
    assert [row[0] for row in values("{0 p1}\np2,yes,1,bad,x,7")] == ["p1", "p2"]


def test_only_the_wanted_columns_are_read() -> None:
    assert list(opened("p1,yes,1,bad,x,7").read(["height", "id"]).columns) == ["height", "id"]


def test_a_row_knows_its_line() -> None:
    table = opened("% c\np1,yes,1,bad,x,7\n\np2,yes,1,bad,x,7").read(["id"])
    assert table.where([0, 1]) == ["a.arff, line 12", "a.arff, line 14"]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (
            "p1,yes,1,bad,x,7\np2,yes",
            "a.arff, line 12: 2 values, but the header declares 6 attributes; "
            "quote values that contain commas",
        ),
        (
            "'p1',yes",
            "a.arff, line 11: 2 values, but the header declares 6 attributes; "
            "quote values that contain commas",
        ),
        (
            """"say ""x", yes, 1, bad, x, 7""",
            "a.arff, line 11: a quotation mark is not closed; close it, or "
            "escape it with a backslash",
        ),
        (
            "'p1,yes,1,bad,x,7",
            "a.arff, line 11: a quotation mark is not closed; close it, or "
            "escape it with a backslash",
        ),
        (
            "{6 x}",
            "a.arff, line 11: not a sparse row of 6 attributes; write {index value, …} "
            "with indices from 0",
        ),
        (
            "{0 x",
            "a.arff, line 11: not a sparse row of 6 attributes; write {index value, …} "
            "with indices from 0",
        ),
        (
            "{-1 x}",
            "a.arff, line 11: not a sparse row of 6 attributes; write {index value, …} "
            "with indices from 0",
        ),
    ],
)
def test_bad_rows(rows: str, message: str) -> None:
    with pytest.raises(LoadError) as caught:
        values(rows)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ("hello\n", "a.arff, line 1: not an ARFF header line; write @attribute"),
        (
            "@attribute x\n",
            "a.arff, line 1: an attribute without a name or type; write @attribute name type",
        ),
        (
            "@attribute x relational\n",
            "a.arff, line 1: relational attributes are not supported; use one value per row",
        ),
        (
            "@attribute x real\n@attribute 'x' real\n",
            "a.arff: columns 1 and 2 have the same name; rename one of them",
        ),
        (
            "@attribute '' real\n",
            "a.arff: column 1 has no name; name every column in the header",
        ),
    ],
)
def test_bad_headers(header: str, message: str) -> None:
    with pytest.raises(LoadError) as caught:
        opened("1,2\n", header)
    assert str(caught.value) == message


def test_a_file_without_data() -> None:
    with pytest.raises(LoadError, match="no @data line; check that this is an ARFF file"):
        open_arff(HEADER.encode(), Layout(), "a.arff")


def test_encoding_and_line_ends() -> None:
    text = "@attribute größe string\r@data\ré\r"
    file = open_arff(text.encode("latin-1"), Layout(encoding="latin-1"), "a.arff")
    assert file.read(["größe"]).columns["größe"].to_pylist() == ["é"]
