"""What the documentation of the interface promises, tried with generated requests."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from pydantic import BaseModel
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
    unsupported_method,
)

from redveil.data.synthetic import CLINIC_ID
from redveil.wire import answers, paths, questions
from support.served import Served, served


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server of its own: generated requests take budgets and grants away."""
    with served(tmp_path_factory.mktemp("served")) as made:
        yield made


CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    unsupported_method,
]
# Who tries what; nobody closes the accounts that other tests need.
WHO = {"owner": "olga", "audit": "aud", "accounts": "opa", "tokens": "opa", "metrics": "opa"}


def attempt(place: Served, examples: int) -> int:
    """Try every operation with generated requests; return how many were tried."""
    schema = schemathesis.openapi.from_url(f"{place.url}/openapi.json")
    # Half of the requests are about what there is.
    known = {"dataset": CLINIC_ID, "job": place.done()}
    tried = 0
    for result in schema.get_all_operations():
        operation: Any = result.ok()  # type: ignore[union-attr] # an error fails the test
        # A stream that is watched to its end takes as long as a job.
        if operation.path != paths.JOB_EVENTS:
            place_of = operation.path.strip("/").removeprefix("v1/").split("/")[0]
            try_out(operation, place.people.secrets[WHO.get(place_of, "ana")], known, examples)
            tried += 1
    return tried


def try_out(operation: Any, secret: str, known: dict[str, str], examples: int) -> None:
    """Try one operation."""

    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        derandomize=True,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy(), ids=st.sampled_from([{}, known]))
    def one(case: Any, ids: dict[str, str]) -> None:
        named = {name: value for name, value in ids.items() if name in case.path_parameters}
        case.path_parameters |= named
        case.call_and_validate(checks=CHECKS, headers={"Authorization": f"Bearer {secret}"})

    one()


def test_no_answer_is_undocumented(place: Served) -> None:
    assert attempt(place, 2) > 25


@pytest.mark.slow
def test_no_answer_is_undocumented_with_many_requests(place: Served) -> None:
    attempt(place, 200)


def test_every_operation_is_documented_with_its_problems(place: Served) -> None:
    with place.client(None) as client:
        found = client.get("/openapi.json").json()
    for path, operations in found["paths"].items():
        for operation in operations.values():
            assert {"401", "403", "429", "503"} <= set(operation["responses"]), path
            assert operation["description"]
            assert operation["security"]


def test_nothing_that_can_be_sent_names_a_source(place: Served) -> None:
    # The process that answers opens no file and no address for anybody.
    with place.client(None) as client:
        found = client.get("/openapi.json").json()["components"]["schemas"]
    names = {
        name
        for kind, schema in found.items()
        if kind.removesuffix("-Input").endswith(
            ("Request", "Mine", "Describe", "Refine", "Confirm")
        )
        for name in schema.get("properties", {})
    }
    assert {"question", "epsilon", "within"} <= names
    forbidden = ("path", "file", "url", "uri", "address", "source", "database", "host", "callback")
    assert [one for one in names if any(word in one for word in forbidden)] == []


def test_every_body_that_can_be_sent_has_an_example_that_fits() -> None:
    bodies: list[type[BaseModel]] = [
        *(questions.Mine, questions.Describe, questions.Refine, questions.Confirm),
        *(questions.JobRequest, questions.PlanRequest, questions.DetectableRequest),
        *(questions.DummyDataRequest, answers.LossRequest, answers.CapRequest),
        *(answers.GrantRequest, answers.AccountRequest, answers.TokenRequest),
    ]
    for body in bodies:
        examples = body.model_json_schema()["examples"]
        assert examples, body
        for example in examples:
            body.model_validate(example)
