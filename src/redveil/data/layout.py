"""The layout of a text file: declared by a schema, or guessed for a draft."""

from __future__ import annotations

import codecs
from dataclasses import dataclass
from typing import Final

_DELIMITERS: Final = (",", ";", "\t", "|")


@dataclass(frozen=True, slots=True)
class Layout:
    """The delimiter and the encoding of a text file.

    >>> Layout().delimiter
    ','
    """

    delimiter: str = ","
    encoding: str = "utf-8"


def guess_layout(data: bytes) -> Layout:
    r"""Guess a file's layout from its bytes and its first line.

    >>> guess_layout("id;größe\n".encode("latin-1"))
    Layout(delimiter=';', encoding='latin-1')
    """
    encoding = _guess_encoding(data)
    text = data[:100_000].decode(encoding, "ignore").lstrip("\ufeff\r\n")
    header = text.splitlines()[0] if text else ""
    return Layout(max(_DELIMITERS, key=header.count), encoding)


def _guess_encoding(data: bytes) -> str:
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return "latin-1"
    return "utf-8"
