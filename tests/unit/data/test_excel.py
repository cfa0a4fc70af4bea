"""Workbooks: sheets, cells, places, and files that would exhaust memory."""

from __future__ import annotations

import builtins
import re
import zipfile
from collections.abc import Callable
from contextlib import suppress
from datetime import date, datetime, time, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from redveil.data import excel, workbook_size
from redveil.data.excel import open_excel
from redveil.data.loading import examine, load
from redveil.data.table import CodedColumn, NumericColumn, Table
from redveil.data.workbook_size import check_size
from redveil.errors import LoadError
from redveil.schema import Attribute, Kind, Schema, View
from redveil.schema.dates import DateRule
from redveil.sealed import open_for_owner
from support.workbooks import SHARED_TEXTS, Rows, write_shared_xlsx, write_xlsx

RULE = DateRule(date(2010, 1, 1), date(2019, 12, 31), format="%d.%m.%Y")
AGE = Attribute("age", Kind.NUMERIC, maximum=2000, cuts=(5.0,), decimal_char=",", group_char=".")
SEEN = Attribute("seen", Kind.ORDINAL, categories=("2017", "2018", "2019"), date=RULE)
SICK = Attribute("sick", Kind.BOOLEAN, true_values=("yes",), false_values=("no",))
VIEW = View("left", "id", (AGE, SEEN, SICK))
OTHER = View("right", "id", (Attribute("cough", Kind.BOOLEAN),))
HEADER = ("id", "age", "seen", "sick")


def loaded(path: object, view: View = VIEW) -> Table:
    right = pa.table({"id": list("1234567"), "cough": [True] * 7})
    return open_for_owner(load(path, right, Schema("toy", view, OTHER), few_in_common=True).table)


def contents(table: Table) -> list[list[float]]:
    found = []
    for column in table.left.values():
        match column:
            case NumericColumn():
                found.append(column.values.tolist())
            case CodedColumn():
                found.append(column.codes.tolist())
    return found


@pytest.mark.parametrize("write", [write_xlsx, write_shared_xlsx])
def test_each_cell_is_read_by_its_own_type(
    tmp_path: Path, write: Callable[[Path, dict[str, Rows]], Path]
) -> None:
    rows = [
        HEADER,
        (1, 1.5, date(2018, 3, 1), True),
        # Texts are written as the schema declares, numbers and dates are not.
        (2, "1,5", "31.12.2018", "yes"),
        (3, "1.234", "2018-12-31", "true"),
        (4, 1234, date(2019, 1, 1), 0),
    ]
    table = loaded(write(tmp_path / "left.xlsx", {"Labs": rows}))
    assert contents(table) == [[1.5, 1.5, 1234, 1234], [1, 1, 255, 2], [1, 1, 255, 0]]


def test_cells_as_text(tmp_path: Path) -> None:
    cells = [3.0, 0.5, 1e20, True, date(2018, 3, 1), datetime(2018, 3, 1, 12), time(3, 4)]
    cells += [timedelta(hours=30), "#N/A", "=1/0", None, " x ", "007"]
    sheets: dict[str, Rows] = {"Labs": [["id"], *([cell] for cell in cells)]}
    path = write_xlsx(tmp_path / "left.xlsx", sheets, formulas=True)
    # A formula that was never calculated has no value, and a row without cells is no row.
    assert open_excel(path, None, "left.xlsx").read(["id"]).columns["id"].to_pylist() == [
        *("3", "0.5", "100000000000000000000", "true", "2018-03-01", "2018-03-01T12:00:00"),
        *("03:04:00", "1 day, 6:00:00", " x ", "007"),
    ]


def test_rows_without_cells_are_no_rows_and_places_are_those_of_the_sheet(tmp_path: Path) -> None:
    rows: Rows = [(), HEADER, (1, 2, None, None), (), (None,) * 4, (2, "old", None, None)]
    path = write_xlsx(tmp_path / "left.xlsx", {"Labs": rows})
    right = pa.table({"id": ["1", "2"], "cough": [True, True]})
    report = examine(path, right, Schema("toy", VIEW, OTHER))
    assert report.joined == 2
    assert report.details() == [
        f"{path}, sheet Labs, row 6, column age: not a number; "
        "correct it, or list it in missingValues if it means missing"
    ]


