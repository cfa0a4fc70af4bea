"""Accepting a draft: what in it still equals the data, and the descriptor once it is declared."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from redveil.schema.attribute import Attribute, Kind
from redveil.schema.field import FieldReader
from redveil.schema.identifier import new_id
from redveil.schema.view import Side

Descriptor = dict[str, Any]

# How the values of a field are written: what a draft declares of it was taken from the data.
WRITTEN: Final = (
    *("type", "format", "trueValues", "falseValues"),
    *("decimalChar", "groupChar"),
)
_UNDER_REDVEIL: Final = ("cuts", "use")
_NAMES: Final = {
    "cuts": "cut points",
    "falseValues": "values that mean false",
    "missingValues": "values that mean missing",
    "primaryKey": "entity key",
    "trueValues": "values that mean true",
}


@dataclass(frozen=True, slots=True)
class FromData:
    """A declaration that still equals what its draft took from the data.

    attribute: what it is about; empty if it is about the whole table

    >>> print(FromData(Side.LEFT, "age", "maximum 101"))
    left, age: maximum 101
    >>> print(FromData(Side.LEFT, "", "encoding latin-1"))
    left: encoding latin-1
    """

    side: Side
    attribute: str
    text: str

    def __str__(self) -> str:
        about = f"{self.side}, {self.attribute}" if self.attribute else str(self.side)
        return f"{about}: {self.text}"


def from_data(descriptor: Descriptor) -> tuple[FromData, ...]:
    """Return the declarations of a valid draft that still equal the data.

    A draft notes under `redveil.draft.taken` of each field and resource what it took. A note that
    is only a remark is returned as it is, because it does not tell whether the owner changed
    anything.

    >>> age = {"name": "age", "type": "number", "constraints": {"minimum": 0, "maximum": 101},
    ...        "redveil": {"draft": {"remark": "…", "taken": {"minimum": 18, "maximum": 101}}}}
    >>> table = {"schema": {"primaryKey": "id", "fields": [{"name": "id"}, age]}}
    >>> [str(one) for one in from_data({"resources": [table]})]
    ['left, age: maximum 101']
    """
    found: list[FromData] = []
    for side, resource in zip(Side, descriptor["resources"], strict=False):
        table = resource["schema"]
        found += [FromData(side, "", text) for text in still_of_table(resource)]
        for field in table["fields"]:
            if field["name"] not in _keys(table):
                missing = table.get("missingValues", [""])
                texts = still_taken(field, missing)
                found += [FromData(side, field["name"], text) for text in texts]
    return tuple(found)


def accepted(descriptor: Descriptor) -> Descriptor:
    """Return a valid descriptor as its owner declares it: with an id, without notes of a draft.

    >>> accepted({"id": "7e57", "resources": []})
    {'id': '7e57', 'resources': [], 'redveil': {'status': 'declared'}}
    """
    rest = {key: value for key, value in descriptor.items() if key != "id"}
    return {
        "id": descriptor.get("id") or new_id(),
        **rest,
        "resources": [_without_notes(one) for one in descriptor["resources"]],
        "redveil": {**(descriptor.get("redveil") or {}), "status": "declared"},
    }


def _without_notes(resource: Descriptor) -> Descriptor:
    fields = [_without_note(field) for field in resource["schema"]["fields"]]
    return {**_without_note(resource), "schema": {**resource["schema"], "fields": fields}}


def _without_note(part: Descriptor) -> Descriptor:
    """Return a field or a resource without the note of a draft."""
    extras = part.get("redveil")
    if not isinstance(extras, Mapping) or "draft" not in extras:
        return part
    rest = {key: value for key, value in extras.items() if key != "draft"}
    plain = {key: value for key, value in part.items() if key != "redveil"}
    return plain | ({"redveil": rest} if rest else {})


def _keys(table: Mapping[str, Any]) -> list[str]:
    key = table.get("primaryKey")
    return [key] if isinstance(key, str) else list(key or ())


def still_of_table(resource: Descriptor) -> Iterator[str]:
    """Yield what of a table still equals the data, in words."""
    table, dialect = resource["schema"], resource.get("dialect") or {}
    taken = _taken(resource.get("redveil"))
    now = {
        "primaryKey": _keys(table),
        "encoding": resource.get("encoding"),
        "delimiter": dialect.get("delimiter"),
    }
    for key, value in taken.items():
        if key == "missingValues" and isinstance(value, list):
            # One by one: those that are added do not make the others known.
            still = [text for text in value if text in table.get("missingValues", [""])]
            if still:
                yield _in_words(key, still)
        elif key in now and now[key] == value:
            yield _in_words(key, value)


def _taken(extras: object) -> Mapping[str, object]:
    """Return what a draft took, by the `redveil` of a field or resource."""
    note = extras.get("draft") if isinstance(extras, Mapping) else None
    taken = note.get("taken") if isinstance(note, Mapping) else None
    return taken if isinstance(taken, Mapping) else {}


def still_taken(field: Descriptor, missing: object) -> Iterator[str]:
    """Yield what in a field still equals the data, in words."""
    extras = field.get("redveil") or {}
    note, taken = extras.get("draft"), _taken(extras)
    if extras.get("use") is False:
        if taken.get("use") is False:
            yield _in_words("use", value=False)
        return
    if note and not isinstance(note, Mapping):
        yield str(note)
        return
    now = FieldReader("", field, missing=missing).attribute()
    for key, value in taken.items():
        # By what is declared, not by how it is written.
        then = FieldReader("", _with(field, key, value), missing=missing).attribute()
        if not now or not then or _unordered(now) != _unordered(then):
            continue
        if _matters(key, field, now) and (key != "type" or field.get("type") == value):
            yield _in_words(key, list(now.categories) if key == "enum" else value)


def _with(field: Descriptor, key: str, value: object) -> Descriptor:
    """Return a field with one declaration as it was in the draft."""
    if key in WRITTEN:
        return {**field, key: value}
    part = "redveil" if key in _UNDER_REDVEIL else "constraints"
    return {**field, part: {**(field.get(part) or {}), key: value}}


def _matters(key: str, field: Descriptor, attribute: Attribute) -> bool:
    """Return whether a declaration still means anything, if its owner has changed the kind."""
    labels = "enum" in (field.get("constraints") or {}) or "categories" in field
    match key:
        case "required" | "type":
            return True
        case "trueValues" | "falseValues":
            return attribute.kind is Kind.BOOLEAN
        case "decimalChar" | "groupChar":
            return attribute.kind is Kind.NUMERIC
        case "format":
            return attribute.date is not None
        case _:
            return attribute.kind is not Kind.BOOLEAN and (key == "enum") == labels


def _unordered(attribute: Attribute) -> Attribute:
    """Return an attribute without the order of its categories: an owner may only have sorted."""
    return replace(attribute, categories=tuple(sorted(attribute.categories)))


def _in_words(key: str, value: object) -> str:
    if key == "cuts" and isinstance(value, Mapping):
        value = value.get("values", value.get("method"))
    if isinstance(value, list):
        what = f"{len(value)} categories" if key == "enum" else _NAMES.get(key, key)
        return f"{what}: {', '.join(map(str, value))}"
    match key:
        case "required":
            return "required: no value is missing"
        case "use":
            return "not used"
        case "cuts":
            return f"cut points: {value}"
        case "delimiter" | "decimalChar" | "groupChar":
            # In quotation marks: it may be a space or a tab.
            return f"{key} {json.dumps(value, ensure_ascii=False)}"
        case _:
            return f"{key} {value}"
