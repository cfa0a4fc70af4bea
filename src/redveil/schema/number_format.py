"""How numbers are written in text: the decimal character and the group character."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

_FORBIDDEN: Final = frozenset("+-\r\n\t")


@dataclass(frozen=True, slots=True)
class NumberFormat:
    """The decimal character, and the character between groups of three digits, if any.

    A group character is accepted between groups of exactly three digits of the integer part only:
    a slip such as `1.5` among numbers like `1.234,5` is no number, and not 15.

    >>> german = NumberFormat(",", ".")
    >>> german.read("1.234,5"), german.read("1234,5"), german.read("1.5")
    (1234.5, 1234.5, None)
    >>> NumberFormat().read("1e3"), NumberFormat().read("1,5")
    (1000.0, None)
    """

    decimal_char: str = "."
    group_char: str = ""

    @property
    def is_plain(self) -> bool:
        """Whether numbers have a decimal point and no groups."""
        return self.decimal_char == "." and not self.group_char

    def read(self, text: str) -> float | None:
        """Return the nearest double to a number in text, or None if the text is not a number."""
        if not _pattern(self.decimal_char, self.group_char).fullmatch(text):
            return None
        if self.group_char:
            text = text.replace(self.group_char, "")
        return float(text.replace(self.decimal_char, "."))


@lru_cache(maxsize=64)
def _pattern(decimal_char: str, group_char: str) -> re.Pattern[str]:
    decimal, group = re.escape(decimal_char), re.escape(group_char)
    groups = rf"[0-9]{{1,3}}(?:{group}[0-9]{{3}})+|" if group_char else ""
    digits = rf"(?:(?:{groups}[0-9]+)(?:{decimal}[0-9]*)?|{decimal}[0-9]+)"
    return re.compile(
        rf"[+-]?(?:{digits}(?:[eE][+-]?[0-9]+)?|inf|infinity|nan)", re.IGNORECASE | re.ASCII
    )


def implied_decimal(group_char: str, *, integer: bool) -> str:
    """Return the decimal character of a field that declares none.

    The standard has none for integers, but `1.234` may be one.

    >>> implied_decimal(".", integer=True), implied_decimal("", integer=True)
    (',', '.')
    """
    return "," if integer and group_char == "." else "."


def format_fault(decimal_char: object, group_char: object) -> str | None:
    """Return what is wrong with a decimal and a group character, or None.

    >>> format_fault(",", ",")
    'decimalChar and groupChar are the same'
    """
    for name, given, fewest in (("decimalChar", decimal_char, 1), ("groupChar", group_char, 0)):
        if not isinstance(given, str) or not fewest <= len(given) <= 1:
            return f"{name} is not one character"
        if given.isalnum() or given in _FORBIDDEN:
            return f"{name} is a letter, a digit, a sign or a control character"
    if decimal_char == group_char:
        return "decimalChar and groupChar are the same"
    return None
