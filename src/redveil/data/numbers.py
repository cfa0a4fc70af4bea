"""Numbers in text. Each value is read on its own."""

from __future__ import annotations

from typing import Final

from redveil.data.distinct import TRIMMED
from redveil.schema.number_format import NumberFormat

PLAIN: Final = NumberFormat()


def read_number(text: str, written: NumberFormat = PLAIN) -> float | None:
    """Return the nearest double to a number in text, or None if the text is not a number.

    >>> read_number(" +1.5e3 "), read_number("nan"), read_number("1,5")
    (1500.0, nan, None)
    >>> read_number("1,5", NumberFormat(","))
    1.5
    """
    return written.read(text.strip(TRIMMED))
