"""The ledger of a server: charges to data sets, on top of the book that files use, too."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any, Final

from redveil.budget import book
from redveil.budget.book import Head
from redveil.budget.entry import COLUMNS, Entry, NotAnEntryError, read_amount, read_entry
from redveil.errors import LedgerError
from redveil.losses.loss import Loss
from redveil.signing.keys import Signer
from redveil.store.database import Database, Transaction
from redveil.store.witness import Witness

IN_USE: Final = "in use"
COPY: Final = "copy"
# What was left of budgets when a backup was restored without a witness. An entry of nothing whose
# data set has no id stands for those that the backup does not know.
WRITTEN_OFF: Final = "written off"
UNKNOWN: Final = "data sets since the backup"
_SELECT: Final = f"SELECT {', '.join(COLUMNS)} FROM charges"
# What was charged, and what of it was given back; equal charges are counted by the database.
_CHARGED: Final = """
    SELECT analyst, epsilon, delta, COUNT(*) FROM charges
    WHERE identifier = ? AND kind = 'charge' GROUP BY analyst, epsilon, delta"""
_VOIDED: Final = """
    SELECT one.analyst, one.epsilon, one.delta, -COUNT(*) FROM charges AS one
    JOIN charges AS other ON other.voids = one.number
    WHERE other.identifier = ? AND other.kind = 'void'
    GROUP BY one.analyst, one.epsilon, one.delta"""
_AT_ONCE: Final = 1000


@dataclass(frozen=True, slots=True)
class SignedHead:
    """The end of a server's ledger, signed: a receipt that the ledger had this entry.

    ledger:    the identity of the ledger
    number:    the place of the entry
    hash:      the hash of the entry, and so of everything before it
    key:       the name of the key
    signature: of `signed_head`, in base 64
    """

    ledger: str
    number: int
    hash: str
    key: str
    signature: str

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Spent:
    """What was spent of a data set, by whom.

    >>> Spent({None: Loss(Fraction(1)), "ana": Loss(Fraction(2))}).of_analysts.epsilon
    Fraction(2, 1)
    """

    by: dict[str | None, Loss]

    @property
    def of_all(self) -> Loss:
        """What was spent in all."""
        return _sum(list(self.by.values()))

    @property
    def of_analysts(self) -> Loss:
        """What all analysts together have spent."""
        return _sum([loss for analyst, loss in self.by.items() if analyst is not None])

    def of(self, analyst: str) -> Loss:
        """Return what one analyst has spent."""
        return self.by.get(analyst, Loss(Fraction(0)))


class ServerLedger:
    """The ledger in a database. Whoever appends holds its lock until the transaction ends."""

    def __init__(self, database: Database, signer: Signer, witness: Witness | None) -> None:
        self._database = database
        self._signer = signer
        self._witness = witness

    def lock(self, transaction: Transaction) -> str:
        """Lock the ledger, and return its identity; refuse one that must be recovered first."""
        ((identity, state, place),) = transaction.execute(
            f"SELECT id, state, place FROM ledgers{transaction.for_update}"
        )
        if state != IN_USE or place != place_of(transaction):
            raise LedgerError(
                "this database is a copy or was restored; run `redveil ledger recover` first"
            )
        self._must_be_witnessed(transaction, identity)
        return str(identity)

    def must_be_ours(self, transaction: Transaction) -> str:
        """Lock the ledger, and refuse one whose last entry another key has signed."""
        identity = self.lock(transaction)
        self._must_be_signed(transaction, identity)
        return identity

    def append(self, transaction: Transaction, entry: Entry) -> Entry:
        """Append an entry. It counts once the transaction is committed and `keep` has returned."""
        identity = self.must_be_ours(transaction)
        with must_be_written():
            return book.append(
                transaction,
                entry,
                identity,
                lambda head: self._signer.sign(signed_head(identity, head)),
            )

    def keep(self) -> None:
        """Bring the witness up to date, after a transaction that has appended."""
        if self._witness is not None:
            with self._database.reading() as transaction:
                self._witness.keep(
                    identity(transaction), lambda number: list(entries(transaction, number))
                )

    def head(self, transaction: Transaction) -> SignedHead | None:
        """Return the signed end of the ledger, None if it is empty."""
        row = transaction.row(f"{_SELECT} ORDER BY number DESC LIMIT 1")
        return None if row is None else self.receipt(transaction, stored_entry(row))

    def receipt(self, transaction: Transaction, entry: Entry) -> SignedHead:
        """Return the signed head as it was right after an entry."""
        return SignedHead(
            identity(transaction),
            entry.number,
            str(entry.hash),
            self._signer.public.name,
            str(entry.signature),
        )

    def _must_be_signed(self, transaction: Transaction, identity: str) -> None:
        """Refuse a ledger whose last entry this server's key has not signed."""
        for number, found, signature in transaction.execute(
            "SELECT number, hash, signature FROM charges ORDER BY number DESC LIMIT 1"
        ):
            if not self._signer.public.has_signed(
                signed_head(identity, Head(number, found)), signature
            ):
                raise LedgerError(
                    f"entry {number} of the ledger was not signed with this server's key; use the "
                    "key that the ledger was begun with"
                )

    def _must_be_witnessed(self, transaction: Transaction, identity: str) -> None:
        """Refuse a database that lacks what its witness has seen."""
        seen = None if self._witness is None else self._witness.head(identity)
        if seen is None:
            return
        found = transaction.execute("SELECT hash FROM charges WHERE number = ?", [seen.number])
        if found != [(seen.hash,)]:
            raise LedgerError(
                f"this database lacks entry {seen.number} of its witness, so it was restored from "
                "a backup; run `redveil ledger recover` first"
            )


