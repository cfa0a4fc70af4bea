"""`redveil remote`: ask a server about data that stays there."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from redveil.base.file_kind import FileKind
from redveil.cli.arguments import JsonOutput, Output
from redveil.cli.console import display, say, write, write_json
from redveil.cli.help import ReadableCommand, ReadableGroup
from redveil.cli.outputs import STANDARD_OUTPUT, check_output, save
from redveil.cli.remote_access import (
    DatasetName,
    JobId,
    TokenFile,
    Where,
    access,
    given_token,
    named,
)
from redveil.cli.remote_audit import add_audit
from redveil.cli.remote_questions import add_questions
from redveil.cli.remote_run import Quiet, Wanted, collect
from redveil.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from redveil.wire.answers import Job

remote = typer.Typer(
    cls=ReadableGroup,
    no_args_is_help=True,
    help="Ask a server about data that stays there.",
)


@remote.command("login", cls=ReadableCommand)
def login(
    address: Annotated[str, typer.Argument(metavar="ADDRESS", help="As in https://example.org.")],
    token_file: TokenFile = None,
    key: Annotated[
        Path | None,
        typer.Option(
            "--key", help="The server's public key [default: ask the server for it, once]"
        ),
    ] = None,
    authorities: Annotated[
        Path | None,
        typer.Option("--authorities", help="PEM file of authorities to trust, if it is your own."),
    ] = None,
) -> None:
    """Keep a token for a server, where only you can read it, and the server's public key.

    From now on it is the server that is meant in this folder if none is named. The token comes from
    a file, from the environment (REDVEIL_TOKEN), or is asked for.
    """
    from redveil.client.address import Address
    from redveil.client.connecting import connect
    from redveil.client.login import Login, Logins
    from redveil.client.token import Token
    from redveil.signing.keys import PublicKey

    where = Address.parse(address)
    say(named(where.text))
    secret = given_token(token_file) or typer.prompt("Token", hide_input=True)
    trusted = None if authorities is None else str(authorities.resolve())
    with connect(where.text, secret, authorities=trusted) as server:
        me, about = server.me(), server.about()
    told = PublicKey.from_pem(about.public_key.encode(), "the server's key")
    if key is not None and PublicKey.read(key).name != told.name:
        raise InputError(f"{key}: the server signs with another key, {told.name}; do not trust it")
    logins = Logins()
    logins.keep(Login(where, Token(secret), about.public_key, trusted))
    say(f"logged in as {me.name} ({me.role}) until {me.expires_at[:10]}; kept in {logins.path}")
    if key is None:
        say(f"results must be signed by key {told.name}; compare it with what the operator says")


@remote.command("logout", cls=ReadableCommand)
def logout(server: Where = None) -> None:
    """Forget the token for a server. It stays valid: only the operator can revoke it."""
    from redveil.client.login import Logins

    say(f"{Logins().forget(server)}: forgotten")


@remote.command("key", cls=ReadableCommand)
def key(
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write it to this new file.")
    ] = None,
    server: Where = None,
    token_file: TokenFile = None,
) -> None:
    """Print or save the server's public key, which `redveil verify` and `ledger verify` take."""
    with access(server, token_file) as there:
        text = there.about().public_key
    if output is None:
        write(text.rstrip())
        return
    try:
        with output.open("x", encoding="ascii") as file:
            file.write(text)
    except (OSError, ValueError):
        raise InputError(f"{output}: cannot be written; name a new file") from None
    say(f"written to {output}")


@remote.command("datasets", cls=ReadableCommand)
def datasets(
    as_json: JsonOutput = False, server: Where = None, token_file: TokenFile = None
) -> None:
    """List the data sets that you may ask about."""
    with access(server, token_file) as there:
        found = [one.known for one in there.datasets()]
    if as_json:
        write_json([one.model_dump() for one in found])
        return
    from redveil.client.plan import in_words

    rows = [
        (
            one.name,
            one.unit,
            in_words(one.left),
            in_words(one.cap),
            _yes(one.needs_approval),
            one.id,
        )
        for one in found
    ]
    _table(("name", "unit", "left", "of", "approval", "id"), rows, "no data sets for you")


