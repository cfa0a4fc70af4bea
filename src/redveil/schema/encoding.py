"""Encodings of text files: those in which every line is read on its own."""

from __future__ import annotations

import codecs
from typing import Final

# Here an escape sequence in one line changes how the lines below it are read, or there are no
# lines. (In UTF-16 and UTF-32 only a mark at the start of the file does.)
_STATEFUL: Final = ("iso2022", "hz", "utf-7", "unicode-escape", "raw-unicode-escape")
_NO_FILES: Final = ("punycode", "idna")


def encoding_fault(name: str) -> tuple[str, str] | None:
    """Return what is wrong with an encoding, and the remedy; None if nothing is.

    >>> encoding_fault("latin-1")
    >>> encoding_fault("ISO-2022-JP")
    ('an encoding in which one line can change how others are read', 'save the file as UTF-8')
    >>> encoding_fault("hex")
    ('unknown encoding', 'use "utf-8" or "latin-1"')
    """
    try:
        # First, because codecs.lookup also accepts what is no encoding of text, such as "hex".
        "text".encode(name)
        found = codecs.lookup(name).name
    except (LookupError, ValueError):
        return "unknown encoding", 'use "utf-8" or "latin-1"'
    if found.startswith(_STATEFUL):
        what = "an encoding in which one line can change how others are read"
        return what, "save the file as UTF-8"
    if found in _NO_FILES:
        return "not an encoding of text files", "save the file as UTF-8"
    return None
