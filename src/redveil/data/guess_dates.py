"""Guess how the dates of a column are written, for drafts."""

from __future__ import annotations

import calendar
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Final

import numpy as np

from redveil.data.distinct import label
from redveil.data.summary import Summary
from redveil.schema.date_format import DEFAULT, DateFormat, has_time
from redveil.schema.dates import DateType

# Where day and month could be swapped, the day comes first.
_DAYS: Final = (
    *(f"%d{sign}%m{sign}%Y" for sign in "./-"),
    *(f"%m{sign}%d{sign}%Y" for sign in "/-"),
    *(f"%Y{sign}%m{sign}%d" for sign in "/."),
    *("%d.%m.%y", "%d/%m/%y", "%m/%d/%y"),
)
_TIMES: Final = ("", " %H:%M", " %H:%M:%S")
FORMATS: Final = (DEFAULT, *(day + time for time in _TIMES for day in _DAYS))
_MIDNIGHT: Final = re.compile(r".*[T ]00:00(:00(\.0+)?)?Z?")
# Dates beyond are no bounds, but outside: 9999-12-31 often stands for "never".
_EARLIEST: Final = date(1800, 1, 1)
_LATEST: Final = date(2199, 12, 31)
_MOST_YEARS: Final = 250


@dataclass(frozen=True, slots=True, eq=False)
class DateGuess:
    """The likeliest format, and what it makes of the values.

    days:      the date of each value, None if it is not one
    read:      how many rows have a date
    ambiguous: whether day and month could be swapped
    """

    format: str
    type: DateType
    days: Sequence[date | None]
    read: int
    ambiguous: bool = False


def guess_dates(summary: Summary, present: Sequence[int]) -> DateGuess:
    """Guess the format that reads most rows as dates.

    present: the values that are not missing

    >>> guess_dates(Summary(["31.12.2019", "1.2.2018"], np.array([3, 4])), [0, 1]).format
    '%d.%m.%Y'
    """
    texts = [label(summary.values[i]) or "" for i in present]
    is_text = [summary.is_text(i) for i in present]
    counts = summary.counts[list(present)]
    guesses = []
    for pattern in FORMATS if any(is_text) else (DEFAULT,):
        written = DateFormat(pattern)
        days = [
            (written if own else DateFormat()).read(text)
            for text, own in zip(texts, is_text, strict=True)
        ]
        known = np.array([day is not None for day in days], dtype=np.bool_)
        guesses.append(DateGuess(pattern, "date", days, int(counts[known].sum())))
    best = max(guesses, key=lambda guess: guess.read)
    ambiguous = any(
        guess.read == best.read and list(guess.days) != list(best.days) for guess in guesses
    )
    read = [text for text, day in zip(texts, best.days, strict=True) if day is not None]
    return DateGuess(best.format, _type(best.format, read), best.days, best.read, ambiguous)


def _type(pattern: str, texts: Sequence[str]) -> DateType:
    if pattern != DEFAULT:
        return "datetime" if has_time(pattern) else "date"
    if all(len(text) == len("2019-12") for text in texts):
        return "yearmonth"
    timed = [text for text in texts if len(text) > len("2019-12-31")]
    return "date" if all(_MIDNIGHT.fullmatch(text) for text in timed) else "datetime"


def usual_days(days: Sequence[date]) -> list[date]:
    """Return the dates that bounds are taken from: not those that stand for "never".

    >>> usual_days([date(2019, 1, 1), date(9999, 12, 31)])
    [datetime.date(2019, 1, 1)]
    """
    if max(days).year - min(days).year <= _MOST_YEARS:
        return list(days)
    return [day for day in days if _EARLIEST <= day <= _LATEST]


def outward_days(first: date, last: date, *, whole_years: bool) -> tuple[date, date]:
    """Round bounds outwards to whole months, or to whole years.

    >>> outward_days(date(2019, 3, 5), date(2020, 2, 10), whole_years=False)
    (datetime.date(2019, 3, 1), datetime.date(2020, 2, 29))
    """
    if whole_years:
        return date(first.year, 1, 1), date(last.year, 12, 31)
    days = calendar.monthrange(last.year, last.month)[1]
    return first.replace(day=1), last.replace(day=days)


def example(pattern: str) -> str:
    """Return a date in a format, the same for all data.

    >>> example("%d.%m.%Y")
    '31.12.2019'
    """
    return DateFormat(pattern).write(date(2019, 12, 31), at_end=True)
