"""Tables about nobody, drawn from a schema alone: to try out a question before paying for one."""

from __future__ import annotations

import secrets
from datetime import timedelta

import pyarrow as pa

from redveil.base.csv_text import csv_text
from redveil.schema import Attribute, Kind, Schema, View
from redveil.schema.date_format import DEFAULT
from redveil.schema.dates import DateRule


def dummy_tables(schema: Schema, entities: int) -> tuple[str, str]:
    """Return two CSV texts that fit a schema. Values are drawn evenly and independently.

    >>> from redveil.data.synthetic import clinic_schema
    >>> left, right = dummy_tables(clinic_schema(), 3)
    >>> len(left.splitlines())
    4
    """
    keys = [f"dummy-{number}" for number in range(1, entities + 1)]
    return _table(schema.left, keys), _table(schema.right, keys)


def _table(view: View, keys: list[str]) -> str:
    columns = {one.name: [_value(one) for _ in keys] for one in view.attributes}
    return csv_text(pa.table({view.key: keys, **columns}))


def _value(attribute: Attribute) -> str:
    """Return a value as it is written in a file."""
    if attribute.kind is Kind.BOOLEAN:
        return secrets.choice((attribute.true_values[0], attribute.false_values[0]))
    if attribute.kind is Kind.NUMERIC:
        # A bin first, so that heavy tails do not take all; then a place in it.
        edges = (attribute.minimum, *attribute.cuts, attribute.maximum)
        place = secrets.randbelow(len(edges) - 1)
        low, high = edges[place], edges[place + 1]
        number = low + (high - low) * secrets.randbelow(10**6) / 10**6
        text = str(round(number)) if attribute.integer else repr(float(number))
        return text.replace(".", attribute.decimal_char)
    if attribute.date is not None:
        return _date(attribute.date)
    return secrets.choice(attribute.categories)


def _date(rule: DateRule) -> str:
    days = (rule.maximum - rule.minimum).days
    day = rule.minimum + timedelta(days=secrets.randbelow(days + 1))
    if rule.format != DEFAULT:
        return day.strftime(rule.format)
    return day.isoformat()[:7] if rule.type == "yearmonth" else day.isoformat()
