"""A server in this process: its application on a real socket, its workers called by hand."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path
from typing import Any

import httpx
import uvicorn

from redveil.data.synthetic import CLINIC_ID, clinic_frames, clinic_schema
from redveil.losses.loss import parse_loss
from redveil.server.app import make_app
from redveil.server.context import Context
from redveil.server.logs import Log
from redveil.server.opening import new_account, set_up
from redveil.server.settings import Settings
from redveil.store.accounts import Role
from redveil.store.store import Store
from redveil.workers.registration import Registration
from redveil.workers.worker import Worker

JOBS = f"/v1/datasets/{CLINIC_ID}/jobs"
PLAN = f"/v1/datasets/{CLINIC_ID}/plan"
MINE = {"kind": "mine", "epsilon": "1", "depth": 1, "trials": 1}
# What a server is told to do at once, or often, so that tests need not wait.
AT_ONCE = {
    "release_every": 0,
    "requests_per_minute": 100_000,
    "wrong_tokens_per_minute": 100_000,
    "jobs_each": 1000,
    "jobs_a_day": 100_000,
    "worker_seconds": 3600,
}


@dataclass
class People:
    """Accounts by name, each with the secret of its token."""

    secrets: dict[str, str]
    ids: dict[str, str]


def populate(store: Store, settings: Settings, *, budget: str = "1000", rows: int = 300) -> People:
    """Register a clinic of an owner, granted to two analysts of three."""
    roles = {
        "olga": Role.OWNER,
        "oscar": Role.OWNER,
        "ana": Role.ANALYST,
        "bob": Role.ANALYST,
        "eve": Role.ANALYST,
        "aud": Role.AUDITOR,
        "opa": Role.OPERATOR,
    }
    secrets = {name: new_account(store, name, role) for name, role in roles.items()}
    ids = {one.name: one.id for one in store.accounts.all()}
    loss = parse_loss("100", "0.0001")
    whole = type(loss)(loss.epsilon * int(budget) / 100, loss.delta)
    Registration(store, settings).add(clinic_frames(rows), clinic_schema(), ids["olga"], whole)
    for name in ("ana", "bob"):
        store.datasets.grant(CLINIC_ID, ids[name], whole, ids["olga"])
    return People(secrets, ids)


@dataclass
class Served:
    """A server that tests talk to over HTTP."""

    url: str
    store: Store
    settings: Settings
    people: People
    lines: StringIO
    worker: Worker
    counter: Any = field(default_factory=itertools.count)

    def client(self, name: str | None = "ana") -> httpx.Client:
        headers = {} if name is None else {"Authorization": f"Bearer {self.people.secrets[name]}"}
        return httpx.Client(base_url=self.url, headers=headers, timeout=60)

    def submit(self, question: dict[str, Any] = MINE, name: str = "ana") -> httpx.Response:
        key = f"key-{next(self.counter)}"
        with self.client(name) as client:
            return client.post(JOBS, json={"question": question}, headers={"Idempotency-Key": key})

    def work(self) -> None:
        """Do what a worker does, until nothing is queued."""
        while (job := self.store.work.claim("worker")) is not None:
            self.worker.do(job)

    def done(self, question: dict[str, Any] = MINE, name: str = "ana") -> str:
        """Return the id of a job that is done."""
        answer = self.submit(question, name)
        assert answer.status_code == 202, answer.text
        self.work()
        return str(answer.json()["id"])


@contextmanager
def served(folder: Path, address: str | None = None, **options: Any) -> Iterator[Served]:
    """Run a server in this process."""
    settings = Settings(folder=folder / "server", database=address, **(AT_ONCE | options))
    store, _ = set_up(settings)
    people = populate(store, settings)
    lines = StringIO()
    log = Log("api", lines)
    context = Context.make(settings, store, log)
    config = uvicorn.Config(
        make_app(context),
        port=0,
        log_config=None,
        timeout_keep_alive=600,
        lifespan="on",
        http="h11",
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    worker = Worker("worker", settings, store, settings.read_data_key(), log)
    try:
        yield Served(f"http://127.0.0.1:{port}", store, settings, people, lines, worker)
    finally:
        server.should_exit = True
        thread.join()
        store.close()
