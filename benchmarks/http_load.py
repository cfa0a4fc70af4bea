"""A load generator: requests over connections that stay open, and how long each took.

Plain HTTP/1.1 over asyncio, so that the generator takes little of the machine that it measures.
Each connection asks, waits for the answer, and asks again (`as_fast_as_possible`); or requests
start at fixed moments, however slow the answers are (`steadily`); a late start counts as waiting.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Ask:
    """A request.

    body: sent as JSON, None for a GET
    """

    path: str
    token: str
    body: Any = None
    method: str = ""
    headers: tuple[tuple[str, str], ...] = ()

    def encoded(self) -> bytes:
        """Return the bytes that are sent."""
        content = b"" if self.body is None else json.dumps(self.body).encode()
        method = self.method or ("GET" if self.body is None else "POST")
        lines = [
            f"{method} {self.path} HTTP/1.1",
            "Host: localhost",
            f"Authorization: Bearer {self.token}",
            f"Content-Length: {len(content)}",
            "Content-Type: application/json",
            *(f"{name}: {value}" for name, value in self.headers),
        ]
        return "\r\n".join(lines).encode() + b"\r\n\r\n" + content


@dataclass
class Taken:
    """How long requests took, in seconds, and what was answered."""

    seconds: list[float] = field(default_factory=list)
    statuses: Counter[int] = field(default_factory=Counter)
    whole: float = 0.0

    @property
    def per_second(self) -> float:
        """How many were answered in a second."""
        return len(self.seconds) / self.whole if self.whole else 0.0

    def at(self, share: float) -> float:
        """Return the time, in milliseconds, within which a share of the requests was answered."""
        ordered = sorted(self.seconds)
        return 1000 * ordered[min(len(ordered) - 1, int(share * len(ordered)))]

    @property
    def failures(self) -> int:
        """How many were answered with anything but success."""
        return sum(count for status, count in self.statuses.items() if not 200 <= status < 300)


class Connection:
    """A connection to a server on this machine."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def ask(self, request: Ask) -> tuple[int, bytes]:
        """Return the status and the body of an answer; 0 if the connection was lost."""
        is_old = self._streams is not None
        try:
            reader, _ = await self.send(request)
            status, size, closes = await _head(reader)
            body = await reader.readexactly(size)
        except (OSError, asyncio.IncompleteReadError):
            self.close()
            # Servers close connections that nobody has used for a while.
            return await self.ask(request) if is_old else (0, b"")
        if closes:
            self.close()
        return status, body

    async def send(self, request: Ask) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """Send a request; what comes back is the caller's to read."""
        if self._streams is None:
            self._streams = await asyncio.open_connection("127.0.0.1", self._port)
        self._streams[1].write(request.encoded())
        await self._streams[1].drain()
        return self._streams

    async def open_stream(self, request: Ask) -> int:
        """Ask for an event stream; return the status once the first event has come."""
        try:
            reader, _ = await self.send(request)
            status, _, _ = await _head(reader)
            if status == 200:
                await reader.readuntil(b"data:")
        except (OSError, asyncio.IncompleteReadError):
            return 0
        return status

    def close(self) -> None:
        """Close it; the next request opens another."""
        if self._streams is not None:
            with suppress(OSError):
                self._streams[1].close()
            self._streams = None


async def _head(reader: asyncio.StreamReader) -> tuple[int, int, bool]:
    """Return the status, the length of the body, and whether the server closes the connection."""
    lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    names = dict(line.lower().split(": ", 1) for line in lines[1:] if ": " in line)
    size = int(names.get("content-length", "0"))
    return int(lines[0].split()[1]), size, names.get("connection") == "close"


async def as_fast_as_possible(
    port: int, make: Callable[[int], Ask], *, connections: int, seconds: float
) -> Taken:
    """Ask over some connections, each as fast as it is answered."""
    taken, number = Taken(), iter(range(10**9))
    begun = time.perf_counter()

    async def one() -> None:
        connection = Connection(port)
        while time.perf_counter() - begun < seconds:
            start = time.perf_counter()
            status, _ = await connection.ask(make(next(number)))
            taken.seconds.append(time.perf_counter() - start)
            taken.statuses[status] += 1
        connection.close()

    await asyncio.gather(*(one() for _ in range(connections)))
    taken.whole = time.perf_counter() - begun
    return taken


async def steadily(
    port: int, make: Callable[[int], Ask], *, per_second: float, seconds: float
) -> Taken:
    """Ask at fixed moments; a request that has to wait for its moment's connection has waited."""
    taken, free = Taken(), list[Connection]()
    begun = time.perf_counter()

    async def one(number: int) -> None:
        due = begun + number / per_second
        await asyncio.sleep(max(0.0, due - time.perf_counter()))
        connection = free.pop() if free else Connection(port)
        status, _ = await connection.ask(make(number))
        taken.seconds.append(time.perf_counter() - due)
        taken.statuses[status] += 1
        free.append(connection)

    await asyncio.gather(*(one(number) for number in range(round(per_second * seconds))))
    taken.whole = time.perf_counter() - begun
    for connection in free:
        connection.close()
    return taken
