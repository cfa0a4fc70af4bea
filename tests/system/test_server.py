"""Whole servers: real processes, a real network, real databases; some of them are killed."""

from __future__ import annotations

import itertools
import json
import secrets
import ssl
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from ipaddress import ip_address
from pathlib import Path
from random import Random
from threading import Thread
from typing import Any

import httpx
import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from redveil.data.synthetic import CLINIC_ID
from redveil.losses.loss import Loss
from redveil.signing.certificate import check_result
from redveil.store.checking import check_database
from redveil.store.job import State
from support.postgresql import drop_schema, new_schema
from support.processes import Running, running
from support.served import JOBS, MINE

API, WORKER = "redveil.server.api", "redveil.workers.worker"
LONG = MINE | {"depth": 4, "trials": 100}
FINAL = {"done", "failed", "over_budget", "declined", "cancelled"}


@pytest.fixture(params=["sqlite", "postgresql"])
def address(request: pytest.FixtureRequest) -> Iterator[str | None]:
    if request.param == "sqlite":
        yield None
        return
    name = f"test_{secrets.token_hex(8)}"
    yield new_schema(name)
    drop_schema(name)


def submit(client: httpx.Client, key: str, question: dict[str, Any] = MINE) -> httpx.Response:
    return client.post(JOBS, json={"question": question}, headers={"Idempotency-Key": key})


def patiently(ask: Any, seconds: float = 300) -> httpx.Response:
    """Ask until the server answers, as a client with retries would."""
    deadline = time.monotonic() + seconds
    while True:
        try:
            answer: httpx.Response = ask()
        except httpx.TransportError:
            answer = httpx.Response(503)
        if answer.status_code not in (401, 408, 429, 503):
            return answer
        assert time.monotonic() < deadline, answer
        time.sleep(0.05)


def ended(client: httpx.Client, job: str) -> dict[str, Any]:
    """Return a job when it has ended."""
    while True:
        found: dict[str, Any] = patiently(lambda: client.get(f"/v1/jobs/{job}")).json()
        if found["state"] in FINAL:
            return found
        time.sleep(0.1)


def test_killed_processes_are_replaced_and_the_charge_stays(tmp_path: Path) -> None:
    with running(tmp_path) as server, server.client() as client:
        job = submit(client, "first", LONG).json()["id"]
        while server.store.jobs.get(job).state is not State.RUNNING:
            time.sleep(0.01)
        assert server.kill(WORKER)
        found = ended(client, job)
        assert (found["state"], found["charged"]) == ("failed", True)
        assert client.get(f"/v1/jobs/{job}/result").json()["code"] == "not_ready"
        assert server.kill(API)
        assert patiently(lambda: client.get("/v1/me"), 60).status_code == 200
    assert server.process.returncode == 0


def test_jobs_survive_a_restart(tmp_path: Path) -> None:
    with running(tmp_path, workers=0) as server:
        client = server.client()
        job = submit(client, "first").json()["id"]
        request = client.build_request("GET", f"/v1/jobs/{job}/events")
        events = client.send(request, stream=True).iter_raw()
        assert b"queued" in next(events)
    assert server.process.returncode == 0
    assert server.wait_for("stopped")
    # Who watches is told that there is no more, and the log has no traceback.
    assert list(events) == []
    assert "Traceback" not in "".join(server.others)
    client.close()
    with running(tmp_path, people=server.people) as server, server.client() as client:
        assert ended(client, job)["state"] == "done"


def test_two_servers_share_a_database(tmp_path: Path) -> None:
    # No lease runs out: what is known of the other's workers must come from their names.
    with running(tmp_path, budget="4", rows=100, lease_seconds=600) as one:
        with running(tmp_path, people=one.people, lease_seconds=600) as other:
            survives_the_worker_of_the_other(one, other)
            keys = [f"key-{number}" for number in range(10)]
            with one.client() as first, other.client() as second:
                jobs = [submit(client, key) for key in keys for client in (first, second)]
                # Whichever of them is asked, a key is one job.
                ids = {one.json()["id"] for one in jobs if one.status_code == 202}
                states = [ended(second, job)["state"] for job in sorted(ids)]
        assert states.count("done") == 3
        assert one.store.datasets.spent(CLINIC_ID).of_all.epsilon == 4


def survives_the_worker_of_the_other(one: Running, other: Running) -> None:
    """Kill the worker that does not have the job: the job must not be taken for lost."""
    with one.client() as client:
        job = submit(client, "long", MINE | {"depth": 4, "trials": 20}).json()["id"]
        while (known := one.store.jobs.get(job)).state is not State.RUNNING:
            time.sleep(0.01)
        ready = {line["process"] for line in one.lines if line["event"] == "ready"}
        idle = other if known.worker in ready else one
        assert idle.kill(WORKER)
        idle.wait_for("process ended")
        assert ended(client, job)["state"] == "done"


