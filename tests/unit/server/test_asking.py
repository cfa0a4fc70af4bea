from __future__ import annotations

import json
import secrets
from collections.abc import Iterator
from pathlib import Path

import pytest

from redveil.data.synthetic import CLINIC_ID, clinic_schema
from redveil.report.document import ResultDocument
from redveil.schema import Schema
from redveil.signing.certificate import check_result
from redveil.signing.keys import PublicKey
from support.postgresql import drop_schema, new_schema
from support.served import JOBS, MINE, PLAN, Served, served

DATASET = f"/v1/datasets/{CLINIC_ID}"


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def either(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Served]:
    """A server on either database."""
    folder: Path = tmp_path_factory.mktemp("either")
    if request.param == "sqlite":
        with served(folder) as made:
            yield made
        return
    name = f"test_{secrets.token_hex(8)}"
    with served(folder, new_schema(name)) as made:
        yield made
    drop_schema(name)


def test_an_analyst_asks_and_gets_a_signed_answer(either: Served) -> None:
    with either.client() as client:
        left = client.get(DATASET).json()["left"]["epsilon"]
        job = either.submit().json()
        assert (job["state"], job["charged"]) == ("queued", False)
        assert client.get(f"/v1/jobs/{job['id']}/result").json()["code"] == "not_ready"
        either.work()
        after = client.get(f"/v1/jobs/{job['id']}").json()
        assert (after["state"], after["charged"]) == ("done", True)
        document = client.get(f"/v1/jobs/{job['id']}/result").json()
        key = PublicKey.from_pem(client.get("/v1/server").json()["public_key"].encode())
        assert check_result(document, key)["job"] == job["id"]
        assert ResultDocument.model_validate(document).certificate.epsilon == "1"
        head = client.get(f"/v1/jobs/{job['id']}/receipt").json()["head"]
        last = either.store.head()
        assert last is not None
        assert head["number"] <= last.number
        now = client.get(DATASET).json()["left"]["epsilon"]
    assert float(left) - float(now) == 1


def test_questions_follow_on_one_another(either: Served) -> None:
    first = either.done(MINE | {"epsilon": "20", "within": "[sex = female]"})
    described = {"kind": "describe", "query": "[gout]", "epsilon": "5"}
    refined = {"kind": "refine", "job": first, "of": 1, "epsilon": "5"}
    confirmed = {"kind": "confirm", "job": first, "epsilon": "5"}
    with either.client() as client:
        for question in (described, refined, confirmed):
            job = either.done(question)
            found = client.get(f"/v1/jobs/{job}").json()
            assert (found["state"], found["question"]) == ("done", question)
            document = client.get(f"/v1/jobs/{job}/result").json()
            assert document["certificate"]["epsilon"] == "5"


def test_the_same_key_is_the_same_job(either: Served) -> None:
    with either.client() as client:
        headers = {"Idempotency-Key": "again"}
        first = client.post(JOBS, json={"question": MINE}, headers=headers).json()
        either.work()
        second = client.post(JOBS, json={"question": MINE}, headers=headers).json()
        assert (second["id"], second["state"]) == (first["id"], "done")
        other = client.post(JOBS, json={"question": MINE | {"epsilon": "2"}}, headers=headers)
        assert (other.status_code, other.json()["code"]) == (409, "conflict")


def test_over_budget_says_what_is_left(either: Served) -> None:
    with either.client() as client:
        left = client.get(DATASET).json()["left"]["epsilon"]
        either.store.datasets.grant(
            CLINIC_ID,
            either.people.ids["bob"],
            either.store.datasets.left(CLINIC_ID, either.people.ids["ana"]),
            either.people.ids["olga"],
        )
    answer = either.submit({"kind": "mine", "epsilon": "100"}, "bob")
    assert answer.status_code == 202
    limit = {"epsilon": "0.5", "delta": "0"}
    with either.client("olga") as owner:
        path = f"/v1/owner/datasets/{CLINIC_ID}/grants/{either.people.ids['bob']}"
        assert owner.put(path, json=limit).status_code == 200
    refused = either.submit(MINE, "bob")
    problem = refused.json()
    assert (refused.status_code, problem["code"]) == (402, "over_budget")
    assert (problem["epsilon_asked"], problem["epsilon_left"]) == ("1", "0.5")
    # What was queued is refused when it is to be charged, and costs nothing.
    either.work()
    with either.client("bob") as client:
        found = client.get(f"/v1/jobs/{answer.json()['id']}").json()
        assert (found["state"], found["charged"]) == ("over_budget", False)
    assert float(left) > 0


