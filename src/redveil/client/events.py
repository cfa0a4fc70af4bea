"""Server-sent events: what a job's stream says, one event at a time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

#: The longest event that is read.
LONGEST: Final = 1 << 20


class Events:
    r"""Puts the events of a stream together out of the parts in which they arrive.

    >>> events = Events()
    >>> list(events.add(b"event: job\nda")), list(events.add(b"ta: {}\r\n\r\n: alive\n\n"))
    ([], [b'{}'])
    """

    def __init__(self) -> None:
        self._rest = b""
        self._data: list[bytes] = []
        self._size = 0

    def add(self, part: bytes) -> Iterator[bytes]:
        """Yield the data of every event that is now complete; refuse one without an end.

        Raises ValueError.
        """
        *lines, self._rest = (self._rest + part).split(b"\n")
        if len(self._rest) + self._size > LONGEST:
            raise ValueError("an event without an end")
        for line in lines:
            yield from self._line(line.removesuffix(b"\r"))

    def _line(self, line: bytes) -> Iterator[bytes]:
        if not line:
            data, self._data, self._size = self._data, [], 0
            if data:
                yield b"\n".join(data)
            return
        name, _, value = line.partition(b":")
        if name == b"data":
            self._size += len(value) + 1
            if self._size > LONGEST:
                raise ValueError("an event without an end")
            self._data.append(value.removeprefix(b" "))