def test_columns_without_a_name_are_ignored(tmp_path: Path) -> None:
    rows: Rows = [("id", None, "age", None), (1, "x", 3, None), (2, None, 4, "a stray cell")]
    sheet = open_excel(write_xlsx(tmp_path / "left.xlsx", {"Labs": rows}), None, "left.xlsx")
    assert sheet.names == ("id", "age")
    assert sheet.read(["age"]).columns["age"].to_pylist() == ["3", "4"]


def test_two_columns_of_one_name_are_refused(tmp_path: Path) -> None:
    path = write_xlsx(tmp_path / "left.xlsx", {"Labs": [("id", "x", "x"), (1, 2, 3)]})
    with pytest.raises(LoadError, match="sheet Labs: columns 2 and 3 have the same name"):
        open_excel(path, None, "left.xlsx")


@pytest.fixture
def book(tmp_path: Path) -> Path:
    sheets: dict[str, Rows] = {
        "Notes": [("id", "age"), (1, 7)],
        "Labs #2": [HEADER, (1, 8, None, None)],
        "Nothing": [],
        "Header": [HEADER],
    }
    return write_xlsx(tmp_path / "book.xlsx", sheets)


@pytest.mark.parametrize(
    ("given", "declared", "age"),
    [
        ("book.xlsx", None, 7),
        ("book.xlsx", "Labs #2", 8),
        ("book.xlsx", 2, 8),
        ("book.xlsx#Labs #2", None, 8),
        ("book.xlsx#Labs #2", "Notes", 8),
        ("BOOK.XLSX#Notes", None, 7),
    ],
)
def test_the_sheet(book: Path, given: str, declared: str | int | None, age: float) -> None:
    (book.parent / "BOOK.XLSX").write_bytes(book.read_bytes())
    view = View("left", "id", (AGE,), sheet=declared)
    assert contents(loaded(book.parent / given, view)) == [[age]]


def test_a_file_whose_name_has_a_sheet_sign_is_that_file(tmp_path: Path) -> None:
    rows: Rows = [("id", "age"), (1, 9)]
    odd = write_xlsx(tmp_path / "other.xlsx", {"Labs": rows}).rename(tmp_path / "a.xlsx#b.xlsx")
    assert contents(loaded(odd, View("left", "id", (AGE,)))) == [[9]]


@pytest.mark.parametrize(
    ("given", "declared", "complaint"),
    [
        ("book.xlsx", "Lab #2", "no sheet Lab #2; did you mean Labs #2?"),
        ("book.xlsx#Results", None, "no sheet Results; check dialect.sheetName"),
        ("book.xlsx", 5, "4 sheets; check dialect.sheetNumber"),
        ("book.xlsx", "Nothing", "no cells; name another sheet"),
        ("book.xlsx", "Notes", "no column seen; check the order of the files"),
    ],
)
def test_a_sheet_that_is_not_there(
    book: Path, given: str, declared: str | int | None, complaint: str
) -> None:
    view = View("left", "id", (AGE, SEEN, SICK), sheet=declared)
    with pytest.raises(LoadError) as caught:
        loaded(book.parent / given, view)
    assert complaint in str(caught.value)


def test_a_sheet_without_rows_has_no_entities(book: Path) -> None:
    assert loaded(book, View("left", "id", (AGE,), sheet="Header")).rows == 0


def test_a_title_above_the_header(tmp_path: Path) -> None:
    path = write_xlsx(tmp_path / "left.xlsx", {"Labs": [("Results of 2020",), HEADER]})
    with pytest.raises(LoadError, match="only one column found; delete the rows above the header"):
        loaded(path)


