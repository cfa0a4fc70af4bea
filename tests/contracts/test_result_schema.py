"""The published JSON Schema is the one of the classes that read and write results."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import redveil
from redveil.owner import truth
from redveil.report.document import ResultDocument
from redveil.report.json_schema import result_schema_text
from redveil.report.result import Result
from support.clinic import NOTHING, clinic, mined_clinic
from support.results import TRUE, document, redescription
from support.source import PACKAGE

PUBLISHED = PACKAGE / "report" / "result.schema.json"
Json = dict[str, Any]


@pytest.fixture(scope="module")
def validator() -> Any:
    schema = json.loads(PUBLISHED.read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def test_the_published_file_is_what_the_models_give() -> None:
    text = PUBLISHED.read_text(encoding="utf-8")
    assert text == result_schema_text(), "run scripts/result-schema > result.schema.json"


def test_only_a_head_is_added_to_the_models_schema() -> None:
    published = json.loads(PUBLISHED.read_text(encoding="utf-8"))
    made = ResultDocument.model_json_schema(by_alias=True)
    assert published["$id"] == "urn:redveil:result:1"
    assert published["title"] == "redveil result"
    for key, value in made.items():
        if key != "title":
            assert published[key] == value
    assert published.keys() - made.keys() == {"$schema", "$id"}


@pytest.mark.parametrize(
    "make",
    [
        lambda: Result(document()),
        lambda: Result(document(redescription())),
        lambda: Result(document(redescription(true=TRUE), redescription("gout"), warning="!")),
        mined_clinic,
        lambda: mined_clinic(NOTHING),
        lambda: mined_clinic(draft=True),
        lambda: truth(mined_clinic(), clinic()),
        lambda: mined_clinic(prune=500),
        lambda: mined_clinic(algorithm="tree-pair", walk_steps=50),
        lambda: redveil.mine(clinic(), 1, profile="published", depth=2),
        lambda: mined_clinic().filter(max_support=0.5).complement().sort("p").top(2),
    ],
    ids=[
        "empty",
        "one",
        "partly evaluated",
        "mined",
        "nothing found",
        "draft",
        "evaluated",
        "pruned",
        "walked",
        "published",
        "listed again",
    ],
)
def test_every_result_satisfies_it(
    make: Callable[[], Result], validator: Any, tmp_path: Path
) -> None:
    path = tmp_path / "result.json"
    make().save(path)
    assert list(validator.iter_errors(json.loads(path.read_text(encoding="utf-8")))) == []


def _set(*place: str | int, value: object) -> Callable[[Json], None]:
    def tamper(plain: Json) -> None:
        inner: Any = plain
        for step in place[:-1]:
            inner = inner[step]
        inner[place[-1]] = value

    return tamper


def _remove(*place: str | int) -> Callable[[Json], None]:
    def tamper(plain: Json) -> None:
        inner: Any = plain
        for step in place[:-1]:
            inner = inner[step]
        del inner[place[-1]]

    return tamper


@pytest.mark.parametrize(
    "tamper",
    [
        _set("version", value=2),
        _set("format", value="other"),
        _set("secret", value=1),
        _set("certificate", "epsilon", value=0.5),
        _set("certificate", "epsilon", value="0"),
        _set("certificate", "epsilon", value="-1"),
        _set("certificate", "epsilon", value="1/0"),
        _set("certificate", "epsilon", value="little"),
        _set("certificate", "delta", value="0.01"),
        _set("certificate", "guarantee", value="approximate"),
        _set("certificate", "schema_status", value="reviewed"),
        _set("certificate", "steps", 0, "mechanism", value="look"),
        _set("certificate", "steps", 0, "epsilon", value="0"),
        _set("redescriptions", 0, "true", "support", "both", value=0.5),
        _set("redescriptions", 0, "rows", value=[1, 2, 3]),
        _set("redescriptions", 0, "jaccard", value=0.5),
        _set("tree_pairs", 0, "leaf_table", "cells", 0, 0, value="many"),
        _remove("certificate"),
        _remove("certificate", "conditions"),
        _remove("redescriptions", 0, "p_value"),
        _remove("entities"),
    ],
)
def test_a_result_that_was_tampered_with_does_not(
    tamper: Callable[[Json], None], validator: Any
) -> None:
    plain: Json = json.loads(truth(mined_clinic(), clinic()).to_json())
    tamper(plain)
    assert not validator.is_valid(plain)
    # The reader and the schema agree.
    with pytest.raises(ValueError, match="ResultDocument"):
        ResultDocument.model_validate_json(json.dumps(plain))
