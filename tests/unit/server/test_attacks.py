"""What attackers try: each of these has a defence, and gets a problem and nothing else."""

from __future__ import annotations

import copy
import json
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from redveil.data.synthetic import CLINIC_ID, clinic_schema
from redveil.schema import Schema
from redveil.store.store import utc_now
from redveil.wire import paths
from redveil.wire.problems import MEDIA_TYPE
from support.served import JOBS, MINE, Served, served
from support.stores import loss

NEVER = "0" * 32


def same(left: httpx.Response, right: httpx.Response) -> bool:
    return (left.status_code, left.content) == (right.status_code, right.content)


@pytest.mark.parametrize("path", ["", "/result", "/receipt", "/events"])
def test_anothers_job_looks_as_if_there_were_none(place: Served, path: str) -> None:
    job = place.done()
    with place.client("bob") as bob:
        theirs, none = (bob.get(f"/v1/jobs/{one}{path}") for one in (job, NEVER))
        assert theirs.status_code == 404
        assert same(theirs, none)
        assert same(*(bob.post(f"/v1/jobs/{one}/cancel") for one in (job, NEVER)))
        assert same(*(bob.get("/v1/jobs", params={"after": one}) for one in (job, NEVER)))


def test_anothers_result_starts_no_question(place: Served) -> None:
    job = place.done()
    refused = [
        place.submit({"kind": "confirm", "job": one, "epsilon": "1"}, "bob") for one in (job, NEVER)
    ]
    assert refused[0].status_code == 404
    assert same(*refused)


def test_what_an_owner_or_operator_revokes_stops_jobs_that_are_queued_already(
    tmp_path: Path,
) -> None:
    with served(tmp_path) as place:
        of_ana = [place.submit().json()["id"] for _ in range(4)]
        of_bob = [place.submit(MINE, "bob").json()["id"] for _ in range(5)]
        grant = f"/v1/owner/datasets/{CLINIC_ID}/grants/{place.people.ids['ana']}"
        with place.client("olga") as olga:
            wanted = {"epsilon": "10", "needs_approval": True}
            assert olga.put(grant, json=wanted).status_code == 200
        with place.client("opa") as opa:
            closed = opa.delete(f"/v1/accounts/{place.people.ids['bob']}")
            assert closed.status_code == 204
        place.work()
        states = [place.store.jobs.get(one).state for one in (*of_ana, *of_bob)]
        assert states == ["waiting"] * 4 + ["declined"] * 5
        assert place.store.datasets.spent(CLINIC_ID).of_all.epsilon == 0
        with place.client("olga") as olga:
            assert olga.post(f"/v1/owner/jobs/{of_ana[0]}/approve").status_code == 200
        place.work()
        with place.client() as ana:
            assert ana.get(f"/v1/jobs/{of_ana[0]}").json()["state"] == "done"
        assert place.store.datasets.spent(CLINIC_ID).of_all.epsilon == 1


@pytest.mark.parametrize("path", ["", "/plan", "/detectable", "/dummy-data", "/jobs"])
def test_without_a_grant_there_is_no_data_set(place: Served, path: str) -> None:
    bodies = {
        "/plan": {"question": MINE},
        "/jobs": {"question": MINE},
        "/detectable": {"epsilon": "1", "entities": 100},
        "/dummy-data": {},
    }
    with place.client("eve") as eve:
        answers = [
            eve.request(
                "POST" if path else "GET",
                f"/v1/datasets/{one}{path}",
                json=bodies.get(path),
                headers={"Idempotency-Key": "eve"},
            )
            for one in (CLINIC_ID, "nothing")
        ]
    assert answers[0].status_code == 404
    assert same(*answers)