def patched(path: Path, change: Callable[[bytes], bytes]) -> Path:
    """Change the sheet of a workbook, and write it in place."""
    write_xlsx(path, {"Labs": [HEADER, (1, 2, None, None)]})
    with zipfile.ZipFile(path) as before:
        parts = {name: before.read(name) for name in before.namelist()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as after:
        for name, data in parts.items():
            after.writestr(name, change(data) if name.endswith("sheet1.xml") else data)
    return path


def inline_xlsx(path: Path, sheets: dict[str, Rows]) -> Path:
    """Write a workbook whose texts are in the sheet, in CDATA, and not in a table of their own."""
    ((_, rows),) = sheets.items()

    def cell(value: object) -> str:
        text = "" if value is None else f"<is><t><![CDATA[{value}]]></t></is>"
        return f'<c t="inlineStr">{text}</c>'

    lines = "".join(f"<row>{''.join(map(cell, row))}</row>" for row in rows)
    space = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    xml = f'<worksheet xmlns="{space}"><sheetData>{lines}</sheetData></worksheet>'
    return patched(path, lambda _: xml.encode())


@pytest.mark.parametrize(
    "cell",
    [b"XFD1048576", b"A99999999", b"AAAA20000", b"$xfd$1048576", b"AAAAAAA1", b"A0099999999"],
)
@pytest.mark.parametrize("quote", [b'"', b"'"])
def test_a_cell_far_away_is_refused(tmp_path: Path, cell: bytes, quote: bytes) -> None:
    path = patched(
        tmp_path / "left.xlsx",
        lambda data: data.replace(b'r="B2"', b"r=%b%b%b" % (quote, cell, quote)),
    )
    with pytest.raises(LoadError, match="makes the sheet too large; delete empty rows and columns"):
        loaded(path)


def test_a_row_far_away_is_refused(tmp_path: Path) -> None:
    path = patched(
        tmp_path / "left.xlsx",
        lambda data: data.replace(b'<row r="2"', b'<row r="99999999"').replace(b' r="A2"', b""),
    )
    with pytest.raises(LoadError, match="row 99999999 or column 4 makes the sheet too large"):
        loaded(path)


@pytest.mark.parametrize("write", [write_xlsx, write_shared_xlsx, inline_xlsx])
@pytest.mark.parametrize(
    "text",
    [
        'see r="XFD9999"',
        "r='A99999999'",
        '<c r="XFD99999"><v>1</v></c>',
        '<row r="99999999"/>',
    ],
)
def test_a_text_that_looks_like_a_place_is_a_text(
    tmp_path: Path, write: Callable[[Path, dict[str, Rows]], Path], text: str
) -> None:
    rows = [("id", "age", "remark"), (1, 2, text), (2, 3, None)]
    path = write(tmp_path / "left.xlsx", {"Labs": rows})
    assert contents(loaded(path, View("left", "id", (AGE,)))) == [[2, 3]]
    assert open_excel(path, None, "left").read(["remark"]).columns["remark"].to_pylist() == [
        text,
        None,
    ]


def spoilt(path: Path, odd: bytes, text: bytes, *, cell: bytes = b'r="B2"') -> Path:
    """Put a cell with odd bytes and one with a text into each row of a sheet."""
    cells = b'<c t="inlineStr"><is><t>%b</t></is></c>'
    return patched(
        path,
        lambda data: data.replace(b"</row>", cells % odd + cells % text + b"</row>").replace(
            b'r="B2"', cell
        ),
    )


@pytest.mark.parametrize("size", [1, 7, 2**20])
@pytest.mark.parametrize("odd", [b"&#1;", b"\x01", b"\xff", b"]]>", b"\xef\xbf\xbf"])
@pytest.mark.parametrize(
    "text",
    [
        b'see r="XFD99999"',
        b"r='A99999999' > \"",
        b'<![CDATA[<c r="XFD99999"><v>1</v></c>]]>',
        b'<!-- <c r="XFD99999"><v>1</v></c> -->',
    ],
)
def test_a_text_that_is_not_xml_is_a_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int, odd: bytes, text: bytes
) -> None:
    """Two texts together stopped loading: expat refuses the one, and the other is like a place."""
    path = spoilt(tmp_path / "left.xlsx", odd, text)
    monkeypatch.setattr(workbook_size, "_PIECE", size)
    check_size(path, "left.xlsx")


