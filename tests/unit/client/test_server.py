from __future__ import annotations

import asyncio
import inspect
from fractions import Fraction
from typing import Any

import pytest

import redveil
from redveil.client import questions
from redveil.client.server import RemoteDataset
from redveil.data.synthetic import CLINIC_ID, clinic_schema
from redveil.errors import (
    InputError,
    NotFoundError,
    OverBudgetError,
    RemoteError,
    ResultError,
)
from redveil.losses.loss import parse_loss
from redveil.signing.keys import Signer
from support.connecting import Connect
from support.served import Served

SMALL: dict[str, Any] = {"depth": 1, "trials": 1}
# What a server does not take: the ledger is its own, it keeps results, it has one profile, and only
# owners know whether entities are others.
LOCAL_ONLY = {"profile", "variance_threshold", "ledger", "keep", "result_name", "schema", "others"}
REMOTE_ONLY = {"key"}


def test_a_data_set_is_mined_as_if_it_were_here(connect: Connect) -> None:
    shares: list[float] = []
    server = connect()
    dataset = server.dataset("clinic")
    assert dataset.id == CLINIC_ID
    assert dataset.schema() == clinic_schema()
    result = dataset.mine(Fraction(5), progress=shares.append, **SMALL)
    assert result.certificate.epsilon == "5"
    assert (shares[0], shares[-1]) == (0.0, 1.0)
    ends = result.document.tree_pairs[0]
    left, right = ends.left.ends[0], ends.right.ends[0]
    assert left is not None
    assert right is not None
    assert result.ask(left.text, right.text).cost == 0
    refined = dataset.refine(result, 2, of=1)
    assert refined.certificate.algorithm == "refine"
    again = dataset.confirm(result, "1").certificate
    # Analysts cannot vouch for what only the owner knows.
    assert (again.algorithm, again.others) == ("confirm", False)
    assert "the same data set, by its id; possibly the same" in str(again)
    jobs = server.jobs(3)
    assert [one.question.kind for one in jobs] == ["confirm", "refine", "mine"]
    assert server.result(jobs[2].id) == result
    head = server.receipt(jobs[2].id).head
    assert head is not None
    assert "Server" in repr(server)


def test_plans_prices_and_dummy_data_are_free(connect: Connect) -> None:
    dataset = connect.clinic()
    before = dataset.left()
    plan = dataset.plan(1, 5000, **SMALL)
    assert (plan.price.epsilon, plan.is_covered, len(plan.steps)) == ("1", True, 2)
    assert "would be charged" in str(plan)
    assert repr(plan) == "<RemotePlan: ε = 1, 2 steps, covered>"
    assert dataset.plan(1, query="[gout]").steps != plan.steps
    assert dataset.plan("0.5", delta="1e-6", **SMALL).unit == "ρ"
    assert len(dataset.dummy(7).left.splitlines()) == 8
    assert dataset.detectable(1, 5000, delta="1e-6")["entities"] == 5000
    assert dataset.left() == before
    assert "rows stay" in str(dataset)
    assert "left>" in repr(dataset)


def test_over_budget_says_what_is_left_and_what_it_would_take(
    connect: Connect, place: Served
) -> None:
    people = place.people.ids
    place.store.datasets.grant(CLINIC_ID, people["bob"], parse_loss("1", "0"), people["olga"])
    wanted = (
        "over budget: ε = 1.25 asked, 1 left; ask with ε = 1 or less, or ask the owner for 0.25"
    )
    with pytest.raises(OverBudgetError, match=f"^{wanted} more$"):
        connect.clinic("bob").mine(1.25)
    with pytest.raises(OverBudgetError, match=r"δ = 0.000001 asked, 0 left; ask the owner"):
        connect.clinic("bob").mine(1, delta="1e-6")


def test_the_same_key_is_the_same_job_and_is_charged_once(connect: Connect) -> None:
    dataset = connect.clinic()
    first = dataset.mine(1, key="once", **SMALL)
    left = dataset.left()
    assert dataset.mine(1, key="once", **SMALL) == first
    assert dataset.left() == left


def test_a_job_is_submitted_cancelled_and_not_found(connect: Connect) -> None:
    server = connect()
    job = server.submit(CLINIC_ID, questions.question("mine", {"epsilon": 1, **SMALL}))
    assert server.wait(job).state.is_final
    with pytest.raises(NotFoundError):
        server.job("0" * 32)
    with pytest.raises(NotFoundError):
        connect("eve").job(job.id)
    with pytest.raises(redveil.RedveilError):
        server.cancel(job.id)