@pytest.mark.parametrize("path", [JOBS, PLAN])
def test_what_costs_next_to_nothing_is_refused(place: Served, path: str) -> None:
    # A million questions at ε = 0.000001 would tell by their times what ε = 1 must not.
    question = {"kind": "mine", "epsilon": "0.000001"}
    with place.client() as client:
        answer = client.post(path, json={"question": question}, headers={"Idempotency-Key": "tiny"})
    assert (answer.status_code, answer.json()["code"]) == (422, "refused")
    assert "at least 0.01" in answer.json()["detail"]


def test_plans_cost_nothing_and_add_up(place: Served) -> None:
    with place.client() as client:
        before = client.get(DATASET).json()["left"]
        plan = client.post(PLAN, json={"question": {"kind": "mine", "epsilon": 0.1}}).json()
        assert plan["price"] == {"epsilon": "0.1", "delta": "0"}
        assert plan["is_covered"]
        with_delta = {"kind": "mine", "epsilon": "1", "delta": "0.000001"}
        assert client.post(PLAN, json={"question": with_delta}).json()["unit"] == "rho"
        assert client.get(DATASET).json()["left"] == before


def test_schema_and_dummy_data_are_public(place: Served) -> None:
    with place.client() as client:
        details = client.get(DATASET).json()
        assert Schema.from_dict(details["schema"]) == clinic_schema()
        made = client.post(f"{DATASET}/dummy-data", json={"entities": 7}).json()
        assert len(made["left"].splitlines()) == len(made["right"].splitlines()) == 8
        found = client.post(f"{DATASET}/detectable", json={"epsilon": 1, "entities": 5000})
        assert found.json()["document"]["entities"] == 5000


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ({"kind": "mine", "epsilon": "0"}, "epsilon must be a number"),
        ({"kind": "mine", "epsilon": "1/3"}, "decimal number"),
        ({"kind": "mine", "epsilon": "1", "depth": 99}, "depth"),
        ({"kind": "mine", "epsilon": "1", "trials": 101}, "at most 100"),
        ({"kind": "mine", "epsilon": "1", "algorithm": "tree-pair"}, "exact"),
        ({"kind": "mine", "epsilon": "1", "within": "[sex = unknown]"}, "within"),
        ({"kind": "mine", "epsilon": "1", "ignore": ["nothing"]}, "nothing"),
        ({"kind": "describe", "epsilon": "1", "query": "[goat]"}, "did you mean gout?"),
        ({"kind": "describe", "epsilon": "1", "query": "[gout] | ![gout]"}, "query"),
    ],
)
def test_what_no_schema_allows_is_refused_before_a_charge(
    place: Served, question: dict[str, object], said: str
) -> None:
    before = place.store.jobs.count()
    refused = place.submit(question)
    assert (refused.status_code, refused.json()["code"]) == (422, "refused")
    assert said in refused.json()["detail"]
    assert place.store.jobs.count() == before


@pytest.mark.parametrize("name", ["profile", "schema", "variance_threshold", "ledger"])
def test_profiles_and_schemas_are_not_the_analysts(place: Served, name: str) -> None:
    refused = place.submit(MINE | {name: "published"})
    assert (refused.status_code, refused.json()["code"]) == (422, "invalid")


def test_events_tell_a_job_to_its_end(place: Served) -> None:
    job = place.submit().json()["id"]
    with place.client() as client, client.stream("GET", f"/v1/jobs/{job}/events") as stream:
        assert stream.headers["content-type"].startswith("text/event-stream")
        seen = []
        for line in stream.iter_lines():
            if line.startswith("data: "):
                seen.append(json.loads(line.removeprefix("data: "))["state"])
                if len(seen) == 1:
                    place.work()
    assert (seen[0], seen[-1]) == ("queued", "done")


def test_jobs_are_listed_latest_first_in_pages(place: Served) -> None:
    made = [place.submit(name="bob").json()["id"] for _ in range(3)]
    with place.client("bob") as client:
        first = client.get("/v1/jobs", params={"most": 2}).json()
        second = client.get("/v1/jobs", params={"most": 100, "after": first["next"]}).json()
    listed = [one["id"] for one in first["jobs"] + second["jobs"]]
    assert listed[:3] == made[::-1]
    assert second["next"] is None
    place.work()


def test_a_job_that_has_not_started_is_cancelled_for_nothing(place: Served) -> None:
    job = place.submit().json()["id"]
    with place.client() as client:
        cancelled = client.post(f"/v1/jobs/{job}/cancel").json()
        assert (cancelled["state"], cancelled["charged"]) == ("cancelled", False)
        again = client.post(f"/v1/jobs/{job}/cancel")
        assert again.status_code == 202
        done = place.done()
        refused = client.post(f"/v1/jobs/{done}/cancel")
        assert (refused.status_code, refused.json()["code"]) == (409, "conflict")
