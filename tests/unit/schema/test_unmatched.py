"""Groups of attributes that may not be matched: in schema files, in Python, in the digest."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from redveil.data.synthetic import clinic_schema
from redveil.errors import SchemaError
from redveil.schema import Attribute, Kind, Schema, Side, View
from redveil.schema.unmatched import Group, read_groups

KIDNEYS = ["chronic kidney disease", "creatinine", "eGFR"]


def package(unmatched: object) -> dict[str, Any]:
    described: dict[str, Any] = clinic_schema().to_dict()
    described["redveil"]["unmatched"] = unmatched
    return described


def test_a_schema_file_declares_groups(tmp_path: Path) -> None:
    schema = Schema.from_dict(package([KIDNEYS]))
    assert schema.unmatched == (Group(("chronic kidney disease",), ("creatinine", "eGFR")),)
    schema.save(tmp_path / "datapackage.json")
    assert Schema.read(tmp_path / "datapackage.json") == schema
    assert "not to be matched with each other: left:chronic kidney disease" in str(schema)


def test_groups_are_in_the_digest_but_not_their_order() -> None:
    plain, grouped = clinic_schema(), clinic_schema().replace(unmatched=[KIDNEYS])
    assert plain.digest != grouped.digest
    assert clinic_schema().replace(unmatched=[KIDNEYS[::-1]]).digest == grouped.digest
    assert grouped.replace(unmatched=[]).digest == plain.digest


def test_other_edits_keep_the_groups() -> None:
    grouped = clinic_schema().replace(unmatched=[KIDNEYS])
    edited = grouped.with_attribute("age", cuts=[40]).replace(unit="visit").accept()
    assert edited.unmatched == grouped.unmatched


def test_an_attribute_that_is_removed_leaves_its_groups() -> None:
    grouped = clinic_schema().replace(unmatched=[KIDNEYS])
    assert grouped.without("eGFR").unmatched == (
        Group(("chronic kidney disease",), ("creatinine",)),
    )
    gone = grouped.without("eGFR", "creatinine")
    assert gone.unmatched == ()
    assert Schema.from_dict(gone.to_dict()) == gone


def test_attributes_of_both_views_with_one_name_are_told_apart() -> None:
    both = View("v", "id", (Attribute("weight", Kind.BOOLEAN),))
    schema = Schema("twice", both, both).replace(unmatched=[["left:weight", "right:weight"]])
    assert schema.unmatched == (Group(("weight",), ("weight",)),)
    assert schema.to_dict()["redveil"]["unmatched"] == [["left:weight", "right:weight"]]  # type: ignore[index]
    assert Schema.from_dict(schema.to_dict()) == schema


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([["gotu", "eGFR"]], "no attribute gotu; did you mean gout?"),
        ([["gout", "asthma"]], "gout, asthma is on one side only; name attributes of both views"),
        ([["gout"]], "gout is on one side only; name attributes of both views"),
        (["gout", "eGFR"], "not a list of groups; write groups of names"),
        ("gout", "not a list of groups"),
        ({"gout": "eGFR"}, "not a list of groups"),
        ([[]], "not a list of groups"),
        ([["gout", 3]], "not a list of groups"),
        (None, "not a list of groups"),
    ],
)
def test_a_mistake_is_named_with_its_remedy(given: object, message: str) -> None:
    with pytest.raises(SchemaError) as refused:
        Schema.from_dict(package(given))
    assert f"redveil.unmatched: {message}" in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_misspelt_key_is_noticed() -> None:
    described = package([])
    described["redveil"]["unmached"] = described["redveil"].pop("unmatched")
    with pytest.raises(SchemaError, match=r"did you mean redveil\.unmatched\?"):
        Schema.from_dict(described)


def test_a_group_says_which_sides_may_not_meet() -> None:
    group = Group(("a", "b"), ("c",))
    assert group.is_matched(["x", "b"], ["c", "y"])
    assert not group.is_matched(["a", "b"], ["x"])
    assert not group.is_matched(["c"], ["a"])
    assert group.names == ((Side.LEFT, "a"), (Side.LEFT, "b"), (Side.RIGHT, "c"))


def test_a_group_that_is_declared_twice_counts_once() -> None:
    schema = clinic_schema()
    groups, faults = read_groups([KIDNEYS, KIDNEYS[::-1]], schema.left, schema.right)
    assert (len(groups), faults) == (1, [])
