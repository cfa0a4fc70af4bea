"""`redveil ledger`: check, export, back up and recover ledgers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from redveil.cli.console import say, write, write_file
from redveil.cli.help import ReadableCommand, ReadableGroup
from redveil.errors import InputError
from redveil.losses.loss import legible

if TYPE_CHECKING:
    from redveil.store.database import Database

ledger = typer.Typer(
    help="Check, export, back up and recover ledgers.", no_args_is_help=True, cls=ReadableGroup
)

Address = Annotated[
    str,
    typer.Argument(
        metavar="<ledger>",
        help="A ledger file, an export, or a server's database (a file or postgresql://…).",
        show_default=False,
    ),
]
ServerAddress = Annotated[
    str,
    typer.Argument(
        metavar="<database>",
        help="A server's database: a file or postgresql://…",
        show_default=False,
    ),
]
Key = Annotated[
    Path | None, typer.Option("--key", help="The server's public key, to check signatures.")
]
Seen = Annotated[
    list[Path] | None,
    typer.Option(
        "--seen",
        help="A signed result, receipt, export or witness: the ledger must have its entry.",
    ),
]
Export = Annotated[
    Path | None, typer.Option("--output", "-o", help="Write to this file [default: print]")
]


@ledger.callback()
def books() -> None:
    """Check, export, back up and recover ledgers."""


@ledger.command(cls=ReadableCommand)
def verify(address: Address, key: Key = None, seen: Seen = None) -> None:
    """Check that no entry was changed, removed, moved or made against the limits."""
    from redveil.signing.keys import PublicKey
    from redveil.store.source import Source, head_in

    public = None if key is None else PublicKey.read(key)
    recorded = [head_in(one) for one in seen or ()]
    source = Source.read(address)
    if public is not None and source.ledger is None:
        raise InputError("a ledger file of local runs is not signed; leave out --key")
    checked = source.check(public, recorded)
    for (name, _), loss in sorted(checked.spent.items()):
        write(f"{name}: ε = {legible(loss.epsilon)} and δ = {legible(loss.delta)} spent")
    number = checked.head.number
    signed = ", all signed" if checked.is_signed else ""
    write(f"{number} {'entry' if number == 1 else 'entries'}, intact{signed}")
    write(f"head {checked.head.hash}")
    if source.ledger is not None and public is None:
        say("signatures were not checked; name the server's key with --key", "yellow")


@ledger.command(cls=ReadableCommand)
def export(address: Address, output: Export = None) -> None:
    """Write all entries as lines of JSON, which `redveil ledger verify` can check anywhere."""
    from redveil.base.file_kind import FileKind
    from redveil.base.files import is_there, write_text
    from redveil.store.export import lines
    from redveil.store.source import Source

    source = Source.read(address)
    text = b"".join(lines(source.ledger, source.found)).decode("ascii")
    if output is None:
        write_file(text.removesuffix("\n"))
        return
    if is_there(output):
        raise InputError(f"{output}: not replaced; name a new file")
    write_text(output, text, FileKind.TEXT)
    say(f"{len(source.found)} entries written to {output}")


@ledger.command(cls=ReadableCommand)
def backup(
    address: ServerAddress,
    output: Annotated[Path, typer.Option("--output", "-o", help="The copy, a new file.")],
) -> None:
    """Copy a server's SQLite database while it is in use."""
    from redveil.store import recovery

    recovery.backup(_server(address), output)
    say(f"copied to {output}; after restoring it, run `redveil ledger recover`")


@ledger.command(cls=ReadableCommand)
def recover(
    address: ServerAddress,
    private_key: Annotated[Path, typer.Option("--private-key", help="The server's own key.")],
    witness: Annotated[
        list[Path] | None, typer.Option("--witness", help="Take missing entries from this file.")
    ] = None,
    head: Annotated[
        str | None,
        typer.Option("--head", help="The last hash, as it is known from elsewhere."),
    ] = None,
    write_off: Annotated[
        bool, typer.Option("--write-off", help="Count all that is left of budgets as spent.")
    ] = False,
) -> None:
    """Let a server go on with a restored database, without giving back what was spent since.

    All tokens are revoked.
    """
    from redveil.signing.keys import Signer
    from redveil.store.recovery import recover as go_on
    from redveil.store.store import utc_now
    from redveil.store.witness import Witness

    for one in witness or ():
        if not one.exists():
            raise InputError(f"{one}: no such file; name a witness")
    done = go_on(
        _server(address),
        Signer.read(private_key),
        utc_now,
        witnesses=[Witness(one) for one in witness or ()],
        head=head,
        write_off=write_off,
    )
    for name, loss in done.written_off.items():
        write(f"{name}: ε = {legible(loss.epsilon)}, δ = {legible(loss.delta)} written off")
    write(f"{done.replayed} entries came back; all tokens are revoked, so issue new ones")


def _server(address: str) -> Database:
    from redveil.store.database import SQLITE, Database, is_address
    from redveil.store.source import is_server_database

    if is_address(address) or is_server_database(Path(address.removeprefix(SQLITE))):
        return Database(address)
    raise InputError(f"{address}: not the database of a server; name one")
