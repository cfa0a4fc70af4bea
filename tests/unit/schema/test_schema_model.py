"""Schemas: views, digests, saving and reading."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import FrozenInstanceError, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from redveil.errors import InputError, SchemaError
from redveil.schema import Attribute, Kind, Schema, Side, Status, View

AGE = Attribute("age", Kind.NUMERIC, minimum=0, maximum=100, cuts=(18.0, 65.0))
SEX = Attribute("sex", Kind.CATEGORICAL, categories=("f", "m"))
SICK = Attribute("sick", Kind.BOOLEAN)
STAGE = Attribute("stage", Kind.ORDINAL, categories=("1", "2", "3"))
CLINIC = Schema("clinic", View("patients", "id", (AGE, SEX)), View("wards", "id", (SICK, STAGE)))


def with_left(**changes: Any) -> Schema:
    return replace(CLINIC, left=replace(CLINIC.left, **changes))


def with_age(**changes: Any) -> Schema:
    return with_left(attributes=(replace(AGE, **changes), SEX))


def test_sides() -> None:
    assert CLINIC.view(Side.LEFT).name == "patients"
    assert CLINIC.view(Side.RIGHT).name == "wards"
    assert Side.RIGHT.other is Side.LEFT


def test_bins_and_splits() -> None:
    assert [a.bins for a in (AGE, SEX, SICK, STAGE)] == [3, 2, 2, 3]
    assert [a.splits for a in (AGE, SEX, SICK, STAGE)] == [2, 1, 1, 2]
    three = Attribute("blood", Kind.CATEGORICAL, categories=("a", "b", "0"))
    assert three.splits == 3
    assert CLINIC.left.split_count == 3
    assert [kind.is_ordered for kind in Kind] == [False, False, True, True]


def test_a_schema_cannot_be_changed() -> None:
    with pytest.raises(FrozenInstanceError):
        CLINIC.name = "other"  # type: ignore[misc]
    with pytest.raises(FrozenInstanceError):
        AGE.maximum = 1  # type: ignore[misc]


def test_a_view_without_a_path_gets_the_one_it_is_saved_with() -> None:
    assert CLINIC.left.path == "patients.csv"
    assert replace(CLINIC.left, path="a/b.csv").path == "a/b.csv"


def test_save_and_read(tmp_path: Path) -> None:
    path = tmp_path / "datapackage.json"
    CLINIC.save(path)
    assert Schema.read(path) == CLINIC
    assert Schema.read(str(path)).digest == CLINIC.digest
    assert [file.name for file in tmp_path.iterdir()] == ["datapackage.json"]


def test_saving_where_one_cannot(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be written"):
        CLINIC.save(tmp_path / "no" / "datapackage.json")


def test_a_schema_keeps_the_id_and_the_budget_of_the_one_that_it_replaces(tmp_path: Path) -> None:
    """A notebook that was run again lifted a budget: its schema had a new id and none."""
    path = tmp_path / "datapackage.json"
    first = replace(CLINIC, id="7e57", budget=Fraction(1))
    CLINIC.save(path)
    first.save(path)
    lost = "not replaced, because its id would be lost, .*; edit that schema"
    with pytest.raises(InputError, match=lost):
        replace(first, id="beef").save(path)
    with pytest.raises(InputError, match=lost):
        replace(first, id=None).save(path)
    with pytest.raises(InputError, match="its budget of 1 would be lost; declare it again"):
        replace(first, budget=None).save(path)
    assert Schema.read(path) == first
    first.save(path)
    raised = first.replace(name="ward", budget="5")
    raised.save(path)
    assert Schema.read(path) == raised


def test_a_schema_whose_budget_cannot_be_read_is_not_replaced(tmp_path: Path) -> None:
    path = tmp_path / "datapackage.json"
    path.write_text('{"resources": [], "redveil": {"budget": "one"}}', encoding="utf-8")
    with pytest.raises(SchemaError, match="repair it, or move it elsewhere"):
        CLINIC.save(path)


def test_the_digest_does_not_depend_on_formatting(tmp_path: Path) -> None:
    path = tmp_path / "datapackage.json"
    CLINIC.save(path)
    raw = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps(dict(reversed(raw.items())), indent=None), encoding="utf-8")
    assert Schema.read(path).digest == CLINIC.digest


def test_the_digest_does_not_depend_on_how_numbers_and_cuts_are_written(tmp_path: Path) -> None:
    whole = replace(AGE, minimum=0, maximum=100, cuts=(18, 65))
    assert with_left(attributes=(whole, SEX)).digest == CLINIC.digest
    path = tmp_path / "datapackage.json"
    CLINIC.save(path)
    raw = json.loads(path.read_text(encoding="utf-8"))
    field = raw["resources"][0]["schema"]["fields"][1]
    field["constraints"] = {"minimum": 0, "maximum": 100}
    field["redveil"]["cuts"] = [18, 65]
    path.write_text(json.dumps(raw), encoding="utf-8")
    assert Schema.read(path).digest == CLINIC.digest


CHANGES: dict[str, Callable[[], Schema]] = {
    "name": lambda: replace(CLINIC, name="other"),
    "unit": lambda: replace(CLINIC, unit="patient"),
    "views swapped": lambda: replace(CLINIC, left=CLINIC.right, right=CLINIC.left),
    "key": lambda: with_left(key="number"),
    "missing values": lambda: with_left(missing_values=("", "NA")),
    "delimiter": lambda: with_left(delimiter=";"),
    "encoding": lambda: with_left(encoding="latin-1"),
    "sheet": lambda: with_left(sheet="Labs"),
    "integer": lambda: with_age(integer=True),
    "decimal comma": lambda: with_age(decimal_char=","),
    "group character": lambda: with_age(group_char=" "),
    "attributes swapped": lambda: with_left(attributes=(SEX, AGE)),
    "attribute dropped": lambda: with_left(attributes=(AGE,)),
    "attribute name": lambda: with_age(name="years"),
    "required": lambda: with_age(required=True),
    "minimum": lambda: with_age(minimum=1),
    "maximum": lambda: with_age(maximum=101),
    "cut moved": lambda: with_age(cuts=(18.0, 66.0)),
    "cut dropped": lambda: with_age(cuts=(18.0,)),
    "kind": lambda: with_left(attributes=(AGE, replace(SEX, kind=Kind.ORDINAL))),
    "categories swapped": lambda: with_left(attributes=(AGE, replace(SEX, categories=("m", "f")))),
    "category added": lambda: with_left(attributes=(AGE, replace(SEX, categories=("f", "m", "x")))),
    "true values": lambda: with_left(attributes=(replace(SICK, true_values=("yes",)),)),
    "false values": lambda: with_left(attributes=(replace(SICK, false_values=("no",)),)),
    "Boolean": lambda: with_left(attributes=(SICK,)),
}


def test_the_digest_is_about_the_data_not_about_files_and_money() -> None:
    assert replace(CLINIC, status=Status.DRAFT).digest == CLINIC.digest
    assert replace(CLINIC, budget=Fraction(1)).digest == CLINIC.digest
    assert replace(CLINIC, id="7e57").digest == CLINIC.digest
    assert replace(CLINIC, budget_delta=Fraction(1, 10**6)).digest == CLINIC.digest
    assert with_left(name="persons").digest == CLINIC.digest
    assert with_left(path="other.csv").digest == CLINIC.digest


def test_any_change_of_a_declaration_changes_the_digest() -> None:
    digests = {name: make().digest for name, make in CHANGES.items()}
    assert CLINIC.digest not in digests.values()
    assert len(set(digests.values())) == len(digests)


def test_accepting_declares_a_draft_and_gives_it_an_id_that_stays(tmp_path: Path) -> None:
    draft = replace(CLINIC, status=Status.DRAFT, budget=Fraction(1))
    accepted = draft.accept()
    assert accepted.id is not None
    assert accepted == replace(draft, status=Status.DECLARED, id=accepted.id)
    assert draft.accept().id != accepted.id
    accepted.save(tmp_path / "datapackage.json")
    assert Schema.read(tmp_path / "datapackage.json") == accepted
    assert replace(accepted, status=Status.DRAFT).accept() == accepted


@pytest.mark.parametrize("given", ["", " ", 7, ["7e57"], False])
def test_an_id_is_a_text(given: object) -> None:
    with pytest.raises(InputError, match="id is not a text; restore what `redveil schema accept`"):
        Schema.from_dict({**CLINIC.to_dict(), "id": given})
    assert Schema.from_dict({**CLINIC.to_dict(), "id": None}) == CLINIC