@contextmanager
def must_be_written() -> Iterator[None]:
    """Refuse a database whose table swallows or changes what is written to it.

    >>> with must_be_written():
    ...     raise NotAnEntryError("entry 7 was not written")
    Traceback (most recent call last):
    redveil.errors.LedgerError: entry 7 was not written; the table of the ledger was changed, so \
restore it
    """
    try:
        yield
    except NotAnEntryError as error:
        raise LedgerError(f"{error}; the table of the ledger was changed, so restore it") from None


def signed_head(identity: str, head: Head) -> dict[str, Any]:
    """Return what is signed of an entry.

    >>> signed_head("7e57", Head(1, "ab"))
    {'redveil': 'ledger head', 'ledger': '7e57', 'number': 1, 'hash': 'ab'}
    """
    return {"redveil": "ledger head", "ledger": identity, "number": head.number, "hash": head.hash}


def place_of(transaction: Transaction) -> str:
    """Return where the ledger's table is; a table that was restored from a dump is another one.

    A file of SQLite can be moved, so it has no place of its own.
    """
    if not transaction.is_postgresql:
        return ""
    ((found,),) = transaction.execute(
        "SELECT system_identifier || ':' || 'charges'::regclass::oid FROM pg_control_system()"
    )
    return str(found)


def identity(transaction: Transaction) -> str:
    """Return the identity of the ledger in a database."""
    ((found,),) = transaction.execute("SELECT id FROM ledgers")
    return str(found)


def entries(transaction: Transaction, later_than: int = 0) -> Iterator[Entry]:
    """Yield the entries after a number, in order."""
    last = later_than
    while True:
        rows = transaction.rows(
            f"{_SELECT} WHERE number > ? ORDER BY number LIMIT {_AT_ONCE}", last
        )
        yield from map(stored_entry, rows)
        if len(rows) < _AT_ONCE:
            return
        last = rows[-1]["number"]


def entry(transaction: Transaction, number: int) -> Entry:
    """Return an entry that is known to exist."""
    row = transaction.row(f"{_SELECT} WHERE number = ?", number)
    if row is None:
        raise LedgerError(f"the ledger lacks entry {number}")
    return stored_entry(row)


def stored_entry(row: Mapping[str, Any]) -> Entry:
    """Return the entry in a row of the database."""
    try:
        return read_entry(row)
    except NotAnEntryError:
        raise LedgerError(f"entry {row['number']} of the ledger was changed") from None


def written_off_at(transaction: Transaction) -> str | None:
    """Return when budgets were written off last: what was charged before may be unknown."""
    ((found,),) = transaction.execute(
        "SELECT MAX(made_at) FROM charges WHERE purpose = ? AND identifier = ''", [WRITTEN_OFF]
    )
    return None if found is None else str(found)


def spent(transaction: Transaction, dataset: str) -> Spent:
    """Return what was spent of a data set; exact."""
    by: dict[str | None, Loss] = {}
    rows = [row for sql in (_CHARGED, _VOIDED) for row in transaction.execute(sql, [dataset])]
    for analyst, epsilon, delta, count in rows:
        before = by.get(analyst, Loss(Fraction(0)))
        try:
            loss = Loss(read_amount(epsilon), read_amount(delta))
        except NotAnEntryError:
            raise LedgerError("a charge in the ledger was changed; verify it") from None
        by[analyst] = Loss(before.epsilon + count * loss.epsilon, before.delta + count * loss.delta)
    return Spent(by)


def _sum(losses: list[Loss]) -> Loss:
    return Loss(
        sum((one.epsilon for one in losses), Fraction(0)),
        sum((one.delta for one in losses), Fraction(0)),
    )
