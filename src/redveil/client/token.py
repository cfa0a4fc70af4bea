"""A token: sent in one header, and shown nowhere."""

from __future__ import annotations

import re
from typing import Final

from redveil.errors import InputError

_SHAPE: Final = re.compile(r"[\x21-\x7e]{8,200}")
_HIDDEN: Final = b"(token)"


class Token:
    """The secret that tells a server who asks. It cannot be printed or pickled.

    >>> Token("redveil-secret")
    <token>
    >>> Token("two words")
    Traceback (most recent call last):
    redveil.errors.InputError: not a token; copy the whole line that the operator gave you
    """

    __slots__ = ("_secret",)

    def __init__(self, secret: str) -> None:
        if not isinstance(secret, str) or not _SHAPE.fullmatch(secret.strip()):
            # Not what was given: it may be most of a token.
            raise InputError("not a token; copy the whole line that the operator gave you")
        self._secret = secret.strip()

    def header(self) -> str:
        """Return the value of the header `Authorization`."""
        return f"Bearer {self._secret}"

    def reveal(self) -> str:
        """Return the secret, to be stored."""
        return self._secret

    def hidden_in(self, content: bytes) -> bytes:
        """Return a server's answer without the token: what it repeats would end up in logs."""
        return content.replace(self._secret.encode(), _HIDDEN)

    def __repr__(self) -> str:
        return "<token>"

    def __reduce__(self) -> str:
        raise TypeError("a token is not pickled")
