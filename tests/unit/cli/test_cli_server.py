"""`redveil server` and `redveil serve` as an operator uses them."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path

import httpx
import pytest

from redveil.client.login import Logins
from redveil.commands.serve import _say_when, _soon
from redveil.data.synthetic import CLINIC_ID
from redveil.losses.loss import Loss
from redveil.server.opening import set_up
from redveil.server.settings import Settings
from redveil.store.jobs import Request
from redveil.store.store import Store
from support.command_line import Clinic, Command, Outcome
from support.processes import free_port
from support.stores import Place

Run = Callable[..., Outcome]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    made, _ = set_up(Settings(folder=tmp_path / "server"))
    yield made
    made.close()


@pytest.fixture
def admin(command: Command, store: Store, tmp_path: Path) -> Run:
    def run(*words: object) -> Outcome:
        return command("server", *words, "--folder", tmp_path / "server")

    return run


@pytest.fixture
def registered(admin: Run, clinic_files: Clinic) -> Run:
    assert admin("add-account", "olga", "--role", "owner").code == 0
    done = admin(
        *("add-data", clinic_files.left, clinic_files.right, "--schema", clinic_files.schema),
        *("--owner", "olga", "--budget", "5", "--budget-delta", "1e-6"),
    )
    assert done.code == 0, done.err
    assert "owner only: " in done.err
    return admin


def test_an_operator_sets_up_a_server(registered: Run, store: Store) -> None:
    secret = registered("add-account", "ana", "--role", "analyst").out.strip()
    token = store.accounts.authenticate(secret)
    assert token is not None
    assert token.account.name == "ana"
    assert registered("grant", "clinic", "ana", "--epsilon", "2", "--needs-approval").code == 0
    (grant,) = [one for _, one in store.datasets.granted(token.account.id)]
    assert grant.cap.epsilon == 2
    assert grant.needs_approval
    assert registered("limit", CLINIC_ID, "--budget", "7", "--cap", "6").code == 0
    limits = store.datasets.limits(CLINIC_ID)
    assert limits.cap is not None
    assert limits.budget.epsilon - limits.cap.epsilon == 7 - 6
    assert limits.budget.epsilon == 7
    listed = json.loads(registered("list").out)
    assert listed["datasets"][0]["grants"] == {"ana": "2"}
    other = registered("issue-token", "ana", "--days", "1").out.strip()
    number = next(
        one["id"] for one in json.loads(registered("list").out)["accounts"][1]["tokens"][1:]
    )
    assert registered("revoke-token", number).code == 0
    assert store.accounts.authenticate(other) is None
    assert registered("revoke-grant", "clinic", "ana").code == 0
    assert store.datasets.granted(token.account.id) == []
    assert registered("close-account", "ana").code == 0
    assert store.accounts.authenticate(secret) is None
    assert registered("close-data", "clinic").code == 0
    assert store.datasets.all() == []


def test_an_account_that_is_named_like_anothers_id_is_not_that_one(
    admin: Run, store: Store
) -> None:
    assert admin("add-account", "zoe", "--role", "analyst").code == 0
    (zoe,) = [one for one in store.accounts.all() if one.name == "zoe"]
    # Operators choose names over the network.
    assert admin("add-account", zoe.id, "--role", "analyst").code == 0
    token = store.accounts.authenticate(admin("issue-token", zoe.id).out.strip())
    assert token is not None
    assert token.account == zoe


@pytest.mark.parametrize("decision", ["approve", "decline"])
def test_an_owner_decides_on_the_machine(registered: Run, store: Store, decision: str) -> None:
    registered("add-account", "ana", "--role", "analyst")
    registered("grant", "clinic", "ana", "--epsilon", "2", "--needs-approval")
    ana = next(one.id for one in store.accounts.all() if one.name == "ana")
    (token,) = store.accounts.tokens(ana)
    question = {"kind": "mine"}
    request = Request(ana, CLINIC_ID, "mine", question, Loss(Fraction(1)), "key", token.id)
    job = store.jobs.submit(request)
    assert registered("decide", job.id, f"--{decision}").code == 0
    expected = {"approve": "queued", "decline": "declined"}[decision]
    assert store.jobs.get(job.id).state == expected


def test_versions_and_databases_are_sources(
    registered: Run, store: Store, clinic_files: Clinic, tmp_path: Path
) -> None:
    done = registered("renew-data", "clinic", clinic_files.left, clinic_files.right)
    assert done.code == 0
    assert store.datasets.version(CLINIC_ID).number == 2
    path = tmp_path / "tables.sqlite"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE t (patient)")
    connection.close()
    query = "SELECT * FROM t"
    no_place = registered("renew-data", "clinic", query, query)
    assert (no_place.code, "--database" in no_place.err) == (2, True)
    lacking = registered("renew-data", "clinic", query, query, "--database", path)
    assert (lacking.code, "no column" in lacking.err) == (2, True)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["grant", "clinic", "nobody", "-e", "1"], "no account nobody"),
        (["grant", "nothing", "olga", "-e", "1"], "no data set nothing"),
        (["grant", "clinic", "olga", "-e", "many"], "decimal numbers"),
        (["limit", "clinic"], "--budget"),
        (["revoke-token", "nothing"], "no such token"),
    ],
)
def test_mistakes_are_named(registered: Run, words: list[str], said: str) -> None:
    outcome = registered(*words)
    assert outcome.code != 0
    assert said in outcome.err


def test_data_needs_a_budget_and_what_was_spent_counts(
    admin: Run, command: Command, clinic_files: Clinic, store: Store
) -> None:
    admin("add-account", "olga", "--role", "owner")
    words = [
        "add-data",
        clinic_files.left,
        clinic_files.right,
        "--schema",
        clinic_files.schema,
        "--owner",
        "olga",
    ]
    assert "--budget" in admin(*words).err
    command(*clinic_files.mine)
    ledger = clinic_files.folder / "datapackage.ledger.sqlite"
    typo = admin(*words, "--budget", "5", "--ledger", clinic_files.folder / "none.sqlite")
    assert (typo.code, "no such ledger" in typo.err) == (2, True)
    # It lies beside the schema, so nobody can say that it was not known.
    refused = admin(*words, "--budget", "5")
    assert refused.code == 2
    assert f"ε = 1 was charged for clinic; take that over with --ledger {ledger}" in refused.err
    assert "--leave-out-charges" in refused.err
    done = admin(*words, "--budget", "5", "--ledger", ledger)
    assert (done.code, "ε = 1 was spent before, and counts" in done.err) == (0, True)
    assert store.datasets.spent(CLINIC_ID).of_all.epsilon == 1
    # Local runs would not be added up any more.
    again = command(*clinic_files.mine)
    assert (again.code, "has taken over" in again.err) == (2, True)
    shown = command("budget", clinic_files.schema)
    assert (shown.code, "has taken over" in shown.err) == (0, True)


def test_a_budget_that_was_spent_is_not_sold_again(
    admin: Run, command: Command, clinic_files: Clinic, store: Store
) -> None:
    clinic_files.set_budget(Fraction(1))
    assert command(*clinic_files.mine).code == 0
    admin("add-account", "olga", "--role", "owner")
    words = ["add-data", clinic_files.left, clinic_files.right, "--schema", clinic_files.schema]
    words += ["--owner", "olga", "--budget", "6"]
    ledger = clinic_files.folder / "datapackage.ledger.sqlite"
    for more, said in (
        ([], "--raise-budget"),
        (["--raise-budget"], "--leave-out-charges"),
        (["--leave-out-charges"], "--raise-budget"),
        (["--ledger", ledger], "--raise-budget"),
    ):
        refused = admin(*words, *more)
        assert (refused.code, said in refused.err) == (2, True)
        assert store.datasets.all() == []
    assert admin(*words, "--raise-budget", "--leave-out-charges").code == 0
    (event,) = [
        one for one in store.audit.events(dataset=CLINIC_ID) if one.action == "data set registered"
    ]
    assert event.details == {
        "left_out": {"epsilon": "1", "delta": "0"},
        "raised_from": {"epsilon": "1", "delta": "0"},
    }


def test_a_schema_from_a_pipe_does_not_hide_its_ledger(
    admin: Run, clinic_files: Clinic, store: Store
) -> None:
    admin("add-account", "olga", "--role", "owner")
    pipe = clinic_files.folder / "pipe"
    os.mkfifo(pipe)
    words = ["add-data", clinic_files.left, clinic_files.right, "--schema", pipe]
    words += ["--owner", "olga", "--budget", "5"]

    def with_schema(*more: str) -> Outcome:
        writer = threading.Thread(target=pipe.write_bytes, args=[clinic_files.schema.read_bytes()])
        writer.start()
        done = admin(*words, *more)
        writer.join()
        return done

    refused = with_schema()
    assert (refused.code, "no ledger is beside it" in refused.err) == (2, True)
    assert store.datasets.all() == []
    assert with_schema("--leave-out-charges").code == 0


def test_a_server_that_was_never_started_has_no_accounts(command: Command, tmp_path: Path) -> None:
    outcome = command("server", "list", "--folder", tmp_path / "none")
    assert (outcome.code, "redveil serve" in outcome.err) == (2, True)


def test_serving_refuses_what_is_not_safe(command: Command, tmp_path: Path) -> None:
    beyond = command("serve", "--folder", tmp_path / "s", "--host", "0.0.0.0")
    assert (beyond.code, "unencrypted" in beyond.err) == (2, True)
    alone = command("serve", "--folder", tmp_path / "s", "--behind-proxy")
    assert (alone.code, "setting witness" in alone.err) == (2, True)
    both = command("serve", "--api-only", "--workers-only")
    assert (both.code, "choose one" in both.err) == (2, True)
    assert not (tmp_path / "s").exists()


def test_serving_says_what_the_moments_of_results_tell(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    known = {"every": None, "five": 5, "none": 0}
    said = {}
    for name, every in known.items():
        _say_when(Settings(release_every=every))
        said[name] = " ".join(capsys.readouterr().err.split())
    assert (
        "Results show 130 s after the start of a job, so the time tells nothing." in said["every"]
    )
    assert "one of 6 moments, and tells up to 2.6 bits" in said["five"]
    assert "Results show at once" in said["none"]
    # With other data, or another choice, generated data changes nothing.
    place = Place.make(str(tmp_path / "server.sqlite"))
    assert _soon(place.store, Settings()).release_every is None
    place.close()


def test_serving_without_set_up_prints_a_token_once_and_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The demonstration logs its user in.
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    port = free_port()
    words = [sys.executable, "-m", "redveil", "serve", "--demo", "--port", str(port)]
    server = subprocess.Popen(
        words, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    url, client = f"http://127.0.0.1:{port}", httpx.Client(timeout=30)
    try:
        while True:
            try:
                assert client.get(f"{url}/healthz").json() == {"status": "alive"}
                break
            except httpx.TransportError:
                assert server.poll() is None
                time.sleep(0.1)
        # A second server cannot listen there, and says so.
        other = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert f"port {port}: address already in use" in other.stderr
        assert (other.returncode, other.stdout) == (2, "")
    finally:
        server.send_signal(signal.SIGTERM)
        out, said = server.communicate(timeout=90)
        client.close()
    assert server.returncode == 0
    # Nobody's data is served, so results need not wait for the longest of all jobs.
    assert "Results show 1 s after the start" in said
    tokens = out.split()
    assert len(tokens) == 2
    store, again = set_up(Settings(folder=tmp_path / "redveil-server"))
    assert again is None
    names = [token.account.name for one in tokens if (token := store.accounts.authenticate(one))]
    assert names == ["admin", "demo"]
    login = Logins(tmp_path / "home" / ".config" / "redveil" / "logins.json").find()
    assert (login.address.text, login.token.reveal()) == (url, tokens[1])
    store.close()
