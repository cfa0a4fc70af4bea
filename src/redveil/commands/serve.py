"""`redveil serve`: a server that answers questions about data that nobody sees."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from redveil.cli.console import say, write

if TYPE_CHECKING:
    from redveil.server.settings import Settings
    from redveil.store.store import Store

Folder = Annotated[
    Path | None,
    typer.Option(
        "--folder", help="Folder for the database, the keys and the data [default: redveil-server]"
    ),
]
SettingsFile = Annotated[
    Path | None,
    typer.Option("--settings", help="Settings in a TOML file; the environment overrides them."),
]


def serve(
    folder: Folder = None,
    settings: SettingsFile = None,
    host: Annotated[
        str | None, typer.Option("--host", help="Address to listen at [default: 127.0.0.1]")
    ] = None,
    port: Annotated[
        int | None, typer.Option("--port", help="Port to listen at [default: 8750]")
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option("--workers", help="Jobs at the same time, of an analyst each [default: 4]"),
    ] = None,
    release_every: Annotated[
        int | None,
        typer.Option(
            "--release-every",
            metavar="<seconds>",
            help="Results show so long after the start of a job, or 2, 4, 8 … times as long "
            "[default: longer than any job may run, so that the time tells nothing]",
        ),
    ] = None,
    tls_certificate: Annotated[
        Path | None, typer.Option("--tls-certificate", help="Certificate chain, PEM.")
    ] = None,
    tls_key: Annotated[
        Path | None, typer.Option("--tls-key", help="Key of the certificate, PEM.")
    ] = None,
    behind_proxy: Annotated[
        bool, typer.Option("--behind-proxy", help="A proxy in front of this server ends TLS.")
    ] = False,
    api_only: Annotated[
        bool, typer.Option("--api-only", help="Answer the network; workers run elsewhere.")
    ] = False,
    workers_only: Annotated[
        bool, typer.Option("--workers-only", help="Run workers; another process answers.")
    ] = False,
    demo: Annotated[
        bool, typer.Option("--demo", help="Serve a generated clinic, and make an analyst for it.")
    ] = False,
) -> None:
    """Run a server. Without settings: SQLite, a folder here, this machine only.

    At the first start, a token for the operator is printed, once.
    """
    needed()
    from redveil.errors import InputError
    from redveil.server.logs import Log
    from redveil.server.opening import set_up
    from redveil.server.settings import Settings
    from redveil.server.supervisor import Supervisor

    if api_only and workers_only:
        raise InputError("choose one of --api-only and --workers-only")
    known = Settings.read(
        settings,
        folder=folder,
        host=host,
        port=port,
        workers=workers,
        release_every=release_every,
        tls_certificate=tls_certificate,
        tls_key=tls_key,
        behind_proxy=behind_proxy or None,
    )
    known.must_be_safe()
    if not workers_only:
        _must_be_free(known)
    store, secret = set_up(known)
    if secret is not None:
        say("Token of the operator, admin. It is shown once; keep it safe:", "bold yellow")
        write(secret)
    if demo:
        _demo(store, known)
        known = _soon(store, known)
    _say_when(known)
    if store.witness is not None and known.witness is None:
        say(f"Charges are written to {store.witness.path}, too: it shows if a backup is restored.")
    say("Ctrl-C stops the server. What it does is logged here, a line of JSON each:")
    supervisor = Supervisor(
        known, store, Log("supervisor"), run_api=not workers_only, run_workers=not api_only
    )
    code = supervisor.run()
    store.close()
    if code:
        raise typer.Exit(1)


def _must_be_free(settings: Settings) -> None:
    """Refuse a port that another program has, before anything is made or printed."""
    import socket

    from redveil.errors import InputError

    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    with socket.socket(family) as one:
        one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            one.bind((settings.host, settings.port))
        except OSError as error:
            raise InputError(
                f"{settings.host}, port {settings.port}: {(error.strerror or 'no use').lower()}; "
                "stop the other server, or choose another --host or --port"
            ) from None


def _demo(store: Store, settings: Settings) -> None:
    """Register a generated clinic, once, and print an analyst's token."""
    from redveil.data.synthetic import CLINIC_ID, clinic_frames, clinic_schema
    from redveil.errors import NotFoundError
    from redveil.losses.loss import parse_loss
    from redveil.server.opening import new_account
    from redveil.store.accounts import Role
    from redveil.workers.registration import Registration

    try:
        store.datasets.get(CLINIC_ID)
    except NotFoundError:
        pass
    else:
        say("The generated clinic is served, as before.", "bold")
        _tell(settings)
        return
    owner = store.accounts.create("demo owner", Role.OWNER, "console")
    secret = new_account(store, "demo", Role.ANALYST)
    analyst = next(one for one in store.accounts.all() if one.name == "demo")
    budget = parse_loss("10", "0.0001")
    Registration(store, settings).add(clinic_frames(5000), clinic_schema(), owner.id, budget)
    store.datasets.grant(CLINIC_ID, analyst.id, budget, owner.id)
    say("A generated clinic is served, with a budget of ε = 10. Token of its analyst:", "bold")
    write(secret)
    _log_in(secret, store, settings)
    _tell(settings)


