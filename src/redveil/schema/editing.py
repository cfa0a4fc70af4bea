"""Change a schema in Python. What is given is read and checked like a schema file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from redveil.errors import SchemaError
from redveil.schema.attribute import Attribute
from redveil.schema.descriptor import describe_attribute
from redveil.schema.field import FieldReader
from redveil.schema.view import Side

if TYPE_CHECKING:
    from redveil.schema.model import Schema

Bound: TypeAlias = float | str | date
Cuts: TypeAlias = str | Sequence[Bound] | Mapping[str, object]

# What can be declared about each kind, besides whether values can be missing. A date attribute is
# ordinal, but is declared by bounds and cut points.
_NUMBERS: Final = ("minimum", "maximum", "cuts")
_SUITABLE: Final[dict[str, tuple[str, ...]]] = {
    "numeric": _NUMBERS,
    "date": _NUMBERS,
    "categorical": ("categories",),
    "ordinal": ("categories",),
    "boolean": ("true_values", "false_values"),
}
# Declared in the field itself, not in its constraints.
_OF_FIELD: Final = ("true_values", "false_values", "title")
_TYPES: Final = {"numeric": "number", "date": "date", "boolean": "boolean"}


def with_attribute(
    schema: Schema, name: str, side: str | None, declared: Mapping[str, Any]
) -> Schema:
    """Return a schema in which an attribute is declared anew, or added.

    declared: what `Schema.with_attribute` takes; None means unchanged
    """
    where = _side(schema, name, side)
    if where is None:
        raise SchemaError(f"attribute {name}: in neither view; to add it, give its side")
    view, place = schema.view(where), f"{where}, attribute {name}"
    if name == view.key:
        raise SchemaError(f"{place}: it is the entity key; declare another column")
    here = {one.name: one for one in view.attributes}
    known = {key: _plain(value) for key, value in declared.items() if value is not None}
    reader = FieldReader(place, _field(name, here.get(name), known, place))
    attribute = reader.attribute()
    if attribute is None:
        raise SchemaError(str(reader.problems[0]))
    return _with_attributes(schema, where, tuple((here | {name: attribute}).values()))


def without(schema: Schema, name: str, side: str | None) -> Schema:
    """Return a schema without an attribute; its column will be ignored."""
    where = _side(schema, name, side)
    if where is None or name not in schema.view(where).names:
        place = "in neither view" if where is None else f"not in the {where} view"
        raise SchemaError(f"attribute {name}: {place}; check the name")
    kept = tuple(one for one in schema.view(where).attributes if one.name != name)
    groups = (group.without((where, name)) for group in schema.unmatched)
    left = replace(schema, unmatched=tuple(group for group in groups if group.forbids))
    return _with_attributes(left, where, kept)


def with_package(schema: Schema, declared: Mapping[str, Any]) -> Schema:
    """Return a schema with another name, unit or budget, or with other unmatched groups.

    declared: what `Schema.replace` takes; None means unchanged
    """
    package: dict[str, Any] = schema.to_dict()
    given = {key: _plain(value) for key, value in declared.items() if value is not None}
    # Groups are lists; everything else is written as text.
    known = {key: value if key == "unmatched" else str(value) for key, value in given.items()}
    name = known.pop("name", schema.name)
    return type(schema).from_dict(package | {"name": name, "redveil": package["redveil"] | known})


def _side(schema: Schema, name: str, given: str | None) -> Side | None:
    """Return the side that is given, or that has the attribute; None if neither view has it."""
    if given is not None:
        if given not in list(Side):
            raise SchemaError(f"unknown side; use {' or '.join(Side)}")
        return Side(given)
    found = [side for side in Side if name in schema.view(side).names]
    if len(found) > 1:
        raise SchemaError(f"attribute {name}: in both views; say which one with side")
    return found[0] if found else None


def _with_attributes(schema: Schema, side: Side, attributes: tuple[Attribute, ...]) -> Schema:
    view = replace(schema.view(side), attributes=attributes)
    return replace(schema, left=view) if side is Side.LEFT else replace(schema, right=view)


def _field(
    name: str, earlier: Attribute | None, known: Mapping[str, Any], place: str
) -> dict[str, Any]:
    """Return a field of a descriptor: what is known and, if it suits the kind, what was before."""
    before, kind = _kind_of(earlier), _kind(_kind_of(earlier), known, place)
    for key in known:
        if key not in (*_SUITABLE[kind], "kind", "required", "title"):
            raise SchemaError(f"{place}: {key} does nothing for a {kind} attribute; leave it out")
    field: dict[str, Any] = {"name": name, "type": _TYPES.get(kind, "string")}
    if earlier is not None and (kind == before or {kind, before} == {"categorical", "ordinal"}):
        field = describe_attribute(earlier)
    elif earlier is not None and earlier.title:
        field["title"] = earlier.title
    extras = {**field.get("redveil", {}), **({} if kind == "date" else {"kind": kind})}
    constraints = dict(field.get("constraints", {}))
    if earlier is not None:
        constraints["required"] = earlier.required
    if known.keys() & {"minimum", "maximum"}:
        # Cut points for other bounds may have come from the data.
        extras.pop("cuts", None)
    places = {"categories": "enum", "true_values": "trueValues", "false_values": "falseValues"}
    for key, value in known.items():
        part = {"cuts": extras}.get(key, field if key in _OF_FIELD else constraints)
        if key != "kind":
            part[places.get(key, key)] = value
    return field | {"constraints": constraints, "redveil": extras}


def _kind_of(attribute: Attribute | None) -> str | None:
    if attribute is None:
        return None
    return "date" if attribute.date is not None else attribute.kind.value


def _kind(before: str | None, known: Mapping[str, Any], place: str) -> str:
    """Return the kind that is given, or that what is given implies."""
    if "kind" in known:
        if known["kind"] not in _SUITABLE:
            raise SchemaError(f"{place}: unknown kind; use one of {', '.join(_SUITABLE)}")
        return str(known["kind"])
    if before is not None and (
        known.keys() <= {"required", "title"} or known.keys() & {*_SUITABLE[before]}
    ):
        return before
    for kind in ("numeric", "categorical", "boolean"):
        if known.keys() & {*_SUITABLE[kind]}:
            return kind
    raise SchemaError(f"{place}: nothing declared; give bounds, categories or a kind")


def _plain(value: Any) -> Any:
    """Return arrays and series as lists, NumPy numbers as Python's, and dates in ISO 8601.

    >>> import numpy as np
    >>> _plain(np.array([18, 65])), _plain(np.float64(3)), _plain(range(2)), _plain("decades")
    ([18, 65], 3.0, [0, 1], 'decades')
    >>> _plain([date(2019, 12, 31), "2020"])
    ['2019-12-31', '2020']
    """
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, date):
        # A datetime, such as a pandas Timestamp, is a date too.
        return value.strftime("%Y-%m-%d")
    return [_plain(one) for one in value] if isinstance(value, range | tuple | list) else value
