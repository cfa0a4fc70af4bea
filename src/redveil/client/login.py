"""Logins that `redveil remote login` keeps: where a server is, a token, and the server's key."""

from __future__ import annotations

import json
import os
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from redveil.client.address import Address
from redveil.client.token import Token
from redveil.errors import InputError

_HOW: Final = "log in with `redveil remote login ADDRESS`"


@dataclass(frozen=True, slots=True)
class Login:
    """What is known of a server.

    key:         its public key, PEM, as it was when you logged in; None if results go unchecked
    authorities: the file of certificates to trust, None for the system's
    """

    address: Address
    token: Token
    key: str | None = None
    authorities: str | None = None


class Logins:
    """The file of logins, which only its owner can read. The last login is the usual one."""

    def __init__(self, path: Path | None = None) -> None:
        self.path = path or Path.home() / ".config" / "redveil" / "logins.json"

    def find(self, address: str | None = None) -> Login:
        """Return the login of a server, the last one if none is named."""
        known = self._read()
        if not known:
            raise InputError(f"no server is known; {_HOW}")
        wanted = None if address is None else Address.parse(address).text
        for one in reversed(known):
            if wanted is None or one.get("address") == wanted:
                return _login(one, self.path)
        raise InputError(f"{wanted}: no login for this server; {_HOW}")

    def keep(self, login: Login, *, as_usual: bool = True) -> None:
        """Keep a login, in the place of an earlier one for the same server.

        as_usual: whether it is the one that is used if no server is named; the only one always is
        """
        others = [one for one in self._read() if one.get("address") != login.address.text]
        made = {
            "address": login.address.text,
            "token": login.token.reveal(),
            "key": login.key,
            "authorities": login.authorities,
        }
        self._write([*others, made] if as_usual else [made, *others])

    def forget(self, address: str | None = None) -> str:
        """Forget a login; return its address."""
        gone = self.find(address).address.text
        self._write([one for one in self._read() if one.get("address") != gone])
        return gone

    def _read(self) -> list[dict[str, Any]]:
        try:
            if self.path.stat().st_mode & 0o077 and os.name == "posix":
                raise InputError(
                    f"{self.path}: others can read your tokens; revoke them, run chmod 600, and "
                    "log in again"
                )
            known = json.loads(self.path.read_bytes())
        except FileNotFoundError:
            return []
        except (OSError, ValueError, RecursionError):
            known = None
        if not isinstance(known, list) or not all(isinstance(one, dict) for one in known):
            raise InputError(f"{self.path}: not a file of logins; delete it, and {_HOW}")
        return known

    def _write(self, logins: list[dict[str, Any]]) -> None:
        """Replace the file; a temporary one is readable by its owner alone from the beginning."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            handle, name = tempfile.mkstemp(dir=self.path.parent)
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                json.dump(logins, file, indent=1)
                file.flush()
                os.fsync(file.fileno())
            Path(name).replace(self.path)
        except OSError:
            with suppress(OSError, UnboundLocalError):
                Path(name).unlink()
            raise InputError(f"{self.path}: cannot be written; check its folder") from None


def _login(known: dict[str, Any], path: Path) -> Login:
    try:
        token = Token(known["token"])
        return Login(
            Address.parse(known["address"]), token, known.get("key"), known.get("authorities")
        )
    except (KeyError, InputError, TypeError):
        raise InputError(f"{path}: a login in it is damaged; {_HOW} again") from None
