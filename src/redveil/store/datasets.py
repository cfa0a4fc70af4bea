"""Data sets of a server: what owners register, and what may be spent on it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from redveil.budget.charges import Charge
from redveil.budget.entry import COLUMNS, Entry
from redveil.errors import ConflictError, NotFoundError
from redveil.losses.loss import Loss
from redveil.signing.canonical import canonical
from redveil.store import limits
from redveil.store.accounts import Clock, Role, find_account
from redveil.store.audit import record
from redveil.store.database import Database, Transaction
from redveil.store.ledger import ServerLedger, Spent, spent, stored_entry
from redveil.store.limits import NOTHING, Grant, Limits, limit_entry
from redveil.store.texts import checked_loss, checked_name, moment

_REGISTERED: Final = (
    "a data set of this id or name is registered; add a new version to it with `redveil server "
    "renew-data`"
)
_LIMITS: Final = f"SELECT {', '.join(COLUMNS)} FROM charges WHERE identifier = ? AND kind = 'limit'"


@dataclass(frozen=True, slots=True)
class DataSet:
    """A data set that analysts can ask about.

    id:          the id of its schema, by which the ledger knows it
    name:        the name of its schema
    owner:       the account that registered it
    description: its schema, as plain values; public
    """

    id: str
    name: str
    owner: str
    description: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Version:
    """A state of the data: where the packed table is, and its SHA-256."""

    dataset: str
    number: int
    location: str
    sha256: str


class DataSets:
    """The data sets of a server. All versions of one share its budget."""

    def __init__(self, database: Database, clock: Clock, ledger: ServerLedger) -> None:
        self._database = database
        self._clock = clock
        self._ledger = ledger

    def register(
        self,
        identifier: str,
        name: str,
        owner: str,
        description: Mapping[str, Any],
        budget: Loss,
        *,
        earlier: Iterable[Charge] = (),
        details: Mapping[str, Any] | None = None,
    ) -> DataSet:
        """Register a data set with its budget.

        earlier: what was charged to it elsewhere, as a file ledger lists it; it counts
        details: what the audit log says besides
        """
        found = DataSet(checked_name(identifier, "id"), checked_name(name, "name"), owner, {})
        checked_loss(budget, "budget")
        now = self._clock()
        with self._database.transaction() as transaction:
            if find_account(transaction, owner).role is not Role.OWNER:
                raise ConflictError("only owners register data sets")
            _must_be_new(transaction, found.id, found.name)
            made = transaction.change(
                "INSERT INTO datasets (id, name, owner, description, made_at) "
                "VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
                *(found.id, found.name, owner, canonical(dict(description)).decode(), moment(now)),
            )
            # What was charged before counts, also if the registration itself was lost.
            if not made:
                raise ConflictError(_REGISTERED)
            self._set(transaction, found, limits.BUDGET, budget, owner)
            for one in earlier:
                charge = replace(one, name=found.name, identifier=found.id)
                self._ledger.append(transaction, Entry(charge))
            record(
                transaction, now, owner, "data set registered", dataset=found.id, **(details or {})
            )
        self._ledger.keep()
        return replace(found, description=description)

    def must_be_new(self, identifier: str, name: str) -> None:
        """Refuse to register a data set twice, before anything is made of its tables."""
        with self._database.reading() as transaction:
            _must_be_new(transaction, identifier, name)

    def new_version(self, dataset: str, location: str, sha256: str, actor: str) -> Version:
        """Add a version of the data; jobs that start from now on use it."""
        now = self._clock()
        with self._database.transaction() as transaction:
            find_dataset(transaction, dataset, lock=True)
            ((last,),) = transaction.execute(
                "SELECT COALESCE(MAX(number), 0) FROM versions WHERE dataset = ?", [dataset]
            )
            version = Version(dataset, last + 1, location, sha256)
            transaction.execute(
                "INSERT INTO versions (dataset, number, location, sha256, made_at) "
                "VALUES (?, ?, ?, ?, ?)",
                [dataset, version.number, location, sha256, moment(now)],
            )
            record(
                transaction, now, actor, "version added", dataset=dataset, version=version.number
            )
        return version

    def version(self, dataset: str, number: int | None = None) -> Version:
        """Return a version, by default the latest."""
        with self._database.reading() as transaction:
            return find_version(transaction, dataset, number)

    def get(self, dataset: str) -> DataSet:
        """Return a data set by its id."""
        with self._database.reading() as transaction:
            return find_dataset(transaction, dataset)

    def all(self) -> list[DataSet]:
        """Return the data sets that are not closed, by name."""
        with self._database.reading() as transaction:
            rows = transaction.rows(
                "SELECT id, name, owner, description FROM datasets WHERE closed_at IS NULL "
                "ORDER BY name"
            )
        return [_dataset(row) for row in rows]

    def close(self, dataset: str, actor: str) -> None:
        """Close a data set: nothing is submitted to it any more. Its id and its charges stay.

        Jobs that wait are declined: a worker would charge them, and find nothing to open. The
        budget is nothing from now on, which is in the ledger: so a database that is restored from
        a backup, where the data set is open, lacks an entry, and sells nothing when that is back.
        """
        now = self._clock()
        with self._database.transaction() as transaction:
            found = find_dataset(transaction, dataset, lock=True)
            transaction.execute(
                "UPDATE datasets SET closed_at = ? WHERE id = ?", [moment(now), dataset]
            )
            transaction.execute(
                "UPDATE jobs SET state = 'declined', finished_at = ? "
                "WHERE dataset = ? AND state IN ('waiting', 'queued')",
                [moment(now), dataset],
            )
            self._set(transaction, found, limits.BUDGET, NOTHING, actor)
            record(transaction, now, actor, "data set closed", dataset=dataset)
        self._ledger.keep()

    def set_budget(self, dataset: str, budget: Loss, actor: str) -> None:
        """Set what may be spent in all."""
        self._limit(dataset, limits.BUDGET, checked_loss(budget, "budget"), actor)

    def set_cap(self, dataset: str, cap: Loss | None, actor: str) -> None:
        """Set what all analysts together may spend; None takes the cap away."""
        purpose = limits.NO_CAP if cap is None else limits.CAP
        self._limit(dataset, purpose, checked_loss(cap or NOTHING, "cap"), actor)

    def grant(
        self, dataset: str, analyst: str, cap: Loss, actor: str, *, needs_approval: bool = False
    ) -> Grant:
        """Let an analyst ask, up to a cap. What she has spent already counts."""
        self._limit(
            dataset,
            limits.GRANT,
            checked_loss(cap, "cap"),
            actor,
            analyst=analyst,
            needs_approval=needs_approval,
        )
        return Grant(analyst, dataset, cap, needs_approval)

    def revoke_grant(self, dataset: str, analyst: str, actor: str) -> None:
        """Let an analyst no longer ask. Jobs that are not charged yet will be refused."""
        self._limit(dataset, limits.NO_GRANT, NOTHING, actor, analyst=analyst)

    def limits(self, dataset: str) -> Limits:
        """Return the limits of a data set, for its owner."""
        with self._database.reading() as transaction:
            find_dataset(transaction, dataset, closed=True)
            return limits_of(transaction, dataset)

    def spent(self, dataset: str) -> Spent:
        """Return what was spent of a data set and by whom, for its owner."""
        with self._database.reading() as transaction:
            find_dataset(transaction, dataset, closed=True)
            return spent(transaction, dataset)

    def left(self, dataset: str, analyst: str) -> Loss:
        """Return what an analyst can still spend."""
        with self._database.reading() as transaction:
            find_dataset(transaction, dataset, closed=True)
            limits = limits_of(transaction, dataset, analyst)
            return limits.left(analyst, spent(transaction, dataset))

    def granted(self, analyst: str) -> list[tuple[DataSet, Grant]]:
        """Return the data sets that an analyst may ask about. She sees no others."""
        with self._database.reading() as transaction:
            rows = transaction.rows(
                "SELECT id, name, owner, description FROM datasets WHERE closed_at IS NULL AND id "
                "IN (SELECT identifier FROM charges WHERE kind = 'limit' AND analyst = ?) "
                "ORDER BY name",
                analyst,
            )
            found = [(_dataset(row), limits_of(transaction, row["id"], analyst)) for row in rows]
        return [(one, grant) for one, kept in found if (grant := kept.grant(analyst)) is not None]

    def _limit(
        self,
        dataset: str,
        purpose: str,
        amount: Loss,
        actor: str,
        *,
        analyst: str | None = None,
        needs_approval: bool | None = None,
    ) -> None:
        with self._database.transaction() as transaction:
            found = find_dataset(transaction, dataset)
            if analyst is not None and purpose == limits.GRANT:
                find_account(transaction, analyst)
            self._set(
                transaction, found, purpose, amount, actor, analyst=analyst, approval=needs_approval
            )
        self._ledger.keep()

    def _set(
        self,
        transaction: Transaction,
        dataset: DataSet,
        purpose: str,
        amount: Loss,
        actor: str,
        *,
        analyst: str | None = None,
        approval: bool | None = None,
    ) -> None:
        now = self._clock()
        key = (dataset.name, dataset.id)
        self._ledger.append(
            transaction,
            limit_entry(
                key, purpose, amount, moment(now), analyst=analyst, needs_approval=approval
            ),
        )
        record(
            *(transaction, now, actor, f"{purpose} set"),
            dataset=dataset.id,
            analyst=analyst,
            needs_approval=approval,
            epsilon=str(amount.epsilon),
            delta=str(amount.delta),
        )


def _must_be_new(transaction: Transaction, identifier: str, name: str) -> None:
    """Refuse an id or a name that is taken; a name like another's id would be taken for it."""
    both = (identifier, name)
    if transaction.row(
        "SELECT id FROM datasets WHERE id IN (?, ?) OR name IN (?, ?)", *both, *both
    ):
        raise ConflictError(_REGISTERED)


