"""What a client does, one action at a time, whoever carries it out.

A conversation is a generator: it yields actions and is sent what came of them. So it is written
once, and carried out by `connection.Connection` or, asynchronously, by `AsyncConnection`.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Send:
    """Send a request; what comes back is a Reply, or Lost.

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
class Listen:
    """Open a stream of events, and close the one before; what comes back is a Reply, or Lost."""

    path: str


@dataclass(frozen=True, slots=True)
class Hear:
    """Wait for more of the open stream; what comes back is bytes, none at its end, or Lost."""


@dataclass(frozen=True, slots=True)
class Pause:
    """Wait."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Reply:
    """What a server answered; the body of an open stream is empty.

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


Action = Send | Listen | Hear | Pause
Outcome = Reply | Lost | bytes | None
#: A conversation whose outcome is a T.
Steps = Generator[Action, Any, T]
