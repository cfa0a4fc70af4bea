"""Connections to a server that tests need not close, and a worker for it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import redveil
from redveil.client.server import RemoteDataset, Server
from support.served import Served


@contextmanager
def working(place: Served) -> Iterator[None]:
    """Let a worker work, as long as the block runs."""
    stop = threading.Event()

    def work() -> None:
        while not stop.wait(0.02):
            place.work()

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


class Connect:
    """Connects to a server, and remembers to close."""

    def __init__(self, place: Served, stack: ExitStack) -> None:
        self.place = place
        self._stack = stack

    def __call__(self, name: str = "ana", **options: Any) -> Server:
        key = self.place.store.signer.public
        secret = options.pop("token", None) or self.place.people.secrets[name]
        url = options.pop("url", self.place.url)
        return self._stack.enter_context(redveil.connect(url, secret, **({"key": key} | options)))

    def clinic(self, name: str = "ana") -> RemoteDataset:
        return self(name).dataset("clinic")
