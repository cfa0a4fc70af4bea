"""Written descriptors can be read again, also by Frictionless."""

from __future__ import annotations

import json
import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from frictionless import Package
from hypothesis import given

from redveil.data.synthetic import clinic_schema
from redveil.schema import Attribute, Kind, Schema, Status, View
from redveil.schema.descriptor import describe, describe_attribute
from redveil.schema.field import FieldReader
from redveil.schema.reader import parse
from strategies.schemas import attributes, schemas

EVERYTHING = Schema(
    "every-thing",
    View(
        "left-view",
        "id",
        (
            Attribute("b", Kind.BOOLEAN, required=True),
            Attribute("yes", Kind.BOOLEAN, true_values=("y",), false_values=("n",)),
            Attribute("c d", Kind.CATEGORICAL, categories=("x", "y~|z", "é")),
        ),
        path="data/left.csv",
        missing_values=("", "NA"),
        delimiter=";",
        encoding="latin-1",
    ),
    View(
        "right-view",
        "key",
        (
            Attribute("o", Kind.ORDINAL, required=True, categories=("low", "high")),
            Attribute("n", Kind.NUMERIC, minimum=-1, maximum=2, cuts=(-0.5, 0.1, 1.0)),
        ),
    ),
    unit="patient",
    status=Status.DRAFT,
    budget=Fraction(10, 3),
    budget_delta=Fraction(1, 10**6),
    id="0c7d7a30-91e5-4f5d-8b63-2d5c1f0f8a11",
)


@given(schemas())
def test_a_written_schema_is_read_back(schema: Schema) -> None:
    again, problems = parse(json.loads(json.dumps(describe(schema))), "dp.json", Schema)
    assert problems == []
    assert again == schema
    assert again is not None
    assert again.digest == schema.digest


@given(attributes("x"))
def test_an_attribute_is_read_back(attribute: Attribute) -> None:
    assert FieldReader("left", describe_attribute(attribute)).attribute() == attribute


@pytest.mark.parametrize("schema", [EVERYTHING, clinic_schema()])
def test_frictionless_accepts_saved_schemas(tmp_path: Path, schema: Schema) -> None:
    path = tmp_path / "datapackage.json"
    schema.save(path)
    descriptor: Any = json.loads(path.read_text(encoding="utf-8"))
    assert list(Package.metadata_validate(descriptor)) == []
    package = Package(path)
    assert [resource.name for resource in package.resources] == [
        schema.left.name,
        schema.right.name,
    ]
    for resource, view in zip(package.resources, (schema.left, schema.right), strict=True):
        assert resource.schema.primary_key == [view.key]
        assert resource.schema.missing_values == list(view.missing_values)
        assert resource.schema.field_names == [view.key, *view.names]
        assert (resource.encoding or "utf-8") == view.encoding


def test_the_constraints_are_frictionless_ones() -> None:
    right: Any = describe(EVERYTHING)["resources"]
    fields = {field["name"]: field for field in right[1]["schema"]["fields"]}
    assert fields["o"]["constraints"] == {"required": True, "enum": ["low", "high"]}
    assert fields["n"]["constraints"] == {"minimum": -1, "maximum": 2}
    assert right[0]["dialect"] == {"delimiter": ";"}


def test_a_saved_schema_is_readable(tmp_path: Path) -> None:
    path = tmp_path / "datapackage.json"
    EVERYTHING.save(path)
    text = path.read_text(encoding="utf-8")
    assert text.endswith("}\n")
    assert "é" in text
    assert re.search(r'^  "name": "every-thing"', text, re.MULTILINE)
