"""When the end of a job may show: at public moments, so that its duration tells little or nothing.

How long a job takes depends on the rows. So its end shows only at its start plus `every` seconds,
or twice, four times, eight times as long. All that can be learned from the time is which of these
it was: nothing, if every job ends before the first of them; one of five moments, if jobs may take
up to two minutes and `every` is 10 seconds.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

# Moments are stored to the second, rounded down.
_ROUNDING: Final = timedelta(seconds=1)
#: For jobs that were charged by a version that did not write down what was set: their ends show at
#: one moment, after the longest that jobs took by default.
EVERY_UNKNOWN: Final = 3610


def release_moment(started: datetime, finished: datetime, every: int) -> datetime:
    """Return when a job's end shows.

    started, finished: rounded down to the second
    every:             whole seconds, as moments are stored; 0 releases at once

    >>> from datetime import UTC
    >>> start = datetime(2026, 1, 1, tzinfo=UTC)
    >>> (release_moment(start, start + timedelta(seconds=12), 5) - start).seconds
    20
    """
    if every <= 0:
        return finished
    return _first(started, every, finished + _ROUNDING)


def next_moment(started: datetime, now: datetime, every: int) -> datetime | None:
    """Return the next moment at which a running job's end can show; None if it is any moment.

    >>> from datetime import UTC
    >>> start = datetime(2026, 1, 1, tzinfo=UTC)
    >>> (next_moment(start, start + timedelta(seconds=20), 5) - start).seconds
    40
    """
    if every <= 0:
        return None
    return _first(started, every, now + timedelta(microseconds=1))


def moments(longest: int, every: int) -> int:
    """Return at how many moments ends can show, if jobs take `longest` seconds at most.

    The logarithm to base 2 of this is the most that a job's end tells of its duration, in bits.

    >>> [moments(130, every) for every in (130, 60, 10, 1)]
    [1, 3, 5, 9]
    """
    return 1 + (-(-longest // every) - 1).bit_length()


def _first(started: datetime, every: int, moment: datetime) -> datetime:
    """Return the first of the moments that is not before another one."""
    wait = timedelta(seconds=every)
    while started + wait < moment:
        wait *= 2
    return started + wait
