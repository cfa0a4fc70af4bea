from __future__ import annotations

import sys
from io import BytesIO
from typing import Any

import openpyxl
import pytest
from python_calamine import CalamineWorkbook

from redveil.errors import InputError
from redveil.findings.reporting import Constraints
from redveil.owner import truth
from redveil.report.excel import harmless, workbook
from support.clinic import NOTHING, clinic, mined_clinic
from support.named import HOSTILE_NAMES, mined_with


def opened(content: bytes) -> Any:
    return openpyxl.load_workbook(BytesIO(content))


def test_the_first_sheet_is_the_data_frame() -> None:
    result = mined_clinic(Constraints())
    book = opened(workbook(result.document))
    assert book.sheetnames == ["redescriptions", "certificate"]
    heads, *rows = book["redescriptions"].iter_rows(values_only=True)
    table = result.to_arrow()
    assert list(heads) == [name.replace("_", " ") for name in table.column_names]
    assert [list(row) for row in rows] == [
        [pytest.approx(value) if isinstance(value, float) else value for value in row.values()]
        for row in table.to_pylist()
    ]
    wanted = {"corrected", "corrected low", "corrected high", "confirmed", "expected jaccard"}
    assert wanted | {"support left", "support right low", "p value", "leaf table"} <= set(heads)


def test_the_second_sheet_has_the_certificate_and_how_the_list_was_made() -> None:
    result = mined_clinic(Constraints()).filter(max_support=0.5)
    rows = list(opened(workbook(result.document))["certificate"].iter_rows(values_only=True))
    assert ("promise", "ε = 3, δ = 0, exact") in rows
    assert "support at most 0.5" in dict(rows)["list"]
    assert "confirmed after correcting" in dict(rows)["confirmed"]


def test_an_empty_list_says_why() -> None:
    rows = opened(workbook(mined_clinic(NOTHING).document))["certificate"].iter_rows()
    assert next(cell.value for cell in next(rows)) == "message"


def test_true_values_are_not_overlooked() -> None:
    book = opened(workbook(truth(mined_clinic(Constraints()), clinic()).document))
    assert book.sheetnames[0] == "NOT PRIVATE"
    assert "true jaccard" in [cell.value for cell in book["NOT PRIVATE"][1]]
    assert book["certificate"]["A1"].value == "warning"


@pytest.mark.parametrize("name", HOSTILE_NAMES)
def test_names_are_text_and_nothing_else(name: str) -> None:
    content = workbook(mined_with(name).document)
    for sheet in opened(content):
        for row in sheet.iter_rows():
            for cell in row:
                assert cell.data_type != "f"
                assert cell.hyperlink is None
                if isinstance(cell.value, str):
                    assert cell.data_type == "s"
                    assert cell.number_format == "@"
    # Another program reads the same.
    (_, *rows) = CalamineWorkbook.from_filelike(BytesIO(content)).get_sheet_by_index(0).to_python()
    expected = [harmless(one.left.text) for one in mined_with(name)]
    assert rows
    assert [str(row[0]).replace("_x005F_", "_") for row in rows] == [
        one.replace("_x005F_", "_") for one in expected
    ]


def test_a_cell_holds_no_more_than_excel_can() -> None:
    assert len(harmless("x" * 40_000)) == 32_767
    assert harmless("x" * 40_000).endswith("…")


def test_an_absent_library_is_named_with_its_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(InputError, match=r"needs openpyxl; run pip install 'redveil\[excel\]'"):
        workbook(mined_clinic(Constraints()).document)
