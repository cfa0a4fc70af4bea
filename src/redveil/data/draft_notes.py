"""Notes on the two tables of a draft: their layout, whether they are the same, common keys."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from redveil.data.excel import ExcelSheet
from redveil.data.join import Keys, join
from redveil.data.raw import RawTable, Source, shown
from redveil.data.report import HARDLY
from redveil.schema import View

_MOST_LISTED: Final = 8
_SIGNS: Final = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}


@dataclass(frozen=True, slots=True)
class Note:
    """What was noticed about two tables; a warning if something may be wrong.

    >>> print(Note("left.csv: columns separated by tabs"))
    left.csv: columns separated by tabs
    """

    text: str
    is_warning: bool = False

    def __str__(self) -> str:
        return self.text


def layout_note(source: Source, view: View) -> list[Note]:
    """Say which layout was detected, if it is not the usual one.

    >>> from pathlib import Path
    >>> from redveil.data.csv_file import CsvFile
    >>> from redveil.data.layout import Layout
    >>> tabs = CsvFile("left.csv", ("id",), Layout("|", "latin-1"), Path("left.csv"), 3, 2**20)
    >>> print(layout_note(tabs, View("left", "id", (), delimiter="|"))[0])
    left.csv: columns separated by bars; encoding latin-1
    """
    parts = []
    if view.delimiter is not None:
        parts.append(f"columns separated by {_SIGNS[source.layout.delimiter]}")
    if source.layout.encoding != "utf-8":
        parts.append(f"encoding {source.layout.encoding}")
    if any(attribute.decimal_char == "," for attribute in view.attributes):
        parts.append("numbers with decimal commas")
    if isinstance(source, ExcelSheet) and len(source.sheets) > 1:
        listed = ", ".join(shown(name) for name in source.sheets[:_MOST_LISTED])
        parts.append(f"one of {len(source.sheets)} sheets ({listed}); name one as FILE#SHEET")
    notes = [Note(f"{source.place}: {'; '.join(parts)}")] if parts else []
    return notes + (unnamed_notes(source) if isinstance(source, ExcelSheet) else [])


def unnamed_notes(sheet: ExcelSheet) -> list[Note]:
    """Warn of columns that are ignored because they have no name."""
    unnamed = sheet.unnamed()
    if not unnamed:
        return []
    listed = ", ".join(unnamed[:_MOST_LISTED]) + (", …" if len(unnamed) > _MOST_LISTED else "")
    what = f"no name in row {sheet.header + 1}, the header, so ignored: column {listed}"
    return [Note(f"{sheet.place}: {what}", is_warning=True)]


def same_table_notes(left: RawTable, right: RawTable) -> list[Note]:
    """Warn if both tables have the same columns, or are the same.

    >>> import pyarrow as pa
    >>> table = RawTable("left.csv", 1, {"id": pa.chunked_array([[1]])}, list)
    >>> same_table_notes(table, table)[0].is_warning
    True
    """
    if set(left.columns) != set(right.columns):
        return []
    remedy = (
        "name two different tables, or use each column in one of the views only "
        "(redveil.use), or attributes will only match themselves"
    )
    same = left.rows == right.rows and all(
        left.columns[name].equals(right.columns[name]) for name in left.columns
    )
    what = "are the same table" if same else "have the same columns"
    return [Note(f"{left.place} and {right.place} {what}; {remedy}", is_warning=True)]


def key_notes(left: Keys, right: Keys) -> list[Note]:
    """Say how many keys are in both tables; warn if they hardly overlap."""
    common = len(join(left, right).left_rows)
    fewest = min(len(left.texts), len(right.texts))
    if common < HARDLY * fewest:
        only = f"only {common:,}" if common else "none"
        text = f"{only} of {fewest:,} keys are in both tables; check the key columns"
        return [Note(text, is_warning=True)]
    several = left.repeated_entities + right.repeated_entities
    more = f"; {several:,} with several rows {'is' if several == 1 else 'are'} left out"
    text = f"{common:,} of {fewest:,} keys are in both tables{more if several else ''}"
    return [Note(text, is_warning=several > 0)]
