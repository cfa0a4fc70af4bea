"""`redveil server`: accounts, tokens, data sets and grants, on the server's own machine."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from redveil.cli.console import say, write, write_json
from redveil.cli.help import ReadableCommand, ReadableGroup
from redveil.commands.serve import Folder, SettingsFile
from redveil.commands.tables import FORMS

if TYPE_CHECKING:
    from redveil.losses.loss import Loss
    from redveil.server.settings import Settings
    from redveil.store.accounts import Account
    from redveil.store.datasets import DataSet
    from redveil.store.store import Store
    from redveil.workers.registration import Registered


class RoleName(StrEnum):
    """What an account may do at most."""

    OWNER = "owner"
    ANALYST = "analyst"
    AUDITOR = "auditor"
    OPERATOR = "operator"


CONSOLE = "console"
server = typer.Typer(
    cls=ReadableGroup, no_args_is_help=True, help="Administer a server on its own machine."
)

Name = Annotated[str, typer.Argument(metavar="ACCOUNT", help="Name of an account.")]
DatasetName = Annotated[str, typer.Argument(metavar="DATASET", help="Name or id of a data set.")]
Days = Annotated[int, typer.Option("--days", min=1, max=3650, help="Days until a token expires.")]
Epsilon = Annotated[str, typer.Option("--epsilon", "-e", metavar="<number>", help="ε, as in 2.5.")]
Delta = Annotated[str, typer.Option("--delta", metavar="<number>", help="δ, as in 1e-6.")]


@contextmanager
def _opened(folder: Path | None, settings: Path | None) -> Iterator[tuple[Store, Settings]]:
    from redveil.server.opening import open_store
    from redveil.server.settings import Settings

    known = Settings.read(settings, folder=folder)
    store = open_store(known)
    try:
        yield store, known
    finally:
        store.close()


@server.command("add-account", cls=ReadableCommand)
def add_account(
    name: Name,
    role: Annotated[RoleName, typer.Option("--role", help="What the account may do.")],
    days: Days = 90,
    folder: Folder = None,
    settings: SettingsFile = None,
) -> None:
    """Make an account, and print its token, once."""
    from redveil.server.opening import new_account
    from redveil.store.accounts import Role

    with _opened(folder, settings) as (store, _):
        secret = new_account(store, name, Role(role.value), days=days)
    say(f"Token of {name}. It is shown once; pass it on safely:", "bold yellow")
    write(secret)


@server.command("close-account", cls=ReadableCommand)
def close_account(name: Name, folder: Folder = None, settings: SettingsFile = None) -> None:
    """Close an account: its tokens no longer work. What it has spent stays spent."""
    with _opened(folder, settings) as (store, _):
        store.accounts.close(_account(store, name).id, CONSOLE)
    say(f"{name} is closed")


@server.command("issue-token", cls=ReadableCommand)
def issue_token(
    name: Name, days: Days = 90, folder: Folder = None, settings: SettingsFile = None
) -> None:
    """Issue another token for an account, and print it, once."""
    from redveil.store.store import utc_now
    from redveil.wire.scopes import OF_ROLE

    with _opened(folder, settings) as (store, _):
        account = _account(store, name)
        expires = utc_now() + timedelta(days=days)
        token, secret = store.accounts.issue_token(
            account.id, OF_ROLE[account.role], expires, CONSOLE
        )
    say(f"Token {token.id} of {name}. It is shown once; pass it on safely:", "bold yellow")
    write(secret)


@server.command("revoke-token", cls=ReadableCommand)
def revoke_token(
    token: Annotated[str, typer.Argument(metavar="TOKEN-ID", help="Id of a token, see `list`.")],
    folder: Folder = None,
    settings: SettingsFile = None,
) -> None:
    """Revoke a token."""
    with _opened(folder, settings) as (store, _):
        store.accounts.revoke_token(token, CONSOLE)
    say("revoked")


@server.command("list", cls=ReadableCommand)
def list_all(folder: Folder = None, settings: SettingsFile = None) -> None:
    """Print accounts, tokens (without secrets), data sets and grants, as JSON."""
    from redveil.server.views import digits

    with _opened(folder, settings) as (store, _):
        tokens: dict[str, list[dict[str, Any]]] = {}
        for token in store.accounts.tokens():
            known = {"id": token.id, "expires_at": token.expires_at, "revoked_at": token.revoked_at}
            tokens.setdefault(token.account.id, []).append(known)
        accounts = [
            {"name": one.name, "id": one.id, "role": one.role, "tokens": tokens.get(one.id, [])}
            for one in store.accounts.all()
        ]
        names = {one["id"]: one["name"] for one in accounts}
        datasets = []
        for one in store.datasets.all():
            limits, spent = store.datasets.limits(one.id), store.datasets.spent(one.id)
            datasets.append(
                {
                    "name": one.name,
                    "id": one.id,
                    "owner": names.get(one.owner),
                    "budget": digits(limits.budget.epsilon),
                    "spent": digits(spent.of_all.epsilon),
                    "grants": {
                        names.get(grant.analyst, grant.analyst): digits(grant.cap.epsilon)
                        for grant in (limits.grants or {}).values()
                    },
                }
            )
    write_json({"accounts": accounts, "datasets": datasets})


LeftTable = Annotated[
    str, typer.Argument(metavar="LEFT", help=f"Left table: {FORMS}; or SELECT … with --database.")
]
RightTable = Annotated[str, typer.Argument(metavar="RIGHT", help="Right table, likewise.")]
SourceDatabase = Annotated[
    str | None,
    typer.Option("--database", help="Where to SELECT: a SQLite file, or postgresql://…"),
]
Ledgers = Annotated[
    list[Path] | None,
    typer.Option(
        "--ledger", help="Take over the charges of earlier runs on these entities; local runs end."
    ),
]
LeaveOutCharges = Annotated[
    bool, typer.Option("--leave-out-charges", help="Pass over known charges; it is recorded.")
]
RaiseBudget = Annotated[
    bool, typer.Option("--raise-budget", help="Allow more than the schema does; it is recorded.")
]

FewInCommon = Annotated[
    bool,
    typer.Option(
        "--few-in-common", help="Go on although under half of the keys are in both tables."
    ),
]


@server.command("add-data", cls=ReadableCommand)
def add_data(
    left: LeftTable,
    right: RightTable,
    schema: Annotated[Path, typer.Option("--schema", "-s", help="Schema, accepted.")],
    owner: Annotated[str, typer.Option("--owner", help="Account of the owner.")],
    budget: Annotated[
        str | None,
        typer.Option("--budget", metavar="<number>", help="ε in all [default: the schema's]"),
    ] = None,
    budget_delta: Annotated[
        str | None, typer.Option("--budget-delta", metavar="<number>", help="δ in all.")
    ] = None,
    database: SourceDatabase = None,
    ledger: Ledgers = None,
    leave_out_charges: LeaveOutCharges = False,
    raise_budget: RaiseBudget = False,
    few_in_common: FewInCommon = False,
    folder: Folder = None,
    settings: SettingsFile = None,
) -> None:
    """Register a data set: check both tables against the schema, pack them, set the budget."""
    from redveil.base.files import is_stream
    from redveil.budget.place import ledgers_beside
    from redveil.errors import InputError
    from redveil.losses.loss import legible
    from redveil.schema import Schema
    from redveil.workers.registration import Registration

    declared = Schema.read(schema)
    if budget is None and declared.budget is None:
        raise InputError("--budget: say what may be spent in all, as in 10")
    allowed = _loss(
        declared.budget if budget is None else budget,
        declared.budget_delta if budget_delta is None else budget_delta,
    )
    tables = _table(left, database), _table(right, database)
    named = bool(ledger) or leave_out_charges
    with _opened(folder, settings) as (store, known):
        account = _account(store, owner)
        made = Registration(store, known).add(
            *(tables, declared, account.id, allowed),
            few_in_common=few_in_common,
            ledgers=ledger or (),
            # A schema that comes through a pipe has none; then somebody has to say so.
            beside=() if is_stream(schema) and named else ledgers_beside(schema),
            leave_out_charges=leave_out_charges,
            raise_budget=raise_budget,
        )
    _report(made)
    say(f"ε = {legible(made.taken_over.epsilon)} was spent before, and counts")
    if ledger:
        say("from now on this server alone charges the data set")
    say(f"{declared.name} is registered; let analysts ask with `redveil server grant`")


@server.command("renew-data", cls=ReadableCommand)
def renew_data(
    dataset: DatasetName,
    left: LeftTable,
    right: RightTable,
    database: SourceDatabase = None,
    few_in_common: FewInCommon = False,
    folder: Folder = None,
    settings: SettingsFile = None,
) -> None:
    """Add a new version of a data set's tables. It shares the schema and the budget."""
    from redveil.schema import Schema
    from redveil.workers.registration import Registration

    tables = _table(left, database), _table(right, database)
    with _opened(folder, settings) as (store, known):
        found = _dataset(store, dataset)
        schema = Schema.from_dict(found.description)
        made = Registration(store, known).renew(
            found.id, tables, schema, few_in_common=few_in_common
        )
    _report(made)
    say(f"{found.name} has version {made.version.number}; jobs that start now use it")


