"""Interval arithmetic by mpmath, for one thread at a time.

mpmath remembers constants such as ln 2 for the whole process: a number, and with how many bits. It
changes one after the other, so a thread that reads them in between gets a wrong number, and with it
a wrong law or a wrong price.
"""

from __future__ import annotations

from threading import Lock
from types import TracebackType
from typing import Any, Final

_MPMATH: Final = Lock()


class IntervalArithmetic:
    """mpmath's interval arithmetic with some bits of precision, lent to one thread at a time.

    >>> with IntervalArithmetic(100) as numbers:
    ...     third = numbers.mpf(1) / 3
    ...     bool(third.a < third.b)
    True
    """

    def __init__(self, precision: int) -> None:
        from mpmath.ctx_iv import MPIntervalContext

        with _MPMATH:
            self._numbers = MPIntervalContext()
            self._numbers.prec = precision

    def __enter__(self) -> Any:
        _MPMATH.acquire()
        return self._numbers

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        _MPMATH.release()
