"""Requests and their answers, with httpx.

An answer is read up to a limit of size and time, whatever the server says of itself; it is never
decompressed, and never leads elsewhere.
"""

from __future__ import annotations

import ssl
import time
from collections.abc import Generator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import httpx

from redveil.base.version import software
from redveil.client.address import Address
from redveil.client.token import Token
from redveil.errors import InputError

# What goes wrong on the way; the words of libraries may repeat what was sent.
_BROKEN: Final = (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError, OSError)
#: The largest answer that is read.
LARGEST: Final = 256 << 20
#: How long the whole of an answer may take.
SECONDS: Final = 120.0
_TIMEOUT: Final = httpx.Timeout(60.0, connect=10.0)
# Streams say that they are alive every 15 seconds.
_SILENCE: Final = httpx.Timeout(60.0, connect=10.0, read=40.0)


@dataclass(frozen=True, slots=True)
class Send:
    """A request.

    path:  below the server's address, with names already quoted
    query: what follows the question mark
    body:  JSON, None if there is none
    """

    method: str
    path: str
    query: Mapping[str, str | int] = field(default_factory=dict)
    body: bytes | None = None
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Reply:
    """What a server answered.

    headers: names in lower case
    """

    status: int
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True, slots=True)
class Lost:
    """There was no answer, or no whole one; the reason is for people.

    is_final: whether trying again would be useless, or unsafe
    """

    reason: str
    is_final: bool = False


@dataclass(frozen=True, slots=True)
class Link:
    """What a connection needs: where, who, and which authorities to trust.

    authorities: a PEM file to trust instead of the system's; certificates are always checked
    """

    address: Address
    token: Token
    authorities: Path | None = None

    def options(self) -> dict[str, Any]:
        """Return how httpx is to be set up."""
        return {
            "headers": {
                "Authorization": self.token.header(),
                # What is compressed could expand to anything.
                "Accept-Encoding": "identity",
                "User-Agent": software().replace(" ", "/"),
            },
            "timeout": _TIMEOUT,
            "follow_redirects": False,
            # A proxy for http would see the token; one for https sees a tunnel.
            "trust_env": self.address.is_encrypted,
            "verify": self._trusted(),
        }

    def _trusted(self) -> ssl.SSLContext | bool:
        if self.authorities is None:
            return True
        try:
            return ssl.create_default_context(cafile=str(self.authorities))
        except (OSError, ValueError):
            raise InputError(
                f"{self.authorities}: no certificates in it; name a PEM file of authorities"
            ) from None

    def arguments(self, send: Send) -> dict[str, Any]:
        """Return a request as httpx takes it."""
        headers = dict(send.headers)
        if send.body is not None:
            headers["Content-Type"] = "application/json"
        return {
            "method": send.method,
            "url": self.address.text + send.path,
            "params": send.query or None,
            "content": send.body,
            "headers": headers,
        }


class _Body:
    """An answer that is being read."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._left = LARGEST
        self._until = time.monotonic() + SECONDS

    def add(self, part: bytes) -> Lost | None:
        """Add a part; return why to stop reading, None if there is no reason."""
        self._left -= len(part)
        if self._left < 0:
            return Lost(f"its answer is larger than {LARGEST >> 20} MiB", is_final=True)
        if time.monotonic() > self._until:
            return Lost(f"its answer took longer than {SECONDS:g} seconds", is_final=True)
        self._parts.append(part)
        return None

    def reply(self, answer: httpx.Response, token: Token) -> Reply:
        """Return the whole answer."""
        headers = {name.lower(): value for name, value in answer.headers.items()}
        return Reply(answer.status_code, headers, token.hidden_in(b"".join(self._parts)))


class Connection:
    """Sends requests; several threads may do so at once."""

    def __init__(self, link: Link) -> None:
        self._link = link
        self._client = httpx.Client(**link.options())

    def send(self, send: Send) -> Reply | Lost:
        """Return what came of a request."""
        try:
            with self._client.stream(**self._link.arguments(send)) as answer:
                if lost := _unreadable(answer):
                    return lost
                body = _Body()
                for part in answer.iter_raw(1 << 16):
                    if lost := body.add(part):
                        return lost
                return body.reply(answer, self._link.token)
        except _BROKEN as error:
            return _lost(error)

    def stream(self, path: str) -> Generator[bytes, None, None]:
        """Yield what a stream of events says, until it ends or breaks."""
        where = self._link.address.text + path
        try:
            with self._client.stream("GET", where, timeout=_SILENCE) as answer:
                if answer.status_code == 200 and not _unreadable(answer):
                    yield from answer.iter_raw()
        except _BROKEN:
            return

    def close(self) -> None:
        """Close the connection."""
        self._client.close()


def _unreadable(answer: httpx.Response) -> Lost | None:
    if answer.headers.get("content-encoding", "identity").strip().lower() not in ("identity", ""):
        return Lost("its answer is compressed, which nobody asked for", is_final=True)
    return None


def _lost(error: Exception) -> Lost:
    """Say what happened, in our words: those of libraries may repeat what was sent."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ssl.SSLCertVerificationError):
            return Lost(
                "its certificate is not trusted; name the file of its authority if it is your own",
                is_final=True,
            )
        cause = cause.__cause__ or cause.__context__
    if isinstance(error, httpx.TimeoutException):
        return Lost("it does not answer in time")
    if isinstance(error, httpx.ConnectError):
        return Lost("it cannot be reached; is it running, and is the address right?")
    return Lost("the connection broke")
