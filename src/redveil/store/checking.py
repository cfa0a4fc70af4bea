"""Checks of a ledger: that nothing was changed, cut off, moved, or spent against the limits."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from redveil.budget.book import Head, check_chain
from redveil.budget.entry import CHARGE, COMMIT, VOID, Entry, NotAnEntryError
from redveil.errors import LedgerError, ResultError
from redveil.losses.loss import Loss
from redveil.signing.canonical import digest
from redveil.signing.certificate import check_result
from redveil.signing.keys import PublicKey
from redveil.store.database import Database, Transaction
from redveil.store.job import State
from redveil.store.ledger import UNKNOWN, Spent, entries, identity, signed_head
from redveil.store.limits import Limits


@dataclass(frozen=True, slots=True)
class Checked:
    """What a ledger says, when nothing is wrong with it.

    head:     how long it is, and its last hash
    spent:    what was charged and not given back, by data set (its name and id)
    is_signed: whether signatures were checked
    """

    head: Head
    spent: dict[tuple[str, str | None], Loss]
    is_signed: bool


@dataclass(slots=True)
class _Account:
    """What is known of a data set while its entries are read in order."""

    limits: Limits = field(default_factory=Limits)
    spent: dict[str | None, Loss] = field(default_factory=dict)


def check_entries(
    found: Sequence[Entry],
    ledger: str | None,
    key: PublicKey | None = None,
    seen: Iterable[Head] = (),
) -> Checked:
    """Check the entries of a ledger, all of them and in order.

    ledger: the identity of a server's ledger, None for a file of local runs
    key:    the server's key; without it, signatures are not checked
    seen:   heads that were recorded elsewhere: in results, receipts and witnesses
    """
    try:
        head = check_chain(found, ledger)
    except NotAnEntryError as error:
        raise LedgerError(f"the ledger was changed: {error}") from None
    if key is not None:
        for entry in found:
            what = signed_head(str(ledger), Head(entry.number, str(entry.hash)))
            if not key.has_signed(what, entry.signature):
                raise LedgerError(f"entry {entry.number} was not signed with the key {key.name}")
    hashes = {entry.number: entry.hash for entry in found}
    for one in seen:
        if one.number and hashes.get(one.number) != one.hash:
            raise LedgerError(
                f"the ledger lacks entry {one.number} as it was recorded elsewhere; it was cut "
                "off, replaced or restored from a backup"
            )
    return Checked(head, _replayed(found), key is not None)


def check_database(
    database: Database, key: PublicKey | None = None, seen: Iterable[Head] = ()
) -> Checked:
    """Check the ledger of a server, and that its jobs and results are those of the ledger."""
    with database.reading() as transaction:
        check = _read(transaction)
    # Others need not wait for it.
    return check(key, seen)


def check_within(
    transaction: Transaction, key: PublicKey | None = None, seen: Iterable[Head] = ()
) -> Checked:
    """Check what a database holds within a transaction."""
    return _read(transaction)(key, seen)


def _read(transaction: Transaction) -> Callable[[PublicKey | None, Iterable[Head]], Checked]:
    """Read the ledger and the jobs, and return what checks them."""
    ledger, found = identity(transaction), list(entries(transaction))
    jobs = transaction.rows("SELECT id, state, charge, result FROM jobs ORDER BY number")

    def check(key: PublicKey | None, seen: Iterable[Head]) -> Checked:
        checked = check_entries(found, ledger, key, seen)
        _check_jobs(found, jobs, key)
        return checked

    return check


def _replayed(found: Sequence[Entry]) -> dict[tuple[str, str | None], Loss]:
    """Go through the entries as they were made; return what was spent in the end."""
    accounts: dict[str | None, _Account] = {}
    names: dict[str | None, str] = {}
    charged: dict[str, Entry] = {}
    committed: set[str] = set()
    for entry in found:
        identifier = entry.charge.identifier
        # A file of local runs may know a data set by its name alone.
        account = accounts.setdefault(identifier or entry.charge.name, _Account())
        names[identifier or entry.charge.name] = entry.charge.name
        match entry.kind, entry.job:
            case "limit", _:
                account.limits = account.limits.after(entry)
            case "charge", job:
                _check_charge(entry, account)
                if job is not None:
                    _must(job not in charged, entry, "charges a job twice")
                    charged[job] = entry
                _add(account, entry, 1)
            case "commit", str(job):
                _must(job in charged and job not in committed, entry, "answers without a charge")
                committed.add(job)
            case "void", str(job):
                known = job in charged and job not in committed
                _must(known and charged[job].number == entry.voids, entry, "gives back too much")
                _add(account, charged.pop(job), -1)
            case _:
                _must(entry.job is not None, entry, "names no job")
    return {
        (names[key], key): Spent(account.spent).of_all
        for key, account in accounts.items()
        # A charge of nothing to data sets that nobody knows says when budgets were written off.
        if account.spent and names[key] != UNKNOWN
    }


def _check_charge(entry: Entry, account: _Account) -> None:
    """Refuse a charge for a job that exceeded the limits that were in force."""
    if entry.job is not None:
        over = account.limits.overdraft(str(entry.analyst), entry.charge.loss, Spent(account.spent))
        _must(over is None, entry, "exceeds the limits of its time")


def _add(account: _Account, entry: Entry, sign: int) -> None:
    before = account.spent.get(entry.analyst, Loss(Fraction(0)))
    loss = entry.charge.loss
    account.spent[entry.analyst] = Loss(
        before.epsilon + sign * loss.epsilon, before.delta + sign * loss.delta
    )


def _must(is_right: bool, entry: Entry, what: str) -> None:  # noqa: FBT001 - like assert
    if not is_right:
        raise LedgerError(f"entry {entry.number} of the ledger {what}; the ledger was changed")


def _check_jobs(
    found: Sequence[Entry], jobs: Sequence[dict[str, Any]], key: PublicKey | None
) -> None:
    """Compare jobs with the ledger: what was charged is charged, what was answered is there."""
    voided = {entry.voids for entry in found if entry.kind == VOID}
    charges = {
        entry.job: entry.number
        for entry in found
        if entry.kind == CHARGE and entry.job is not None and entry.number not in voided
    }
    results = {entry.job: entry.charge.paid_for.result for entry in found if entry.kind == COMMIT}
    for job in jobs:
        if job["charge"] != charges.get(job["id"]):
            raise LedgerError(f"job {job['id']}: its charge is not that of the ledger")
        if job["state"] == State.DONE and not _is_answer(job, results, key):
            raise LedgerError(f"job {job['id']}: its result was changed")


def _is_answer(
    job: Mapping[str, Any], results: Mapping[str | None, str | None], key: PublicKey | None
) -> bool:
    """Return whether a job's result is signed for its charge, and the one in the ledger.

    The ledger has it once its end shows; until then, the signature is what there is.
    """
    try:
        result = json.loads(job["result"] or "")
        if key is not None:
            check_result(result, key)
        signed = result["signature"]["job"], result["signature"]["number"]
    except (ValueError, TypeError, KeyError, AttributeError, ResultError):
        return False
    is_entered = job["id"] in results
    is_the_one = not is_entered or digest(result) == results[job["id"]]
    return is_the_one and signed == (job["id"], job["charge"])
