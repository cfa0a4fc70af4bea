"""Workbooks for tests: .xlsx by openpyxl, .ods by hand."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from html import escape
from pathlib import Path
from typing import Any

import openpyxl

_SPACES = " ".join(
    f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
    for name in ("office", "table", "text", "manifest")
)

SHARED_TEXTS = "xl/sharedStrings.xml"

Rows = Iterable[Sequence[Any]]


def write_xlsx(path: Path, sheets: Mapping[str, Rows], *, formulas: bool = False) -> Path:
    """Write sheets of cells; None is an empty cell, and "=…" a text unless it is a formula."""
    book = openpyxl.Workbook()
    book.remove(book["Sheet"])
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(list(row))
            for cell in sheet[sheet.max_row] if row and not formulas else ():
                if cell.data_type == "f":
                    cell.data_type = "s"
    book.save(path)
    return path


def write_shared_xlsx(path: Path, sheets: Mapping[str, Rows]) -> Path:
    """Write sheets whose texts are in a table of their own, as Excel does, unlike openpyxl."""
    write_xlsx(path, sheets)
    with zipfile.ZipFile(path) as before:
        parts = {name: before.read(name).decode() for name in before.namelist()}
    texts: list[str] = []

    def share(cell: re.Match[str]) -> str:
        texts.append(f"<si>{cell[1]}</si>")
        return f't="s"><v>{len(texts) - 1}</v>'

    for name, text in list(parts.items()):
        if name.startswith("xl/worksheets/"):
            parts[name] = re.sub(r't="inlineStr"><is>(.*?)</is>', share, text, flags=re.DOTALL)
    space = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    parts[SHARED_TEXTS] = f'<sst xmlns="{space}">{"".join(texts)}</sst>'
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as after:
        for name, text in parts.items():
            after.writestr(name, text)
    return path


def write_ods(path: Path, sheets: Mapping[str, Rows]) -> Path:
    """Write sheets of cells in OpenDocument."""
    tables = "".join(
        f'<table:table table:name="{escape(name)}">'
        + "".join(
            f"<table:table-row>{''.join(map(_ods_cell, row))}</table:table-row>" for row in rows
        )
        + "</table:table>"
        for name, rows in sheets.items()
    )
    kind = "application/vnd.oasis.opendocument.spreadsheet"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("mimetype", kind)
        archive.writestr(
            "META-INF/manifest.xml",
            f"<manifest:manifest {_SPACES}>"
            f'<manifest:file-entry manifest:full-path="/" manifest:media-type="{kind}"/>'
            "</manifest:manifest>",
        )
        archive.writestr(
            "content.xml",
            f"<office:document-content {_SPACES}><office:body><office:spreadsheet>{tables}"
            "</office:spreadsheet></office:body></office:document-content>",
        )
    return path


def _ods_cell(value: Any) -> str:
    if value is None:
        return "<table:table-cell/>"
    if isinstance(value, bool):
        kind = f'boolean" office:boolean-value="{str(value).lower()}'
    elif isinstance(value, int | float):
        kind = f'float" office:value="{value!r}'
    elif isinstance(value, date):
        kind = f'date" office:date-value="{value.isoformat()}'
    else:
        kind = "string"
    text = f"<text:p>{escape(str(value))}</text:p>"
    return f'<table:table-cell office:value-type="{kind}">{text}</table:table-cell>'
