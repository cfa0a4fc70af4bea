"""The application: what an analyst needs, and what other installed distributions add."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from importlib import import_module
from importlib.util import find_spec
from typing import Annotated, Any, Final

import typer

from redveil.cli.commands import Command, LazyGroup
from redveil.cli.help import WIDEST
from redveil.errors import InputError

TAGLINE: Final = "Find out what two tables have in common, without releasing a row."
# The commands for who holds data, in the distribution that can read it.
OWNING: Final = "redveil.commands"
# Further distributions name their commands under this group of entry points.
ENTRY_POINTS: Final = "redveil.commands"
# Commands of redveil-research, for who calls one without it.
IN_RESEARCH: Final = (
    *("audit", "baseline", "clired", "diagnose", "experiment", "latex", "plot"),
    "prepare",
)
READING: Final = (
    Command("show", "redveil.cli.show:show", "Print or convert a result."),
    Command("report", "redveil.cli.report:report", "Write a result as one page."),
    Command("ask", "redveil.cli.ask:ask", "Ask a result a free question."),
    Command("compare", "redveil.cli.compare:compare", "Compare two results."),
    Command("verify", "redveil.cli.verify:verify", "Check a result and its signature."),
    Command("remote", "redveil.cli.remote:remote", "Use a server."),
)


def offered() -> Iterable[Command]:
    """Return the commands of this distribution, and those for who holds data if it is installed."""
    if find_spec(OWNING) is None:
        return READING
    return (*(Command(*one) for one in import_module(OWNING).COMMANDS), *READING)


class Program(LazyGroup):
    """The commands of redveil."""

    offered = offered()

    def others(self) -> Iterator[Command]:
        """Yield the commands that other distributions add."""
        from importlib.metadata import entry_points

        for point in entry_points(group=ENTRY_POINTS):
            yield from (Command(*one) for one in point.load())

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the name of a command, the command, and the arguments that follow it."""
        if args[0] in IN_RESEARCH and args[0] not in self.list_commands(ctx):
            raise InputError(
                f"{args[0]} is a command of redveil-research; install that with redveil: "
                "pip install . ./packages/research"
            )
        return super().resolve_command(ctx, args)


app = typer.Typer(
    name="redveil",
    help=TAGLINE,
    cls=Program,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": WIDEST},
)


def _version(wanted: bool) -> None:
    if wanted:
        from redveil.base.version import software

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
