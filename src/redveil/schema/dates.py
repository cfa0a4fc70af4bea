"""Date attributes: ordinal attributes whose categories are the ends of their bins.

A category is a year, a month or a day in ISO 8601, and stands for its last day: `2018`, `2019-03`,
`2019-06-30`. A date is in the first bin that does not end before it.
"""

from __future__ import annotations

import calendar
import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import pairwise
from typing import Final, Literal

from redveil.schema.cuts import MOST_BINS
from redveil.schema.date_format import DEFAULT, DateFormat

DateType = Literal["date", "datetime", "yearmonth"]
DATE_TYPES: Final[tuple[DateType, ...]] = ("date", "datetime", "yearmonth")
DatePeriod = Literal["years", "months", "days"]
PERIODS: Final[tuple[DatePeriod, ...]] = ("years", "months", "days")

_END: Final = re.compile(r"[0-9]{4}(-[0-9]{2}(-[0-9]{2})?)?")
# The length of a year, a month and a day in ISO 8601.
_LENGTHS: Final[dict[DatePeriod, int]] = {"years": 4, "months": 7, "days": 10}
_YEARS: Final = 4 * 365
_MONTHS: Final = 3 * 31


@dataclass(frozen=True, slots=True)
class DateRule:
    """How the values of a date attribute are read: type, bounds and format.

    Dates outside the bounds are in the first or the last bin.

    >>> rule = DateRule(date(2010, 1, 1), date(2019, 12, 31), format="%d.%m.%Y")
    >>> rule.lexical.read("24.12.2018")
    datetime.date(2018, 12, 24)
    """

    minimum: date
    maximum: date
    type: DateType = "date"
    format: str = DEFAULT

    @property
    def lexical(self) -> DateFormat:
        """The format of texts."""
        return DateFormat(self.format)

    def is_within(self, day: date) -> bool:
        """Return whether a date is within the bounds.

        >>> DateRule(date(2010, 1, 1), date(2019, 12, 31)).is_within(date(2020, 1, 1))
        False
        """
        return self.minimum <= day <= self.maximum


def default_period(minimum: date, maximum: date) -> DatePeriod:
    """Return where dates are cut by default: long spans at years, short ones at months or days.

    >>> default_period(date(2010, 1, 1), date(2019, 12, 31))
    'years'
    >>> default_period(date(2019, 1, 1), date(2019, 12, 31))
    'months'
    """
    days = (maximum - minimum).days
    return "years" if days >= _YEARS else "months" if days >= _MONTHS else "days"


def period_cuts(period: DatePeriod, minimum: date, maximum: date) -> tuple[str, ...]:
    """Return the ends of all years, months or days within the bounds, except for the last bin's.

    Stops when there are too many.

    >>> period_cuts("years", date(2016, 5, 1), date(2019, 12, 31))
    ('2016', '2017', '2018')
    """
    length = _LENGTHS[period]
    cuts: list[str] = []
    day = minimum
    while len(cuts) < MOST_BINS:
        cut = day.isoformat()[:length]
        end = last_day(cut)
        if end >= maximum:
            break
        cuts.append(cut)
        day = end + timedelta(days=1)
    return tuple(cuts)


def categories_of(cuts: Sequence[str], maximum: date) -> tuple[str, ...]:
    """Return the ends of all bins; the last one ends in the year, month or day of the maximum.

    >>> categories_of(["2017", "2018"], date(2019, 12, 31))
    ('2017', '2018', '2019')
    """
    return (*cuts, maximum.isoformat()[: len(cuts[-1])])


def cuts_fault(cuts: Sequence[str], minimum: date, maximum: date) -> str | None:
    """Return what is wrong with declared cut points, or None.

    >>> cuts_fault(["2018", "2017"], date(2010, 1, 1), date(2019, 12, 31))
    'cut points are not strictly increasing'
    """
    if not all(_is_end(cut) for cut in cuts):
        return "a cut point is not a year, month or day such as 2018, 2018-06 or 2018-06-30"
    ends = [last_day(cut) for cut in cuts]
    if any(a >= b for a, b in pairwise(ends)):
        return "cut points are not strictly increasing"
    if ends and not (minimum <= ends[0] and ends[-1] < maximum):
        return "a cut point lies outside the bounds (each must end before the maximum)"
    return None


def bin_of(day: date, categories: Sequence[str]) -> int:
    """Return the bin of a date: the first that does not end before it, or else the last.

    >>> [bin_of(date(2018, 12, day), ["2018-11", "2018-12-24", "2018"]) for day in (1, 25)]
    [1, 2]
    """
    return min(bisect_left(categories, day, key=last_day), len(categories) - 1)


def last_day(category: str) -> date:
    """Return the last day of a year, month or day.

    >>> last_day("2019"), last_day("2020-02")
    (datetime.date(2019, 12, 31), datetime.date(2020, 2, 29))
    """
    year, month, day = (int(part) for part in (category + "-12-31").split("-")[:3])
    if len(category) == _LENGTHS["months"]:
        day = calendar.monthrange(year, month)[1]
    elif len(category) == _LENGTHS["years"]:
        month, day = 12, 31
    return date(year, month, day)


def _is_end(text: str) -> bool:
    if not _END.fullmatch(text):
        return False
    try:
        last_day(text)
    except ValueError:
        return False
    return True
