"""`redveil schema edit`: a schema as a form in the browser."""

from __future__ import annotations

from typing import Annotated

import typer

from redveil.base.files import typed
from redveil.cli.arguments import SchemaArgument
from redveil.cli.console import say


def edit(
    path: SchemaArgument,
    no_browser: Annotated[
        bool,
        typer.Option("--no-browser", help="Print the form's address, and open no browser."),
    ] = False,
) -> None:
    """Edit a schema as a form in the browser, on this machine only. Shows no data.

    Marks what still comes from the data, and shows where columns are cut. Saves valid schemas only,
    and keeps the one before.
    """
    from redveil.schema_form.form import Form
    from redveil.schema_form.server import FormServer

    try:
        with FormServer(Form(path)) as server:
            say(f"the form is at {server.address}")
            say("keep the address to yourself; Ctrl-C or the form's own button ends this")
            if not no_browser:
                _open(server.address)
            server.serve_forever(poll_interval=0.1)
    except KeyboardInterrupt:
        # The usual way to end a server, and nothing is lost but what was not saved.
        say("stopped; what was not saved is lost")
        return
    say(f"done; next: redveil schema check {typed(path)}")


def _open(address: str) -> None:
    import webbrowser

    if not webbrowser.open(address):
        say("no browser could be opened; open that address yourself")
