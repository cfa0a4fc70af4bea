"""Watching jobs: however many streams watch one, it is looked up once a second."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from typing import Final

from redveil.server.answering import ProblemError
from redveil.wire.answers import Job
from redveil.wire.problems import Code

EVERY: Final = 1.0
# How often a silent stream says that it is alive, so that proxies keep it open.
ALIVE: Final = 15.0

Look = Callable[[], Awaitable[Job]]


class Watch:
    """The jobs that are watched.

    streams_each: how many streams an account may have
    """

    def __init__(self, streams_each: int) -> None:
        self._most = streams_each
        self._streams: Counter[str] = Counter()
        self._watched: dict[str, _Watched] = {}

    @property
    def streams(self) -> int:
        """How many streams are open."""
        return self._streams.total()

    def must_have_room(self, account: str) -> None:
        """Refuse a stream more than an account may have."""
        if self._streams[account] >= self._most:
            raise ProblemError(
                Code.TOO_MANY,
                f"{self._most} event streams are open; close some",
                retry_after=int(ALIVE),
            )

    async def stream(self, account: str, job: str, look: Look) -> AsyncIterator[bytes]:
        """Return the events of a job, until it is final.

        look: returns the job as its analyst may see it now
        """
        self._streams[account] += 1
        watched = self._watched.get(job)
        if watched is None:
            watched = self._watched[job] = _Watched(look)
        watched.watchers += 1
        try:
            async for event in watched.events():
                yield event
        finally:
            self._streams[account] -= 1
            watched.watchers -= 1
            if not watched.watchers:
                watched.stop()
                self._watched.pop(job, None)


class _Watched:
    """A job that is watched by some streams."""

    def __init__(self, look: Look) -> None:
        self.watchers = 0
        self._look = look
        self._changed = asyncio.Condition()
        self._last: Job | None = None
        self._is_lost = False
        self._task = asyncio.create_task(self._watch())

    def stop(self) -> None:
        self._task.cancel()

    async def events(self) -> AsyncIterator[bytes]:
        told: Job | None = None
        while told is None or not told.state.is_final:
            try:
                async with asyncio.timeout(ALIVE), self._changed:
                    while self._last == told and not self._is_lost:
                        await self._changed.wait()
            except TimeoutError:
                yield b": alive\n\n"
                continue
            if self._last == told or self._last is None:
                return
            told = self._last
            yield f"event: job\ndata: {told.model_dump_json(exclude_unset=True)}\n\n".encode()

    async def _watch(self) -> None:
        try:
            while self._last is None or not self._last.state.is_final:
                found = await self._look()
                if found != self._last:
                    async with self._changed:
                        self._last = found
                        self._changed.notify_all()
                await asyncio.sleep(EVERY)
        finally:
            # The database cannot be read, or the server stops: clients come back.
            self._is_lost = True
            with suppress(RuntimeError):
                async with self._changed:
                    self._changed.notify_all()
