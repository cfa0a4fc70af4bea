"""Event streams: many of them cost the database one look a second, and keep nobody else waiting."""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import Callable, Collection
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from redveil.errors import StoreError
from redveil.server import watching
from redveil.server.watching import Watch
from redveil.store.job import Stand
from redveil.wire.answers import Job, JobState, Loss
from redveil.wire.questions import Mine
from support.served import Served, served

STREAMS = 300


def seen(job: str, state: JobState = JobState.WAITING) -> Job:
    return Job(
        id=job,
        dataset="7e57",
        question=Mine(kind="mine", epsilon="1"),
        price=Loss(epsilon="1"),
        state=state,
        charged=False,
        submitted_at="2026-01-01T00:00:00+00:00",
        started_at=None,
        next_release_at=None,
        released_at=None,
    )


class Scene:
    """Jobs that stand somewhere, and how often they were looked at."""

    def __init__(self) -> None:
        self.moved: dict[str, JobState] = {}
        self.asked: list[int] = []
        self.looks: list[str] = []
        self.is_broken = False

    def stands(self, jobs: Collection[str]) -> dict[str, Stand]:
        self.asked.append(len(jobs))
        if self.is_broken:
            raise StoreError("the database is busy")
        return {job: Stand(self.moved.get(job, "waiting"), None, None) for job in jobs}

    async def look(self, job: str) -> Job:
        self.looks.append(job)
        return seen(job, self.moved.get(job, JobState.WAITING))


async def read(watch: Watch, scene: Scene, account: str, job: str) -> list[bytes]:
    return [event async for event in watch.stream(account, job, lambda: scene.look(job))]


async def until(condition: Callable[[], object], seconds: float = 30) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        await asyncio.sleep(0.01)


def test_the_database_is_asked_once_for_all_jobs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watching, "EVERY", 0.02)

    async def scenario() -> None:
        scene = Scene()
        watch = Watch(10, scene.stands)
        streams = [
            asyncio.create_task(read(watch, scene, f"ana {number}", f"job {number % 50}"))
            for number in range(200)
        ]
        await until(lambda: scene.asked.count(50) > 3)
        assert watch.streams == 200
        # Those that do not move are looked at when they are first watched, and once after it.
        assert len(scene.looks) <= 100 + len(streams)
        looks = len(scene.looks)
        scene.moved["job 7"] = JobState.DECLINED
        await until(lambda: all(one.done() for one in streams[7::50]))
        assert scene.looks[looks:] == ["job 7"]
        assert all(len(one.result()) == 2 for one in streams[7::50])
        for one in streams:
            one.cancel()
        await asyncio.gather(*streams, return_exceptions=True)
        # Nobody watches, so nobody asks; and accounts leave nothing behind.
        assert watch.streams == 0
        asked = len(scene.asked)
        await asyncio.sleep(0.1)
        assert len(scene.asked) <= asked + 1

    asyncio.run(scenario())


def test_streams_end_if_the_database_cannot_be_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watching, "EVERY", 0.02)

    async def scenario() -> None:
        scene = Scene()
        watch = Watch(10, scene.stands)
        first = asyncio.create_task(read(watch, scene, "ana", "job"))
        await until(lambda: scene.asked)
        scene.is_broken = True
        assert len(await first) == 1
        # Who comes back is served as before.
        scene.is_broken = False
        again = asyncio.create_task(read(watch, scene, "ana", "job"))
        await until(lambda: watch.streams == 1)
        scene.moved["job"] = JobState.CANCELLED
        assert b"cancelled" in (await again)[-1]

    asyncio.run(scenario())


def open_stream(place: Served, job: str) -> socket.socket:
    where = urlsplit(place.url)
    one = socket.create_connection((where.hostname, where.port), 60)
    one.sendall(
        f"GET /v1/jobs/{job}/events HTTP/1.1\r\nHost: x\r\n"
        f"Authorization: Bearer {place.people.secrets['ana']}\r\n\r\n".encode()
    )
    return one


def test_a_stream_ends_some_time_so_that_its_token_is_looked_at_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(watching, "ALIVE", 0.05)
    monkeypatch.setattr(watching, "LONGEST", 0.2)

    async def watched() -> list[bytes]:
        scene = Scene()
        watch = Watch(1, scene.stands)
        return [event async for event in watch.stream("ana", "job", lambda: scene.look("job"))]

    events = asyncio.run(asyncio.wait_for(watched(), 20))
    assert events[0].startswith(b"event: job")
    assert set(events[1:]) == {b": alive\n\n"}


def test_hundreds_of_idle_streams_do_not_stop_others(tmp_path: Path) -> None:
    with served(tmp_path, streams_each=STREAMS) as place, ExitStack() as stack:
        job = place.submit().json()["id"]
        streams = [stack.enter_context(open_stream(place, job)) for _ in range(STREAMS)]
        for one in streams:
            text = b""
            while b"event: job" not in text:
                part = one.recv(4096)
                assert part, text
                text += part
        with place.client("bob") as bob, place.client("opa") as operator:
            assert f"redveil_event_streams {STREAMS}" in operator.get("/metrics").text
            assert bob.get("/v1/me").status_code == 200
        # One more is refused, at once.
        with open_stream(place, job) as more:
            assert more.recv(4096).startswith(b"HTTP/1.1 429 ")
