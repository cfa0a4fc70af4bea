"""The Typer application and its commands."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import Annotated, Any, Final

import typer

from redveil.cli.ask import ask
from redveil.cli.audit import audit
from redveil.cli.baseline import baseline
from redveil.cli.budget import budget
from redveil.cli.compare import compare
from redveil.cli.confirm import confirm
from redveil.cli.demo import demo
from redveil.cli.describe import describe
from redveil.cli.diagnose import diagnose
from redveil.cli.experiment import experiment
from redveil.cli.help import WIDEST, ReadableCommand, ReadableGroup
from redveil.cli.ledgers import ledger
from redveil.cli.mine import NOTES, mine
from redveil.cli.plan import plan
from redveil.cli.plot import plot
from redveil.cli.prepare import prepare
from redveil.cli.refine import refine
from redveil.cli.remote import remote
from redveil.cli.report import report
from redveil.cli.schema import schema
from redveil.cli.serve import serve
from redveil.cli.server import server
from redveil.cli.show import show
from redveil.cli.truth import truth
from redveil.cli.verify import verify

TAGLINE: Final = "Find out what two tables have in common, without releasing a row."
# As one uses them.
ORDER: Final = (
    *("schema", "plan", "mine", "describe", "refine", "confirm"),
    *("show", "report", "ask", "compare", "verify", "budget", "ledger", "truth"),
    *("baseline", "diagnose", "audit", "plot", "prepare", "experiment", "demo"),
    *("serve", "server", "remote"),
)


class OrderedGroup(ReadableGroup):
    """The commands in the order of ORDER; Typer itself lists groups of commands last."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of the commands."""
        return sorted(super().list_commands(ctx), key=ORDER.index)


app = typer.Typer(
    name="redveil",
    help=TAGLINE,
    cls=OrderedGroup,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": WIDEST},
)
app.command(cls=ReadableCommand, epilog=NOTES)(mine)
for question in (describe, refine, confirm):
    app.command(cls=ReadableCommand)(question)
for command in (
    show,
    report,
    ask,
    compare,
    verify,
    plan,
    budget,
    truth,
    baseline,
    diagnose,
    audit,
    prepare,
    experiment,
    demo,
    serve,
):
    app.command(cls=ReadableCommand)(command)
app.add_typer(plot, name="plot")
app.add_typer(schema, name="schema")
app.add_typer(server, name="server")
app.add_typer(remote, name="remote")
app.add_typer(ledger, name="ledger")


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


def app_for(arguments: Sequence[str]) -> typer.Typer:
    """Return the application for a command; Typer would spend time on all the others, too."""
    return _alone(app, list(arguments[:2]))


def _alone(group: typer.Typer, names: list[str]) -> typer.Typer:
    """Return a group with nothing but the named command; whole, if it is none of its own."""
    commands = [
        one
        for one in group.registered_commands
        if one.callback is not None and [one.name or one.callback.__name__] == names[:1]
    ]
    groups = [copy(one) for one in group.registered_groups if [one.name] == names[:1]]
    if not commands and not groups:
        return group
    for one in groups:
        if one.typer_instance is not None:
            one.typer_instance = _alone(one.typer_instance, names[1:])
    alone = copy(group)
    alone.registered_commands, alone.registered_groups = commands, groups
    return alone
