"""Bad networks and bad servers for clients: real sockets that lose answers, or tell lies."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

Handler = Callable[[socket.socket], None]


@contextmanager
def listening(handle: Handler) -> Iterator[int]:
    """Handle every connection to a port of this machine in a thread; yield the port."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def accept() -> None:
            with suppress(OSError):
                while True:
                    connection, _ = server.accept()
                    threading.Thread(
                        target=_quietly, args=(handle, connection), daemon=True
                    ).start()

        threading.Thread(target=accept, daemon=True).start()
        yield server.getsockname()[1]
        with suppress(OSError):
            server.shutdown(socket.SHUT_RDWR)


def _quietly(handle: Handler, connection: socket.socket) -> None:
    with suppress(OSError), connection:
        handle(connection)


@dataclass
class Relay:
    """Passes requests on to a server, and loses the answers to some.

    lose:  requests that contain one of these; each is lost once
    after: how many bytes of a lost answer arrive
    """

    port: int
    lose: list[bytes]
    after: int = 0
    seen: list[bytes] = field(default_factory=list)

    def __call__(self, client: socket.socket) -> None:
        with socket.create_connection(("127.0.0.1", self.port)) as upstream:
            while request := _whole(client):
                self.seen.append(request)
                found = next((one for one in self.lose if one in request), None)
                upstream.sendall(request)
                if found is not None:
                    self.lose.remove(found)
                    answer = upstream.recv(1 << 16)
                    client.sendall(answer[: self.after])
                    return
                if b"/events" in request:
                    _pump(upstream, client)
                    return
                client.sendall(_whole(upstream))


def _whole(source: socket.socket) -> bytes:
    """Read one message: its head, and as many bytes as that says; nothing if there is none."""
    message = b""
    while b"\r\n\r\n" not in message:
        part = source.recv(1 << 16)
        if not part:
            return b""
        message += part
    head, _, body = message.partition(b"\r\n\r\n")
    sizes = [one for one in head.lower().split(b"\r\n") if one.startswith(b"content-length:")]
    while sizes and len(body) < int(sizes[0][15:]):
        body += source.recv(1 << 16)
    return head + b"\r\n\r\n" + body


def _pump(upstream: socket.socket, client: socket.socket) -> None:
    while part := upstream.recv(1 << 16):
        client.sendall(part)


@dataclass
class Liar:
    """Answers every request with the same bytes, and remembers what it was sent."""

    answer: bytes
    again: bytes = b""
    times: int = 0
    seen: list[bytes] = field(default_factory=list)

    def __call__(self, client: socket.socket) -> None:
        self.seen.append(client.recv(1 << 16))
        client.sendall(self.answer)
        for _ in range(self.times):
            client.sendall(self.again)


def http(status: str, body: bytes, *headers: str) -> bytes:
    """Return an HTTP answer."""
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", "Connection: close", *headers]
    return "\r\n".join([*lines, "", ""]).encode() + body
