"""Dates: formats, bins and cut points."""

from __future__ import annotations

import locale
from datetime import UTC, date, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redveil.schema import Attribute
from redveil.schema.date_format import DateFormat
from redveil.schema.dates import PERIODS, bin_of, categories_of, last_day, period_cuts
from strategies.schemas import date_attributes

SECULAR = st.dates(date(1969, 1, 1), date(2068, 12, 31))


@pytest.mark.parametrize(
    ("pattern", "text", "day"),
    [
        ("default", "2019-12-31", date(2019, 12, 31)),
        ("default", "2019-12-31 23:59", date(2019, 12, 31)),
        ("default", "2019-12-31T23:59:59.123456789Z", date(2019, 12, 31)),
        ("default", "2019-12-31T23:30:00-01:00", date(2020, 1, 1)),
        ("default", "2020-01-01 00:30:00+0100", date(2019, 12, 31)),
        ("default", "2019-12", date(2019, 12, 1)),
        ("default", "2016-12-31T23:59:60Z", date(2016, 12, 31)),
        ("default", "2019-13-31", None),
        ("default", "2019-02-29", None),
        ("default", "0000-01-01", None),
        ("default", "2019-12-31T24:00", None),
        ("default", "2019-12-31T23:00+99:99", None),
        ("default", "9999-12-31T23:00-01:00", None),
        ("default", "31.12.2019", None),
        ("default", "2019", None),
        ("default", "20191231", None),
        ("default", "٢٠١٩-١٢-٣١", None),
        ("%d.%m.%Y", "1.2.2019", date(2019, 2, 1)),
        ("%d.%m.%Y", "01.02.2019", date(2019, 2, 1)),
        ("%d.%m.%Y", "01x02x2019", None),
        ("%d.%m.%Y", "01.02.19", None),
        ("%m/%d/%y", "12/31/68", date(2068, 12, 31)),
        ("%m/%d/%y", "12/31/69", date(1969, 12, 31)),
        ("%d%m%Y", "01022019", date(2019, 2, 1)),
        ("%d%m%Y", "1022019", None),
        ("%d/%m/%Y %H:%M", "31/12/2019 7:05", date(2019, 12, 31)),
        ("%d/%m/%Y %H:%M", "31/12/2019 25:00", None),
        ("%Y-%m-%dT%H:%M:%S.%f%z", "2019-12-31T23:30:00.5-0100", date(2020, 1, 1)),
        ("100%% %Y %m %d", "100% 2019 12 31", date(2019, 12, 31)),
    ],
)
def test_a_text_is_read(pattern: str, text: str, day: date | None) -> None:
    assert DateFormat(pattern).read(text) == day


@given(SECULAR, st.sampled_from(["default", "%d.%m.%Y", "%m/%d/%y", "%Y%m%d", "%d-%m-%Y %H:%M"]))
def test_a_written_date_is_read_back(day: date, pattern: str) -> None:
    for at_end in (False, True):
        assert DateFormat(pattern).read(DateFormat(pattern).write(day, at_end=at_end)) == day


@given(st.datetimes(datetime(1900, 1, 1), datetime(2100, 1, 1)), st.integers(-23, 23))
def test_an_offset_means_the_same_moment(moment: datetime, hours: int) -> None:
    aware = moment.replace(tzinfo=timezone(timedelta(hours=hours)))
    assert DateFormat().read(aware.isoformat()) == aware.astimezone(UTC).date()


def test_the_locale_does_not_matter() -> None:
    before = locale.setlocale(locale.LC_TIME)
    try:
        for name in ("C", "de_DE.UTF-8", "th_TH.UTF-8"):
            try:
                locale.setlocale(locale.LC_TIME, name)
            except locale.Error:
                continue
            assert DateFormat("%d/%m/%Y").read("31/12/2019") == date(2019, 12, 31)
    finally:
        locale.setlocale(locale.LC_TIME, before)


@given(date_attributes("x"), st.dates())
def test_the_bin_of_a_date_is_the_first_that_does_not_end_before_it(
    attribute: Attribute, day: date
) -> None:
    text, categories = day.isoformat(), attribute.categories
    fits = [text[: len(end)] <= end for end in categories]
    assert bin_of(day, categories) == (fits.index(True) if any(fits) else len(categories) - 1)


@given(st.sampled_from(PERIODS), st.dates(), st.integers(1, 200))
def test_every_period_within_the_bounds_is_a_bin(period: str, first: date, days: int) -> None:
    minimum = min(first, date(9000, 1, 1))
    maximum = minimum + timedelta(days=days)
    cuts = period_cuts(PERIODS[PERIODS.index(period)], minimum, maximum)
    ends = [last_day(cut) for cut in cuts]
    assert all(minimum <= end < maximum for end in ends)
    if not cuts:
        return
    bins = [
        bin_of(minimum + timedelta(days=day), categories_of(cuts, maximum))
        for day in range(days + 1)
    ]
    # Without gaps, from the first bin to the last.
    assert bins == sorted(bins)
    assert set(bins) == set(range(len(cuts) + 1))
