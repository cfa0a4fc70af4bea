"""A result as an Excel workbook: a sheet with the redescriptions, and one with the certificate.

Names come from other people's files. Every text is stored as text, so that none is ever taken for a
formula, and what Excel would read as an escaped character is escaped itself.
"""

from __future__ import annotations

import re
from io import BytesIO
from typing import Any, Final

from redveil.base.display import Listing
from redveil.errors import InputError
from redveil.report.arrow import to_arrow
from redveil.report.document import ResultDocument
from redveil.report.wording import confirmation_text, listing_text

SUFFIX: Final = ".xlsx"
# More than Excel can hold in a cell.
_LONGEST: Final = 32_767
# Excel shows _x0041_ as A.
_ESCAPED: Final = re.compile(r"_(?=x[0-9A-Fa-f]{4}_)")
_WIDE: Final = 48
_NARROW: Final = 12
_NUMBER_FORMATS: Final = {
    **dict.fromkeys(("p_value", "true_p_value"), "0E+00"),
    **dict.fromkeys(("leaf_table", "detail"), "0"),
}


def workbook(document: ResultDocument) -> bytes:
    """Return the file's content. Needs `redveil[excel]`."""
    openpyxl = _openpyxl()
    book = openpyxl.Workbook()
    sheet = book.active
    # The first thing that a reader sees.
    sheet.title = "NOT PRIVATE" if document.warning else "redescriptions"
    _fill_list(sheet, document)
    _fill_certificate(book.create_sheet("certificate"), document)
    content = BytesIO()
    book.save(content)
    return content.getvalue()


def _openpyxl() -> Any:
    try:
        import openpyxl
    except ModuleNotFoundError:
        raise InputError(
            "writing Excel files needs openpyxl; run pip install 'redveil[excel]', or use csv"
        ) from None
    return openpyxl


def _fill_list(sheet: Any, document: ResultDocument) -> None:
    """Write the columns of the data frame under readable heads."""
    from openpyxl.styles import Alignment
    from openpyxl.utils import get_column_letter

    table = to_arrow(document)
    for column, name in enumerate(table.column_names, start=1):
        _write(sheet, 1, column, name.replace("_", " "), bold=True)
        is_query = name in ("left", "right")
        sheet.column_dimensions[get_column_letter(column)].width = _WIDE if is_query else _NARROW
        for row, value in enumerate(table[name].to_pylist(), start=2):
            cell = _write(sheet, row, column, value)
            if is_query:
                cell.alignment = Alignment(wrap_text=True, vertical="top")
            elif isinstance(value, float):
                usual = "#,##0" if name.startswith("support") else "0.00"
                cell.number_format = _NUMBER_FORMATS.get(name, usual)
    sheet.freeze_panes = "C2"


def _fill_certificate(sheet: Any, document: ResultDocument) -> None:
    """Write the certificate's facts, after everything that must not be overlooked."""
    notes = [
        ("warning", document.warning),
        ("message", document.message),
        ("list", listing_text(document)),
        ("confirmed", confirmation_text(document)),
    ]
    facts: Listing = document.certificate.listing(document.entities)
    rows = [(name, note) for name, note in notes if note] + [(n, f) for n, f in facts.rows]
    for row, (name, fact) in enumerate(rows, start=1):
        _write(sheet, row, 1, name, bold=True)
        _write(sheet, row, 2, fact)
    sheet.column_dimensions["A"].width = _NARROW
    sheet.column_dimensions["B"].width = 2 * _WIDE


def _write(sheet: Any, row: int, column: int, value: object, *, bold: bool = False) -> Any:
    """Write a cell; text stays text, whatever it begins with."""
    from openpyxl.styles import Font

    cell = sheet.cell(row, column)
    if isinstance(value, str):
        cell.value = harmless(value)
        cell.data_type = "s"
        # Excel keeps it as text even if somebody edits the cell.
        cell.number_format = "@"
    else:
        cell.value = value
    if bold:
        cell.font = Font(bold=True)
    return cell


def harmless(text: str) -> str:
    r"""Return text that an Excel cell can hold: printable, not escaped, and not too long.

    >>> harmless("a\x1b[31m"), harmless("_x0041_")
    ('a [31m', '_x005F_x0041_')
    """
    printable = "".join(c if c.isprintable() or c == "\n" else " " for c in text)
    escaped = _ESCAPED.sub("_x005F_", printable)
    return escaped if len(escaped) <= _LONGEST else f"{escaped[: _LONGEST - 1]}…"
