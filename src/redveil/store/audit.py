"""The audit log: who did what, when, at which price. For owners and auditors, never analysts."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from redveil.errors import InputError
from redveil.signing.canonical import canonical
from redveil.store.database import Database, Transaction
from redveil.store.texts import moment

MOST_AT_ONCE: Final = 1000


@dataclass(frozen=True, slots=True)
class Event:
    """Something that was done. Details are ids, amounts and states, never values of the data.

    actor:   the account that did it, or "server"
    action:  what was done, as in "job submitted"
    dataset: the data set that it is about
    job:     the job that it is about
    """

    number: int
    at: str
    actor: str
    action: str
    dataset: str | None
    job: str | None
    details: Mapping[str, Any]


def record(
    transaction: Transaction,
    at: datetime,
    actor: str,
    action: str,
    *,
    dataset: str | None = None,
    job: str | None = None,
    **details: Any,
) -> None:
    """Write down what is done, in the transaction that does it."""
    transaction.execute(
        "INSERT INTO events (at, actor, action, dataset, job, details) VALUES (?, ?, ?, ?, ?, ?)",
        [moment(at), actor, action, dataset, job, canonical(details).decode()],
    )


class AuditLog:
    """What was done on a server."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def events(
        self,
        *,
        dataset: str | None = None,
        later_than: int = 0,
        most: int = MOST_AT_ONCE,
    ) -> list[Event]:
        """Return events in order: of one data set, for its owner, or of all, for auditors.

        later_than: the number of the last event that is known already; to export all, go on with
                    the last number until nothing comes
        """
        condition = "number > ?" + (" AND dataset = ?" if dataset is not None else "")
        given = [later_than, *([dataset] if dataset is not None else [])]
        with self._database.reading() as transaction:
            rows = transaction.rows(
                f"SELECT * FROM events WHERE {condition} ORDER BY number LIMIT ?",
                *given,
                min(most, MOST_AT_ONCE),
            )
        return [Event(**{**row, "details": json.loads(row["details"])}) for row in rows]

    def forget(self, before: datetime, now: datetime, actor: str) -> int:
        """Delete events before a moment, and write down that it was done. Charges stay."""
        if before > now:
            raise InputError("retention: only events of the past can be forgotten")
        with self._database.transaction() as transaction:
            count = transaction.change("DELETE FROM events WHERE at < ?", moment(before))
            if count:
                record(
                    *(transaction, now, actor, "events forgotten"),
                    before=moment(before),
                    count=count,
                )
        return count
