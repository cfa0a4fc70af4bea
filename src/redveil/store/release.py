"""When the end of a job may show: at public moments, so that its duration tells little.

How long a job takes depends on the rows. So its end shows only at its start plus `every` seconds,
or twice, four times, eight times as long. All that can be learned from the time is which of these
it was: an hour of work at 5 seconds is one of ten moments.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

# Moments are stored to the second, rounded down.
_ROUNDING: Final = timedelta(seconds=1)


def release_moment(started: datetime, finished: datetime, every: float) -> datetime:
    """Return when a job's end shows.

    started, finished: rounded down to the second
    every:             seconds; 0 releases at once

    >>> from datetime import UTC
    >>> start = datetime(2026, 1, 1, tzinfo=UTC)
    >>> (release_moment(start, start + timedelta(seconds=12), 5) - start).seconds
    20
    """
    if every <= 0:
        return finished
    return _first(started, every, finished + _ROUNDING)


def next_moment(started: datetime, now: datetime, every: float) -> datetime | None:
    """Return the next moment at which a running job's end can show; None if it is any moment.

    >>> from datetime import UTC
    >>> start = datetime(2026, 1, 1, tzinfo=UTC)
    >>> (next_moment(start, start + timedelta(seconds=20), 5) - start).seconds
    40
    """
    if every <= 0:
        return None
    return _first(started, every, now + timedelta(microseconds=1))


def _first(started: datetime, every: float, moment: datetime) -> datetime:
    """Return the first of the moments that is not before another one."""
    wait = timedelta(seconds=every)
    while started + wait < moment:
        wait *= 2
    return started + wait
