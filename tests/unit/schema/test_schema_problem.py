"""Misspelt keys of the standard are problems; other unknown keys are not."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

from redveil.schema import Schema
from redveil.schema.reader import parse

GOOD: dict[str, Any] = {
    "name": "clinic",
    "resources": [
        {
            "name": side,
            "path": f"{side}.csv",
            "dialect": {"delimiter": ","},
            "schema": {
                "primaryKey": "id",
                "missingValues": [""],
                "fields": [
                    {"name": "id", "type": "string"},
                    {"name": "ill", "type": "boolean", "trueValues": ["yes"]},
                    {"name": "age", "type": "number", "constraints": {"minimum": 0, "maximum": 9}},
                ],
            },
        }
        for side in ("left", "right")
    ],
}


def problems(*path: str | int, key: str, value: object = None) -> list[str]:
    """Return the problems of a descriptor after adding a key."""
    made = deepcopy(GOOD)
    part: Any = made
    for step in path:
        part = part[step]
    part[key] = value
    return [str(one) for one in parse(made, "dp.json", Schema)[1]]


RESOURCE = ("resources", 0)
DIALECT = (*RESOURCE, "dialect")
SCHEMA = (*RESOURCE, "schema")
AGE = (*SCHEMA, "fields", 2)
CONSTRAINTS = (*AGE, "constraints")
THERE = ", left, attribute age: unknown key"


def test_the_descriptor_is_fine_as_it_is() -> None:
    schema, found = parse(GOOD, "dp.json", Schema)
    assert schema is not None
    assert found == []


@pytest.mark.parametrize(
    ("path", "key", "problem"),
    [
        ((), "resource", ": unknown key resource in package; did you mean resources?"),
        (RESOURCE, "encodng", ", left: unknown key encodng in resource; did you mean encoding?"),
        (DIALECT, "delimeter", ", left: unknown key delimeter in dialect; did you mean delimiter?"),
        (
            SCHEMA,
            "primarykey",
            ", left: unknown key primarykey in schema; did you mean primaryKey?",
        ),
        (AGE, "contraints", f"{THERE} contraints in field; did you mean constraints?"),
        (CONSTRAINTS, "minumum", f"{THERE} minumum in constraints; did you mean minimum?"),
        (CONSTRAINTS, "require", f"{THERE} require in constraints; did you mean required?"),
    ],
)
def test_a_misspelt_key_is_reported(path: tuple[str | int, ...], key: str, problem: str) -> None:
    assert problems(*path, key=key) == [f"dp.json{problem}"]


@pytest.mark.parametrize(
    ("path", "key"),
    [
        ((), "$schema"),
        ((), "sources"),
        ((), "licenses"),
        (RESOURCE, "$schema"),
        (RESOURCE, "scheme"),
        (RESOURCE, "mediatype"),
        (DIALECT, "lineTerminator"),
        (SCHEMA, "foreignKeys"),
        (AGE, "description"),
        (AGE, "bareNumber"),
        (CONSTRAINTS, "exclusiveMinimum"),
        (CONSTRAINTS, "source of the bounds"),
    ],
)
def test_other_keys_are_allowed(path: tuple[str | int, ...], key: str) -> None:
    assert problems(*path, key=key) == []


def test_a_misspelt_key_is_reported_in_addition_to_the_missing_one() -> None:
    package = deepcopy(GOOD)
    package["resource"] = package.pop("resources")
    assert [str(one) for one in parse(package, "dp.json", Schema)[1]] == [
        "dp.json: unknown key resource in package; did you mean resources?",
        "dp.json: no resources; list exactly two: the left view and the right view",
    ]
    package = deepcopy(GOOD)
    age = package["resources"][0]["schema"]["fields"][2]
    age["Name"] = age.pop("name")
    assert [str(one) for one in parse(package, "dp.json", Schema)[1]] == [
        "dp.json, left: unknown key Name in field; did you mean name?",
        "dp.json, left: a field without a name; give every field a name",
    ]


def test_a_column_may_repeat_the_table_s_missing_values() -> None:
    assert problems(*AGE, key="missingValues", value=[""]) == []


def test_missing_values_of_a_single_field_are_refused() -> None:
    assert problems(*AGE, key="missingValues", value=["999"]) == [
        "dp.json, left, attribute age: missingValues of a single field are not supported; "
        "list them in the table schema's missingValues"
    ]


HALF = "half a character (a lone surrogate such as \\ud83d); write all of it"


@pytest.mark.parametrize(
    ("path", "key", "value", "place"),
    [
        ((), "title", "Our clinic \ud83d", "dp.json, title"),
        ((), "name", "\ud83d", "dp.json, name"),
        ((), "redveil", {"unit": "\udce9"}, "dp.json, redveil.unit"),
        ((), "\ud83d", 1, "dp.json"),
        (CONSTRAINTS, "enum", ["\ud83d"], r"dp.json, resources[0].schema.fields[2].constraints"),
    ],
)
def test_half_a_character_is_a_problem(
    path: tuple[str | int, ...], key: str, value: object, place: str
) -> None:
    """A result would contain it, and could not be written once it is paid for."""
    found = problems(*path, key=key, value=value)
    (half,) = [one for one in found if HALF in one]
    assert half.startswith(place)
    half.encode()
