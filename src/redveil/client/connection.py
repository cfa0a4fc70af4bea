"""Carrying out conversations with httpx, sync and async.

An answer is read up to a limit of size and time, whatever the server says of itself; it is never
decompressed, and never leads elsewhere.
"""

from __future__ import annotations

import asyncio
import ssl
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Self

import httpx

from redveil.client.address import Address
from redveil.client.exchange import Action, Hear, Listen, Lost, Pause, Reply, Send, Steps, T
from redveil.client.token import Token
from redveil.errors import InputError
from redveil.version import software

#: The largest answer that is read.
LARGEST: Final = 256 << 20
#: How long the whole of an answer may take.
SECONDS: Final = 120.0
_TIMEOUT: Final = httpx.Timeout(60.0, connect=10.0)
# Streams say that they are alive every 15 seconds.
_SILENCE: Final = httpx.Timeout(60.0, connect=10.0, read=40.0)


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
        return Reply(answer.status_code, _headers(answer), token.hidden_in(b"".join(self._parts)))


class Connection:
    """Carries out conversations, one after another."""

    def __init__(self, link: Link) -> None:
        self._link = link
        self._client = httpx.Client(**link.options())
        self._stream: httpx.Response | None = None
        self._chunks: Any = None

    def run(self, steps: Steps[T]) -> T:
        """Carry out a conversation; return its outcome."""
        outcome: Any = None
        try:
            while True:
                outcome = self._do(steps.send(outcome))
        except StopIteration as end:
            found: T = end.value
            return found
        finally:
            self._hang_up()

    def close(self) -> None:
        """Close the connection."""
        self._client.close()

    def _do(self, action: Action) -> Any:
        try:
            match action:
                case Send():
                    return self._send(action)
                case Listen(path):
                    return self._listen(path)
                case Hear():
                    return next(self._chunks, b"")
                case Pause(seconds):
                    time.sleep(seconds)
                    return None
        except (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError, OSError) as error:
            return _lost(error)

    def _send(self, send: Send) -> Reply | Lost:
        with self._client.stream(**self._link.arguments(send)) as answer:
            if lost := _unreadable(answer):
                return lost
            body = _Body()
            for part in answer.iter_raw(1 << 16):
                if lost := body.add(part):
                    return lost
            return body.reply(answer, self._link.token)

    def _listen(self, path: str) -> Reply | Lost:
        self._hang_up()
        request = self._client.build_request(
            "GET", self._link.address.text + path, timeout=_SILENCE
        )
        self._stream = self._client.send(request, stream=True)
        self._chunks = self._stream.iter_raw()
        return _opened(self._stream)

    def _hang_up(self) -> None:
        if self._stream is not None:
            self._stream.close()
            self._stream = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class AsyncConnection:
    """Carries out conversations, several at the same time if need be."""

    def __init__(self, link: Link) -> None:
        self._link = link
        self._client = httpx.AsyncClient(**link.options())

    async def run(self, steps: Steps[T]) -> T:
        """Carry out a conversation; return its outcome."""
        outcome: Any = None
        line = _Line()
        try:
            while True:
                outcome = await self._do(steps.send(outcome), line)
        except StopIteration as end:
            found: T = end.value
            return found
        finally:
            await line.hang_up()

    async def close(self) -> None:
        """Close the connection."""
        await self._client.aclose()

    async def _do(self, action: Action, line: _Line) -> Any:
        try:
            match action:
                case Send():
                    return await self._send(action)
                case Listen(path):
                    return await self._listen(path, line)
                case Hear():
                    return await anext(line.chunks, b"")
                case Pause(seconds):
                    await asyncio.sleep(seconds)
                    return None
        except (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError, OSError) as error:
            return _lost(error)

    async def _send(self, send: Send) -> Reply | Lost:
        async with self._client.stream(**self._link.arguments(send)) as answer:
            if lost := _unreadable(answer):
                return lost
            body = _Body()
            async for part in answer.aiter_raw(1 << 16):
                if lost := body.add(part):
                    return lost
            return body.reply(answer, self._link.token)

    async def _listen(self, path: str, line: _Line) -> Reply | Lost:
        await line.hang_up()
        request = self._client.build_request(
            "GET", self._link.address.text + path, timeout=_SILENCE
        )
        line.stream = await self._client.send(request, stream=True)
        line.chunks = line.stream.aiter_raw()
        return _opened(line.stream)


class _Line:
    """The open stream of an asynchronous conversation."""

    def __init__(self) -> None:
        self.stream: httpx.Response | None = None
        self.chunks: Any = None

    async def hang_up(self) -> None:
        if self.stream is not None:
            await self.stream.aclose()
            self.stream = None


def _headers(answer: httpx.Response) -> Mapping[str, str]:
    return {name.lower(): value for name, value in answer.headers.items()}


def _unreadable(answer: httpx.Response) -> Lost | None:
    if answer.headers.get("content-encoding", "identity").strip().lower() not in ("identity", ""):
        return Lost("its answer is compressed, which nobody asked for", is_final=True)
    return None


def _opened(answer: httpx.Response) -> Reply | Lost:
    return _unreadable(answer) or Reply(answer.status_code, _headers(answer), b"")


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
