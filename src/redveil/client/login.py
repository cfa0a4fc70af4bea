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
    folders:     the folders that mean this server if none is named, because it is the one that was
        last logged in to there; kept by `Logins`
    """

    address: Address
    token: Token
    key: str | None = None
    authorities: str | None = None
    folders: tuple[str, ...] = ()

    @property
    def is_of_this_folder(self) -> bool:
        """Whether the folder that the program is in means this server."""
        return _here() in self.folders


class Logins:
    """The file of logins, which only its owner can read.

    If no server is named, it is the one that was last logged in to in this folder, else the last
    one anywhere. The latter is a guess, and nothing is charged on a guess.
    """

    def __init__(self, path: Path | None = None) -> None:
        self.path = path or Path.home() / ".config" / "redveil" / "logins.json"

    def find(self, address: str | None = None) -> Login:
        """Return the login of a server; if none is named, that of this folder, or the last one."""
        known = self._read()[::-1]
        if not known:
            raise InputError(f"no server is known; {_HOW}")
        if address is None:
            here = (one for one in known if _here() in _folders(one))
            return _login(next(here, known[0]), self.path)
        wanted = Address.parse(address).text
        for one in known:
            if one.get("address") == wanted:
                return _login(one, self.path)
        raise InputError(f"{wanted}: no login for this server; {_HOW}")

    def keep(self, login: Login, *, as_usual: bool = True) -> None:
        """Keep a login made in this folder, in the place of an earlier one for the same server.

        as_usual: whether it is the one that is used if no server is named; the only one always is.
            If not, and another one was meant in this folder, nobody knows any more which is
        """
        known, here, address = self._read(), _here(), login.address.text
        folders = {path for one in known if one.get("address") == address for path in _folders(one)}
        others = [one for one in known if one.get("address") != address]
        if here is not None and (as_usual or not any(here in _folders(one) for one in others)):
            folders.add(here)
        # A folder means one server at most.
        others = [
            one | {"folders": [path for path in _folders(one) if path != here]} for one in others
        ]
        made = {
            "address": address,
            "token": login.token.reveal(),
            "key": login.key,
            "authorities": login.authorities,
            "folders": sorted(folders),
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
        address, token = Address.parse(known["address"]), Token(known["token"])
        return Login(address, token, known.get("key"), known.get("authorities"), _folders(known))
    except (KeyError, InputError, TypeError):
        raise InputError(f"{path}: a login in it is damaged; {_HOW} again") from None


def _folders(known: dict[str, Any]) -> tuple[str, ...]:
    """Return the folders that mean a server; none if what is kept of them is damaged."""
    kept = known.get("folders")
    return tuple(one for one in kept if isinstance(one, str)) if isinstance(kept, list) else ()


def _here() -> str | None:
    """Return the folder that the program is in, None if that was removed."""
    try:
        return str(Path.cwd())
    except OSError:
        return None
