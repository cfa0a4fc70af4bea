"""A job: a question of an analyst, from its submission to its answer."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from redveil.losses.loss import Loss
from redveil.store.texts import as_loss


class State(StrEnum):
    """Where a job stands.

    waiting:     for the owner's approval
    queued:      for a worker
    claimed:     a worker has it; nothing is charged yet
    reserved:    charged; the data was not touched yet
    running:     the data may have been touched; the charge stays whatever happens
    done:        the result is stored
    failed:      no result; charged if it was running
    over_budget: refused; nothing was charged
    declined:    by the owner, or because what allowed it was revoked; nothing was charged
    cancelled:   by the analyst; charged if it was reserved or running
    """

    WAITING = "waiting"
    QUEUED = "queued"
    CLAIMED = "claimed"
    RESERVED = "reserved"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    OVER_BUDGET = "over_budget"
    DECLINED = "declined"
    CANCELLED = "cancelled"

    @property
    def is_final(self) -> bool:
        """Whether nothing changes any more."""
        return self not in OPEN


OPEN: Final = (State.WAITING, State.QUEUED, State.CLAIMED, State.RESERVED, State.RUNNING)
# States in which a worker has the job.
LEASED: Final = (State.CLAIMED, State.RESERVED, State.RUNNING)


@dataclass(frozen=True, slots=True)
class Stand:
    """What moves when a job does: little, so that thousands of jobs can be watched."""

    state: str
    charge: int | None
    finished_at: str | None

    @property
    def is_charged(self) -> bool:
        """Whether the job was charged, so that its end shows at certain moments."""
        return self.charge is not None


@dataclass(frozen=True, slots=True)
class Job:
    """A job.

    number:   its place in the order of submissions; not for analysts
    id:       a random name, by which its analyst knows it
    purpose:  "mine", "describe", "refine" or "confirm"
    question: all parameters, as plain values
    price:    what it costs
    token:    the token with which it was asked; None if an earlier version has stored it
    version:  the version of the data that it uses, once it is charged
    worker:   the worker that has it
    progress: of public quantities only, between 0 and 1
    charge:   the number of its charge in the ledger, None if nothing is charged
    release_every: whole seconds, fixed when it was charged: its end shows so long after that, or 2,
              4, 8 … times as long; see `release`
    """

    number: int
    id: str
    analyst: str
    dataset: str
    purpose: str
    question: Mapping[str, Any]
    price: Loss
    token: str | None
    state: State
    submitted_at: str
    decided_by: str | None
    decided_at: str | None
    version: int | None
    worker: str | None
    lease_until: str | None
    tries: int
    progress: float
    charge: int | None
    finished_at: str | None
    release_every: int | None


COLUMNS: Final = (
    *("number", "id", "analyst", "dataset", "purpose", "question", "epsilon", "delta", "token"),
    *("state", "submitted_at", "decided_by", "decided_at", "version", "worker", "lease_until"),
    *("tries", "progress", "charge", "finished_at", "release_every"),
)


def job_in(row: Mapping[str, Any]) -> Job:
    """Return the job in a row."""
    values = {name: row[name] for name in COLUMNS if name not in ("epsilon", "delta")}
    values["question"] = json.loads(row["question"])
    values["state"] = State(row["state"])
    values["progress"] = float(row["progress"])
    return Job(price=as_loss(row["epsilon"], row["delta"]), **values)
