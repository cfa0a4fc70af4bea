"""The gate that every request passes: its size, its token, its rate; then the log and the metrics.

Nothing under /v1 is looked at before its token is. Tokens travel in a header only: one in an
address would be in the logs of every proxy on the way, so it is refused, and its owner told to
revoke it.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections import OrderedDict
from hashlib import sha256
from typing import Final

from anyio.to_thread import run_sync
from starlette.requests import ClientDisconnect, Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from redveil.errors import RedveilError, innermost
from redveil.server.answering import ProblemError, answer, problem, problem_of
from redveil.server.context import Context
from redveil.store.accounts import PREFIX, Token
from redveil.wire import paths
from redveil.wire.problems import Code

_IN_ADDRESS: Final = re.compile(rf"{PREFIX}|token=|authorization=", re.IGNORECASE)
_ID: Final = re.compile(r"[0-9a-f-]{16,64}")
_LONGEST_TOKEN: Final = 200
_MOST_WELCOME: Final = 10_000
_HEADERS: Final = (
    (b"cache-control", b"no-store"),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
)


class Gate:
    """Lets requests through to an application, or answers them itself."""

    def __init__(self, app: ASGIApp, context: Context) -> None:
        self._app = app
        self._context = context
        self._welcome = _Welcome()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        begun, status = time.monotonic(), [0]

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                status[0] = message["status"]
                message["headers"] = [*message["headers"], *_HEADERS]
            await send(message)

        try:
            await self._pass(scope, receive, sending)
        except RedveilError as error:
            await answer(problem_of(error), _closing(error))(scope, receive, sending)
        except asyncio.CancelledError:
            if not status[0]:
                raise
            # The server stops: event streams end, and clients come back.
            await send({"type": "http.response.body", "body": b"", "more_body": False})
        except ClientDisconnect:
            pass
        except Exception as error:
            # Not the message: it may repeat what a client sent.
            self._context.log("internal error", place=innermost(error))
            if not status[0]:
                failed = problem(Code.INTERNAL, "an error of the server; try again later")
                await answer(failed)(scope, receive, sending)
        finally:
            self._note(scope, status[0], time.monotonic() - begun)

    async def _pass(self, scope: Scope, receive: Receive, send: Send) -> None:
        address = scope["path"] + "?" + scope["query_string"].decode("latin-1")
        if _IN_ADDRESS.search(address):
            raise ProblemError(
                Code.BAD_REQUEST,
                "a token does not belong in an address, where logs keep it; revoke it, and send "
                "another in the header: Authorization: Bearer …",
            )
        if scope["path"].startswith(paths.V1) or scope["path"] == paths.METRICS:
            scope.setdefault("state", {})["token"] = await self._authenticated(scope)
        request = Request(scope, receive)
        body = await self._body(request)
        if _has_body(request) and "token" in scope.get("state", {}):
            # Its client has chosen when the request is complete.
            scope["state"]["token"] = await self._still_working(request)
        is_sent = False

        async def replay() -> Message:
            nonlocal is_sent
            if is_sent:
                # An event stream waits here for its client to leave.
                return await receive()
            is_sent = True
            return {"type": "http.request", "body": body, "more_body": False}

        await self._app(scope, replay, send)

    async def _authenticated(self, scope: Scope) -> Token:
        """Return the token of a request; refuse a wrong one, and soon everything from there."""
        context = self._context
        client = scope.get("client")
        address = client[0] if client else "unknown"
        secret = _secret(Request(scope))
        # Somebody behind the same proxy must not keep those out whose tokens have worked.
        if secret not in self._welcome and (wait := context.wrong_tokens.wait(address, take=0)):
            raise ProblemError(
                Code.TOO_MANY, "too many wrong tokens from this address; wait", retry_after=wait
            )
        token = await self._working(secret)
        self._welcome.note(secret, is_right=token is not None)
        if token is None:
            context.wrong_tokens.wait(address)
            context.metrics.wrong_token()
            raise _no_token()
        if wait := context.requests.wait(token.account.id):
            raise ProblemError(Code.TOO_MANY, "too many requests; wait", retry_after=wait)
        return token

    async def _still_working(self, request: Request) -> Token:
        """Return the token of a request that is complete; refuse one that was revoked by then."""
        token = await self._working(_secret(request))
        if token is None:
            raise _no_token()
        return token

    async def _working(self, secret: str | None) -> Token | None:
        if secret is None:
            return None
        return await run_sync(self._context.store.accounts.authenticate, secret)

    async def _body(self, request: Request) -> bytes:
        """Read a request, which may be neither too large nor too slow."""
        most = self._context.settings.body_kib << 10
        told = request.headers.get("content-length", "0")
        if told.isdecimal() and int(told[:20]) > most:
            raise _too_large(most)
        parts: list[bytes] = []
        size = 0
        try:
            async with asyncio.timeout(self._context.settings.body_seconds):
                async for part in request.stream():
                    size += len(part)
                    if size > most:
                        raise _too_large(most)
                    parts.append(part)
        except TimeoutError:
            raise ProblemError(Code.TOO_SLOW, "the request took too long to arrive") from None
        return b"".join(parts)

    def _note(self, scope: Scope, status: int, seconds: float) -> None:
        route = getattr(scope.get("route"), "path", "none")
        self._context.metrics.request(route, status, seconds)
        token: Token | None = scope.get("state", {}).get("token")
        ids = {
            name: value
            for name, value in scope.get("path_params", {}).items()
            if isinstance(value, str) and _ID.fullmatch(value)
        }
        self._context.log(
            "request",
            method=scope["method"] if scope["method"] in _METHODS else "other",
            route=route,
            status=status,
            account=token.account.id if token else None,
            milliseconds=round(seconds * 1000),
            about=ids or None,
        )


_METHODS: Final = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


class _Welcome:
    """Tokens that have worked, by their hashes: those used last, as many as have room.

    >>> welcome = _Welcome()
    >>> welcome.note("redveil_secret", is_right=True)
    >>> "redveil_secret" in welcome, "redveil_guess" in welcome
    (True, False)
    """

    def __init__(self) -> None:
        self._known: OrderedDict[bytes, None] = OrderedDict()

    def __contains__(self, secret: str | None) -> bool:
        return secret is not None and _hash(secret) in self._known

    def note(self, secret: str | None, *, is_right: bool) -> None:
        """Remember a token that works; forget one that no longer does."""
        if secret is None:
            return
        self._known.pop(_hash(secret), None)
        if is_right:
            self._known[_hash(secret)] = None
        if len(self._known) > _MOST_WELCOME:
            self._known.popitem(last=False)


def _hash(secret: str) -> bytes:
    return sha256(secret.encode("utf-8", "surrogatepass")).digest()


def _secret(request: Request) -> str | None:
    """Return what a request gives for its token, None if that cannot be one."""
    kind, _, secret = request.headers.get("authorization", "").partition(" ")
    secret = secret.strip()
    return secret if kind.lower() == "bearer" and 0 < len(secret) <= _LONGEST_TOKEN else None


def _has_body(request: Request) -> bool:
    """Return whether a request announces a body, for which the server waits."""
    announced = request.headers.get("content-length", "0")
    return announced.strip("0") != "" or "transfer-encoding" in request.headers


def _no_token() -> ProblemError:
    return ProblemError(
        Code.UNAUTHENTICATED, "no valid token; send one in the header: Authorization: Bearer …"
    )


def _too_large(most: int) -> ProblemError:
    return ProblemError(Code.TOO_LARGE, f"a request has at most {most >> 10} KiB")


def _closing(error: RedveilError) -> dict[str, str]:
    """Close a connection whose request was not read to its end."""
    is_unread = isinstance(error, ProblemError)
    return {"Connection": "close"} if is_unread else {}
