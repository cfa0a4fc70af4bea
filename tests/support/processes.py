"""A real server: `redveil serve` with its processes, which tests may kill."""

from __future__ import annotations

import json
import os
import secrets
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Thread
from typing import Any

import httpx

from redveil.server.opening import set_up
from redveil.server.settings import Settings
from redveil.store.store import Store
from support.served import AT_ONCE, People, populate


@dataclass
class Running:
    """A running server: its address, its accounts, its lines of log, and what else it said."""

    url: str
    store: Store
    settings: Settings
    people: People
    process: subprocess.Popen[str]
    lines: list[dict[str, Any]]
    others: list[str]

    def client(self, name: str = "ana") -> httpx.Client:
        headers = {"Authorization": f"Bearer {self.people.secrets[name]}"}
        return httpx.Client(base_url=self.url, headers=headers, timeout=60)

    def children(self, module: str) -> list[int]:
        """Return the processes that run a module, for this server."""
        listed = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text()
        found = []
        for number in map(int, listed.split()):
            with suppress(OSError):
                if module in Path(f"/proc/{number}/cmdline").read_text():
                    found.append(number)
        return found

    def kill(self, module: str) -> bool:
        """Kill a process (−9), if there is one; it has no time to do anything."""
        found = self.children(module)
        with suppress(IndexError, ProcessLookupError):
            os.kill(secrets.choice(found), signal.SIGKILL)
            return True
        return False

    def wait_for(self, event: str, seconds: float = 60) -> dict[str, Any]:
        """Return the first line of log about an event."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            for line in list(self.lines):
                if line.get("event") == event:
                    return line
            time.sleep(0.02)
        raise AssertionError(f"no {event} in {self.lines}")


def free_port() -> int:
    """Return a port that nobody listens at."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


@contextmanager
def running(
    folder: Path,
    address: str | None = None,
    *,
    budget: str = "1000",
    rows: int = 300,
    people: People | None = None,
    **options: Any,
) -> Iterator[Running]:
    """Start a server with a clinic, and stop it in the end.

    people: those of a server that has run in this folder before
    """
    chosen = AT_ONCE | {"port": free_port(), "lease_seconds": 5, "workers": 1} | options
    settings = Settings(folder=folder / "server", database=address, **chosen)
    store, _ = set_up(settings)
    people = people or populate(store, settings, budget=budget, rows=rows)
    file = folder / "settings.toml"
    plain = settings.model_dump(mode="json", exclude_none=True)
    file.write_text("".join(f"{name} = {json.dumps(value)}\n" for name, value in plain.items()))
    process = subprocess.Popen(
        [sys.executable, "-m", "redveil", "serve", "--settings", str(file)],
        stderr=subprocess.PIPE,
        text=True,
    )
    lines: list[dict[str, Any]] = []
    others: list[str] = []

    def read() -> None:
        assert process.stderr is not None
        with process.stderr as said:
            for line in said:
                try:
                    lines.append(json.loads(line))
                except ValueError:
                    others.append(line)

    reader = Thread(target=read, daemon=True)
    reader.start()
    made = Running("", store, settings, people, process, lines, others)
    made.url = made.wait_for("listening")["address"]
    try:
        yield made
    finally:
        process.terminate()
        try:
            process.wait(60)
        finally:
            process.kill()
            reader.join(60)
            store.close()