def test_what_cannot_be_asked_is_refused(connect: Connect) -> None:
    dataset = connect.clinic()
    with pytest.raises(InputError, match="depth"):
        dataset.mine(1, depth=9)
    with pytest.raises(InputError, match="no attribute goat"):
        dataset.describe("[goat]", 1)
    with pytest.raises(InputError, match="there are: clinic"):
        connect().dataset("nothing")
    with pytest.raises(InputError, match="there are: none"):
        connect("eve").dataset("clinic")
    with pytest.raises(RemoteError, match="scope"):
        connect("aud").submit(CLINIC_ID, questions.question("mine", {"epsilon": 1}))
    with pytest.raises(RemoteError, match="token is not valid"):
        connect(token="redveil_wrong_token").me()
    local = redveil.mine(_local(), epsilon=1, **SMALL)
    with pytest.raises(InputError, match="result of this server"):
        dataset.refine(local, 1)
    mined = dataset.mine(5, **SMALL)
    with pytest.raises(InputError, match="not listed differently"):
        dataset.refine(mined.sort("corrected"), 1)


def _local() -> redveil.Dataset:
    from redveil.data.synthetic import clinic_frames

    return redveil.load(*clinic_frames(200), clinic_schema())


def test_a_result_must_be_signed_with_the_key_that_was_given(connect: Connect) -> None:
    server = connect(key=Signer.generate().public)
    with pytest.raises(ResultError, match="signed with another key"):
        server.dataset("clinic").mine(1, **SMALL)


def test_an_owner_approves_and_reads_the_log(connect: Connect, place: Served) -> None:
    people = place.people.ids
    place.store.datasets.grant(
        CLINIC_ID,
        people["eve"],
        place.store.datasets.limits(CLINIC_ID).budget,
        people["olga"],
        needs_approval=True,
    )
    analyst, owner = connect("eve"), connect("olga")
    asked = questions.question("mine", {"epsilon": 1, **SMALL})
    jobs = [analyst.submit(CLINIC_ID, asked) for _ in range(2)]
    assert {one.state.value for one in jobs} == {"waiting"}
    assert {one.id for one in owner.requests(CLINIC_ID)} == {one.id for one in jobs}
    owner.decide(jobs[0].id, approve=True)
    owner.decide(jobs[1].id, approve=False)
    assert analyst.result(analyst.wait(jobs[0]))
    with pytest.raises(RemoteError, match="declined"):
        analyst.result(jobs[1].id)
    assert owner.owned()[0].name == "clinic"
    events = owner.events(CLINIC_ID)
    assert [one.number for one in events] == sorted({one.number for one in events})
    assert owner.events(CLINIC_ID, events[-1].number) == []
    assert {jobs[0].id, jobs[1].id} <= {one.job for one in events}
    assert connect("aud").events()
    place.store.datasets.revoke_grant(CLINIC_ID, people["eve"], people["olga"])


def test_many_questions_are_asked_at_once(place: Served) -> None:
    """By an asynchronous program, through one connection: each thread has a stream of its own."""

    async def ask() -> list[redveil.Result]:
        secret, key = place.people.secrets["ana"], place.store.signer.public
        with redveil.connect(place.url, secret, key=key) as server:
            dataset = server.dataset("clinic")
            return await asyncio.gather(
                *(asyncio.to_thread(dataset.mine, epsilon, **SMALL) for epsilon in (3, 2, 1)),
                asyncio.to_thread(dataset.describe, "[gout]", 4),
            )

    results = asyncio.run(ask())
    assert [one.certificate.epsilon for one in results] == ["3", "2", "1", "4"]


def keywords(function: Any) -> dict[str, Any]:
    return {
        name: one.default
        for name, one in inspect.signature(function).parameters.items()
        if name not in ("self", "dataset", "result")
    }


@pytest.mark.parametrize("name", ["mine", "describe", "refine", "confirm"])
def test_methods_have_the_keywords_and_defaults_of_local_ones(name: str) -> None:
    local, there = keywords(getattr(redveil, name)), keywords(getattr(RemoteDataset, name))
    assert {one: local[one] for one in local if one not in LOCAL_ONLY} == {
        one: there[one] for one in there if one not in REMOTE_ONLY
    }


def test_a_plan_has_them_too() -> None:
    local, there = keywords(redveil.plan), keywords(RemoteDataset.plan)
    del there["query"]
    assert {one: local[one] for one in local if one not in LOCAL_ONLY} == there


@pytest.mark.parametrize("name", sorted(questions.DEFAULTS))
def test_what_is_not_sent_has_the_servers_default(name: str) -> None:
    found = {
        keywords(one)[name]
        for one in (redveil.mine, redveil.describe, redveil.refine)
        if name in keywords(one)
    }
    assert found == {questions.DEFAULTS[name]}
