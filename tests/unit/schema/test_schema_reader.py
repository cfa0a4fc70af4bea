"""Descriptors: every problem of a file, and one line per problem for malicious ones."""

from __future__ import annotations

import copy
import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redveil.errors import SchemaError
from redveil.schema import Schema, Status
from redveil.schema.reader import Package, check, parse, read_package, read_schema

FIELD: dict[str, Any] = {"name": "sick", "type": "boolean"}


def resource(**changes: object) -> dict[str, Any]:
    table = {"primaryKey": "id", "fields": [{"name": "id", "type": "string"}, FIELD]}
    return {"name": "view", "path": "view.csv", "schema": table, **changes}


def table(**changes: object) -> dict[str, Any]:
    return resource(schema={**resource()["schema"], **changes})


def package(left: object = None, **changes: object) -> dict[str, Any]:
    return {"resources": [left or resource(), resource()], **changes}


def problems_of(raw: object) -> list[str]:
    schema, problems = parse(raw, "dp.json", Schema)
    assert (schema is None) == bool(problems)
    return [str(problem) for problem in problems]


def schema_of(raw: object) -> Schema:
    schema, problems = parse(raw, "dp.json", Schema)
    assert problems == []
    assert schema is not None
    return schema


def test_omitted_keys_have_defaults() -> None:
    schema = schema_of({"resources": [{"schema": resource()["schema"]}, resource()]})
    assert (schema.name, schema.unit, schema.status) == ("dataset", "entity", Status.DECLARED)
    assert (schema.left.name, schema.right.name) == ("left", "view")
    assert (schema.left.delimiter, schema.left.encoding) == (None, "utf-8")
    assert schema.left.missing_values == ("",)
    assert schema.budget is None


def test_a_descriptor_is_read_without_a_file() -> None:
    assert Schema.from_dict(package()) == schema_of(package())


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        ({}, "descriptor: no resources; list exactly two: the left view and the right view"),
        (
            package(table(primaryKey="x", missingValues=3)),
            "descriptor, left: no entity key; set primaryKey to the field that identifies an "
            "entity (and 2 more)",
        ),
    ],
)
def test_problems_of_a_descriptor_are_raised(raw: dict[str, Any], message: str) -> None:
    with pytest.raises(SchemaError) as caught:
        Schema.from_dict(raw)
    assert str(caught.value) == message


def test_declared_keys_are_read() -> None:
    left = table(missingValues=["", "NA"], primaryKey=["id"])
    left |= {"dialect": {"delimiter": ";", "sheetNumber": 2}, "encoding": "latin-1"}
    extras = {"status": "draft", "unit": "patient", "budget": "1/3", "version": 1}
    schema = schema_of(package(left, name="clinic", redveil=extras))
    assert (schema.name, schema.unit, schema.status) == ("clinic", "patient", Status.DRAFT)
    assert schema.budget == Fraction(1, 3)
    assert (schema.left.delimiter, schema.left.encoding) == (";", "latin-1")
    assert (schema.left.sheet, schema.right.sheet) == (2, None)
    assert schema.left.missing_values == ("", "NA")
    assert schema.left.key == "id"
    assert schema.left.names == ("sick",)