@server.command("grant", cls=ReadableCommand)
def grant(
    dataset: DatasetName,
    name: Name,
    epsilon: Epsilon,
    delta: Delta = "0",
    needs_approval: Annotated[
        bool, typer.Option("--needs-approval", help="The owner looks at every job first.")
    ] = False,
    folder: Folder = None,
    settings: SettingsFile = None,
) -> None:
    """Let an analyst ask about a data set, up to a cap."""
    with _opened(folder, settings) as (store, _):
        found, account = _dataset(store, dataset), _account(store, name)
        store.datasets.grant(
            found.id, account.id, _loss(epsilon, delta), CONSOLE, needs_approval=needs_approval
        )
    say(f"{name} may spend ε = {epsilon} on {found.name}")


@server.command("revoke-grant", cls=ReadableCommand)
def revoke_grant(
    dataset: DatasetName, name: Name, folder: Folder = None, settings: SettingsFile = None
) -> None:
    """Let an analyst no longer ask about a data set."""
    with _opened(folder, settings) as (store, _):
        found, account = _dataset(store, dataset), _account(store, name)
        store.datasets.revoke_grant(found.id, account.id, CONSOLE)
    say(f"{name} may no longer ask about {found.name}")


@server.command("limit", cls=ReadableCommand)
def limit(
    dataset: DatasetName,
    budget: Annotated[
        str | None, typer.Option("--budget", metavar="<number>", help="ε that all may spend.")
    ] = None,
    cap: Annotated[
        str | None,
        typer.Option("--cap", metavar="<number>", help="ε that all analysts together may spend."),
    ] = None,
    delta: Delta = "0",
    folder: Folder = None,
    settings: SettingsFile = None,
) -> None:
    """Set the budget of a data set, or the cap over all of its analysts together."""
    from redveil.errors import InputError

    if budget is None and cap is None:
        raise InputError("give --budget, --cap or both")
    with _opened(folder, settings) as (store, _):
        found = _dataset(store, dataset)
        if budget is not None:
            store.datasets.set_budget(found.id, _loss(budget, delta), CONSOLE)
        if cap is not None:
            store.datasets.set_cap(found.id, _loss(cap, delta), CONSOLE)
    say(f"{found.name}: set")