def test_anothers_data_set_is_not_an_owners(place: Served) -> None:
    with place.client("oscar") as oscar:
        for one in (CLINIC_ID, "nothing"):
            path = f"/v1/owner/datasets/{one}"
            assert oscar.get(path).status_code == 404
            assert oscar.put(f"{path}/budget", json={"epsilon": "1000"}).status_code == 404
            assert oscar.get("/v1/audit/events", params={"dataset": one}).status_code == 404
        assert oscar.get("/v1/owner/datasets").json() == {"datasets": []}


@pytest.mark.parametrize(
    "name", ["..%2f..%2fserver.key", "%2e%2e/%2e%2e/etc/passwd", "a%00b", "%ff", "x" * 300, "'--"]
)
def test_names_are_not_paths(place: Served, name: str) -> None:
    with place.client() as client:
        for path in (f"/v1/datasets/{name}", f"/v1/jobs/{name}", f"/v1/jobs/{name}/result"):
            answer = client.get(path)
            assert answer.status_code in (404, 422)
            assert answer.headers["content-type"] == MEDIA_TYPE


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Authorization": ""},
        {"Authorization": "Bearer"},
        {"Authorization": "Bearer redveil_" + "A" * 43},
        {"Authorization": "Bearer " + "A" * 10_000},
        {"Authorization": "Basic cmVkdmVpbDpyZWR2ZWls"},
        {"Authorization": b"Bearer \xff\xfe"},
    ],
)
def test_nothing_is_answered_without_a_token(
    place: Served, headers: dict[str, str | bytes]
) -> None:
    with place.client(None) as client:
        for path in (paths.ME, paths.DATASETS, "/v1/nothing", paths.METRICS):
            answer = client.get(path, headers=headers)  # type: ignore[arg-type]
            assert (answer.status_code, answer.json()["code"]) == (401, "unauthenticated")
            assert answer.headers["www-authenticate"] == "Bearer"


def test_a_token_in_an_address_is_refused_and_never_logged(place: Served) -> None:
    secret = place.people.secrets["ana"]
    with place.client() as client:
        for path in (f"/v1/me?token={secret}", f"/v1/jobs/{secret}", f"/v1/me?x={secret}"):
            answer = client.get(path)
            assert (answer.status_code, answer.json()["code"]) == (400, "bad_request")
            assert "revoke" in answer.json()["detail"]
        client.get("/v1/jobs/" + "q" * 40)
        client.post(JOBS, json={"question": MINE | {"within": "[secret-value]"}})
    logged = place.lines.getvalue()
    assert logged
    for text in (secret, "q" * 40, "secret-value", "Bearer"):
        assert text not in logged


def test_log_lines_hold_ids_and_prices(place: Served) -> None:
    job = place.submit().json()["id"]
    lines = [json.loads(line) for line in place.lines.getvalue().splitlines()]
    (line,) = [one for one in lines if one["event"] == "submitted" and one["job"] == job]
    assert line["epsilon"] == "1"
    place.work()


def test_every_request_is_logged_with_what_it_is_about(place: Served) -> None:
    account = place.people.ids["ana"]
    with place.client("opa") as operator:
        operator.get(f"/v1/accounts/{account}/tokens")
        # Answers come before their lines.
        operator.get("/v1/me")
    lines = [json.loads(line) for line in place.lines.getvalue().splitlines()]
    found = [one for one in lines if one.get("route") == paths.TOKENS and one["method"] == "GET"]
    assert found[-1]["about"] == {"account": account}
    assert found[-1]["account"] == place.people.ids["opa"]


def test_expired_and_revoked_tokens_do_not_work(place: Served) -> None:
    with place.client("opa") as operator:
        account = place.people.ids["eve"]
        made = operator.post(f"/v1/accounts/{account}/tokens", json={"days": 1}).json()
        with place.client("eve") as eve:
            eve.headers["Authorization"] = f"Bearer {made['secret']}"
            assert eve.get("/v1/me").json()["name"] == "eve"
            assert operator.delete(f"/v1/tokens/{made['id']}").status_code == 204
            assert eve.get("/v1/me").status_code == 401


