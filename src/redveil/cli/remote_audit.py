"""`redveil remote log`, `requests`, `approve` and `decline`: for owners and auditors."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from redveil.base.file_kind import FileKind
from redveil.cli.arguments import JsonOutput
from redveil.cli.console import display, say, write_json
from redveil.cli.help import ReadableCommand
from redveil.cli.outputs import check_output, save
from redveil.cli.remote_access import DatasetName, JobId, TokenFile, Where, access
from redveil.errors import InputError

if TYPE_CHECKING:
    from redveil.client.server import Server
    from redveil.wire.answers import Event

_LONGEST = 100


def log(
    dataset: Annotated[
        str | None,
        typer.Argument(metavar="[DATASET]", help="Name or id; auditors may leave it out."),
    ] = None,
    later_than: Annotated[
        int, typer.Option("--later-than", min=0, help="Number of the last event you know.")
    ] = 0,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Export to this file, an event of JSON in a line."),
    ] = None,
    server: Where = None,
    token_file: TokenFile = None,
) -> None:
    """Show or export the audit log: who asked what, when, at which price, who approved."""
    if output is not None:
        check_output(output, FileKind.JSON, [])
    with access(server, token_file) as there:
        events = there.events(_owned(there, dataset), later_than)
    if output is not None:
        save("".join(f"{_line(one)}\n" for one in events), output, FileKind.JSON)
        last = events[-1].number if events else later_than
        say(f"{len(events)} events written to {output}; go on with --later-than {last}")
        return
    if not events:
        say("no events")
        return
    from redveil.base.display import Listing

    rows = [_row(one) for one in events]
    display(Listing(("number", "time", "who", "what", "job", "details"), rows).rich())


def requests(
    dataset: DatasetName,
    as_json: JsonOutput = False,
    server: Where = None,
    token_file: TokenFile = None,
) -> None:
    """List the jobs on a data set of yours that wait for your approval."""
    with access(server, token_file) as there:
        found = there.requests(_owned(there, dataset) or dataset)
    if as_json:
        write_json([one.model_dump(mode="json", exclude_unset=True) for one in found])
        return
    if not found:
        say("nothing waits for you")
        return
    from redveil.base.display import Listing
    from redveil.client.plan import in_words

    rows = [
        (one.id, one.submitted_at, one.analyst, in_words(one.price), _asked(one.question))
        for one in found
    ]
    display(Listing(("job", "submitted", "analyst", "price", "question"), rows).rich())


def approve(job: JobId, server: Where = None, token_file: TokenFile = None) -> None:
    """Let a job that waits for your approval be run, and charged."""
    with access(server, token_file, charges=True) as there:
        found = there.decide(job, approve=True)
    say(f"job {found.id} is {found.state.value}")


def decline(job: JobId, server: Where = None, token_file: TokenFile = None) -> None:
    """Refuse a job that waits for your approval. Nothing is charged."""
    with access(server, token_file) as there:
        found = there.decide(job, approve=False)
    say(f"job {found.id} is {found.state.value}")


def add_audit(group: typer.Typer) -> None:
    """Add the commands to a group."""
    for command in (requests, approve, decline, log):
        group.command(cls=ReadableCommand)(command)


def _owned(there: Server, name: str | None) -> str | None:
    """Return the id of a data set: owners give its name or its id, auditors its id."""
    if name is None:
        return None
    if "own" not in there.me().scopes:
        return name
    found = [one.id for one in there.owned() if name in (one.id, one.name)]
    if len(found) != 1:
        raise InputError(f"{name}: not a data set of yours; give its name, or its id")
    return found[0]


def _line(event: Event) -> str:
    return json.dumps(event.model_dump(mode="json"), ensure_ascii=False)


def _row(event: Event) -> tuple[str, ...]:
    details = ", ".join(f"{name} {_short(value)}" for name, value in event.details.items())
    who = event.actor if len(event.actor) < 16 else event.actor[:8]
    return (str(event.number), event.at, who, event.action, (event.job or "–")[:8], details)


def _asked(question: Any) -> str:
    given = question.parameters()
    return _short({"kind": question.kind, **given})


def _short(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
