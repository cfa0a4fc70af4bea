"""Formats of dates: ISO 8601, or a pattern such as `%d.%m.%Y`.

A text is read on its own, in the same way in every locale. Times of day are checked and dropped; a
time with an offset from UTC is converted to UTC first.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, timezone
from functools import lru_cache
from typing import Final

DEFAULT: Final = "default"

_DAY: Final = r"(?P<Y>[0-9]{4})-(?P<m>[0-9]{2})-(?P<d>[0-9]{2})"
_OFFSET: Final = r"(?P<z>[Zz]|[+-][0-9]{2}:?[0-9]{2})"
_TIME: Final = r"(?P<H>[0-9]{2}):(?P<M>[0-9]{2})(?::(?P<S>[0-9]{2})(?:[.,][0-9]+)?)?"
_ISO: Final = re.compile(rf"{_DAY}(?:[Tt ]{_TIME} ?{_OFFSET}?)?")
_ISO_MONTH: Final = re.compile(r"(?P<Y>[0-9]{4})-(?P<m>[0-9]{2})")

# Directives whose meaning does not depend on the locale: one digit is enough, if it is clear
# where the number ends.
_SHORT: Final = "dmHMS"
_DIRECTIVES: Final = {
    **{letter: f"(?P<{letter}>[0-9]{{1,2}})" for letter in _SHORT},
    "Y": "(?P<Y>[0-9]{4})",
    "y": "(?P<y>[0-9]{2})",
    "f": "(?P<f>[0-9]{1,9})",
    "z": _OFFSET,
}
_PIECE: Final = re.compile(r"%(?P<directive>.?)|(?P<fixed>[^%]+)", re.DOTALL)
# Two digits from here on are a year of the twentieth century, as in POSIX.
_PIVOT: Final = 69


@dataclass(frozen=True, slots=True)
class DateFormat:
    """The lexical format of a date: `default` (ISO 8601) or a pattern.

    >>> DateFormat("%d.%m.%Y").read("31.12.2019")
    datetime.date(2019, 12, 31)
    >>> DateFormat().read("2020-01-01T00:30:00+01:00")
    datetime.date(2019, 12, 31)
    >>> DateFormat().read("2019-02-30") is None
    True
    """

    pattern: str = DEFAULT

    def read(self, text: str) -> date | None:
        """Return the date of a text, the first of the month if it has no day, None if invalid."""
        patterns = (_ISO, _ISO_MONTH) if self.pattern == DEFAULT else (_compiled(self.pattern),)
        for pattern in patterns:
            found = pattern.fullmatch(text)
            if found is not None:
                return _date(found.groupdict())
        return None

    def write(self, day: date, *, at_end: bool = False) -> str:
        """Return a date as text: if the format has a time, the day's first or last second in UTC.

        >>> DateFormat("%d/%m/%y").write(date(2019, 12, 31))
        '31/12/19'
        """
        if self.pattern == DEFAULT:
            return day.isoformat()
        last = {"H": "23", "M": "59", "S": "59"} if at_end else {}
        values = {
            "Y": f"{day.year:04}",
            "y": f"{day.year % 100:02}",
            "m": f"{day.month:02}",
            "d": f"{day.day:02}",
            "z": "Z",
            "%": "%",
            **last,
        }
        return "".join(
            fixed if fixed is not None else values.get(directive, "00")
            for directive, fixed in _pieces(self.pattern)
        )


def format_fault(pattern: str, *, needs_day: bool) -> str | None:
    """Return what is wrong with a format, or None.

    >>> format_fault("%d %B %Y", needs_day=True)
    '%B is not supported'
    >>> format_fault("%m/%Y", needs_day=True)
    'the format has no day'
    """
    if pattern == DEFAULT:
        return None
    directives = [directive for directive, fixed in _pieces(pattern) if fixed is None]
    for directive in directives:
        if directive not in _DIRECTIVES and directive != "%":
            return f"%{directive} is not supported"
        if directive != "%" and directives.count(directive) > 1:
            return f"%{directive} occurs twice"
    for name, letters in (("year", "Yy"), ("month", "m"), ("day", "d")):
        occurring = sum(letter in directives for letter in letters)
        if occurring > 1:
            return "the format has two years"
        if not occurring and (name != "day" or needs_day):
            return f"the format has no {name}"
    return None


def has_time(pattern: str) -> bool:
    """Return whether a pattern has an hour.

    >>> has_time("%d.%m.%Y %H:%M"), has_time("%d.%m.%Y")
    (True, False)
    """
    return any(directive == "H" for directive, fixed in _pieces(pattern) if fixed is None)


def _pieces(pattern: str) -> Iterator[tuple[str, str | None]]:
    """Yield the directives of a pattern, each as (letter, None), and other text as ("", text)."""
    for piece in _PIECE.finditer(pattern):
        yield piece["directive"] or "", piece["fixed"]


@lru_cache(maxsize=64)
def _compiled(pattern: str) -> re.Pattern[str]:
    pieces = list(_pieces(pattern))
    parts: list[str] = []
    for place, (directive, fixed) in enumerate(pieces):
        if fixed is not None or directive == "%":
            parts.append(re.escape(fixed or "%"))
            continue
        beside = (*pieces[max(place - 1, 0) : place], *pieces[place + 1 : place + 2])
        is_bounded = all(other is not None for _, other in beside)
        part = _DIRECTIVES[directive]
        parts.append(part if is_bounded else part.replace("{1,2}", "{2}"))
    return re.compile("".join(parts))


def _date(found: dict[str, str | None]) -> date | None:
    """Return the date in UTC of the parts of a text, or None if there is no such date."""
    numbers = {name: int(text) for name, text in found.items() if text and name != "z"}
    year = numbers.get("Y")
    if year is None:
        year = numbers["y"] + (1900 if numbers["y"] >= _PIVOT else 2000)
    try:
        moment = datetime(
            year,
            numbers["m"],
            numbers.get("d", 1),
            numbers.get("H", 0),
            numbers.get("M", 0),
            # A leap second is read as the second before it.
            59 if numbers.get("S") == 60 else numbers.get("S", 0),
            tzinfo=_zone(found.get("z")),
        )
        return moment.astimezone(UTC).date()
    except (ValueError, OverflowError):
        return None


def _zone(offset: str | None) -> timezone:
    if offset is None or offset in "Zz":
        return UTC
    sign = -1 if offset[0] == "-" else 1
    digits = offset[1:].replace(":", "")
    return timezone(sign * timedelta(hours=int(digits[:2]), minutes=int(digits[2:])))
