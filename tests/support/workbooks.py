"""Workbooks for tests, by openpyxl."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import openpyxl

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
