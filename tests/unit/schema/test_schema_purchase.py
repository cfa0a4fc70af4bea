"""Purchases of cut points, written and read."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from redveil.data.synthetic import clinic_schema
from redveil.schema import Schema, Side
from redveil.schema.purchase import Purchase
from redveil.schema.reader import parse

FIRST = Purchase(Fraction(1, 10), ("age",), ("HbA1c", "creatinine"), "redveil 0.1.0")
SECOND = Purchase(Fraction(12345678901234567890123, 10**24), right=("eGFR",), software="redveil 9")


def test_a_record_is_written_and_read_again(tmp_path: Path) -> None:
    schema = replace(clinic_schema(), bought=(FIRST, SECOND))
    schema.save(tmp_path / "datapackage.json")
    assert Schema.read(tmp_path / "datapackage.json") == schema
    assert FIRST.names(Side.LEFT) == ("age",)
    assert FIRST.names(Side.RIGHT) == ("HbA1c", "creatinine")


def test_a_schema_without_purchases_is_what_it_was() -> None:
    plain = clinic_schema()
    assert "bought" not in str(plain.to_dict())
    assert plain.bought == ()


def test_the_digest_covers_the_record() -> None:
    digests = {replace(clinic_schema(), bought=b).digest for b in ((), (FIRST,), (FIRST, SECOND))}
    assert len(digests) == 3


COLUMNS: dict[str, Any] = {"left": [], "right": ["HbA1c"]}


@pytest.mark.parametrize(
    "record",
    [
        None,
        "1/10",
        {"epsilon": "1/10", "columns": COLUMNS},
        [None],
        [{}],
        [{"columns": COLUMNS}],
        [{"epsilon": "1/10"}],
        [{"epsilon": "1/10", "columns": ["HbA1c"]}],
        [{"epsilon": "1/10", "columns": {"left": "HbA1c"}}],
        [{"epsilon": "1/10", "columns": {"right": [1]}}],
        [{"epsilon": "0", "columns": COLUMNS}],
        [{"epsilon": "1/0", "columns": COLUMNS}],
        [{"epsilon": "-1", "columns": COLUMNS}],
        [{"epsilon": "much", "columns": COLUMNS}],
    ],
)
def test_an_invalid_purchase_is_a_problem(record: object) -> None:
    raw: dict[str, Any] = clinic_schema().to_dict()
    raw["redveil"]["bought"] = record
    schema, problems = parse(raw, "datapackage.json", Schema)
    assert schema is None
    assert [problem.what for problem in problems] == ["redveil.bought is not a list of purchases"]


def test_omitted_parts_of_a_purchase_are_empty() -> None:
    raw: dict[str, Any] = clinic_schema().to_dict()
    raw["redveil"]["bought"] = [{"epsilon": 0.1, "columns": {}}]
    schema, problems = parse(raw, "datapackage.json", Schema)
    assert problems == []
    assert schema is not None
    assert schema.bought == (Purchase(Fraction(1, 10)),)