@pytest.mark.parametrize("size", [1, 7, 2**20])
@pytest.mark.parametrize("odd", [b"&#1;", b"\x01", b"\xff"])
@pytest.mark.parametrize("cell", [b'r="XFD99999"', b"s='>' r = 'A99999999'"])
def test_a_cell_far_away_is_refused_whatever_the_texts_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int, odd: bytes, cell: bytes
) -> None:
    path = spoilt(tmp_path / "left.xlsx", odd, b"x", cell=cell)
    monkeypatch.setattr(workbook_size, "_PIECE", size)
    with pytest.raises(LoadError, match="makes the sheet too large"):
        check_size(path, "left.xlsx")


def test_an_entity_with_a_control_character_and_a_place_stops_nothing(tmp_path: Path) -> None:
    path = spoilt(tmp_path / "left.xlsx", b"&#1;", b'see r="XFD99999"')
    assert loaded(path).rows == 1


def test_an_empty_cell_far_away_is_no_cell(tmp_path: Path) -> None:
    path = patched(
        tmp_path / "left.xlsx",
        lambda data: data.replace(b"</row>", b'<c r="XFD99999" s="0"/></row>'),
    )
    assert loaded(path).rows == 1


def test_a_cell_at_the_border_of_two_pieces_is_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workbook_size, "_PIECE", 7)
    monkeypatch.setattr(workbook_size, "MOST_CELLS", 1000)
    path = patched(tmp_path / "left.xlsx", lambda data: data.replace(b'"B2"', b'"AB99"'))
    with pytest.raises(LoadError, match="row 99 or column 28 makes the sheet too large"):
        loaded(path)
    patched(path, lambda data: re.sub(rb'"([A-Z]?)2"', rb'"\g<1>99"', data).replace(b"B99", b"J99"))
    assert loaded(path).rows == 1


def rewritten(path: Path, part: str, change: Callable[[bytes], bytes]) -> Path:
    """Change one part of a workbook, and write it in place."""
    with zipfile.ZipFile(path) as before:
        parts = {name: before.read(name) for name in before.namelist()}
    parts[part] = change(parts[part])
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as after:
        for name, data in parts.items():
            after.writestr(name, data)
    return path


@pytest.mark.parametrize(
    "odd",
    ["", "<t/>", "<r/>", "<r><rPr/></r>", "<phoneticPr/>", "<!-- -->", "<si/>", "text alone"],
)
def test_a_text_without_text_does_not_move_the_others(tmp_path: Path, odd: str) -> None:
    rows = [("id", "sick"), (1, "odd one"), (2, "yes"), (3, "no"), (4, "yes"), (5, "last")]
    path = write_shared_xlsx(tmp_path / "left.xlsx", {"Labs": rows})
    usual = loaded(path, View("left", "id", (SICK,)))

    def change(texts: bytes) -> bytes:
        assert texts.count(b"<t>odd one</t>") == 1
        return texts.replace(b"<t>odd one</t>", odd.encode())

    rewritten(path, SHARED_TEXTS, change)
    assert contents(loaded(path, View("left", "id", (SICK,)))) == contents(usual)
    assert contents(usual) == [[255, 1, 0, 1, 255]]