@pytest.mark.parametrize(
    ("name", "method", "path", "body"),
    [
        ("opa", "POST", "/v1/accounts/{ana}/tokens", b'{"days": 3650}'),
        ("olga", "PUT", f"/v1/owner/datasets/{CLINIC_ID}/budget", b'{"epsilon": "5000"}'),
        ("ana", "GET", "/v1/jobs", b"anything"),
    ],
)
def test_a_token_that_is_revoked_while_its_request_arrives_does_not_work(
    place: Served, name: str, method: str, path: str, body: bytes
) -> None:
    accounts = place.store.accounts
    account = place.people.ids[name]
    token, secret = accounts.issue_token(
        account, ["read", "own", "operate"], utc_now() + timedelta(days=1), "console"
    )
    tokens, budget = accounts.tokens(), place.store.datasets.limits(CLINIC_ID).budget
    where = urlsplit(place.url)
    with socket.create_connection((where.hostname, where.port), timeout=30) as slow:
        slow.sendall(
            f"{method} {path.format(ana=place.people.ids['ana'])} HTTP/1.1\r\nHost: x\r\n"
            f"Authorization: Bearer {secret}\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(body)}\r\nExpect: 100-continue\r\n\r\n".encode()
        )
        # The server asks for the rest when it has looked at the token.
        assert b"100 Continue" in slow.recv(4096)
        accounts.revoke_token(token.id, "console")
        slow.sendall(body)
        assert b"401 Unauthorized" in slow.recv(4096)
    assert [one.id for one in accounts.tokens()] == [one.id for one in tokens]
    assert place.store.datasets.limits(CLINIC_ID).budget == budget


def test_a_token_allows_no_more_than_its_scopes(place: Served) -> None:
    with place.client("opa") as operator:
        account = place.people.ids["ana"]
        path = f"/v1/accounts/{account}/tokens"
        made = operator.post(path, json={"scopes": ["read"]}).json()
        # No scope lifts an account above its role.
        assert operator.post(path, json={"scopes": ["operate"]}).status_code == 422
    with place.client() as client:
        client.headers["Authorization"] = f"Bearer {made['secret']}"
        assert client.get("/v1/jobs").status_code == 200
        refused = client.post(JOBS, json={"question": MINE}, headers={"Idempotency-Key": "x"})
        assert (refused.status_code, refused.json()["code"]) == (403, "forbidden")
        for path in (paths.METRICS, paths.ACCOUNTS, paths.OWNED, paths.EVENTS):
            assert client.get(path).status_code == 403


def test_an_operators_token_makes_no_owner(place: Served) -> None:
    before = place.store.accounts.tokens(place.people.ids["olga"])
    with place.client("opa") as operator:
        made = operator.post(paths.ACCOUNTS, json={"name": "olaf", "role": "owner"})
        for owner in (place.people.ids["olga"], made.json()["id"]):
            refused = operator.post(f"/v1/accounts/{owner}/tokens", json={"scopes": ["own"]})
            assert refused.status_code == 403
            assert "redveil server issue-token" in refused.json()["detail"]
            assert "secret" not in refused.json()
    assert place.store.accounts.tokens(place.people.ids["olga"]) == before
    # Nor does an owner's own token, which may be stolen.
    with place.client("olga") as olga:
        path = f"/v1/accounts/{place.people.ids['olga']}/tokens"
        assert olga.post(path, json={}).status_code == 403


@pytest.mark.parametrize("name", ["ana", "eve"])
def test_the_end_of_the_ledger_is_not_for_analysts(place: Served, name: str) -> None:
    # It moves when anybody's job starts, and at the very moment at which a job ends.
    with place.client(name) as client:
        assert client.get(paths.LEDGER_HEAD).json()["code"] == "forbidden"
    for other in ("olga", "aud", "opa"):
        with place.client(other) as client:
            assert client.get(paths.LEDGER_HEAD).status_code == 200


