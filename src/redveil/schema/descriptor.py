"""Write schemas as Frictionless data package descriptors."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING

from redveil.schema.attribute import Attribute, Kind
from redveil.schema.date_format import DEFAULT
from redveil.schema.dates import DateRule
from redveil.schema.number_format import implied_decimal
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
    if schema.unmatched:
        both = schema.left, schema.right
        extras["unmatched"] = [group.described(*both) for group in schema.unmatched]
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
    dialect: Json = {} if view.delimiter is None else {"delimiter": view.delimiter}
    if view.sheet is not None:
        dialect["sheetName" if isinstance(view.sheet, str) else "sheetNumber"] = view.sheet
    if dialect:
        resource["dialect"] = dialect
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
    if attribute.title:
        field["title"] = attribute.title
    extras: Json = {}
    if attribute.kind is Kind.BOOLEAN:
        field["type"] = "boolean"
        plain = Attribute("plain", Kind.BOOLEAN)
        if attribute.true_values != plain.true_values:
            field["trueValues"] = list(attribute.true_values)
        if attribute.false_values != plain.false_values:
            field["falseValues"] = list(attribute.false_values)
    elif attribute.kind is Kind.NUMERIC:
        field |= _number_format(attribute)
        low, high, *cuts = (
            _number(x, integer=attribute.integer)
            for x in (attribute.minimum, attribute.maximum, *attribute.cuts)
        )
        constraints |= {"minimum": low, "maximum": high}
        extras["cuts"] = {"method": "explicit", "values": cuts}
    elif attribute.date is not None:
        field |= {"type": attribute.date.type}
        if attribute.date.format != DEFAULT:
            field["format"] = attribute.date.format
        constraints |= describe_dates(attribute.date)
        extras["cuts"] = list(attribute.categories[:-1])
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


def describe_dates(rule: DateRule) -> Json:
    """Describe the bounds of dates in the field's own format, as the standard asks.

    >>> describe_dates(DateRule(date(2010, 1, 1), date(2019, 12, 31), format="%d.%m.%Y"))
    {'minimum': '01.01.2010', 'maximum': '31.12.2019'}
    >>> describe_dates(DateRule(date(2010, 1, 1), date(2019, 12, 1), "yearmonth"))
    {'minimum': '2010-01', 'maximum': '2019-12'}
    """
    return {
        "minimum": _bound(rule.minimum, rule, at_end=False),
        "maximum": _bound(rule.maximum, rule, at_end=True),
    }


def _bound(day: date, rule: DateRule, *, at_end: bool) -> str:
    if rule.format != DEFAULT:
        text = rule.lexical.write(day, at_end=at_end)
        # Two digits of a year, or a format without days, may not tell which day it is.
        return text if rule.lexical.read(text) == day else day.isoformat()
    if rule.type == "datetime":
        return f"{day.isoformat()}T{'23:59:59' if at_end else '00:00:00'}Z"
    is_month = rule.type == "yearmonth" and day.day == 1
    return day.isoformat()[:7] if is_month else day.isoformat()


def _number_format(attribute: Attribute) -> Json:
    """Return the type of a numeric field, and how its numbers are written."""
    described: Json = {"type": "integer" if attribute.integer else "number"}
    if attribute.decimal_char != implied_decimal(attribute.group_char, integer=attribute.integer):
        described["decimalChar"] = attribute.decimal_char
    if attribute.group_char:
        described["groupChar"] = attribute.group_char
    return described


def _number(x: float, *, integer: bool) -> float:
    return int(x) if integer and float(x).is_integer() else float(x)
