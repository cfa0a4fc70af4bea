"""How often somebody may ask: buckets that fill at a steady rate."""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Callable
from threading import Lock
from typing import Final

_MOST_KNOWN: Final = 10_000


class Rates:
    """Buckets by name. Each holds `per_minute` at most, and fills up within a minute.

    clock: a clock in seconds that never goes back

    >>> now = [0.0]
    >>> rates = Rates(2, lambda: now[0])
    >>> [rates.wait("ana") for _ in range(3)]
    [0, 0, 30]
    >>> now[0] = 30.0
    >>> rates.wait("ana")
    0
    """

    def __init__(self, per_minute: int, clock: Callable[[], float]) -> None:
        self._most = float(per_minute)
        self._clock = clock
        self._lock = Lock()
        self._known: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def wait(self, name: str, take: int = 1) -> int:
        """Take from a bucket; return 0 if there was enough, else the seconds until there is.

        take: 0 only looks
        """
        with self._lock:
            now = self._clock()
            left, since = self._known.pop(name, (self._most, now))
            left = min(self._most, left + (now - since) * self._most / 60)
            is_enough = left >= max(take, 1)
            self._known[name] = (left - take if is_enough else left, now)
            if len(self._known) > _MOST_KNOWN:
                # Those that have not asked for longest have full buckets, or nearly.
                self._known.popitem(last=False)
        return 0 if is_enough else max(1, math.ceil((1 - left) * 60 / self._most))