def test_huge_requests_are_refused_unread(place: Served) -> None:
    with place.client() as client:
        body = b"[" * (place.settings.body_kib * 1024 + 1)
        answer = client.post(JOBS, content=body)
        assert (answer.status_code, answer.json()["code"]) == (413, "too_large")
        parts = (b"x" * 65_536 for _ in range(16))
        assert client.post(JOBS, content=parts).status_code == 413
        deep = b"[" * 100_000
        assert client.post(JOBS, content=deep).status_code in (400, 422)


@pytest.fixture(scope="module")
def hasty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(tmp_path_factory.mktemp("hasty"), body_seconds=1.0) as made:
        yield made


def test_a_slow_client_keeps_nobody_waiting(hasty: Served) -> None:
    host, port = urlsplit(hasty.url).hostname, urlsplit(hasty.url).port
    secret = hasty.people.secrets["ana"]
    with ExitStack() as stack:
        slow = [stack.enter_context(socket.create_connection((host, port))) for _ in range(50)]
        for one in slow:
            one.sendall(
                f"POST {JOBS} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {secret}\r\n"
                "Content-Length: 100\r\n\r\n{".encode()
            )
        with hasty.client() as client:
            assert client.get("/v1/me").status_code == 200
        slow[0].settimeout(30)
        # They are not waited for: the server answers, and closes the connection.
        assert b"408 Request Timeout" in slow[0].recv(4096)


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"\xff", b"null", b"[]", b'{"question": 1}', b'{"question": {"kind": 1}}'],
)
def test_what_is_not_a_request_is_refused(place: Served, content: bytes) -> None:
    with place.client() as client:
        headers = {"Idempotency-Key": "x", "Content-Type": "application/json"}
        answer = client.post(JOBS, content=content, headers=headers)
        assert answer.status_code in (400, 422)
        assert answer.headers["content-type"] == MEDIA_TYPE


@pytest.mark.parametrize("key", [None, "", "x" * 201, "a b", "ä".encode()])
def test_a_job_needs_a_key(place: Served, key: str | bytes | None) -> None:
    headers = {} if key is None else {"Idempotency-Key": key}
    with place.client() as client:
        answer = client.post(JOBS, json={"question": MINE}, headers=headers)  # type: ignore[arg-type]
        assert (answer.status_code, answer.json()["code"]) == (422, "invalid")


def test_unknown_addresses_and_methods_are_problems(place: Served) -> None:
    with place.client() as client:
        assert client.get("/v1/nothing").json()["code"] == "not_found"
        answer = client.delete("/v1/me")
        assert (answer.status_code, answer.json()["code"]) == (405, "method_not_allowed")


def test_wrong_tokens_and_many_requests_have_to_wait(tmp_path: Path) -> None:
    with served(tmp_path, wrong_tokens_per_minute=3, requests_per_minute=5) as place:
        with place.client() as client:
            codes = [client.get("/v1/me").status_code for _ in range(7)]
            assert codes == [200] * 5 + [429] * 2
        with place.client("opa") as client:
            assert client.get("/v1/me").status_code == 200
        with place.client(None) as client:
            answers = [client.get("/v1/me") for _ in range(5)]
        assert [one.status_code for one in answers] == [401] * 3 + [429] * 2
        assert int(answers[-1].headers["retry-after"]) > 0
        # From there, no token is looked at any more, but those that have worked.
        with place.client("bob") as client:
            assert client.get("/v1/me").status_code == 429
        with place.client("opa") as client:
            assert client.get("/v1/me").status_code == 200
        place.store.accounts.revoke_token(
            place.store.accounts.tokens(place.people.ids["opa"])[0].id, "console"
        )
        with place.client("opa") as client:
            assert [client.get("/v1/me").status_code for _ in range(2)] == [401, 429]