@pytest.mark.parametrize(
    ("raw", "problem"),
    [
        ([], "dp.json: not a JSON object; write a data package descriptor"),
        ({}, "dp.json: no resources; list exactly two: the left view and the right view"),
        (
            {"resources": [resource()]},
            "dp.json: 1 resources; list exactly two: the left view and the right view",
        ),
        (package(redveil=[1]), "dp.json: redveil is not an object; write redveil as {…}"),
        (
            package(redveil={"status": "final"}),
            "dp.json: unknown redveil.status; use one of declared, draft",
        ),
        (
            {"resources": [3, resource()]},
            "dp.json, left: no table schema; give the resource a schema object",
        ),
        (
            {"resources": [resource(), {}]},
            "dp.json, right: no table schema; give the resource a schema object",
        ),
        (
            package(table(fields=3)),
            "dp.json, left: a field without a name; give every field a name",
        ),
        (
            package(table(fields=[{}])),
            "dp.json, left: a field without a name; give every field a name",
        ),
        (
            package(table(fields=[*resource()["schema"]["fields"], FIELD])),
            "dp.json, left, attribute sick: declared twice; rename or remove one of the fields",
        ),
        (
            package(table(primaryKey=None)),
            "dp.json, left: no entity key; set primaryKey to the field that identifies an entity",
        ),
        (
            package(table(primaryKey=["id", "sick"])),
            "dp.json, left: no entity key; set primaryKey to the field that identifies an entity",
        ),
        (
            package(table(primaryKey="nobody")),
            "dp.json, left: no entity key; set primaryKey to the field that identifies an entity",
        ),
        (
            package(table(fields=[{"name": "id"}])),
            "dp.json, left: no attribute to mine; declare at least one attribute",
        ),
        (
            package(resource(dialect={"delimiter": "::"})),
            'dp.json, left: dialect.delimiter is not one ASCII character; use "," or ";"',
        ),
        (
            package(resource(dialect={"delimiter": "§"})),
            'dp.json, left: dialect.delimiter is not one ASCII character; use "," or ";"',
        ),
        (
            package(resource(dialect=";")),
            "dp.json, left: dialect is not an object; write dialect as {…}",
        ),
        (
            package(resource(dialect={"delimiter": 7})),
            'dp.json, left: dialect.delimiter is not one ASCII character; use "," or ";"',
        ),
        (
            package(resource(dialect={"sheetName": 7})),
            "dp.json, left: dialect.sheetName is not text; write the sheet's name",
        ),
        *(
            (
                package(resource(dialect={"sheetNumber": number})),
                "dp.json, left: dialect.sheetNumber is not a positive integer; "
                "count the sheets from 1",
            )
            for number in (0, "1", True)
        ),
        (
            package(resource(encoding="klingon")),
            'dp.json, left: unknown encoding; use "utf-8" or "latin-1"',
        ),
        (
            package(resource(encoding="hex")),
            'dp.json, left: unknown encoding; use "utf-8" or "latin-1"',
        ),
        (
            package(table(missingValues="NA")),
            'dp.json, left: missingValues is not a list of strings; write [""]',
        ),
        (
            package(table(missingValues=[-1])),
            'dp.json, left: missingValues is not a list of strings; write [""]',
        ),
    ],
)
def test_a_problem(raw: object, problem: str) -> None:
    assert problem in problems_of(raw)


@pytest.mark.parametrize(
    "budget", ["many", "0", "-1", "1/0", True, [], 1e999, "1e999999999", "9" * 5000, "1/2/3"]
)
def test_a_budget_of_delta_that_is_none(budget: object) -> None:
    assert problems_of(package(redveil={"budget": "1", "budget_delta": budget})) == [
        "dp.json: redveil.budget_delta is not a positive number; write a positive number such as "
        '"1e-5"'
    ]


@pytest.mark.parametrize(
    "budget", ["many", "0", "-1", "1/0", True, [], 1e999, "1e999999999", "9" * 5000, "1/2/3"]
)
def test_a_budget_that_is_none(budget: object) -> None:
    assert problems_of(package(redveil={"budget": budget})) == [
        'dp.json: redveil.budget is not a positive number; write a positive number such as "3" or '
        '"1/2"'
    ]


