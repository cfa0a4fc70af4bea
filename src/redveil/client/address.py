"""Where a server is. A token goes there and nowhere else, and never in the clear over a network."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from urllib.parse import urlsplit

from redveil.errors import InputError

_EXAMPLE = "give one like https://redveil.example.org"


@dataclass(frozen=True, slots=True)
class Address:
    """The address of a server, without a slash at its end."""

    text: str

    @classmethod
    def parse(cls, text: str) -> Address:
        """Return an address, or refuse one to which a token must not be sent.

        >>> Address.parse("https://redveil.example.org/").text
        'https://redveil.example.org'
        >>> Address.parse("http://redveil.example.org")
        Traceback (most recent call last):
        redveil.errors.InputError: http://redveil.example.org: the token would travel unencrypted; \
use https
        """
        try:
            parts = urlsplit(text)
            host, port = parts.hostname, parts.port
        except (ValueError, AttributeError, TypeError):
            raise InputError(f"not the address of a server; {_EXAMPLE}") from None
        if parts.scheme not in ("http", "https") or not host or not text.isprintable():
            raise InputError(f"not the address of a server; {_EXAMPLE}")
        # Whatever else an address may hold, a password for one, must not be repeated here.
        if parts.username is not None or parts.query or parts.fragment or " " in text:
            raise InputError(f"an address has no user, question mark or blank; {_EXAMPLE}")
        shown = f"[{host}]" if ":" in host else host
        whole = f"{parts.scheme}://{shown}{'' if port is None else f':{port}'}"
        if parts.scheme == "http" and not _is_loopback(host):
            raise InputError(f"{whole}: the token would travel unencrypted; use https")
        return cls(whole + parts.path.rstrip("/"))

    @property
    def is_encrypted(self) -> bool:
        """Whether connections are encrypted; if not, they do not leave this machine."""
        return self.text.startswith("https://")


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
