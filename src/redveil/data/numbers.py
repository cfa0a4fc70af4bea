"""Numbers in text. Each value is read on its own."""

from __future__ import annotations

import re
from typing import Final

from redveil.data.distinct import TRIMMED

_NUMBER: Final = re.compile(
    r"[+-]?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|inf|infinity|nan)", re.IGNORECASE
)


def read_number(text: str) -> float | None:
    """Return the nearest double to a number in text, or None if the text is not a number.

    >>> read_number(" +1.5e3 "), read_number("nan"), read_number("1,5")
    (1500.0, nan, None)
    """
    trimmed = text.strip(TRIMMED)
    return float(trimmed) if _NUMBER.fullmatch(trimmed) else None