def _soon(store: Store, settings: Settings) -> Settings:
    """Let results about generated data show soon, if there is no other data and no other choice."""
    from redveil.data.synthetic import CLINIC_ID

    if settings.release_every is not None or [one.id for one in store.datasets.all()] != [
        CLINIC_ID
    ]:
        return settings
    return settings.model_copy(update={"release_every": 1})


def _say_when(settings: Settings) -> None:
    """Say when results show, and what that tells of the rows."""
    from math import log2

    from redveil.store.release import moments

    every = settings.releases_every
    if not every:
        say(
            "Results show at once, so they tell how long jobs take, which depends on rows.",
            "yellow",
        )
    elif (count := moments(settings.longest_job, every)) > 1:
        say(
            f"Results show {every} s after the start of a job, or 2, 4, 8 … times as long: that is "
            f"one of {count} moments, and tells up to {log2(count):.1f} bits of how long it took."
        )
    else:
        say(
            f"Results show {every} s after the start of a job, so the time tells nothing. On data "
            "to play with, --release-every 5 shows them sooner."
        )


def _log_in(secret: str, store: Store, settings: Settings) -> None:
    """Log this user in as the analyst of the demonstration, if it is for this machine alone."""
    from redveil.client.address import Address
    from redveil.client.login import Login, Logins
    from redveil.client.token import Token
    from redveil.errors import InputError

    address = _local_address(settings)
    if address is None:
        return
    key = store.signer.public.to_pem().decode()
    try:
        Logins().keep(Login(Address.parse(address), Token(secret), key), as_usual=False)
    except InputError as error:
        say(f"not logged in: {error}", "yellow")


def _tell(settings: Settings) -> None:
    """Say what to type next, if this user is logged in."""
    from redveil.base.files import typed
    from redveil.client.login import Logins
    from redveil.errors import InputError

    address = _local_address(settings)
    if address is None:
        return
    try:
        Logins().find(address)
    except InputError:
        say("You are not logged in; `redveil server issue-token demo` prints another token.")
        return
    say("You are logged in. In a second terminal, run:")
    say(f"  redveil remote mine clinic --epsilon 1 --server {typed(address)}", "bold")


def _local_address(settings: Settings) -> str | None:
    """Return the address for programs of this machine; None if others may connect, too."""
    if settings.has_tls or not settings.is_loopback or not settings.port:
        return None
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    return f"http://{host}:{settings.port}"


def needed() -> None:
    """Refuse to go on without the libraries of a server."""
    from importlib.util import find_spec

    from redveil.errors import InputError

    if find_spec("fastapi") is None or find_spec("uvicorn") is None:
        raise InputError("a server needs FastAPI and Uvicorn; run pip install 'redveil[server]'")
