from __future__ import annotations

import pytest

from redveil.data.synthetic import CLINIC_ID
from redveil.wire import paths
from support.served import MINE, Served

OWNED = f"/v1/owner/datasets/{CLINIC_ID}"


def test_owners_set_limits_and_see_who_spent(place: Served) -> None:
    bob = place.people.ids["bob"]
    place.done(name="bob")
    with place.client("olga") as owner:
        (found,) = owner.get(paths.OWNED).json()["datasets"]
        (grant,) = [one for one in found["grants"] if one["account"] == bob]
        assert grant["name"] == "bob"
        assert float(grant["spent"]["epsilon"]) >= 1
        assert found["version"] == 1
        capped = owner.put(f"{OWNED}/cap", json={"cap": {"epsilon": "900"}}).json()
        assert capped["cap"] == {"epsilon": "900", "delta": "0"}
        assert owner.put(f"{OWNED}/cap", json={"cap": None}).json()["cap"] is None
        budget = owner.put(f"{OWNED}/budget", json={"epsilon": 1000.0, "delta": "1e-4"}).json()
        assert budget["budget"] == {"epsilon": "1000", "delta": "0.0001"}
        for amount in ("many", "-1", "1/3"):
            refused = owner.put(f"{OWNED}/budget", json={"epsilon": amount})
            assert (refused.status_code, refused.json()["code"]) == (422, "refused")


def test_grants_are_given_to_analysts_and_taken_back(place: Served) -> None:
    eve, opa = place.people.ids["eve"], place.people.ids["opa"]
    with place.client("olga") as owner, place.client("eve") as analyst:
        assert owner.put(f"{OWNED}/grants/{opa}", json={"epsilon": "1"}).status_code == 404
        assert owner.put(f"{OWNED}/grants/nobody", json={"epsilon": "1"}).status_code == 404
        assert owner.put(f"{OWNED}/grants/{eve}", json={"epsilon": "1"}).status_code == 200
        assert analyst.get(f"/v1/datasets/{CLINIC_ID}").json()["cap"]["epsilon"] == "1"
        assert owner.delete(f"{OWNED}/grants/{eve}").status_code == 204
        assert owner.delete(f"{OWNED}/grants/{eve}").status_code == 404
        assert analyst.get(f"/v1/datasets/{CLINIC_ID}").status_code == 404


@pytest.mark.parametrize(("decision", "state"), [("approve", "done"), ("decline", "declined")])
def test_owners_look_at_jobs_first(place: Served, decision: str, state: str) -> None:
    eve = place.people.ids["eve"]
    with place.client("olga") as owner, place.client("eve") as analyst:
        grant = {"epsilon": "5", "needs_approval": True}
        owner.put(f"{OWNED}/grants/{eve}", json=grant)
        job = place.submit(MINE, "eve").json()
        assert job["state"] == "waiting"
        place.work()
        assert analyst.get(f"/v1/jobs/{job['id']}").json()["state"] == "waiting"
        listed = owner.get(f"{OWNED}/jobs", params={"most": 1}).json()
        assert [one["id"] for one in listed["jobs"]] == [job["id"]]
        assert listed["jobs"][0]["analyst"] == eve
        with place.client("oscar") as other:
            assert other.post(f"/v1/owner/jobs/{job['id']}/{decision}").status_code == 404
        assert owner.post(f"/v1/owner/jobs/{job['id']}/{decision}").status_code == 200
        assert owner.post(f"/v1/owner/jobs/{job['id']}/{decision}").status_code == 409
        place.work()
        assert analyst.get(f"/v1/jobs/{job['id']}").json()["state"] == state
        owner.delete(f"{OWNED}/grants/{eve}")


def test_pages_of_an_owners_jobs_are_her_own(place: Served) -> None:
    place.done()
    place.done()
    with place.client("olga") as owner:
        first = owner.get(f"{OWNED}/jobs", params={"most": 1}).json()
        second = owner.get(f"{OWNED}/jobs", params={"most": 1, "after": first["next"]}).json()
        assert first["jobs"][0]["id"] != second["jobs"][0]["id"]
        assert owner.get(f"{OWNED}/jobs", params={"after": "none"}).status_code == 404


def test_the_audit_log_is_for_owners_and_auditors(place: Served) -> None:
    job = place.done()
    with place.client("olga") as owner, place.client("aud") as auditor:
        events = owner.get(paths.EVENTS, params={"dataset": CLINIC_ID, "most": 1000}).json()
        done = [one["action"] for one in events["events"] if one["job"] == job]
        assert done == ["job submitted", "job charged", "job done"]
        assert owner.get(paths.EVENTS).json()["code"] == "refused"
        first = auditor.get(paths.EVENTS, params={"most": 1}).json()["events"]
        second = auditor.get(paths.EVENTS, params={"later_than": first[0]["number"]}).json()
        assert second["events"][0]["number"] > first[0]["number"]


def test_operators_manage_accounts_and_tokens(place: Served) -> None:
    with place.client("opa") as operator:
        made = operator.post(paths.ACCOUNTS, json={"name": "new", "role": "analyst"})
        assert made.status_code == 201
        account = made.json()["id"]
        again = operator.post(paths.ACCOUNTS, json={"name": "new", "role": "analyst"})
        assert (again.status_code, again.json()["code"]) == (409, "conflict")
        assert account in [one["id"] for one in operator.get(paths.ACCOUNTS).json()["accounts"]]
        token = operator.post(f"/v1/accounts/{account}/tokens", json={}).json()
        listed = operator.get(f"/v1/accounts/{account}/tokens").json()["tokens"]
        assert [one["id"] for one in listed] == [token["id"]]
        assert "secret" not in listed[0]
        assert operator.delete(f"/v1/accounts/{account}").status_code == 204
        assert operator.post(f"/v1/accounts/{account}/tokens", json={}).status_code == 404
        assert operator.delete("/v1/tokens/nothing").status_code == 404
        own = operator.delete(f"/v1/accounts/{place.people.ids['opa']}")
        assert (own.status_code, own.json()["code"]) == (409, "conflict")
