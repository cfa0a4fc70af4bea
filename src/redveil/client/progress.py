"""How far a job is, as far as its client may know."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from redveil.wire.answers import Job, JobState


class Share:
    """Tells a function of shares about a job.

    The end of a job shows after some seconds, or twice, four times, eight times as many. How much
    of the work is done never shows, because it depends on the rows. So the share is half of the
    rest at each of these moments, and 1 at the end.
    """

    def __init__(self, progress: Callable[[float], None]) -> None:
        self._progress = progress
        self._first: float | None = None

    def __call__(self, job: Job) -> None:
        """Tell the share of a job."""
        if job.state.is_final:
            self._progress(1.0)
        elif job.state is JobState.RUNNING and (span := _span(job)):
            self._first = self._first or span
            self._progress(max(0.0, 1.0 - self._first / span))
        else:
            self._progress(0.0)


def _span(job: Job) -> float | None:
    """Return the seconds from a job's start to the next moment at which its end can show."""
    if job.started_at is None or job.next_release_at is None:
        return None
    try:
        start, end = (datetime.fromisoformat(one) for one in (job.started_at, job.next_release_at))
        seconds = (end - start).total_seconds()
    except (ValueError, TypeError):
        return None
    return seconds if seconds > 0 else None
