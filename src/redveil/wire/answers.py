"""What a server answers. Amounts are decimal texts, moments are ISO 8601 in UTC."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from redveil.wire.questions import Amount, Question
from redveil.wire.scopes import Scope


class Answer(BaseModel):
    """An answer. Clients ignore fields that they do not know."""

    model_config = ConfigDict(frozen=True)


class Loss(Answer):
    """An exact amount of privacy loss."""

    epsilon: str
    delta: str = "0"


class Server(Answer):
    """What a client needs to know of a server.

    version:       of the software
    public_key:    PEM; it verifies certificates and heads of the ledger
    release_every: whole seconds; a result is released this long after the job has started, or after
                   twice, four times, eight times … as long
    """

    version: str
    public_key: str
    release_every: int


class Me(Answer):
    """Whom a token belongs to, and what it allows."""

    id: str
    name: str
    role: str
    scopes: list[Scope]
    expires_at: str


class Dataset(Answer):
    """A data set that the analyst may ask about.

    left:           what the analyst can still spend
    needs_approval: whether its owner looks at every job first
    """

    id: str
    name: str
    unit: str
    left: Loss
    cap: Loss
    needs_approval: bool


class DatasetDetails(Dataset):
    """A data set with its schema, a descriptor as in `datapackage.json`."""

    schema_: Annotated[dict[str, Any], Field(alias="schema")]

    model_config = ConfigDict(frozen=True, populate_by_name=True, serialize_by_alias=True)


class Datasets(Answer):
    """The data sets that the analyst may ask about, by name."""

    datasets: list[Dataset]


class Step(Answer):
    """A step of a plan; its price is in ε, or in ρ if there is a δ."""

    name: str
    mechanism: str
    price: str


class Plan(Answer):
    """What a job would cost, and on what it would be spent. The steps add up to the price.

    price:     what is charged
    left:      what the analyst can still spend
    is_covered: whether that is enough
    unit:      of the steps' prices: "epsilon" or "rho"
    """

    price: Loss
    left: Loss
    is_covered: bool
    unit: str
    steps: list[Step]


class Detectable(Answer):
    """What runs would detect, as `redveil plan --detect --study --json` writes it."""

    document: dict[str, Any]


class DummyData(Answer):
    """Two CSV tables that fit the schema and are about nobody."""

    left: str
    right: str


class JobState(StrEnum):
    """Where a job stands, as analysts see it.

    waiting:     for the owner's approval
    queued:      for a worker
    running:     charged, or about to be
    done:        the result can be fetched
    failed:      there is no result; `charged` tells whether it was paid for
    over_budget: refused when it was to be charged; nothing was
    declined:    by the owner, or because what allowed it was revoked; nothing was charged
    cancelled:   by the analyst; `charged` tells whether it was paid for
    """

    WAITING = "waiting"
    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    OVER_BUDGET = "over_budget"
    DECLINED = "declined"
    CANCELLED = "cancelled"

    @property
    def is_final(self) -> bool:
        """Whether nothing changes any more."""
        return self not in (JobState.WAITING, JobState.QUEUED, JobState.RUNNING)


class Job(Answer):
    """A job of the analyst.

    price:           what it costs
    charged:         whether that was charged
    next_release_at: the next moment at which a running job's end can show. When a step ends
                     depends on the rows, so there is no finer progress.
    released_at:     the moment at which its end showed
    """

    id: str
    dataset: str
    question: Question
    price: Loss
    state: JobState
    charged: bool
    submitted_at: str
    started_at: str | None
    next_release_at: str | None
    released_at: str | None


class Jobs(Answer):
    """Jobs, latest first.

    next: a job's id; send it as `after` to get those that follow; None if there are no more
    """

    jobs: list[Job]
    next: str | None


class Head(Answer):
    """The head of the ledger: how many entries there are, the hash of the last, a signature.

    key: the name of the key that signed it
    """

    ledger: str
    number: int
    hash: str
    key: str
    signature: str


class Receipt(Answer):
    """A signed head of the ledger; None if the job was not charged, or the ledger is empty."""

    head: Head | None


# For owners, auditors and operators.


class Grant(Answer):
    """What an analyst may spend on a data set, and has spent."""

    account: str
    name: str
    cap: Loss
    spent: Loss
    needs_approval: bool


class OwnedDataset(Answer):
    """A data set as its owner sees it.

    cap:     what all analysts together may spend, None if only the budget counts
    version: the number of the latest version of the data, None if there is none yet
    """

    id: str
    name: str
    budget: Loss
    spent: Loss
    cap: Loss | None
    version: int | None
    grants: list[Grant]


class OwnedDatasets(Answer):
    """The data sets of an owner."""

    datasets: list[OwnedDataset]


class OwnedJob(Answer):
    """A job as the owner of its data set sees it."""

    id: str
    analyst: str
    question: Question
    price: Loss
    state: JobState
    charged: bool
    submitted_at: str


class OwnedJobs(Answer):
    """The jobs of a data set, latest first."""

    jobs: list[OwnedJob]
    next: str | None


class Event(Answer):
    """Something that was done on the server."""

    number: int
    at: str
    actor: str
    action: str
    dataset: str | None
    job: str | None
    details: dict[str, Any]


class Events(Answer):
    """Events in order; go on with the last number."""

    events: list[Event]


class Account(Answer):
    """An account."""

    id: str
    name: str
    role: str


class Accounts(Answer):
    """All accounts that are not closed."""

    accounts: list[Account]


class Token(Answer):
    """A token, without its secret."""

    id: str
    account: str
    scopes: list[str]
    made_at: str
    expires_at: str
    revoked_at: str | None


class Tokens(Answer):
    """The tokens of an account."""

    tokens: list[Token]


class NewToken(Token):
    """A token with its secret, which is shown once."""

    secret: str


class _Request(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class LossRequest(_Request):
    """An amount to set."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, json_schema_extra={"examples": [{"epsilon": "10"}]}
    )

    epsilon: Amount
    delta: Amount = "0"


class CapRequest(_Request):
    """What all analysts together may spend; null takes the cap away."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, json_schema_extra={"examples": [{"cap": {"epsilon": "5"}}]}
    )

    cap: LossRequest | None


class GrantRequest(LossRequest):
    """What an analyst may spend."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        json_schema_extra={"examples": [{"epsilon": "3", "needs_approval": True}]},
    )

    needs_approval: bool = False


class AccountRequest(_Request):
    """An account to make: its role is owner, analyst, auditor or operator."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        json_schema_extra={"examples": [{"name": "ana", "role": "analyst"}]},
    )

    name: Annotated[str, Field(min_length=1, max_length=200)]
    role: Annotated[str, Field(pattern="^(owner|analyst|auditor|operator)$")]


class TokenRequest(_Request):
    """A token to issue; all scopes of the role unless some are given."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        json_schema_extra={"examples": [{"scopes": ["read"], "days": 30}]},
    )

    scopes: list[Scope] | None = None
    days: Annotated[int, Field(ge=1, le=3650)] = 90
