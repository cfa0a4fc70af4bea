"""A store with an owner, analysts and a data set, and a clock that one can set."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from pathlib import Path
from typing import Any

from redveil.losses.loss import Loss
from redveil.signing.keys import Signer
from redveil.store.accounts import Account, Role
from redveil.store.job import Job
from redveil.store.jobs import Request
from redveil.store.store import Store

CLINIC = "7e57"
NOBODY = "console"
DOCUMENT = {"format": "redveil-result", "answer": [1, 2.5, "ε"]}


def loss(epsilon: str, delta: str = "0") -> Loss:
    return Loss(Fraction(epsilon), Fraction(delta))


@dataclass
class SetClock:
    """A clock that stands still until it is set."""

    now: datetime = datetime(2026, 1, 1, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def pass_(self, **time: float) -> None:
        self.now += timedelta(**time)


@dataclass
class Place:
    """A store in which an owner has registered a data set, and granted it to analysts."""

    address: str
    signer: Signer
    witness: Path | None
    store: Store
    clock: SetClock
    owner: Account
    analysts: list[Account]
    counter: Any = field(default_factory=itertools.count)
    opened: list[Store] = field(default_factory=list)
    tokens: dict[str, str] = field(default_factory=dict)

    @classmethod
    def make(
        cls,
        address: str,
        *,
        budget: str = "10",
        cap: str = "10",
        analysts: int = 1,
        witness: Path | None = None,
        needs_approval: bool = False,
        signer: Signer | None = None,
        most_open: int = 20,
        most_a_day: int | None = None,
        release_every: int = 0,
    ) -> Place:
        clock, key = SetClock(), signer or Signer.generate()
        store = Store.open(
            *(address, key, witness),
            clock=clock,
            most_open=most_open,
            most_a_day=most_a_day,
            release_every=release_every,
        )
        owner = store.accounts.create("olga", Role.OWNER, NOBODY)
        store.datasets.register(CLINIC, "clinic", owner.id, {"name": "clinic"}, loss(budget))
        store.datasets.new_version(CLINIC, "clinic.packed", "ab" * 32, owner.id)
        people = []
        for number in range(analysts):
            people.append(store.accounts.create(f"ana {number}", Role.ANALYST, NOBODY))
            store.datasets.grant(
                CLINIC, people[-1].id, loss(cap), owner.id, needs_approval=needs_approval
            )
        return cls(address, key, witness, store, clock, owner, people)

    @property
    def ana(self) -> Account:
        return self.analysts[0]

    def new_token(self, analyst: Account, *, days: int = 10_000) -> str:
        """Give an analyst another token, with which she asks from now on; return its id."""
        expires = self.clock() + timedelta(days=days)
        token, _ = self.store.accounts.issue_token(analyst.id, ["ask"], expires, NOBODY)
        self.tokens[analyst.id] = token.id
        return token.id

    def again(self) -> Store:
        """Open the same database as another process would."""
        store = Store.open(self.address, self.signer, self.witness, clock=self.clock)
        self.opened.append(store)
        return store

    def close(self) -> None:
        """Close everything that was opened."""
        for store in (self.store, *self.opened):
            store.close()

    def submit(
        self, epsilon: str = "1", *, key: str | None = None, analyst: Account | None = None
    ) -> Job:
        return self.store.jobs.submit(self.request(epsilon, key=key, analyst=analyst))

    def request(
        self, epsilon: str = "1", *, key: str | None = None, analyst: Account | None = None
    ) -> Request:
        chosen = key or f"key {next(self.counter)}"
        who = analyst or self.ana
        question = {"algorithm": "twin", "depth": 2}
        token = self.tokens.get(who.id) or self.new_token(who)
        return Request(who.id, CLINIC, "mine", question, loss(epsilon), chosen, token)

    def reserved(
        self, epsilon: str = "1", worker: str = "w", *, analyst: Account | None = None
    ) -> Job:
        job = self.submit(epsilon, analyst=analyst)
        assert self.store.work.claim(worker) is not None
        self.store.work.reserve(job.id, worker)
        return self.store.jobs.get(job.id)

    def running(
        self, epsilon: str = "1", worker: str = "w", *, analyst: Account | None = None
    ) -> Job:
        job = self.reserved(epsilon, worker, analyst=analyst)
        self.store.work.touching(job.id, worker)
        return self.store.jobs.get(job.id)

    def done(self, epsilon: str = "1", worker: str = "w") -> Job:
        job = self.running(epsilon, worker)
        self.store.work.commit(job.id, worker, DOCUMENT)
        return self.store.jobs.get(job.id)

    def spent(self) -> float:
        """Return what was spent of the data set; small decimal numbers are exact enough."""
        return float(self.store.datasets.spent(CLINIC).of_all.epsilon)