SHEET = "xl/worksheets/sheet1.xml"
THREE: Rows = [("id", "age"), (1, 2), (2, 3), (3, 4)]
# In the row of the first entity: what makes others disappear, and the complaint about it.
IN_XLSX = {
    "table": (
        b"</row>",
        b"<extLst><ext><sheetData></sheetData></ext></extLst></row>",
        "a table within another",
    ),
    "empty table": (b"</row>", b"<extLst><sheetData/></extLst></row>", "a table within another"),
    "row": (b"</row>", b'<ext><row r="9"></row></ext></row>', "a row within another"),
    "another row": (b'r="A2"', b'r="A3"', "a cell that is not in the row that it names"),
    "two places": (b'r="A2"', b'r="A3" r="A2"', "a cell that is not in the row that it names"),
    "the same row": (b'<row r="2"', b'<row r="1"', "rows that are not in order"),
    "row 0": (b'<row r="2"', b'<row r="0"', "rows that are not in order"),
    "no number": (b'<row r="2"', b'<row r="x"', "rows that are not in order"),
    "no row": (b'<row r="2"', b'<ext r="2"', "a cell that is not in the row"),
    "end of a table": (b"</row>", b"</sheetData><sheetData></row>", "a table that ends within"),
    "end of a row": (b"</row>", b"</row></row>", "a row that ends within"),
}


@pytest.mark.parametrize("odd", ["", "\x01"], ids=["XML", "not XML"])
@pytest.mark.parametrize("name", IN_XLSX)
def test_a_sheet_in_which_one_row_changes_others_is_refused(
    tmp_path: Path, name: str, odd: str
) -> None:
    before, after, complaint = IN_XLSX[name]

    def change(data: bytes) -> bytes:
        head, second, rest = data.partition(b'<row r="2"')
        spoilt = (second + rest).replace(before, after, 1)
        return head + spoilt.replace(b"</sheetData>", f"<x>{odd}</x></sheetData>".encode())

    path = rewritten(write_xlsx(tmp_path / "left.xlsx", {"Labs": THREE}), SHEET, change)
    with pytest.raises(LoadError) as caught:
        loaded(path, View("left", "id", (AGE,)))
    assert f"{path}: {complaint}" in str(caught.value)
    assert str(caught.value).endswith("; save it again, or save it as CSV")


@pytest.mark.parametrize(
    "extra",
    [
        b"<x><from><col>1</col><row>0</row></from><to><row>0</row></to></x>",
        b'<sheetData><row r="1"><c r="A1"><v>1</v></c></row></sheetData>',
    ],
)
def test_what_stands_below_the_rows_of_a_sheet_does_not_matter(
    tmp_path: Path, extra: bytes
) -> None:
    """Such as the place of a drawing, or the remembered cells of other workbooks."""
    path = rewritten(
        write_xlsx(tmp_path / "left.xlsx", {"Labs": THREE}),
        SHEET,
        lambda data: data.replace(b"</sheetData>", b"</sheetData>" + extra),
    )
    assert contents(loaded(path, View("left", "id", (AGE,)))) == [[2, 3, 4]]


def test_rows_and_cells_without_a_number_are_below_and_beside_the_last(tmp_path: Path) -> None:
    path = rewritten(
        write_xlsx(tmp_path / "left.xlsx", {"Labs": THREE}),
        SHEET,
        lambda data: data.replace(b' r="3"', b"").replace(b' r="A3"', b"").replace(b'"4"', b'"04"'),
    )
    assert contents(loaded(path, View("left", "id", (AGE,)))) == [[2, 3, 4]]


def test_a_decompression_bomb_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workbook_size, "MOST_BYTES", 10**6)
    path = patched(tmp_path / "left.xlsx", lambda data: data + b" " * 10**6)
    assert path.stat().st_size < 20_000
    with pytest.raises(LoadError, match="more than 1000000 bytes; save it as CSV or Parquet"):
        loaded(path)


def test_a_wrong_size_in_the_directory_is_noticed(tmp_path: Path) -> None:
    path = patched(tmp_path / "left.xlsx", lambda data: data + b" " * 10**6)
    with zipfile.ZipFile(path) as archive:
        size = archive.getinfo("xl/worksheets/sheet1.xml").file_size
    data = path.read_bytes()
    path.write_bytes(data.replace(size.to_bytes(4, "little"), (500).to_bytes(4, "little")))
    with pytest.raises(LoadError, match="cannot be read as a workbook"):
        loaded(path)


