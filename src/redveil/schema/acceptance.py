"""Accepting a draft: what in it still equals the data, and the descriptor once it is declared."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from redveil.schema.attribute import Attribute, Kind
from redveil.schema.field import FieldReader
from redveil.schema.identifier import new_id
from redveil.schema.view import Side

Descriptor = dict[str, Any]


@dataclass(frozen=True, slots=True)
class FromData:
    """A declaration of one attribute that still equals what its draft took from the data.

    >>> print(FromData(Side.LEFT, "age", "maximum 101"))
    left, age: maximum 101
    """

    side: Side
    attribute: str
    text: str

    def __str__(self) -> str:
        return f"{self.side}, {self.attribute}: {self.text}"


def from_data(descriptor: Descriptor) -> tuple[FromData, ...]:
    """Return the declarations of a valid draft that still equal the data.

    A draft notes under each field's `redveil.draft.taken` what it took. A note that is only a
    remark is returned as it is, because it does not tell whether the owner changed anything.

    >>> age = {"name": "age", "type": "number", "constraints": {"minimum": 0, "maximum": 101},
    ...        "redveil": {"draft": {"remark": "…", "taken": {"minimum": 18, "maximum": 101}}}}
    >>> table = {"schema": {"primaryKey": "id", "fields": [{"name": "id"}, age]}}
    >>> [str(one) for one in from_data({"resources": [table]})]
    ['left, age: maximum 101']
    """
    return tuple(
        FromData(side, field["name"], text)
        for side, resource in zip(Side, descriptor["resources"], strict=False)
        for field in resource["schema"]["fields"]
        if field["name"] not in _keys(resource["schema"])
        for text in _still_taken(field, resource["schema"].get("missingValues", [""]))
    )


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
    return {**resource, "schema": {**resource["schema"], "fields": fields}}


def _without_note(field: Descriptor) -> Descriptor:
    extras = field.get("redveil")
    if not extras or "draft" not in extras:
        return field
    rest = {key: value for key, value in extras.items() if key != "draft"}
    plain = {key: value for key, value in field.items() if key != "redveil"}
    return plain | ({"redveil": rest} if rest else {})


def _keys(table: Mapping[str, Any]) -> list[str]:
    key = table.get("primaryKey")
    return [key] if isinstance(key, str) else list(key or ())


def _still_taken(field: Descriptor, missing: object) -> Iterator[str]:
    """Yield what in a field still equals the data, in words."""
    extras = field.get("redveil") or {}
    note = extras.get("draft")
    if not note or extras.get("use") is False:
        return
    if not isinstance(note, Mapping):
        yield str(note)
        return
    now = FieldReader("", field, missing=missing).attribute()
    taken = note.get("taken")
    for key, value in taken.items() if isinstance(taken, Mapping) else ():
        # By what is declared, not by how it is written.
        then = FieldReader("", _with(field, key, value), missing=missing).attribute()
        if now and then and _unordered(now) == _unordered(then) and _matters(key, field, now):
            yield _in_words(key, list(now.categories) if key == "enum" else value)


def _with(field: Descriptor, key: str, value: object) -> Descriptor:
    """Return a field with one declaration as it was in the draft."""
    part = "redveil" if key == "cuts" else "constraints"
    return {**field, part: {**(field.get(part) or {}), key: value}}


def _matters(key: str, field: Descriptor, attribute: Attribute) -> bool:
    """Return whether a declaration still means anything, if its owner has changed the kind."""
    if key == "required":
        return True
    labels = "enum" in (field.get("constraints") or {}) or "categories" in field
    return attribute.kind is not Kind.BOOLEAN and (key == "enum") == labels


def _unordered(attribute: Attribute) -> Attribute:
    """Return an attribute without the order of its categories: an owner may only have sorted."""
    return replace(attribute, categories=tuple(sorted(attribute.categories)))


def _in_words(key: str, value: object) -> str:
    if key == "required":
        return "required: no value is missing"
    if key == "enum" and isinstance(value, list):
        return f"{len(value)} categories: {', '.join(map(str, value))}"
    if key == "cuts" and isinstance(value, Mapping):
        values = value.get("values")
        detail = ", ".join(map(str, values)) if isinstance(values, list) else value.get("method")
        return f"cut points: {detail}"
    return f"{key} {value}"