@pytest.mark.parametrize(
    ("budget", "value"),
    [("3", 3), (3, 3), (0.5, Fraction(1, 2)), ("1/3", Fraction(1, 3)), (1e-7, Fraction(1, 10**7))],
)
def test_a_budget(budget: object, value: Fraction) -> None:
    assert schema_of(package(redveil={"budget": budget})).budget == value
    both = {"budget": "1", "budget_delta": budget}
    assert schema_of(package(redveil=both)).budget_delta == value


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        *[
            (name, "an encoding in which one line can change how others are read")
            for name in (
                "iso2022_jp",
                "csISO2022JP",
                "ISO-2022-KR",
                "hz",
                "UTF-7",
                "unicode_escape",
            )
        ],
        *[(name, "not an encoding of text files") for name in ("punycode", "idna")],
    ],
)
def test_encodings_in_which_lines_depend_on_others_are_problems(name: str, problem: str) -> None:
    said = f"dp.json, left: {problem}; save the file as UTF-8"
    assert problems_of(package(resource(encoding=name))) == [said]


@pytest.mark.parametrize(
    "name", ["utf-8-sig", "utf-16", "utf-32-le", "cp1252", "shift_jis", "euc-jp", "gb18030", "big5"]
)
def test_other_encodings_are_fine(name: str) -> None:
    assert schema_of(package(resource(encoding=name))).left.encoding == name


def test_a_budget_of_delta_alone_is_a_problem() -> None:
    assert problems_of(package(redveil={"budget_delta": "1e-6"})) == [
        "dp.json: redveil.budget_delta without redveil.budget; declare both"
    ]


@pytest.mark.parametrize("key", ["budget", "Budget", "budget_delta", "bought"])
def test_a_budget_outside_of_redveil_is_a_problem(key: str) -> None:
    said = f"{key} outside of the package's redveil, where it limits nothing; write redveil."
    said += key.lower()
    assert problems_of(package(**{key: "3"})) == [f"dp.json: {said}"]
    assert problems_of(package(custom={"redveil": {key: "3"}})) == [
        f"dp.json, custom.redveil: {said}"
    ]
    for part in ("redveil", "custom"):
        assert problems_of(package(table() | {part: {key: "3"}})) == [
            f"dp.json, resources[0].{part}: {said}"
        ]
    assert problems_of(package(table() | {key: "3"})) == [f"dp.json, resources[0]: {said}"]
    in_schema = table()
    in_schema["schema"][key] = "3"
    assert problems_of(package(in_schema)) == [f"dp.json, resources[0].schema: {said}"]
    in_list = package(contributors=[{"title": "budget"}, {key: "3"}])
    assert problems_of(in_list) == [f"dp.json, contributors[1]: {said}"]


def test_an_attribute_may_be_called_budget() -> None:
    fields = [{"name": name, "type": "boolean"} for name in ("id", "budget", "bought")]
    named = table(primaryKey="id", fields=fields)
    read = schema_of(package(named, redveil={"budget": "3"}))
    assert read.left.names == ("budget", "bought")
    assert read.budget == 3


def test_a_key_that_is_there_twice_is_a_problem(tmp_path: Path) -> None:
    path = tmp_path / "datapackage.json"
    text = json.dumps(package(redveil={"budget": "3"}))
    path.write_text(text[:-1] + ', "redveil": {}}', encoding="utf-8")
    assert [str(one) for one in check(path, Schema)[1]] == [
        f"{path}: key redveil twice in one object; remove one of them"
    ]


def test_what_is_declared_about_the_data_set_is_read_whatever_the_fields_are(
    tmp_path: Path,
) -> None:
    path = tmp_path / "datapackage.json"
    assert read_package(path) is None
    path.touch()
    assert read_package(path) is None
    raw = package(table(fields=[]), id="7e57", redveil={"budget": "3", "unit": "patient"})
    path.write_text(json.dumps(raw), encoding="utf-8")
    assert check(path, Schema)[0] is None
    assert read_package(path) == Package("dataset", "patient", budget=Fraction(3), id="7e57")


