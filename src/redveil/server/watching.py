"""Watching jobs: however many streams there are, the database is asked once a second."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping
from contextlib import suppress
from typing import Final

from anyio.to_thread import run_sync

from redveil.errors import RedveilError
from redveil.server.answering import ProblemError
from redveil.store.job import Stand
from redveil.wire.answers import Job
from redveil.wire.problems import Code

EVERY: Final = 1.0
# How often a silent stream says that it is alive, so that proxies keep it open.
ALIVE: Final = 15.0
# A stream ends after this time, and its client comes back with a token: one that was revoked in the
# meantime is refused.
LONGEST: Final = 600.0

Look = Callable[[], Awaitable[Job]]
Stands = Callable[[Collection[str]], Mapping[str, Stand]]


class Watch:
    """The jobs that are watched.

    streams_each: how many streams an account may have
    stands:       returns where jobs stand, all at once; only those that have moved are looked at
    """

    def __init__(self, streams_each: int, stands: Stands) -> None:
        self._most = streams_each
        self._stands = stands
        self._streams: Counter[str] = Counter()
        self._watched: dict[str, _Watched] = {}
        self._task: asyncio.Task[None] | None = None

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
        if self._task is None:
            self._task = asyncio.create_task(self._watch())
        try:
            if watched.last is None:
                # If that fails, the next look at all jobs shows it.
                with suppress(RedveilError):
                    await watched.look()
            async for event in watched.events():
                yield event
        finally:
            self._leave(account, job, watched)

    def _leave(self, account: str, job: str, watched: _Watched) -> None:
        self._streams[account] -= 1
        if not self._streams[account]:
            del self._streams[account]
        watched.watchers -= 1
        if not watched.watchers:
            self._watched.pop(job, None)
        if not self._watched and self._task is not None:
            self._task.cancel()
            self._task = None

    async def _watch(self) -> None:
        try:
            while True:
                await asyncio.sleep(EVERY)
                for job, stand in (await run_sync(self._stands, list(self._watched))).items():
                    if (watched := self._watched.get(job)) is not None:
                        await watched.follow(stand)
        except RedveilError:
            # The database cannot be read: the streams end, and clients come back.
            self._task = None
            for watched in list(self._watched.values()):
                await watched.lose()


class _Watched:
    """A job that is watched by some streams."""

    def __init__(self, look: Look) -> None:
        self.watchers = 0
        self.last: Job | None = None
        self._look = look
        self._stand: Stand | None = None
        self._changed = asyncio.Condition()
        self._is_lost = False

    async def follow(self, stand: Stand) -> None:
        """Look at the job if it has moved, or if time alone can change what shows of it."""
        if stand != self._stand or stand.is_charged:
            await self.look()
            self._stand = stand

    async def look(self) -> None:
        found = await self._look()
        if found != self.last:
            async with self._changed:
                self.last = found
                self._changed.notify_all()

    async def lose(self) -> None:
        """End the streams."""
        async with self._changed:
            self._is_lost = True
            self._changed.notify_all()

    async def events(self) -> AsyncIterator[bytes]:
        """Return an event for every change."""
        told: Job | None = None
        end = asyncio.get_running_loop().time() + LONGEST
        while told is None or not told.state.is_final:
            try:
                async with asyncio.timeout(ALIVE), self._changed:
                    while self.last == told and not self._is_lost:
                        await self._changed.wait()
            except TimeoutError:
                yield b": alive\n\n"
                if asyncio.get_running_loop().time() >= end:
                    return
                continue
            if self.last == told or self.last is None:
                return
            told = self.last
            yield f"event: job\ndata: {told.model_dump_json(exclude_unset=True)}\n\n".encode()
