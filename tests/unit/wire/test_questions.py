from __future__ import annotations

import inspect

import pytest
from pydantic import TypeAdapter, ValidationError

import redveil
from redveil.wire import paths
from redveil.wire.problems import STATUS, TITLES, Code
from redveil.wire.questions import Confirm, Describe, JobRequest, Mine, Question, Refine

ADAPTER: TypeAdapter[Mine | Describe | Refine | Confirm] = TypeAdapter(Question)
# What a server decides, or does not offer: the profile that is not private, and what is local.
LOCAL = {
    *("dataset", "result", "profile", "variance_threshold"),
    *("result_name", "ledger", "progress", "keep", "others"),
}


def test_amounts_stay_as_they_are_written() -> None:
    given = '{"question": {"kind": "mine", "epsilon": 0.1, "delta": "0.000001"}}'
    asked = JobRequest.model_validate_json(given).question
    assert (asked.epsilon, asked.delta) == ("0.1", "0.000001")


def test_only_what_was_given_is_a_parameter() -> None:
    asked = ADAPTER.validate_python({"kind": "describe", "query": "[gout]", "epsilon": 1})
    assert asked.parameters() == {"query": "[gout]", "epsilon": "1"}


@pytest.mark.parametrize(
    ("function", "model", "instead"),
    [
        (redveil.mine, Mine, set()),
        (redveil.describe, Describe, set()),
        (redveil.refine, Refine, {"job"}),
        (redveil.confirm, Confirm, {"job"}),
    ],
)
def test_questions_have_the_parameters_of_the_functions(
    function: object, model: type[Mine], instead: set[str]
) -> None:
    parameters = set(inspect.signature(function).parameters) - LOCAL  # type: ignore[arg-type]
    assert set(model.model_fields) - {"kind"} == parameters | instead


@pytest.mark.parametrize(
    "question",
    [
        {"kind": "mine"},
        {"kind": "mine", "epsilon": True},
        {"kind": "mine", "epsilon": "1" * 61},
        {"kind": "mine", "epsilon": "1", "profile": "published"},
        {"kind": "mine", "epsilon": "1", "schema": {}},
        {"kind": "mine", "epsilon": "1", "min_jaccard": float("nan")},
        {"kind": "mine", "epsilon": "1", "ignore": ["a"] * 1001},
        {"kind": "describe", "epsilon": "1", "query": "x" * 2001},
        {"kind": "truth", "epsilon": "1"},
    ],
)
def test_what_cannot_be_a_question_is_refused(question: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        ADAPTER.validate_python(question)


def test_every_problem_has_a_status_and_a_title() -> None:
    assert set(STATUS) == set(TITLES) == set(Code)


def test_paths_are_different() -> None:
    known = [value for name, value in vars(paths).items() if name.isupper()]
    assert len(known) == len(set(known))
