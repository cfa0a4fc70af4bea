"""The form of one schema file: what it shows, what an edit would mean, and saving."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any, Final

from redveil.base.file_kind import FileKind
from redveil.base.files import must_be_changeable, must_be_writable, replace_text, typed
from redveil.errors import InputError, SchemaError
from redveil.schema import Schema
from redveil.schema.acceptance import still_of_table, still_taken
from redveil.schema.attribute import Attribute, Kind
from redveil.schema.field import FieldReader
from redveil.schema.problem import Problem
from redveil.schema.reader import parse, read_descriptor
from redveil.schema.view import Side
from redveil.schema_form.row import Field, Row, applied, copied, points_of, row_of

Descriptor = dict[str, Any]
_PACKAGE: Final = ("unit", "budget", "budget_delta")


class UnreadableError(InputError):
    """A request that does not fit the form."""


@dataclass(frozen=True, slots=True)
class Saved:
    """What came of saving.

    problems: by where they are; nothing was written if there are any
    kept:     where the previous schema is kept
    """

    problems: list[dict[str, Any]]
    kept: Path | None = None


class Form:
    """A schema file that is being edited. Threads may ask at once.

    path: the file; it may have problems, but must have two tables with named columns
    """

    def __init__(self, path: Path) -> None:
        must_be_changeable(path)
        self.path = path
        self._lock = Lock()
        self._raw, self._content = read_descriptor(path)
        must_be_writable(path, FileKind.SCHEMA)
        _, problems = parse(self._raw, str(path), Schema)
        if not _has_tables(self._raw):
            first = problems[0] if problems else Problem(str(path), "no two tables", "declare them")
            raise SchemaError(f"{first} (repair that in the file; the form cannot show it)")

    @property
    def version(self) -> str:
        """What the file contains, as a short text: another one if it was saved since."""
        return hashlib.sha256(self._content).hexdigest()[:16]

    def shown(self) -> dict[str, Any]:
        """Return everything that the form shows."""
        with self._lock:
            extras = _mapping(self._raw.get("redveil"))
            return {
                "version": self.version,
                "file": str(self.path),
                "accept": f"redveil schema accept {typed(self.path)}",
                "name": str(self._raw.get("name", "dataset")),
                "id": self._raw.get("id"),
                "isDraft": extras.get("status") == "draft",
                "package": {"name": str(self._raw.get("name", "")), **_package(extras)},
                "unmatched": _groups(extras.get("unmatched")),
                "views": [self._view(side, self._raw) for side in Side],
                "problems": self._located(self._raw, []),
            }

    def preview(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """Return what a column would be with an edited row: cut points, and problems."""
        side, number = _place(asked)
        with self._lock:
            table = _table(self._raw, side)
            if not 0 <= number < len(table["fields"]):
                raise UnreadableError("no such column; reload the page")
            field, missing = table["fields"][number], table.get("missingValues", [""])
        row = _row(asked.get("row"), row_of(field))
        changed, problems = applied(field, row, "")
        return _column(changed, missing, problems)

    def save(self, asked: Mapping[str, Any]) -> Saved:
        """Write what was edited, if the schema is valid then and the file is as it was."""
        with self._lock:
            if asked.get("version") != self.version:
                raise InputError(
                    f"{self.path}: saved from another window since this page was loaded; reload it"
                )
            changed, problems = self._edited(asked)
            located = self._located(changed, problems)
            if located:
                return Saved(located)
            text = json.dumps(changed, indent=2, ensure_ascii=False) + "\n"
            kept = replace_text(self.path, text, FileKind.SCHEMA, read=self._content)
            self._raw, self._content = changed, text.encode()
            return Saved([], kept)

    def _view(self, side: Side, raw: Descriptor) -> dict[str, Any]:
        resource = raw["resources"][list(Side).index(side)]
        table = resource["schema"]
        missing = table.get("missingValues", [""])
        keys = table.get("primaryKey")
        return {
            "side": side.value,
            "name": str(resource.get("name", side.value)),
            "path": str(resource.get("path", "")),
            "missingValues": _missing_values(table),
            "fromData": _still(still_of_table, resource),
            "columns": [
                {
                    "number": number,
                    "name": field["name"],
                    "row": row_of(field),
                    **_column(field, missing, []),
                }
                for number, field in enumerate(table["fields"])
                if field["name"] not in ([keys] if isinstance(keys, str) else keys or ())
            ],
            "key": keys if isinstance(keys, str) else ", ".join(map(str, keys or ())),
        }

    def _edited(self, asked: Mapping[str, Any]) -> tuple[Descriptor, list[Problem]]:
        """Return the descriptor with all edits, and what in them cannot be read."""
        changed, problems = copied(self._raw), list[Problem]()
        for one in _list(asked.get("rows")):
            side, number = _place(_mapping(one))
            fields = _table(changed, side)["fields"]
            if not 0 <= number < len(fields):
                raise UnreadableError("no such column; reload the page")
            row = _row(_mapping(one).get("row"), row_of(fields[number]))
            place = f"{self.path}, {side}, attribute {fields[number]['name']}"
            fields[number], wrong = applied(fields[number], row, place)
            problems += wrong
        for side in Side:
            given = _mapping(asked.get("missingValues")).get(side.value)
            if given is not None and given != _missing_values(_table(changed, side)):
                _table(changed, side)["missingValues"] = _strings(given)
        problems += self._edit_package(changed, asked)
        return changed, problems

    def _edit_package(self, changed: Descriptor, asked: Mapping[str, Any]) -> list[Problem]:
        """Set what is declared about the data set as a whole."""
        before = _mapping(self._raw.get("redveil"))
        extras = dict(before)
        given = _mapping(asked.get("package"))
        name = str(given.get("name", self._raw.get("name", ""))).strip()
        if name != str(self._raw.get("name", "")):
            changed["name"] = name or "dataset"
        for key in _PACKAGE:
            if key not in given or str(given[key]) == _package(before)[key]:
                continue
            text = str(given[key]).strip()
            if text:
                extras[key] = text
            elif key == "budget" and before.get(key) is not None:
                remedy = "write another number; without one nobody would keep to it"
                return [Problem(str(self.path), "the budget would be lost", remedy)]
            else:
                extras.pop(key, None)
        if asked.get("unmatched", _groups(before.get("unmatched"))) != _groups(
            before.get("unmatched")
        ):
            groups = [_strings(group) for group in _list(asked["unmatched"])]
            extras.pop("unmatched", None)
            if any(groups):
                extras["unmatched"] = [group for group in groups if group]
        if extras != before:
            changed["redveil"] = extras
        return []

    def _located(self, raw: Descriptor, problems: list[Problem]) -> list[dict[str, Any]]:
        """Return the problems of a descriptor, each with the column that it is about."""
        # What cannot be read has left a gap, which is not a problem of its own.
        gaps = {problem.place for problem in problems}
        _, more = parse(raw, str(self.path), Schema)
        found = [*problems, *(one for one in more if one.place not in gaps)]
        places = {
            f"{self.path}, {side}, attribute {field['name']}": (side.value, number)
            for side in Side
            for number, field in enumerate(_table(raw, side)["fields"])
        }
        return [
            {
                "side": places.get(one.place, _side_of(one.place, str(self.path)))[0],
                "number": places.get(one.place, ("", None))[1],
                "text": f"{one.what}; {one.remedy}",
            }
            for one in found
        ]


def _column(field: Field, missing: object, problems: list[Problem]) -> dict[str, Any]:
    """Return what a column means: in a line, its cut points, what comes from the data, problems."""
    reader = FieldReader("", field, missing=missing)
    attribute = reader.attribute()
    found = problems or reader.problems
    points = [] if attribute is None else points_of(attribute)
    return {
        "summary": "" if attribute is None else _summary(attribute),
        "points": points,
        "splits": 0 if attribute is None else attribute.splits,
        "fromData": _still(still_taken, field, missing),
        "problems": [f"{one.what}; {one.remedy}" for one in found],
    }


def _summary(attribute: Attribute) -> str:
    """Return what is declared of an attribute, in a line."""
    if attribute.kind is Kind.BOOLEAN:
        # There is nothing to add to its kind.
        return ""
    if attribute.date is not None:
        bounds = f"{attribute.date.minimum} to {attribute.date.maximum}"
        return f"{bounds}, {_counted(len(attribute.categories) - 1, 'cut point')}"
    if attribute.kind is Kind.NUMERIC:
        bounds = f"{attribute.minimum:.12g} to {attribute.maximum:.12g}"
        return f"{bounds}, {_counted(len(attribute.cuts), 'cut point')}"
    some = ", ".join(attribute.categories[:4])
    return f"{len(attribute.categories)} categories: {some}" + (
        ", …" if len(attribute.categories) > 4 else ""
    )


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


def _still(listed: Any, *parts: object) -> list[str]:
    """Return what still equals the data; of what is not valid, nothing can be said."""
    try:
        return list(listed(*parts))
    except (TypeError, AttributeError, KeyError, ValueError):
        return []


def _has_tables(raw: Descriptor) -> bool:
    """Return whether there are two tables whose columns have names of their own."""
    resources = raw.get("resources")
    if not isinstance(resources, list) or len(resources) != len(Side):
        return False
    for one in resources:
        fields = _mapping(_mapping(one).get("schema")).get("fields")
        if not isinstance(fields, list) or not isinstance(one["schema"], dict):
            return False
        names = [_mapping(field).get("name") for field in fields]
        if not all(isinstance(name, str) and name for name in names):
            return False
        if len(set(names)) < len(names):
            return False
    return True


def _table(raw: Descriptor, side: Side) -> Descriptor:
    table: Descriptor = raw["resources"][list(Side).index(side)]["schema"]
    return table


def _missing_values(table: Mapping[str, Any]) -> list[str]:
    declared = table.get("missingValues", [""])
    return [one for one in _list(declared) if isinstance(one, str)]


def _package(extras: Mapping[str, Any]) -> dict[str, str]:
    return {key: "" if extras.get(key) is None else str(extras[key]) for key in _PACKAGE}


def _groups(given: object) -> list[list[str]]:
    listed = given if isinstance(given, list) else []
    return [[str(name) for name in group] for group in listed if isinstance(group, list)]


def _side_of(place: str, file: str) -> tuple[str, None]:
    """Return the table that a problem is about, empty if it is about the data set."""
    rest = place.removeprefix(f"{file}, ")
    return (rest if rest in list(Side) else ""), None


def _place(asked: Mapping[str, Any]) -> tuple[Side, int]:
    side, number = asked.get("side"), asked.get("number")
    if side not in list(Side) or not isinstance(number, int) or isinstance(number, bool):
        raise UnreadableError("no such column; reload the page")
    return Side(str(side)), number


def _row(given: object, before: Row) -> Row:
    """Return a row as it was sent, if it has the parts of a row and each is of its kind."""
    row = dict(_mapping(given))
    if row.keys() != before.keys():
        raise UnreadableError("not a row of this form; reload the page")
    for key, value in before.items():
        if isinstance(value, list):
            row[key] = _strings(row[key])
        elif isinstance(value, dict):
            row[key] = {part: str(_mapping(row[key]).get(part, "")) for part in value}
        elif not isinstance(row[key], type(value)):
            raise UnreadableError("not a row of this form; reload the page")
    return row


def _mapping(given: object) -> Mapping[str, Any]:
    return given if isinstance(given, Mapping) else {}


def _list(given: object) -> Sequence[object]:
    return given if isinstance(given, list) else []


def _strings(given: object) -> list[str]:
    if not isinstance(given, list) or not all(isinstance(one, str) for one in given):
        raise UnreadableError("not a list of texts; reload the page")
    return list(given)