@remote.command("budget", cls=ReadableCommand)
def budget(
    dataset: DatasetName,
    as_json: JsonOutput = False,
    server: Where = None,
    token_file: TokenFile = None,
) -> None:
    """Show what you can still spend on a data set."""
    from redveil.client.plan import in_words

    with access(server, token_file) as there:
        known = there.dataset(dataset).known
    if as_json:
        write_json({"left": known.left.model_dump(), "cap": known.cap.model_dump()}, indent=None)
    else:
        write(f"{known.name}: {in_words(known.left)} left of {in_words(known.cap)}")


@remote.command("schema", cls=ReadableCommand)
def schema(
    dataset: DatasetName,
    output: Output = STANDARD_OUTPUT,
    server: Where = None,
    token_file: TokenFile = None,
) -> None:
    """Print or save the schema of a data set, which is public."""
    check_output(output, FileKind.SCHEMA, [])
    with access(server, token_file) as there:
        text = json.dumps(there.dataset(dataset).descriptor(), indent=1, ensure_ascii=False)
    save(f"{text}\n", output, FileKind.SCHEMA)


@remote.command("dummy", cls=ReadableCommand)
def dummy(
    dataset: DatasetName,
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="A new folder.")],
    entities: Annotated[
        int, typer.Option("--entities", min=1, max=10_000, help="How many entities.")
    ] = 100,
    server: Where = None,
    token_file: TokenFile = None,
) -> None:
    """Write tables about nobody that fit the schema, to try programs with. Free."""
    with access(server, token_file) as there:
        known = there.dataset(dataset)
        made, described = known.dummy(entities), known.descriptor()
    try:
        folder.mkdir()
        for name, text in (("left.csv", made.left), ("right.csv", made.right)):
            (folder / name).write_text(text, encoding="utf-8", newline="")
        (folder / "datapackage.json").write_text(json.dumps(described, indent=1), encoding="utf-8")
    except FileExistsError:
        raise InputError(f"{folder}: there already; name a new folder") from None
    except (OSError, ValueError):
        raise InputError(f"{folder}: cannot be written; name another folder") from None
    say(f"left.csv, right.csv and datapackage.json written to {folder}")


@remote.command("jobs", cls=ReadableCommand)
def jobs(
    most: Annotated[int, typer.Option("--most", min=1, help="How many at most.")] = 20,
    as_json: JsonOutput = False,
    server: Where = None,
    token_file: TokenFile = None,
) -> None:
    """List your jobs, latest first."""
    with access(server, token_file) as there:
        found = there.jobs(most)
    if as_json:
        write_json([one.model_dump(mode="json", exclude_unset=True) for one in found])
        return
    _table(
        ("job", "submitted", "question", "price", "state", "charged"),
        [_job_row(one) for one in found],
        "no jobs yet",
    )


@remote.command("fetch", cls=ReadableCommand)
def fetch(
    job: JobId,
    result: Output = Path("result.json"),
    quiet: Quiet = False,
    server: Where = None,
    token_file: TokenFile = None,
) -> None:
    """Save the result of a job, as often as you like; wait for it if need be."""
    wanted = Wanted(result, quiet)
    wanted.check()
    with access(server, token_file) as there:
        collect(there, there.job(job), wanted)


@remote.command("cancel", cls=ReadableCommand)
def cancel(job: JobId, server: Where = None, token_file: TokenFile = None) -> None:
    """Cancel a job. One that has started stays charged."""
    with access(server, token_file) as there:
        found = there.cancel(job)
    paid = "and stays charged" if found.charged else "and was not charged"
    say(f"job {found.id} is {found.state.value.replace('_', ' ')} {paid}")


add_questions(remote)
add_audit(remote)


def _job_row(job: Job) -> tuple[str, ...]:
    from redveil.client.plan import in_words

    given = job.question.parameters()
    about = [str(given[name]) for name in ("query", "job") if name in given]
    asked = " ".join([job.question.kind, *about])
    state = job.state.value.replace("_", " ")
    return (job.id, job.submitted_at, asked, in_words(job.price), state, _yes(job.charged))


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]], if_none: str) -> None:
    from redveil.base.display import Listing

    if not rows:
        say(if_none)
        return
    display(Listing(heads, rows).rich())


def _yes(value: bool) -> str:
    return "yes" if value else "no"