def find_dataset(
    transaction: Transaction, dataset: str, *, lock: bool = False, closed: bool = False
) -> DataSet:
    """Return a data set by its id, one that is closed only if it is asked for."""
    row = transaction.row(
        "SELECT id, name, owner, description FROM datasets WHERE id = ?"
        + " AND closed_at IS NULL" * (not closed)
        + transaction.for_update * lock,
        dataset,
    )
    if row is None:
        raise NotFoundError("no such data set")
    return _dataset(row)


def find_version(transaction: Transaction, dataset: str, number: int | None = None) -> Version:
    """Return a version, by default the latest."""
    row = transaction.row(
        "SELECT dataset, number, location, sha256 FROM versions WHERE dataset = ?"
        + " AND number = ?" * (number is not None)
        + " ORDER BY number DESC LIMIT 1",
        *(dataset, *(() if number is None else (number,))),
    )
    if row is None:
        raise NotFoundError("the data set has no data yet, or no such version")
    return Version(**row)


def limits_of(transaction: Transaction, dataset: str, analyst: str | None = None) -> Limits:
    """Return the limits of a data set that are in force: those that bind one analyst, or all."""
    is_one = analyst is not None
    sql = _LIMITS + " AND (analyst IS NULL OR analyst = ?)" * is_one + " ORDER BY number"
    found = Limits()
    for row in transaction.rows(sql, *(dataset, *([analyst] * is_one))):
        found = found.after(stored_entry(row))
    return found


def _dataset(row: dict[str, Any]) -> DataSet:
    return DataSet(row["id"], row["name"], row["owner"], json.loads(row["description"]))
