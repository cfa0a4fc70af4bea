"""Planners as the server sees them: processes that check questions, one at a time each."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, Final

from redveil.base import cache
from redveil.errors import InputError, RedveilError
from redveil.server.settings import environment_for_children

#: The module that a planner runs. It reads schemas, and imports what the server must not.
MODULE: Final = "redveil.workers.planner"
_LARGEST_ANSWER: Final = 64 << 20
# Nothing is kept on disk, where the next question would find it. One thread, for planners fork.
_ENVIRONMENT: Final = {
    cache.VARIABLE: "",
    "PYTHONDONTWRITEBYTECODE": "1",
    "OPENBLAS_NUM_THREADS": "1",
}


class PlannerError(RedveilError):
    """A question could not be checked, through no fault of its own."""


class BusyError(RedveilError):
    """Too many questions wait to be checked."""


class Planners:
    """Some planners; a question waits for the next one that is free.

    Each account has one at most: whoever asks many questions waits, and others ask in between.
    No answer is kept for the next who asks the same: she would notice, by the time, that somebody
    has asked it.

    count:   how many processes
    seconds: how long a question may take to be checked
    waiting: how many questions of one account may wait
    """

    def __init__(self, count: int = 1, *, seconds: float = 30.0, waiting: int = 100) -> None:
        self._seconds = seconds
        self._most_waiting = waiting
        self._count = count
        self._free: asyncio.Queue[_Planner] = asyncio.Queue()
        self._all: list[_Planner] = []
        self._turns: dict[str, _Turn] = {}

    async def start(self) -> None:
        """Start the processes."""
        for _ in range(self._count):
            planner = _Planner()
            await planner.start()
            self._all.append(planner)
            self._free.put_nowait(planner)

    async def stop(self) -> None:
        """End the processes."""
        for planner in self._all:
            await planner.stop()

    async def ask(self, account: str, task: str, **given: Any) -> dict[str, Any]:
        """Return what a planner answers to an account.

        Raises InputError if the question is refused, PlannerError if it could not be checked.
        """
        request = json.dumps({"task": task, **given})
        async with self._turn(account):
            planner = await self._free.get()
            try:
                answer = await self._asked(planner, request)
            finally:
                self._free.put_nowait(planner)
        return _understood(answer)

    @asynccontextmanager
    async def _turn(self, account: str) -> AsyncIterator[None]:
        """Wait for the earlier questions of an account."""
        turn = self._turns.setdefault(account, _Turn())
        if turn.waiting >= self._most_waiting:
            raise BusyError("too many questions wait to be checked; try again later")
        turn.waiting += 1
        try:
            async with turn.lock:
                yield
        finally:
            turn.waiting -= 1
            if not turn.waiting:
                del self._turns[account]

    async def _asked(self, planner: _Planner, request: str) -> Mapping[str, Any]:
        try:
            return await asyncio.wait_for(planner.ask(request), self._seconds)
        except (TimeoutError, OSError, ValueError, asyncio.IncompleteReadError):
            # It hangs, has died, or does not speak JSON: another one takes its place.
            await planner.stop()
            await planner.start()
            raise PlannerError("the question could not be checked; try again") from None
        except asyncio.CancelledError:
            # Its answer would be taken for that to the next question.
            await planner.stop()
            await planner.start()
            raise


@dataclass
class _Turn:
    """The questions of an account that wait, or are being checked."""

    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    waiting: int = 0


def _understood(answer: Mapping[str, Any]) -> dict[str, Any]:
    if "done" in answer:
        done: dict[str, Any] = answer["done"]
        return done
    if "refused" in answer:
        raise InputError(answer["refused"])
    raise PlannerError(f"a question could not be checked ({answer.get('failed')})")


class _Planner:
    """A planner's process."""

    def __init__(self) -> None:
        self._process: asyncio.subprocess.Process | None = None

    async def start(self) -> None:
        self._process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", MODULE),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            limit=_LARGEST_ANSWER,
            env=environment_for_children() | _ENVIRONMENT,
            # A group of its own, so that the question that it answers ends with it.
            start_new_session=True,
        )

    async def stop(self) -> None:
        process = self._process
        if process is not None and process.returncode is None:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            await process.wait()

    async def ask(self, request: str) -> Mapping[str, Any]:
        process = self._process
        assert process is not None
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(request.encode() + b"\n")
        await process.stdin.drain()
        answer: Mapping[str, Any] = json.loads(await process.stdout.readline())
        return answer