def certificate(folder: Path) -> dict[str, Any]:
    """Write a certificate for this machine, signed by itself, and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    now = datetime.now(UTC)
    addresses = x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))])
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(addresses, critical=False)
        .sign(key, SHA256())
    )
    paths = folder / "certificate.pem", folder / "key.pem"
    paths[0].write_bytes(made.public_bytes(Encoding.PEM))
    paths[1].write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    return {"tls_certificate": str(paths[0]), "tls_key": str(paths[1])}


def test_tls_is_spoken_beyond_this_machine(tmp_path: Path) -> None:
    files = certificate(tmp_path)
    kept = str(tmp_path / "witness.jsonl")
    with running(tmp_path, workers=0, host="0.0.0.0", witness=kept, **files) as server:
        assert server.url.startswith("https://")
        url = server.url.replace("0.0.0.0", "127.0.0.1")
        trusted = ssl.create_default_context(cafile=files["tls_certificate"])
        with httpx.Client(base_url=url, verify=trusted) as client:
            assert patiently(lambda: client.get("/healthz")).json() == {"status": "alive"}
        with pytest.raises(httpx.TransportError):
            httpx.get(url.replace("https", "http") + "/healthz")


class Attempts:
    """Clients that ask at the same time, each with a key of its own."""

    def __init__(self, server: Running, count: int, name: str = "key") -> None:
        self.server = server
        self.count = count
        self.name = name

    def one(self, number: int) -> dict[str, Any] | None:
        """Submit, wait, fetch; return what the job ended as, None if it was refused at once."""
        name = "ana" if number % 2 else "bob"
        with self.server.client(name) as client:
            answer = patiently(lambda: submit(client, f"{self.name}-{number}"))
            if answer.status_code == 402:
                return None
            assert answer.status_code == 202, answer.text
            found = ended(client, answer.json()["id"])
            if found["state"] == "done":
                document = patiently(lambda: client.get(f"/v1/jobs/{found['id']}/result")).json()
                check_result(document, self.server.store.signer.public)
                # The same key returns the same job, and is charged once.
                again = patiently(lambda: submit(client, f"{self.name}-{number}")).json()
                assert again["id"] == found["id"]
            return found

    def all(self) -> list[dict[str, Any] | None]:
        with ThreadPoolExecutor(self.count) as pool:
            return list(pool.map(self.one, range(self.count)))


def test_sixty_four_clients_get_exactly_what_the_cap_allows(
    tmp_path: Path, address: str | None
) -> None:
    k = 5
    with running(tmp_path, address, budget=str(k), rows=100) as server:
        ended_as = Attempts(server, 64).all()
        states = [one["state"] for one in ended_as if one is not None]
        assert states.count("done") == k
        assert set(states) <= {"done", "over_budget"}
        assert server.store.datasets.spent(CLINIC_ID).of_all.epsilon == k
        check_database(server.store.database, server.store.signer.public)


class Killing(Thread):
    """Kills the API and workers (−9) again and again, at random moments.

    Half of the time it waits until a worker has opened the data: otherwise, on a busy machine, most
    workers would die before they have a job.
    """

    def __init__(self, server: Running, kills: int) -> None:
        super().__init__(daemon=True)
        self.server, self.kills, self.done = server, kills, 0
        self.random = Random(7)

    def run(self) -> None:
        while self.done < self.kills:
            if self.random.random() < 0.5:
                self.wait_for_a_run()
            time.sleep(self.random.uniform(0, 0.5))
            # Questions can be asked only while an API process lives; most kills hit jobs.
            self.done += self.server.kill(API if self.random.random() < 0.1 else WORKER)

    def wait_for_a_run(self) -> None:
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline:
            if self.server.store.jobs.count().get(State.RUNNING):
                return
            time.sleep(0.01)


@pytest.mark.slow
def test_killed_processes_never_spend_twice_or_lose_an_answer(
    tmp_path: Path, address: str | None
) -> None:
    kills, rest = 200, 5
    with running(tmp_path, address, rows=100, workers=2) as server:
        killing = Killing(server, kills)
        killing.start()
        rounds = itertools.count()
        answered = []
        while killing.is_alive():
            answered += Attempts(server, 8, f"{next(rounds)}").all()
        # In peace again, 64 clients get exactly what is left.
        spent = server.store.datasets.spent(CLINIC_ID).of_all.epsilon
        olga = server.people.ids["olga"]
        server.store.datasets.set_budget(CLINIC_ID, Loss(spent + rest), olga)
        last = Attempts(server, 64, "last").all()
        assert sum(one is not None and one["state"] == "done" for one in last) == rest
        jobs = server.store.jobs.of_dataset(CLINIC_ID, most=1000)
        states = Counter(one.state for one in jobs)
        charged = sum((one.price.epsilon for one in jobs if one.charge is not None), Fraction(0))
        print(json.dumps({"kills": killing.done, "charged": str(charged), **states}))
        assert killing.done == kills
        assert server.store.datasets.spent(CLINIC_ID).of_all.epsilon == charged == spent + rest
        assert all(one.state.is_final for one in jobs)
        done = [one for one in (*answered, *last) if one and one["state"] == "done"]
        assert len(done) == states[State.DONE] > rest
        # Otherwise no kill came at an interesting moment.
        assert states[State.FAILED] > 0
        check_database(server.store.database, server.store.signer.public)
