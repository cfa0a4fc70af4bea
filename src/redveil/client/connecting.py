"""The public function connect."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from redveil.client.address import Address
from redveil.client.connection import Connection, Link
from redveil.client.login import Login, Logins
from redveil.client.talk import PATIENCE, Talk
from redveil.client.token import Token
from redveil.errors import InputError

if TYPE_CHECKING:
    from redveil.client.server import Server
    from redveil.signing.keys import PublicKey


def connect(
    url: str | None = None,
    token: str | None = None,
    *,
    key: str | Path | PublicKey | None = None,
    authorities: str | Path | None = None,
    patience: float = PATIENCE,
) -> Server:
    """Connect to a server: it has the rows, and you have its data sets' methods.

    Without a token, the login of `redveil remote login` is used, so that notebooks need not hold
    one. Requests that are lost are sent again, and are never charged twice. In asynchronous
    programs, `await asyncio.to_thread(dataset.mine, epsilon=1)` asks several questions at once.

    url:         the server's address: https, or http on this machine. Without one, it is the server
        that was last logged in to in this folder, else the last one anywhere, which answers what is
        free, and is not charged
    token:       the token that the operator gave you
    key:         the server's public key, or a PEM file with it; results that it has not signed are
        refused
    authorities: a PEM file of authorities to trust instead of the system's; certificates are always
        checked
    patience:    for how many seconds to try again when the server does not answer

    >>> connect("http://redveil.example.org", "redveil-secret")
    Traceback (most recent call last):
    redveil.errors.InputError: http://redveil.example.org: the token would travel unencrypted; \
use https
    """
    from redveil.client.server import Server

    login = _login(url, token, authorities)
    trusted = None if login.authorities is None else Path(login.authorities)
    public = _key(login.key if key is None else key)
    is_meant = url is not None or login.is_of_this_folder
    connection = Connection(Link(login.address, login.token, trusted))
    return Server(Talk(connection, login.address.text, patience, public, is_meant))


def _login(url: str | None, token: str | None, authorities: str | Path | None) -> Login:
    if token is None:
        known = Logins().find(url)
        trusted = known.authorities if authorities is None else str(authorities)
        return Login(known.address, known.token, known.key, trusted)
    if url is None:
        raise InputError("say where the server is, as in https://redveil.example.org")
    return Login(
        Address.parse(url), Token(token), None, None if authorities is None else str(authorities)
    )


def _key(given: str | Path | PublicKey | None) -> PublicKey | None:
    from redveil.signing.keys import PublicKey

    if given is None or isinstance(given, PublicKey):
        return given
    if isinstance(given, str) and given.lstrip().startswith("-----BEGIN"):
        return PublicKey.from_pem(given.encode())
    return PublicKey.read(given)
