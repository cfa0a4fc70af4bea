"""Interval arithmetic by mpmath, for one thread at a time.

mpmath remembers constants such as ln 2 for the whole process: a number, and with how many bits. It
changes one after the other, so a thread that reads them in between gets a wrong number, and with it
a wrong law or a wrong price.
"""

from __future__ import annotations

from threading import Lock
from typing import Any, Final

#: To be held by whoever computes with mpmath.
MPMATH: Final = Lock()


def interval_arithmetic(precision: int) -> Any:
    """Return mpmath's interval arithmetic with some bits of precision.

    >>> numbers = interval_arithmetic(100)
    >>> with MPMATH:
    ...     third = numbers.mpf(1) / 3
    ...     bool(third.a < third.b)
    True
    """
    with MPMATH:
        from mpmath.ctx_iv import MPIntervalContext

        numbers = MPIntervalContext()
        numbers.prec = precision
        return numbers
