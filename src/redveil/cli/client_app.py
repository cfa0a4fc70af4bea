"""The commands of the client alone: those that need no row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

from redveil.cli.ask import ask
from redveil.cli.compare import compare
from redveil.cli.help import WIDEST, ReadableCommand, ReadableGroup
from redveil.cli.remote import remote
from redveil.cli.report import report
from redveil.cli.show import show
from redveil.cli.verify import verify

app = typer.Typer(
    name="redveil",
    help="Ask a redveil server about two tables, without seeing a row.",
    cls=ReadableGroup,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": WIDEST},
)
for command in (show, report, ask, compare, verify):
    app.command(cls=ReadableCommand)(command)
app.add_typer(remote, name="remote")


def _version(wanted: bool) -> None:
    if wanted:
        from redveil.version import software

        typer.echo(software())
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_version, is_eager=True, help="Print the version and exit."
        ),
    ] = False,
) -> None:
    """Handle the options that precede a command."""


def app_for(_: Sequence[str]) -> typer.Typer:
    """Return the application for a command."""
    return app
