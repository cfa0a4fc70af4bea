"""Which server a command talks to, and with which token; a token is never typed into a command."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from redveil.errors import InputError

if TYPE_CHECKING:
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
        help="Address of the server [default: that of the last login]",
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
def access(where: str | None, token_file: Path | None) -> Iterator[Server]:
    """Lend a connection to a server: with a token that was given, else with that of a login."""
    from redveil.client.connecting import connect
    from redveil.client.login import Logins

    token = given_token(token_file)
    if token is None:
        with connect(where) as server:
            yield server
        return
    logins = Logins()
    try:
        known = logins.find(where)
    except InputError:
        if where is None:
            raise InputError("--server: say where the server is that the token is for") from None
        key, trusted, address = None, None, where
    else:
        key, trusted, address = known.key, known.authorities, known.address.text
    with connect(address, token, key=key, authorities=trusted) as server:
        yield server


def given_token(token_file: Path | None) -> str | None:
    """Return the token in a file, or else in the environment; None if there is none."""
    if token_file is None:
        return os.environ.get(VARIABLE) or None
    try:
        with token_file.open("rb") as file:
            return file.read(_LONGEST).decode("ascii").strip()
    except (OSError, UnicodeDecodeError):
        raise InputError(f"{token_file}: cannot be read; name a file with your token") from None