@server.command("close-data", cls=ReadableCommand)
def close_data(dataset: DatasetName, folder: Folder = None, settings: SettingsFile = None) -> None:
    """Close a data set: nothing can be asked about it any more. Its charges stay."""
    with _opened(folder, settings) as (store, _):
        found = _dataset(store, dataset)
        store.datasets.close(found.id, CONSOLE)
    say(f"{found.name} is closed")


@server.command("decide", cls=ReadableCommand)
def decide(
    job: Annotated[str, typer.Argument(metavar="JOB", help="Id of a job that waits.")],
    approve: Annotated[bool, typer.Option("--approve/--decline", help="Let it run, or not.")],
    folder: Folder = None,
    settings: SettingsFile = None,
) -> None:
    """Approve or decline a job that waits for approval, as the owner of its data set."""
    with _opened(folder, settings) as (store, _):
        found = store.jobs.get(job)
        owner = store.datasets.get(found.dataset).owner
        act = store.jobs.approve if approve else store.jobs.decline
        say(f"the job is {act(job, owner).state}")


def _account(store: Store, name: str) -> Account:
    from redveil.errors import NotFoundError

    found = store.accounts.all()
    # Ids first: operators may give an account any name, also one that looks like another's id.
    for one in (*(one for one in found if one.id == name), *found):
        if name in (one.name, one.id):
            return one
    raise NotFoundError(f"no account {name}; see `redveil server list`")


def _dataset(store: Store, name: str) -> DataSet:
    from redveil.errors import NotFoundError

    found = store.datasets.all()
    # Ids first, as with accounts.
    for one in (*(one for one in found if one.id == name), *found):
        if name in (one.name, one.id):
            return one
    raise NotFoundError(f"no data set {name}; see `redveil server list`")


def _loss(epsilon: object, delta: object) -> Loss:
    from redveil.errors import InputError
    from redveil.losses.loss import Loss, read_fraction

    amounts = read_fraction(epsilon), read_fraction(delta)
    if amounts[0] is None or amounts[1] is None:
        raise InputError("amounts are decimal numbers, as in 2.5 or 1e-6")
    return Loss(amounts[0], amounts[1])


def _table(given: str, database: str | None) -> object:
    """Return the address of a table, or of a query of a database that is named by an option."""
    from redveil.data.address import Address, is_query
    from redveil.errors import InputError

    if not is_query(given):
        return Address.of(given)
    if database is None:
        raise InputError("--database: say where the query is to be run")
    return Address.of_query(database, given)


def _report(made: Registered) -> None:
    for line in made.report.lines():
        say(f"owner only: {line}", "dim")
    for line in made.report.warnings():
        say(f"owner only: WARNING: {line}", "bold red")
