"""The book of a ledger: what a file of local runs and the database of a server have in common.

Both keep their entries in a table `charges`, append to it under a lock, chain every entry to the
one before it, and compare exact sums with caps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Final, Protocol

from redveil.budget.chain import beginning
from redveil.budget.entry import COLUMNS, Entry, NotAnEntryError
from redveil.losses.loss import Loss

_INSERT: Final = (
    f"INSERT INTO charges ({', '.join(COLUMNS)}) VALUES ({', '.join('?' for _ in COLUMNS)})"
)
_STORED: Final = f"SELECT {', '.join(COLUMNS)} FROM charges WHERE number >= ?"
_HEAD: Final = "SELECT number, hash FROM charges ORDER BY number DESC LIMIT 1"


class Statements(Protocol):
    """What runs SQL within a transaction. Parameters are written as `?`."""

    def execute(self, sql: str, parameters: Sequence[Any] = ..., /) -> Iterable[Any]:
        """Run a statement, and return its rows."""
        ...


@dataclass(frozen=True, slots=True)
class Head:
    """The end of a chain: how long it is, and the hash of its last entry.

    >>> Head(0, "0" * 64).number
    0
    """

    number: int
    hash: str


@dataclass(frozen=True, slots=True)
class Overdraft:
    """What exceeds a cap.

    >>> Overdraft("budget", Fraction(1), Fraction(1, 2), Fraction(3)).key
    'budget'
    """

    key: str
    asked: Fraction
    left: Fraction
    cap: Fraction


def head(statements: Statements, identity: str | None = None) -> Head:
    """Return the end of the chain, in a transaction that has locked the ledger."""
    for number, found in statements.execute(_HEAD):
        return Head(int(number), str(found))
    return Head(0, beginning(identity))


def append(
    statements: Statements,
    entry: Entry,
    identity: str | None = None,
    sign: Callable[[Head], str] | None = None,
) -> Entry:
    """Add an entry at the end, in a transaction that has locked the ledger; return it.

    Whatever the table was turned into, nothing is paid for by an entry that is not in it.
    """
    last = head(statements, identity)
    linked = entry.linked(last.number + 1, last.hash)
    if sign is not None:
        linked = replace(linked, signature=sign(Head(linked.number, str(linked.hash))))
    insert(statements, linked)
    return linked


def insert(statements: Statements, entry: Entry) -> None:
    """Insert an entry that has its place in the chain."""
    row: Mapping[str, Any] = entry.row
    values = tuple(row[name] for name in COLUMNS)
    statements.execute(_INSERT, values)
    if [tuple(found) for found in statements.execute(_STORED, [entry.number])] != [values]:
        raise NotAnEntryError(f"entry {entry.number} was not written")


def check_chain(entries: Iterable[Entry], identity: str | None = None) -> Head:
    """Return the end of a chain, or say which entry was changed, removed or moved.

    >>> check_chain([])
    Head(number=0, hash='0000000000000000000000000000000000000000000000000000000000000000')
    """
    last = Head(0, beginning(identity))
    for entry in entries:
        if not entry.is_intact:
            raise NotAnEntryError(f"entry {entry.number} was changed")
        if entry.previous != last.hash or entry.number <= last.number:
            raise NotAnEntryError(f"entry {entry.number} does not follow entry {last.number}")
        last = Head(entry.number, str(entry.hash))
    return last


def overdraft(loss: Loss, spent: Loss, cap: Loss) -> Overdraft | None:
    """Return what exceeds a cap if a loss is added to what was spent, None if nothing does.

    >>> overdraft(Loss(Fraction(1)), Loss(Fraction(1, 2)), Loss(Fraction(1))).left
    Fraction(1, 2)
    """
    for key, asked, used, whole in (
        ("budget", loss.epsilon, spent.epsilon, cap.epsilon),
        ("budget_delta", loss.delta, spent.delta, cap.delta),
    ):
        if asked and used + asked > whole:
            return Overdraft(key, asked, max(whole - used, Fraction(0)), whole)
    return None
