"""Write schemas as Frictionless data package descriptors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from redveil.schema.attribute import Attribute, Kind
from redveil.schema.purchase import Purchase
from redveil.schema.view import View

if TYPE_CHECKING:
    from redveil.schema.model import Schema

Json = dict[str, object]


def describe(schema: Schema) -> Json:
    """Return the descriptor of a schema, with explicit cut points.

    >>> from redveil.data.synthetic import clinic_schema
    >>> describe(clinic_schema())["redveil"]["unit"]
    'patient'
    """
    extras: Json = {"version": 1, "status": schema.status.value, "unit": schema.unit}
    if schema.budget is not None:
        extras["budget"] = str(schema.budget)
    if schema.budget_delta:
        extras["budget_delta"] = str(schema.budget_delta)
    if schema.bought:
        extras["bought"] = [describe_purchase(one) for one in schema.bought]
    return {
        "name": schema.name,
        **({} if schema.id is None else {"id": schema.id}),
        "resources": [_resource(schema.left), _resource(schema.right)],
        "redveil": extras,
    }


def describe_purchase(one: Purchase) -> Json:
    """Describe one purchase of cut points.

    >>> from fractions import Fraction
    >>> describe_purchase(Purchase(Fraction(1, 10), right=("cost",), software="redveil 1"))
    {'epsilon': '1/10', 'columns': {'left': [], 'right': ['cost']}, 'software': 'redveil 1'}
    """
    columns = {"left": list(one.left), "right": list(one.right)}
    return {"epsilon": str(one.epsilon), "columns": columns, "software": one.software}


def _resource(view: View) -> Json:
    """Describe one view as a tabular resource."""
    resource: Json = {"name": view.name, "path": view.path or f"{view.name}.csv"}
    if view.encoding != "utf-8":
        resource["encoding"] = view.encoding
    if view.delimiter != ",":
        resource["dialect"] = {"delimiter": view.delimiter}
    resource["schema"] = {
        "primaryKey": [view.key],
        "missingValues": list(view.missing_values),
        "fields": [
            {"name": view.key, "type": "string"},
            *(describe_attribute(a) for a in view.attributes),
        ],
    }
    return resource


def describe_attribute(attribute: Attribute) -> Json:
    """Describe one attribute as a field.

    >>> describe_attribute(Attribute("sick", Kind.BOOLEAN, required=True))
    {'name': 'sick', 'type': 'boolean', 'constraints': {'required': True}}
    """
    constraints: Json = {"required": True} if attribute.required else {}
    field: Json = {"name": attribute.name}
    extras: Json = {}
    if attribute.kind is Kind.BOOLEAN:
        field["type"] = "boolean"
        plain = Attribute("plain", Kind.BOOLEAN)
        if attribute.true_values != plain.true_values:
            field["trueValues"] = list(attribute.true_values)
        if attribute.false_values != plain.false_values:
            field["falseValues"] = list(attribute.false_values)
    elif attribute.kind is Kind.NUMERIC:
        field["type"] = "number"
        constraints |= {"minimum": float(attribute.minimum), "maximum": float(attribute.maximum)}
        extras["cuts"] = {"method": "explicit", "values": [float(cut) for cut in attribute.cuts]}
    else:
        field["type"] = "string"
        constraints["enum"] = list(attribute.categories)
        if attribute.kind is Kind.ORDINAL:
            extras["kind"] = "ordinal"
    if constraints:
        field["constraints"] = constraints
    if extras:
        field["redveil"] = extras
    return field
