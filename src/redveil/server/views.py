"""What is stored, as it is answered: amounts in digits, and jobs as far as they may be seen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any, Final

from redveil.losses import loss as losses
from redveil.store.datasets import DataSet
from redveil.store.job import Job, State
from redveil.store.ledger import SignedHead, entry
from redveil.store.limits import Grant
from redveil.store.release import EVERY_UNKNOWN, next_moment, release_moment
from redveil.store.store import Store
from redveil.wire import answers

# Digits before and after the point that sums of amounts can have.
_DIGITS: Final = 100
# What analysts see of the states in which a worker has a job.
_SEEN: Final = {State.CLAIMED: answers.JobState.QUEUED, State.RESERVED: answers.JobState.RUNNING}
# What of a schema is served, and nothing else: what questions can be asked, and what they mean. Not
# where the owner's files are, how they are written, or what may be spent.
_PURCHASE: Final = dict.fromkeys(("epsilon", "columns", "software"))
_PACKAGE: Final = dict.fromkeys(("version", "status", "unit", "unmatched")) | {"bought": _PURCHASE}
_ATTRIBUTE: Final = {
    **dict.fromkeys(("name", "title", "type", "format", "trueValues", "falseValues")),
    **dict.fromkeys(("categories", "categoriesOrdered", "decimalChar", "groupChar")),
    "constraints": dict.fromkeys(("minimum", "maximum", "enum", "required")),
    "redveil": dict.fromkeys(("kind", "cuts")),
}
_TABLE: Final = dict.fromkeys(("primaryKey", "missingValues")) | {"fields": _ATTRIBUTE}
_SCHEMA: Final = {
    **dict.fromkeys(("name", "id")),
    "resources": {"name": None, "schema": _TABLE},
    "redveil": _PACKAGE,
}


def digits(amount: Fraction) -> str:
    """Return a decimal number in digits; another one as a fraction.

    >>> digits(Fraction(1, 4)), digits(Fraction(3)), digits(Fraction(1, 10**6)), digits(Fraction(0))
    ('0.25', '3', '0.000001', '0')
    >>> digits(Fraction(1, 3))
    '1/3'
    """
    with localcontext(prec=_DIGITS):
        number = Decimal(amount.numerator) / Decimal(amount.denominator)
    if Fraction(number) != amount:
        return str(amount)
    text = f"{number:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def loss(amount: losses.Loss) -> answers.Loss:
    """Return an amount."""
    return answers.Loss(epsilon=digits(amount.epsilon), delta=digits(amount.delta))


def dataset(found: DataSet, grant: Grant, left: losses.Loss) -> answers.Dataset:
    """Return a data set as an analyst sees it."""
    return answers.Dataset(
        id=found.id,
        name=found.name,
        unit=str(found.description.get("redveil", {}).get("unit", "entity")),
        left=loss(left),
        cap=loss(grant.cap),
        needs_approval=grant.needs_approval,
    )


def schema(description: Mapping[str, Any]) -> dict[str, Any]:
    """Return what of a schema is served.

    >>> schema({"name": "clinic", "resources": [{"name": "visits", "path": "2024/dr meier.csv"}]})
    {'name': 'clinic', 'resources': [{'name': 'visits'}]}
    """
    found: dict[str, Any] = _listed(description, _SCHEMA)
    return found


def _listed(given: Any, fields: Mapping[str, Any] | None) -> Any:
    """Return what is listed of an object, or of each object in a list; None lists everything."""
    if fields is None:
        return given
    if isinstance(given, list):
        return [_listed(one, fields) for one in given]
    if not isinstance(given, Mapping):
        return None
    return {name: _listed(given[name], below) for name, below in fields.items() if name in given}


@dataclass(frozen=True)
class Sight:
    """What an analyst may see of a job now.

    state:    as it shows
    started:  when it was charged
    released: when its end showed, None before
    next:     when its end can show next
    """

    state: answers.JobState
    started: datetime | None
    released: datetime | None
    next: datetime | None


def sight(store: Store, job: Job, now: datetime) -> Sight:
    """Return what shows of a job. The end of one that was charged shows at a public moment only."""
    started = _started(store, job)
    every = EVERY_UNKNOWN if job.release_every is None else job.release_every
    finished = None if job.finished_at is None else datetime.fromisoformat(job.finished_at)
    if finished is None:
        state = _SEEN.get(job.state) or answers.JobState(job.state)
        return Sight(state, started, None, started and next_moment(started, now, every))
    if started is None:
        return Sight(answers.JobState(job.state), None, finished, None)
    released = release_moment(started, finished, every)
    if now < released:
        return Sight(answers.JobState.RUNNING, started, None, released)
    return Sight(answers.JobState(job.state), started, released, None)


def _started(store: Store, job: Job) -> datetime | None:
    """Return when a job was charged, which is written in the ledger."""
    if job.charge is None:
        return None
    with store.database.reading() as transaction:
        return datetime.fromisoformat(entry(transaction, job.charge).charge.made_at)


def job(store: Store, found: Job, now: datetime) -> answers.Job:
    """Return a job as its analyst sees it."""
    seen = sight(store, found, now)
    return answers.Job(
        id=found.id,
        dataset=found.dataset,
        question=dict(found.question),
        price=loss(found.price),
        state=seen.state,
        charged=found.charge is not None,
        submitted_at=found.submitted_at,
        started_at=_text(seen.started),
        next_release_at=_text(seen.next),
        released_at=_text(seen.released),
    )


def owned_job(store: Store, found: Job, now: datetime) -> answers.OwnedJob:
    """Return a job as the owner of its data set sees it."""
    return answers.OwnedJob(
        id=found.id,
        analyst=found.analyst,
        question=dict(found.question),
        price=loss(found.price),
        state=sight(store, found, now).state,
        charged=found.charge is not None,
        submitted_at=found.submitted_at,
    )


def head(found: SignedHead | None) -> answers.Receipt:
    """Return a signed head of the ledger."""
    plain = None if found is None else found.to_dict()
    return answers.Receipt.model_validate({"head": plain})


def _text(when: datetime | None) -> str | None:
    return None if when is None else when.isoformat(timespec="seconds")