def test_too_many_streams_are_refused_and_others_answered(place: Served) -> None:
    job = place.submit().json()["id"]
    most = place.settings.streams_each
    with place.client() as client:
        streams = [
            client.send(client.build_request("GET", f"/v1/jobs/{job}/events"), stream=True)
            for _ in range(most)
        ]
        assert client.get(f"/v1/jobs/{job}/events").json()["code"] == "too_many"
        assert client.get("/v1/me").status_code == 200
        for one in streams:
            one.close()
    deadline = time.monotonic() + 20
    with place.client("opa") as operator:
        while "redveil_event_streams 0" not in operator.get("/metrics").text:
            assert time.monotonic() < deadline
            time.sleep(0.05)
    place.work()


def test_the_process_that_answers_imports_nothing_that_reads_rows() -> None:
    code = (
        "import sys\n"
        "import redveil.server.api, redveil.server.app, redveil.server.supervisor\n"
        "rooms = ('redveil.data', 'redveil.kernels', 'redveil.privacy.mechanisms',"
        " 'redveil.algorithms', 'redveil.workers', 'numba', 'opendp', 'pyarrow')\n"
        "print([one for one in sys.modules if one.startswith(rooms)])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_metrics_and_probes_tell_nothing_private(place: Served) -> None:
    with place.client(None) as anybody:
        assert anybody.get("/healthz").json() == {"status": "alive"}
        assert anybody.get("/readyz").json() == {"status": "ready"}
    with place.client("opa") as operator:
        text = operator.get("/metrics").text
    assert 'redveil_jobs{state="done"}' in text
    for name in (*place.people.ids.values(), CLINIC_ID, "clinic"):
        assert name not in text


# What an owner's file may hold besides: where it is, how it is written, notes, a budget.
UNLISTED: dict[str, Any] = {
    "package": {"sources": "SECRET", "description": "SECRET", "profile": "SECRET"},
    "redveil": {"budget": "SECRET", "budget_delta": "SECRET", "note": "SECRET"},
    "resource": {
        "path": "../SECRET/visits of Dr. Meier.csv",
        "encoding": "SECRET",
        "dialect": {"delimiter": "SECRET", "sheetName": "SECRET"},
        "sources": ["SECRET"],
    },
    "schema": {"foreignKeys": ["SECRET"]},
    "field": {"description": "SECRET", "example": "SECRET"},
    "constraints": {"pattern": "SECRET"},
    "purchase": {"ledger": "SECRET"},
}


def test_of_a_schema_only_listed_fields_are_served(place: Served) -> None:
    listed: dict[str, Any] = clinic_schema().to_dict() | {"name": "unlisted", "id": "un11"}
    listed["redveil"]["bought"] = [
        {"epsilon": "1/10", "columns": {"left": ["age"], "right": []}, "software": "redveil 1"}
    ]
    given = copy.deepcopy(listed) | UNLISTED["package"]
    given["redveil"] |= UNLISTED["redveil"]
    given["redveil"]["bought"][0] |= UNLISTED["purchase"]
    for resource in given["resources"]:
        resource.update(UNLISTED["resource"])
        resource["schema"] |= UNLISTED["schema"]
        for field in resource["schema"]["fields"]:
            field.update(UNLISTED["field"])
            field["constraints"] = field.get("constraints", {}) | UNLISTED["constraints"]
            field["redveil"] = field.get("redveil", {}) | UNLISTED["redveil"]
    ids = place.people.ids
    place.store.datasets.register("un11", "unlisted", ids["olga"], given, loss("1"))
    place.store.datasets.new_version("un11", "none.packed", "ab" * 32, ids["olga"])
    place.store.datasets.grant("un11", ids["ana"], loss("1"), ids["olga"])
    with place.client("ana") as client:
        for path in ("/v1/datasets", "/v1/datasets/un11"):
            found = client.get(path)
            assert "SECRET" not in found.text
            assert "Meier" not in found.text
        assert Schema.from_dict(found.json()["schema"]) == Schema.from_dict(listed)
    place.store.datasets.close("un11", ids["olga"])
