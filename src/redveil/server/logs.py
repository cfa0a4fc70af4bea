"""Structured logs: a line of JSON for each event. Ids, prices and states; never a value or a text.

What a client sends is not logged, as it may be anything: a token in an address, for example.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from datetime import datetime
from threading import Lock
from typing import Any, TextIO

from redveil.store.store import utc_now


class Log:
    """A log on a stream, standard error by default.

    >>> import sys
    >>> log = Log("api", sys.stdout, lambda: datetime(2026, 1, 1))
    >>> log("started", workers=2)
    {"at": "2026-01-01T00:00:00.000", "process": "api", "event": "started", "workers": 2}
    """

    def __init__(
        self,
        process: str,
        stream: TextIO | None = None,
        clock: Callable[[], datetime] = utc_now,
    ) -> None:
        self._process = process
        self._stream = stream
        self._clock = clock
        self._lock = Lock()

    def __call__(self, event: str, **details: Any) -> None:
        """Write a line."""
        at = self._clock().isoformat(timespec="milliseconds")
        known = {name: value for name, value in details.items() if value is not None}
        line = json.dumps({"at": at, "process": self._process, "event": event, **known})
        with self._lock:
            print(line, file=self._stream or sys.stderr, flush=True)
