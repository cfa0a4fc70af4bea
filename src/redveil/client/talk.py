"""Asking a server, again if need be, and what its answers must be."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeVar
from urllib.parse import quote

from pydantic import BaseModel, ValidationError

from redveil.client.connection import Connection, Lost, Reply, Send
from redveil.client.refusals import give_up, refuse
from redveil.errors import InputError, RemoteError, ResultError
from redveil.wire.answers import Job, JobState

if TYPE_CHECKING:
    from redveil.signing.keys import PublicKey

#: How long to go on trying, in seconds.
PATIENCE: Final = 120.0
# The same for what nobody has paid for, and anybody can ask again.
_FOR_READING: Final = 10.0
# Answers after which the same request may succeed.
_AGAIN: Final = frozenset({408, 429, 502, 503, 504})
_LONGEST_PAUSE: Final = 10.0

Model = TypeVar("Model", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Talk:
    """How to talk to a server.

    place:    its address, for errors
    patience: how long to go on trying, in seconds
    key:      the public key that must have signed results; None to leave them unchecked
    is_meant: whether somebody said that it is this server; one that was guessed is not charged
    """

    connection: Connection
    place: str
    patience: float = PATIENCE
    key: PublicKey | None = None
    is_meant: bool = True

    def get(self, model: type[Model], path: str, **query: str | int | None) -> Model:
        """Ask for something that can be asked for again."""
        given = {name: value for name, value in query.items() if value is not None}
        patience = min(self.patience, _FOR_READING)
        return understood(model, self.ask(Send("GET", path, given), patience))

    def post(
        self,
        model: type[Model],
        path: str,
        body: Mapping[str, Any],
        headers: Mapping[str, str] | None = None,
    ) -> Model:
        """Ask for something with a body; the same again must do no harm."""
        content = json.dumps(body).encode()
        return understood(model, self.ask(Send("POST", path, body=content, headers=headers or {})))

    def must_be_meant(self) -> None:
        """Refuse what will be charged if the server was only guessed."""
        if not self.is_meant:
            raise InputError(
                f"{self.place} is only the server of your last login, and would be charged; if you "
                f'mean it, say redveil.connect("{self.place}")'
            )

    def ask(self, send: Send, patience: float | None = None) -> Reply:
        """Return the answer to a request, after as many tries as patience allows."""
        until = time.monotonic() + (self.patience if patience is None else patience)
        pause = 0.5
        while True:
            reply = self.connection.send(send)
            if isinstance(reply, Reply) and reply.status not in _AGAIN:
                return reply
            wait = pause if isinstance(reply, Lost) else _asked_to_wait(reply, pause)
            is_last = time.monotonic() + wait > until
            if isinstance(reply, Lost):
                if reply.is_final or is_last:
                    give_up(reply, self.place)
            elif is_last:
                refuse(reply)
            time.sleep(wait)
            pause = min(pause * 2, _LONGEST_PAUSE)


def understood(model: type[Model], reply: Reply) -> Model:
    """Return an answer, or raise what it refuses."""
    if not 200 <= reply.status < 300:
        refuse(reply)
    try:
        return model.model_validate_json(reply.body)
    except (ValidationError, ValueError, RecursionError):
        raise RemoteError(
            "the server's answer cannot be understood; is it a redveil server, and of this version?"
        ) from None


def must_be_done(job: Job) -> None:
    """Refuse a job that has no result."""
    paid = "it stays charged" if job.charged else "nothing was charged"
    match job.state:
        case JobState.DONE:
            return
        case JobState.OVER_BUDGET:
            from redveil.errors import OverBudgetError

            raise OverBudgetError(
                f"job {job.id}: over budget when it was to be charged, so nothing was; see what is "
                "left, and ask for less"
            )
        case JobState.DECLINED:
            raise RemoteError(
                f"job {job.id} was declined by the owner, or what allowed it was revoked while it "
                "waited: a grant, a token; nothing was charged"
            )
        case JobState.FAILED:
            raise RemoteError(f"job {job.id} failed; {paid}; the operator can find out why")
        case JobState.CANCELLED:
            raise RemoteError(f"job {job.id} was cancelled; {paid}")
    raise RemoteError(f"job {job.id} is {job.state.value}; there is no result yet")


def signed_for(content: bytes, job: Job, key: PublicKey | None) -> bytes:
    """Return a result as it was sent, if it is that of a job and, given a key, signed by it.

    A server that answers with an old result, or with that of another job, is found out.
    """
    from redveil.signing.certificate import check_result, read_result

    document = read_result(content)
    if key is not None:
        check_result(document, key)
    part = document.get("signature")
    said = part if isinstance(part, dict) else {}
    if said.get("job") != job.id or said.get("dataset") != job.dataset:
        raise ResultError("the server sent the result of another job")
    return content


def identifier(text: str) -> str:
    """Return an id for a path; refuse one that would lead elsewhere.

    >>> identifier("3f8c0f0e-9a0b"), identifier("my clinic")
    ('3f8c0f0e-9a0b', 'my%20clinic')
    >>> identifier("..")
    Traceback (most recent call last):
    redveil.errors.InputError: not an id
    """
    if not text or len(text) > 200 or not text.strip("."):
        raise InputError("not an id")
    return quote(text, safe="")


def _asked_to_wait(reply: Reply, usual: float) -> float:
    """Return how long to wait; a server can ask for more than usual, but not for ever."""
    told = reply.headers.get("retry-after", "")
    return max(usual, min(float(told), 60.0)) if told.isascii() and told.isdecimal() else usual