DAMAGED: dict[str, tuple[Callable[[bytes], bytes], str]] = {
    "text": (lambda _: b"id,age\n1,2\n", "not a workbook; if it is text, rename it to end in .csv"),
    "half": (lambda data: data[: len(data) // 2], "cannot be read as a workbook; save it again"),
    "changed": (lambda data: data.replace(b"xl/", b"yl/"), "cannot be read as a workbook"),
    "archive": (lambda _: b"PK\x03\x04" + bytes(90), "cannot be read as a workbook"),
    "password": (
        lambda _: b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600),
        "an old .xls file, or protected by a password; save it as .xlsx",
    ),
}


@pytest.mark.parametrize("name", DAMAGED)
def test_a_damaged_file(tmp_path: Path, name: str) -> None:
    damage, complaint = DAMAGED[name]
    path = write_xlsx(tmp_path / "left.xlsx", {"Labs": [HEADER, (1, 2, None, None)]})
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(LoadError) as caught:
        loaded(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert complaint in str(caught.value)


def test_old_and_binary_files_are_refused(tmp_path: Path) -> None:
    """In an .xls file, one more row can change the texts of others."""
    path = tmp_path / "left.xls"
    path.write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600))
    with pytest.raises(LoadError, match="file, or protected by a password; save it as"):
        loaded(path)
    with zipfile.ZipFile(tmp_path / "left.xlsb", "w") as archive:
        archive.writestr("xl/workbook.bin", b"")
    with pytest.raises(LoadError, match=r"a binary workbook \(.xlsb\); save it as .xlsx"):
        loaded(tmp_path / "left.xlsb")


@pytest.mark.parametrize("name", ["left.ods", "left.xlsx"])
def test_an_opendocument_workbook_is_refused(tmp_path: Path, name: str) -> None:
    """The reader would take it, also under another name, and ignore rows of it."""
    with zipfile.ZipFile(tmp_path / name, "w") as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        archive.writestr("content.xml", "<a/>")
    with pytest.raises(LoadError, match=r"an OpenDocument workbook \(.ods\); save it as .xlsx$"):
        loaded(tmp_path / name)


def test_a_new_file_with_an_old_name_is_read(tmp_path: Path) -> None:
    path = write_xlsx(tmp_path / "left.xls", {"Labs": [HEADER, (1, 2, None, None)]})
    assert open_excel(path, None, "left.xls").names == HEADER


@given(st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 255)), min_size=1, max_size=4))
def test_a_file_with_changed_bytes_is_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, changes: list[tuple[int, int]]
) -> None:
    path = tmp_path_factory.getbasetemp() / "changed.xlsx"
    data = bytearray(write_xlsx(path, {"Labs": [HEADER, (1, 2, None, None)]}).read_bytes())
    for place, byte in changes:
        data[place % len(data)] = byte
    path.write_bytes(data)
    with suppress(LoadError):
        loaded(path)


class Panic(BaseException):
    """What a failed assertion in the reader looks like."""


def test_a_panic_of_the_reader_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_xlsx(tmp_path / "left.xlsx", {"Labs": [HEADER, (1, 2, None, None)]})
    for raised, shown in ((Panic, LoadError), (KeyboardInterrupt, KeyboardInterrupt)):

        def fail(_: Path, kind: type[BaseException] = raised) -> None:
            raise kind("secret")

        monkeypatch.setattr(excel, "_workbook", fail)
        with pytest.raises(shown) as caught:
            open_excel(path, None, "left.xlsx")
        assert raised is KeyboardInterrupt or "secret" not in str(caught.value)


def test_the_reader_is_not_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_xlsx(tmp_path / "left.xlsx", {"Labs": [HEADER, (1, 2, None, None)]})
    plain = builtins.__import__

    def without(name: str, *rest: Any, **more: Any) -> Any:
        if name == "python_calamine":
            raise ImportError(name)
        return plain(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(LoadError) as caught:
        loaded(path)
    assert str(caught.value) == (
        "reading Excel files needs python-calamine; install redveil[excel]"
    )
