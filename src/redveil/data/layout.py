"""The layout of a file: declared by a schema, or guessed for a draft."""

from __future__ import annotations

import codecs
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from redveil.data.text_file import read_bytes
from redveil.schema import View

_DELIMITERS: Final = (",", ";", "\t", "|")
_TABBED: Final = (".tsv", ".tab", ".tsv.gz", ".tab.gz")
# Characters of Windows code page 1252 that are control characters in Latin-1.
_WINDOWS: Final = bytes(range(0x80, 0xA0))


@dataclass(frozen=True, slots=True)
class Layout:
    """The delimiter and the encoding of a text file, the sheet of a workbook.

    >>> Layout().delimiter
    ','
    """

    delimiter: str = ","
    encoding: str = "utf-8"
    sheet: str | int | None = None


def usual_delimiter(name: str) -> str:
    r"""Return the delimiter of a text file, by the end of its name.

    >>> usual_delimiter("left.tsv"), usual_delimiter("left.csv")
    ('\t', ',')
    """
    return "\t" if name.lower().endswith(_TABBED) else ","


def layout_of(paths: Sequence[Path], view: View | None) -> Layout:
    r"""Return the layout of text files that were written alike.

    view: declares it; only a draft, which has none, is made from what was guessed

    >>> layout_of([Path("left.tsv")], View("left", "id", ()))
    Layout(delimiter='\t', encoding='utf-8', sheet=None)
    """
    if view is not None:
        return Layout(view.delimiter or usual_delimiter(paths[0].name), view.encoding)
    found: Layout | None = None
    for path in paths:
        data = read_bytes(path, " ".join(str(path).splitlines()))
        guess = guess_layout(data, usual_delimiter(path.name)) if data else None
        found = found or guess
        # One file shows the encoding of all.
        if found and guess and guess.encoding != "utf-8":
            return replace(found, encoding=guess.encoding)
    return found or Layout()


def guess_layout(data: bytes, usual: str = ",") -> Layout:
    r"""Guess a file's layout from its bytes and its first line.

    The usual delimiter of such files is preferred, if it occurs in the header.

    >>> guess_layout("id;größe\n".encode("latin-1"))
    Layout(delimiter=';', encoding='latin-1', sheet=None)
    """
    encoding = _guess_encoding(data)
    text = data[:100_000].decode(encoding, "ignore").lstrip("\ufeff\r\n")
    header = text.splitlines()[0] if text else ""
    if usual != "," and usual in header:
        return Layout(usual, encoding)
    return Layout(max(_DELIMITERS, key=header.count), encoding)


def _guess_encoding(data: bytes) -> str:
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        pass
    else:
        return "utf-8"
    if len(data.translate(None, _WINDOWS)) < len(data):
        try:
            data.decode("windows-1252")
        except UnicodeDecodeError:
            return "latin-1"
        return "windows-1252"
    return "latin-1"
