"""Backups of a server's database, and how one goes on after it was restored.

A restored database has forgotten what was spent since the backup. So nothing is charged to it until
the missing entries are back from a witness, or whatever is left of every budget is written off.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Final

from redveil.base.files import is_there
from redveil.budget import book
from redveil.budget.book import Head
from redveil.budget.charges import Charge, PaidFor
from redveil.budget.entry import Entry
from redveil.budget.turn import turn
from redveil.errors import InputError, LedgerError
from redveil.losses.loss import Loss
from redveil.signing.keys import Signer
from redveil.store.accounts import Clock
from redveil.store.audit import record
from redveil.store.checking import check_within
from redveil.store.database import Database, Transaction
from redveil.store.datasets import limits_of
from redveil.store.job import OPEN, State
from redveil.store.ledger import (
    COPY,
    IN_USE,
    UNKNOWN,
    WRITTEN_OFF,
    entries,
    identity,
    must_be_written,
    place_of,
    signed_head,
    spent,
)
from redveil.store.limits import NOTHING
from redveil.store.texts import moment
from redveil.store.witness import Witness

_SECONDS_TO_WAIT: Final = 60
_OPERATOR: Final = "operator"
_OPEN: Final = ", ".join(f"'{one.value}'" for one in OPEN)
_OUTSTANDING: Final = (
    "(SELECT MAX(number) FROM charges WHERE charges.job = jobs.id AND kind = 'charge' AND number "
    "NOT IN (SELECT voids FROM charges WHERE voids IS NOT NULL))"
)


@dataclass(frozen=True, slots=True)
class Recovered:
    """What was done to a database that was restored.

    replayed:    how many entries came back from witnesses
    written_off: what was left of budgets and is counted as spent, by data set
    """

    replayed: int
    written_off: dict[str, Loss]


def backup(database: Database, target: Path) -> None:
    """Copy a SQLite database while it is in use. The copy is marked: it must be recovered."""
    source = database.path
    if source is None:
        raise InputError("PostgreSQL: back it up with pg_dump or a base backup")
    if is_there(target):
        raise InputError(f"{target}: not replaced; name a new file")
    try:
        with (
            turn(source, _SECONDS_TO_WAIT, shared=True),
            # Not "ro": what a crashed process left has to be rolled back.
            closing(sqlite3.connect(f"{source.absolute().as_uri()}?mode=rw", uri=True)) as live,
            closing(_new_file(target)) as copy,
        ):
            live.backup(copy)
            copy.execute("UPDATE ledgers SET state = ?", [COPY])
    except (sqlite3.Error, OSError):
        target.unlink(missing_ok=True)
        raise InputError(f"{source}: cannot be copied; check the files and the disk") from None


def _new_file(path: Path) -> sqlite3.Connection:
    """Make a database for this user alone: it holds questions, results and hashes of tokens."""
    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    return sqlite3.connect(path, isolation_level=None)


def recover(
    database: Database,
    signer: Signer,
    clock: Clock,
    *,
    witnesses: Sequence[Witness] = (),
    head: str | None = None,
    write_off: bool = False,
) -> Recovered:
    """Make a restored database usable again without giving back what was spent since its backup.

    witnesses: files from which missing entries are taken
    head:      the last hash of the ledger as it is known from elsewhere, in place of a witness
    write_off: count whatever is left of every budget as spent, if neither is known

    All tokens are revoked, because some may have been revoked since the backup. Jobs that were
    charged since, and whose answers are lost, have failed.
    """
    if not witnesses and head is None and not write_off:
        raise InputError("recover: give a witness or the last hash, or write off what is left")
    with database.transaction() as transaction:
        ledger = identity(transaction)
        transaction.execute(f"SELECT id FROM ledgers{transaction.for_update}")
        before = book.head(transaction, ledger)
        with must_be_written():
            replayed = sum(_replay(transaction, ledger, one) for one in witnesses)
        if head is None and not write_off:
            _must_have_seen(before, witnesses, ledger)
        last = book.head(transaction, ledger)
        if head is not None and last.hash != head:
            raise LedgerError("the ledger does not end with this hash; entries are missing")
        with must_be_written():
            lost = _write_off(transaction, ledger, signer, clock) if write_off else {}
        _settle(transaction, clock)
        transaction.execute(
            "UPDATE ledgers SET state = ?, place = ?", [IN_USE, place_of(transaction)]
        )
        record(
            *(transaction, clock(), _OPERATOR, "database recovered"),
            replayed=replayed,
            written_off=sorted(lost),
        )
        # What came back is not believed because it was in a file; all of it is signed.
        check_within(transaction, signer.public)
    return Recovered(replayed, lost)


def _must_have_seen(last: Head, witnesses: Sequence[Witness], ledger: str) -> None:
    """Refuse witnesses that end before the backup does: they say nothing of what came after it."""
    seen = [found.number for one in witnesses if (found := one.head(ledger)) is not None]
    if max(seen, default=0) < last.number:
        raise LedgerError(
            f"the witness ends before entry {last.number}, the last of this database, so it cannot "
            "tell what is missing; name the one that the server has written to the end"
        )


def _replay(transaction: Transaction, ledger: str, witness: Witness) -> int:
    """Append the entries of a witness that the database lacks; return how many."""
    known, kept = list(entries(transaction)), witness.entries(ledger)
    last = Head(0, "") if not known else Head(known[-1].number, str(known[-1].hash))
    common = min(last.number, len(kept))
    if common and known[common - 1].hash != kept[common - 1].hash:
        raise LedgerError(
            f"{witness.path}: the witness and the database have different entries at number "
            f"{common}; one of them was changed"
        )
    missing = kept[last.number :]
    for entry in missing:
        book.insert(transaction, entry)
    return len(missing)


def _write_off(
    transaction: Transaction, ledger: str, signer: Signer, clock: Clock
) -> dict[str, Loss]:
    """Charge what is left of every budget, and note that there may be data sets besides."""
    lost: dict[str, Loss] = {}
    amounts = [(UNKNOWN, "", NOTHING)]
    for name, dataset in transaction.execute("SELECT name, id FROM datasets ORDER BY name"):
        budget, used = limits_of(transaction, dataset).budget, spent(transaction, dataset).of_all
        rest = Loss(
            max(budget.epsilon - used.epsilon, Fraction(0)),
            max(budget.delta - used.delta, Fraction(0)),
        )
        if rest != NOTHING:
            amounts.append((name, dataset, rest))
            lost[name] = rest
    for name, identifier, amount in amounts:
        book.append(
            transaction,
            Entry(Charge(name, amount, PaidFor(WRITTEN_OFF), moment(clock()), identifier)),
            ledger,
            lambda head: signer.sign(signed_head(ledger, head)),
        )
    return lost


def _settle(transaction: Transaction, clock: Clock) -> None:
    """Let jobs agree with the ledger, and revoke all tokens."""
    now = moment(clock())
    transaction.execute(f"UPDATE jobs SET charge = {_OUTSTANDING}")
    # They end now, whatever became of their runs: that tells nothing, so it shows at once.
    transaction.execute(
        "UPDATE jobs SET state = ?, finished_at = ?, release_every = 0, worker = NULL, "
        f"lease_until = NULL WHERE charge IS NOT NULL AND state IN ({_OPEN})",
        [State.FAILED, now],
    )
    transaction.execute(
        "UPDATE jobs SET state = ?, worker = NULL, lease_until = NULL "
        "WHERE charge IS NULL AND state IN ('claimed', 'reserved', 'running')",
        [State.QUEUED],
    )
    transaction.execute("UPDATE tokens SET revoked_at = ? WHERE revoked_at IS NULL", [now])
