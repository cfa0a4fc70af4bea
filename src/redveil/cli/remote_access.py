"""Which server a command talks to, and with which token; a token is never typed into a command."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from redveil.base.files import typed
from redveil.cli.console import agrees, can_be_asked, say
from redveil.errors import InputError

if TYPE_CHECKING:
    from redveil.client.login import Login
    from redveil.client.server import Server

#: The variable of the environment that can hold a token, for programs.
VARIABLE: Final = "REDVEIL_TOKEN"
_LONGEST: Final = 1000
_PANEL: Final = "Server"

Where = Annotated[
    str | None,
    typer.Option(
        "--server",
        metavar="<address>",
        help="Address of the server [default: that of the last login in this folder; for what is "
        "free, of the last one anywhere]",
        rich_help_panel=_PANEL,
    ),
]
TokenFile = Annotated[
    Path | None,
    typer.Option(
        "--token-file",
        help=f"File with your token [default: {VARIABLE}, else that of the login]",
        rich_help_panel=_PANEL,
    ),
]
DatasetName = Annotated[str, typer.Argument(metavar="DATASET", help="Name or id of a data set.")]
JobId = Annotated[
    str, typer.Argument(metavar="JOB", help="Id of a job, see `redveil remote jobs`.")
]


@contextmanager
def access(
    where: str | None, token_file: Path | None, *, charges: bool = False
) -> Iterator[Server]:
    """Lend a connection to a server, and say which: with a given token, else that of a login.

    charges: whether it is to be charged; one that nobody named is asked for first, or refused
    """
    from redveil.client.connecting import connect

    token = given_token(token_file)
    known = _login(where, token)
    address, is_meant = known.address.text, where is not None or known.is_of_this_folder
    if token is not None and not is_meant:
        raise InputError("--server: say where the server is that the token is for")
    say(named(address) + ("" if is_meant else ", of your last login"))
    if charges and not is_meant:
        _must_be_meant(address)
    secret = known.token.reveal() if token is None else token
    with connect(address, secret, key=known.key, authorities=known.authorities) as server:
        yield server


def named(address: str) -> str:
    """Return the line by which every command names the server it talks to.

    >>> named("https://redveil.example.org")
    'server: https://redveil.example.org'
    """
    return f"server: {address}"


def suggested(command: str, address: str) -> str:
    """Return a command to type next, which talks to the same server wherever it is typed.

    >>> suggested("fetch 7e57", "https://redveil.example.org")
    '`redveil remote fetch 7e57 --server https://redveil.example.org`'
    """
    return f"`redveil remote {command} --server {typed(address)}`"


def _login(where: str | None, token: str | None) -> Login:
    """Return what is known of a server; with a token, nothing needs to be."""
    from redveil.client.address import Address
    from redveil.client.login import Login, Logins
    from redveil.client.token import Token

    try:
        return Logins().find(where)
    except InputError:
        if token is None:
            raise
        if where is None:
            raise InputError("--server: say where the server is that the token is for") from None
        return Login(Address.parse(where), Token(token))


def _must_be_meant(address: str) -> None:
    """Refuse to charge a server that nobody named, unless somebody at the terminal means it."""
    if can_be_asked():
        if agrees("You named no server. Let this charge the one of your last login?"):
            return
        raise InputError("nothing was asked; name the server with --server")
    raise InputError(
        f"this would charge a server that was not named; say --server {typed(address)}, or "
        "log in to it in this folder"
    )


def given_token(token_file: Path | None) -> str | None:
    """Return the token in a file, or else in the environment; None if there is none."""
    if token_file is None:
        return os.environ.get(VARIABLE) or None
    try:
        with token_file.open("rb") as file:
            return file.read(_LONGEST).decode("ascii").strip()
    except (OSError, UnicodeDecodeError):
        raise InputError(f"{token_file}: cannot be read; name a file with your token") from None
