"""A field of a schema as a row of the form, and a row as a field again.

A row holds what a person types: texts, lists of texts and choices. Only what differs from the row
that was shown is written into the field, so whatever else stands in it stays as it is.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from redveil.schema.attribute import Attribute, Kind
from redveil.schema.cuts import METHODS
from redveil.schema.dates import DATE_TYPES, PERIODS
from redveil.schema.problem import Problem

Field = dict[str, Any]
Row = dict[str, Any]

NUMBERS: Final = ("number", "integer", "year")
LABELS: Final = ("categories", "ordered")
#: What a column can be, as the form names it.
KINDS: Final = ("boolean", *NUMBERS, *LABELS, *DATE_TYPES)
#: Cut points as they follow from the bounds.
USUAL: Final = "usual"
_LISTED: Final = "explicit"
_SEPARATED: Final = re.compile(r"[\s,;]+")
_NUMBER: Final = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,3})?", re.ASCII)
# Which parts of a field belong to which kinds; the others go when the kind is changed.
_PARTS: Final[dict[str, tuple[str, ...]]] = {
    "trueValues": ("boolean",),
    "falseValues": ("boolean",),
    "decimalChar": NUMBERS,
    "groupChar": NUMBERS,
    "format": DATE_TYPES,
    "categories": LABELS,
    "categoriesOrdered": LABELS,
    "constraints.enum": LABELS,
    "constraints.minimum": (*NUMBERS, *DATE_TYPES),
    "constraints.maximum": (*NUMBERS, *DATE_TYPES),
    "redveil.cuts": (*NUMBERS, *DATE_TYPES),
    "redveil.kind": (),
}

# The same for the parts of a row.
_KINDS_WITH: Final = {
    **{part.rpartition(".")[2]: kinds for part, kinds in _PARTS.items() if kinds},
    "categories": LABELS,
}


def row_of(field: Mapping[str, Any]) -> Row:
    """Return a field as a row of the form. What is not there, or not right, is empty.

    >>> row = row_of({"name": "age", "type": "integer", "constraints": {"minimum": 0}})
    >>> row["kind"], row["minimum"], row["maximum"], row["cuts"]["rule"]
    ('integer', '0', '', 'usual')
    """
    constraints, extras = _inside(field, "constraints"), _inside(field, "redveil")
    return {
        "use": extras.get("use") is not False,
        "title": _text(field.get("title")),
        "kind": kind_of(field),
        "minimum": _text(constraints.get("minimum")),
        "maximum": _text(constraints.get("maximum")),
        "categories": _texts(constraints.get("enum", field.get("categories"))),
        "cuts": _cuts_of(extras.get("cuts")),
        "trueValues": _texts(field.get("trueValues")),
        "falseValues": _texts(field.get("falseValues")),
        "required": constraints.get("required") is True,
        "format": _text(field.get("format")),
        "decimalChar": _text(field.get("decimalChar")),
        "groupChar": _text(field.get("groupChar")),
    }


def kind_of(field: Mapping[str, Any]) -> str:
    """Return what a column is, as the form names it; empty if it cannot be told.

    >>> kind_of({"type": "string", "constraints": {"enum": ["f", "m"]}})
    'categories'
    >>> kind_of({"type": "date", "redveil": {"kind": "ordinal"}}), kind_of({"type": "any"})
    ('date', '')
    """
    declared, written = _inside(field, "redveil").get("kind"), field.get("type")
    labelled = "enum" in _inside(field, "constraints") or "categories" in field
    if declared == Kind.NUMERIC:
        return written if written in NUMBERS else "number"
    if declared in (Kind.CATEGORICAL, Kind.ORDINAL) and (labelled or written not in DATE_TYPES):
        return "ordered" if declared == Kind.ORDINAL else "categories"
    if "boolean" in (declared, written):
        return "boolean"
    if labelled or written == "string":
        return "ordered" if field.get("categoriesOrdered") is True else "categories"
    return str(written) if written in KINDS else ""


def copied(field: Field) -> Field:
    """Return a copy of what was read from JSON, down to its innermost parts.

    >>> field = {"constraints": {"minimum": 0}}
    >>> copied(field)["constraints"] is field["constraints"]
    False
    """
    copy: Field = json.loads(json.dumps(field))
    return copy


def applied(field: Field, row: Row, place: str) -> tuple[Field, list[Problem]]:
    """Return a field with what a row says differently, and what in the row cannot be read.

    >>> age = {"name": "age", "type": "number", "unit of age": "years"}
    >>> row = row_of(age) | {"minimum": "0", "maximum": "110"}
    >>> applied(age, row, "left, attribute age")[0]["constraints"]
    {'minimum': 0, 'maximum': 110}
    """
    before, changed = row_of(field), copied(field)
    new = {key: value for key, value in row.items() if key in before and value != before[key]}
    problems: list[Problem] = []
    if "kind" in new:
        _become(changed, str(new["kind"]))
    kind = kind_of(changed)
    # What was typed for another kind, before this one was chosen, does not count.
    new = {key: value for key, value in new.items() if kind in _KINDS_WITH.get(key, (kind,))}
    for key in ("title", "format", "decimalChar", "groupChar", "trueValues", "falseValues"):
        if key in new:
            _put(changed, key, new[key])
    if "use" in new:
        _put(changed, "redveil.use", None if new["use"] else False)
    if "required" in new:
        _put(changed, "constraints.required", new["required"] or None)
    if "categories" in new:
        changed.pop("categories", None)
        _put(changed, "constraints.enum", new["categories"])
    for key in ("minimum", "maximum"):
        if key in new:
            _put(changed, f"constraints.{key}", _bound(key, new[key], kind, place, problems))
    if "cuts" in new:
        _put(changed, "redveil.cuts", _cuts(new["cuts"], kind, place, problems))
    return changed, problems


def points_of(attribute: Attribute) -> list[str]:
    """Return the cut points of a number or a date, in order.

    >>> points_of(Attribute("age", Kind.NUMERIC, minimum=0, maximum=9, cuts=(2.0, 4.5)))
    ['2', '4.5']
    """
    if attribute.date is not None:
        return list(attribute.categories[:-1])
    return [f"{cut:.12g}" for cut in attribute.cuts] if attribute.kind is Kind.NUMERIC else []


def _become(field: Field, kind: str) -> None:
    """Change what a column is, and drop what would mean nothing then."""
    for part, kinds in _PARTS.items():
        if kind not in kinds:
            _put(field, part, None)
    field["type"] = "string" if kind in LABELS else kind
    _put(field, "categoriesOrdered", None)
    if kind == "ordered":
        _put(field, "redveil.kind", Kind.ORDINAL.value)


def _put(field: Field, part: str, value: object) -> None:
    """Set a part of a field, or remove it if there is nothing to set."""
    above, _, key = part.rpartition(".")
    if value in (None, "", []):
        inside = field.get(above) if above else field
        if isinstance(inside, dict):
            inside.pop(key, None)
            if above and not inside:
                del field[above]
        return
    if above:
        field[above] = {**_inside(field, above), key: value}
    else:
        field[key] = value


def _bound(key: str, text: object, kind: str, place: str, problems: list[Problem]) -> object:
    """Return a bound as a schema holds it: a number, or the text of a date."""
    given = str(text).strip()
    if not given or kind in DATE_TYPES:
        return given
    number = _number(given)
    if number is None:
        problems.append(Problem(place, f"the {key} is not a number", "write it as in 12.5"))
    return number


def _cuts(given: object, kind: str, place: str, problems: list[Problem]) -> object:
    """Return the rule for cut points as a schema holds it; None for the usual ones."""
    asked = given if isinstance(given, Mapping) else {}
    rule = asked.get("rule")
    if rule in PERIODS:
        return rule
    if rule == _LISTED:
        texts = [one for one in _SEPARATED.split(str(asked.get("values", ""))) if one]
        if kind in DATE_TYPES:
            return texts
        values = [_number(one) for one in texts]
        if None in values:
            wrong = "a cut point is not a number"
            problems.append(Problem(place, wrong, "separate them by spaces or commas: 18, 40, 65"))
        return {"method": _LISTED, "values": values}
    if rule not in METHODS:
        return None
    declared: dict[str, object] = {"method": rule}
    options = ("count",) if rule == "equal-width" else ("smallest",)
    for option in options:
        text = str(asked.get(option, "")).strip()
        if text and (number := _number(text)) is not None:
            declared[option] = number
        elif text:
            words = {"count": "number of intervals", "smallest": "smallest cut point"}[option]
            problems.append(Problem(place, f"the {words} is not a number", "write a number"))
    return declared


def _cuts_of(declared: object) -> dict[str, str]:
    """Return a rule for cut points as the form shows it."""
    shown = {"rule": USUAL, "values": "", "count": "", "smallest": ""}
    if isinstance(declared, str) and declared in (*PERIODS, *METHODS):
        return shown | {"rule": declared}
    if isinstance(declared, Sequence) and not isinstance(declared, str):
        return shown | {"rule": _LISTED, "values": ", ".join(map(_text, declared))}
    if isinstance(declared, Mapping) and declared.get("method") in METHODS:
        values = declared.get("values")
        listed = values if isinstance(values, list) else []
        return {
            "rule": str(declared["method"]),
            "values": ", ".join(map(_text, listed)),
            "count": _text(declared.get("count")),
            "smallest": _text(declared.get("smallest")),
        }
    return shown


def _number(text: str) -> int | float | None:
    """Return a number as JSON would have it; None if it is none, or is not finite.

    >>> _number("12"), _number("1.5"), _number("1,5"), _number("1e999")
    (12, 1.5, None, None)
    """
    plain = text.replace("−", "-")
    if not _NUMBER.fullmatch(plain):
        return None
    number = float(plain)
    if not math.isfinite(number):
        return None
    return int(plain) if re.fullmatch(r"[+-]?\d{1,15}", plain) else number


def _inside(field: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    inside = field.get(key)
    return inside if isinstance(inside, Mapping) else {}


def _text(value: object) -> str:
    if value is None or isinstance(value, list | dict):
        return ""
    return value if isinstance(value, str) else json.dumps(value)


def _texts(values: object) -> list[str]:
    return list(_each(values)) if isinstance(values, list) else []


def _each(values: Sequence[object]) -> Iterator[str]:
    for value in values:
        yield str(int(value)) if isinstance(value, float) and value.is_integer() else _text(value)
