"""Written descriptors can be read again, also by Frictionless."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from datetime import date
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from frictionless import Package, validate
from hypothesis import given

from redveil.data.synthetic import clinic_schema
from redveil.schema import Attribute, Kind, Schema, Status, View
from redveil.schema.dates import DateRule
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
            Attribute(
                "day",
                Kind.ORDINAL,
                categories=("2017", "2018-06", "2019"),
                date=DateRule(date(2015, 1, 1), date(2019, 12, 31), format="%d.%m.%Y"),
            ),
            Attribute(
                "moment",
                Kind.ORDINAL,
                categories=("2017", "2018"),
                date=DateRule(date(2017, 1, 1), date(2018, 12, 31), "datetime"),
            ),
            Attribute(
                "month",
                Kind.ORDINAL,
                categories=("2017-01", "2017-02"),
                date=DateRule(date(2017, 1, 1), date(2017, 2, 1), "yearmonth"),
            ),
            Attribute(
                "paid", Kind.NUMERIC, maximum=9999, cuts=(0.5,), decimal_char=",", group_char="."
            ),
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
            Attribute("age", Kind.NUMERIC, minimum=0, maximum=110, cuts=(18.0,), integer=True),
        ),
    ),
    unit="patient",
    status=Status.DRAFT,
    budget=Fraction(10, 3),
    budget_delta=Fraction(1, 10**6),
    id="0c7d7a30-91e5-4f5d-8b63-2d5c1f0f8a11",
)

DATES = EVERYTHING.left.attributes[-4:]


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


def test_frictionless_reads_the_same_data(tmp_path: Path) -> None:
    view = replace(EVERYTHING.left, path="left.csv", encoding="utf-8", attributes=DATES)
    schema = replace(EVERYTHING, left=view, right=replace(view, name="right", path="right.csv"))
    schema.save(tmp_path / "datapackage.json")
    good = "id;day;moment;month;paid\n1;31.12.2019;2018-12-31T23:30:00Z;2017-02;1.234,5\n"
    bad = "id;day;moment;month;paid\n1;2019-12-31;2019-01-01T00:00:00Z;2017-03;9.999,5\n"
    for text, errors in ((good, 0), (bad, 4)):
        for name in ("left.csv", "right.csv"):
            (tmp_path / name).write_text(text, encoding="utf-8")
        report = validate(str(tmp_path / "datapackage.json"))
        assert [task.stats["errors"] for task in report.tasks] == [errors, errors]


def test_the_constraints_are_frictionless_ones() -> None:
    right: Any = describe(EVERYTHING)["resources"]
    fields = {field["name"]: field for field in right[1]["schema"]["fields"]}
    assert fields["o"]["constraints"] == {"required": True, "enum": ["low", "high"]}
    assert fields["n"]["constraints"] == {"minimum": -1, "maximum": 2}
    assert fields["age"]["type"] == "integer"
    # Not 0.0, which is no integer to other programs.
    assert '{"minimum": 0, "maximum": 110}' in json.dumps(fields["age"])
    assert right[0]["dialect"] == {"delimiter": ";"}


def test_a_saved_schema_is_readable(tmp_path: Path) -> None:
    path = tmp_path / "datapackage.json"
    EVERYTHING.save(path)
    text = path.read_text(encoding="utf-8")
    assert text.endswith("}\n")
    assert "é" in text
    assert re.search(r'^  "name": "every-thing"', text, re.MULTILINE)