@pytest.mark.parametrize(
    "text",
    [
        '{"id": "7e57",}',
        "[]",
        '"7e57"',
        "\xff{}",
        '{"id": 7}',
        '{"redviel": {"budget": "3"}}',
        '{"redveil": {"budgett": "3"}}',
        '{"redveil": {"budget": "three"}}',
        '{"redveil": [{"budget": "3"}]}',
        '{"budget": "3"}',
        '{"redveil": {"bought": [{"epsilon": "much"}]}}',
    ],
)
def test_a_data_set_that_cannot_be_read_is_not_taken_for_a_new_one(
    tmp_path: Path, text: str
) -> None:
    path = tmp_path / "datapackage.json"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(SchemaError, match="so repair it, or move it elsewhere") as caught:
        read_package(path)
    assert str(caught.value).startswith(str(path))


def test_all_problems_are_listed_and_the_first_is_raised(tmp_path: Path) -> None:
    left = table(fields=[{"name": "id"}, {"name": "a", "type": "string"}, {"name": "b"}])
    path = tmp_path / "datapackage.json"
    path.write_text(json.dumps(package(left)), encoding="utf-8")
    assert len(check(path, Schema)[1]) == 2
    with pytest.raises(SchemaError) as caught:
        read_schema(path, Schema)
    assert str(caught.value) == (
        f"{path}, left, attribute a: no categories; list them in constraints.enum, or set "
        f"redveil.use to false (and 1 more: redveil schema check {path})"
    )


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "this is an empty file, not a schema; name a schema"),
        (b"a,b\n1,2\n3,4\n", "this is a CSV file, not a schema; name a schema"),
        (b"{", "line 1, column 2: not valid JSON; Expecting property name"),
        (b"\xff\xfe{}", "cannot be read as UTF-8 text; save it as UTF-8"),
        (b"[" * 100_000, "nested too deeply; write a data package descriptor"),
        (b'{"resources": ' + b"9" * 5000 + b"}", "a number with too many digits; shorten it"),
    ],
)
def test_a_file_that_is_no_descriptor(tmp_path: Path, content: bytes, problem: str) -> None:
    path = tmp_path / "datapackage.json"
    path.write_bytes(content)
    schema, problems = check(path, Schema)
    assert schema is None
    assert problem in str(problems[0])


@pytest.mark.parametrize("name", ["nowhere.json", "folder", "nul\0.json"])
def test_a_file_that_cannot_be_read(tmp_path: Path, name: str) -> None:
    (tmp_path / "folder").mkdir()
    assert check(tmp_path / name, Schema)[0] is None
    with pytest.raises(SchemaError):
        Schema.read(tmp_path / name)


def test_a_byte_order_mark_is_skipped(tmp_path: Path) -> None:
    path = tmp_path / "datapackage.json"
    path.write_text(json.dumps(package()), encoding="utf-8-sig")
    assert Schema.read(path) == schema_of(package())


def _places(node: object, here: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner: list[tuple[Any, Any]] = []
    if isinstance(node, dict):
        inner = list(node.items())
    elif isinstance(node, list):
        inner = list(enumerate(node))
    return [here, *(place for key, child in inner for place in _places(child, (*here, key)))]


FULL = package(
    table(missingValues=["", "NA"]) | {"dialect": {"delimiter": ";"}, "encoding": "utf-8"},
    name="clinic",
    redveil={"status": "draft", "budget": "3", "unit": "patient"},
)


@given(
    st.sampled_from(_places(FULL)[1:]),
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.just({}) | st.just([]),
)
def test_nonsense_anywhere_is_read_or_is_a_problem(place: tuple[Any, ...], value: object) -> None:
    raw = copy.deepcopy(FULL)
    node: Any = raw
    for step in place[:-1]:
        node = node[step]
    node[place[-1]] = value
    schema, problems = parse(raw, "dp.json", Schema)
    assert (schema is None) == bool(problems)


def test_a_misspelt_budget_is_a_problem() -> None:
    _, problems = parse(package(table(), redveil={"budgett": "1"}), "dp.json", Schema)
    assert [str(one) for one in problems] == [
        "dp.json: unknown key redveil.budgett; did you mean redveil.budget?"
    ]
