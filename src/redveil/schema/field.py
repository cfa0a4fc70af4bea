"""Read a field of a descriptor as an attribute, and list its problems."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date

from redveil.schema.attribute import Attribute, Kind
from redveil.schema.cuts import METHODS, MOST_BINS, CutRule, default_rule, faults
from redveil.schema.date_format import DEFAULT, DateFormat
from redveil.schema.date_format import format_fault as date_format_fault
from redveil.schema.dates import (
    DATE_TYPES,
    PERIODS,
    DateRule,
    categories_of,
    cuts_fault,
    default_period,
    period_cuts,
)
from redveil.schema.number_format import format_fault, implied_decimal
from redveil.schema.problem import Problem, misspelt, unknown_keys


@dataclass(slots=True)
class FieldReader:
    """Reads one field and collects all of its problems, for `redveil schema check`.

    >>> reader = FieldReader("left, attribute age", {"name": "age", "type": "number"})
    >>> reader.attribute() is None
    True
    >>> print(reader.problems[0])
    left, attribute age: no bounds; declare constraints.minimum and constraints.maximum
    """

    place: str
    raw: Mapping[str, object]
    problems: list[Problem] = field(default_factory=list)
    # The table schema's missingValues.
    missing: object = None

    def attribute(self) -> Attribute | None:
        """Return the declared attribute, or None if it has problems or is not used."""
        extras = self._extras()
        self.problems.extend(unknown_keys(self.place, extras, ("kind", "cuts", "use", "draft")))
        self.problems.extend(misspelt(self.place, "field", self.raw))
        self.problems.extend(misspelt(self.place, "constraints", self.raw.get("constraints")))
        if extras.get("use") is False:
            return None
        if self.raw.get("missingValues", self.missing) != self.missing:
            self._fail(
                "missingValues of a single field are not supported",
                "list them in the table schema's missingValues",
            )
        kind = self._kind()
        if kind is None:
            return None
        readers = {
            Kind.BOOLEAN: self._boolean,
            Kind.NUMERIC: self._numeric,
            Kind.CATEGORICAL: self._categories,
            Kind.ORDINAL: self._date if self._is_date() else self._categories,
        }
        title = self._title()
        attribute = readers[kind](kind)
        if self.problems or attribute is None:
            return None
        return replace(attribute, title=title)

    def _fail(self, what: str, remedy: str) -> None:
        problem = Problem(self.place, what, remedy)
        # Several methods read the same part of a field; report its problem once.
        if problem not in self.problems:
            self.problems.append(problem)

    def _extras(self) -> Mapping[str, object]:
        return self._mapping(self.raw.get("redveil"), "redveil")

    def _constraints(self) -> Mapping[str, object]:
        return self._mapping(self.raw.get("constraints"), "constraints")

    def _mapping(self, value: object, name: str) -> Mapping[str, object]:
        if value is None:
            return {}
        if isinstance(value, Mapping):
            return value
        self._fail(f"{name} is not an object", f"write {name} as {{…}}")
        return {}

    def _name(self) -> str:
        return str(self.raw.get("name"))

    def _title(self) -> str:
        title = self.raw.get("title", "")
        if not isinstance(title, str):
            self._fail("title is not a text", 'write it as "Fasting glucose (mg/dl)"')
        # One line: it is part of sentences.
        return " ".join(str(title).split())

    def _required(self) -> bool:
        required = self._constraints().get("required", False)
        if not isinstance(required, bool):
            self._fail("constraints.required is not true or false", "write true or false")
        return required is True

    def _kind(self) -> Kind | None:
        declared = self._extras().get("kind")
        if declared is not None:
            if declared in list(Kind):
                return Kind(str(declared))
            self._fail("unknown redveil.kind", f"use one of {', '.join(Kind)}")
            return None
        kind = self.raw.get("type")
        if kind == "boolean":
            return Kind.BOOLEAN
        if "enum" in self._constraints() or "categories" in self.raw:
            return Kind.ORDINAL if self.raw.get("categoriesOrdered") is True else Kind.CATEGORICAL
        if kind in ("number", "integer", "year", *DATE_TYPES):
            return Kind.ORDINAL if kind in DATE_TYPES else Kind.NUMERIC
        if kind == "string":
            self._fail(
                "no categories", "list them in constraints.enum, or set redveil.use to false"
            )
        else:
            self._fail(
                "unsupported type",
                "use boolean, integer, number, date or string, or set redveil.use to false",
            )
        return None

    def _boolean(self, kind: Kind) -> Attribute:
        plain = Attribute(self._name(), kind, required=self._required())
        true = self._texts(self.raw.get("trueValues"), "trueValues") or plain.true_values
        false = self._texts(self.raw.get("falseValues"), "falseValues") or plain.false_values
        if set(true) & set(false):
            self._fail("a value is listed as true and as false", "list each value once")
        return Attribute(self._name(), kind, plain.required, true_values=true, false_values=false)

    def _categories(self, kind: Kind) -> Attribute:
        values = self._constraints().get("enum", self.raw.get("categories"))
        categories = self._texts(values, "constraints.enum")
        if len(set(categories)) != len(categories):
            self._fail("a category is listed twice", "list each category once")
        elif not 2 <= len(categories) <= MOST_BINS:
            self._fail(
                f"{len(categories)} categories",
                f"list 2 to {MOST_BINS}, merging rare ones, or set redveil.use to false",
            )
        return Attribute(self._name(), kind, self._required(), categories=categories)

    def _texts(self, values: object, name: str) -> tuple[str, ...]:
        if values is None:
            return ()
        if isinstance(values, str) or not isinstance(values, Sequence):
            self._fail(f"{name} is not a list", f"write {name} as […]")
            return ()
        if not all(isinstance(v, str | int | float) for v in values):
            self._fail(f"{name} contains something other than strings and numbers", "write strings")
            return ()
        return tuple(_label(v) for v in values)

    def _numeric(self, kind: Kind) -> Attribute | None:
        integer = self.raw.get("type") in ("integer", "year")
        group = self.raw.get("groupChar", "")
        decimal = self.raw.get("decimalChar", implied_decimal(str(group), integer=integer))
        fault = format_fault(decimal, group)
        if fault is not None:
            self._fail(fault, 'write one character each, such as "," and "."')
            return None
        minimum = self._number(self._constraints().get("minimum"), "constraints.minimum")
        maximum = self._number(self._constraints().get("maximum"), "constraints.maximum")
        if minimum is None or maximum is None:
            if not self.problems:
                self._fail("no bounds", "declare constraints.minimum and constraints.maximum")
            return None
        if not minimum < maximum or not math.isfinite(maximum - minimum):
            self._fail(
                "the bounds are empty or too wide",
                "declare a minimum below the maximum, both finite",
            )
            return None
        return Attribute(
            self._name(),
            kind,
            self._required(),
            minimum=minimum,
            maximum=maximum,
            cuts=self._cuts(minimum, maximum, integer=integer),
            integer=integer,
            decimal_char=str(decimal),
            group_char=str(group),
        )

    def _cuts(self, minimum: float, maximum: float, *, integer: bool) -> tuple[float, ...]:
        rule = self._rule(minimum, maximum, integer=integer)
        if rule is None:
            return ()
        fault = faults(rule.values, minimum, maximum)
        if fault is not None:
            self._fail(fault, "correct redveil.cuts.values")
            return ()
        cuts = rule.points(minimum, maximum, integer=integer)
        if not 1 <= len(cuts) < MOST_BINS:
            self._fail(
                f"{len(cuts)} cut points within the bounds",
                f"declare redveil.cuts that give 1 to {MOST_BINS - 1}",
            )
        return cuts

    def _rule(self, minimum: float, maximum: float, *, integer: bool) -> CutRule | None:
        declared = self._extras().get("cuts")
        if declared is None:
            return default_rule(minimum, maximum, integer=integer)
        if isinstance(declared, str):
            declared = {"method": declared}
        elif isinstance(declared, Sequence):
            declared = {"method": "explicit", "values": declared}
        raw = self._mapping(declared, "redveil.cuts")
        method = raw.get("method")
        if method not in METHODS:
            self._fail("unknown redveil.cuts.method", f"use one of {', '.join(METHODS)}")
            return None
        values = raw.get("values", [])
        if not isinstance(values, Sequence) or not all(_is_number(v) for v in values):
            self._fail("redveil.cuts.values is not a list of numbers", "write numbers")
            return None
        count = raw.get("count", CutRule("equal-width").count)
        if not isinstance(count, int) or isinstance(count, bool) or not 2 <= count <= MOST_BINS:
            self._fail("redveil.cuts.count is out of range", f"use 2 to {MOST_BINS} intervals")
            return None
        smallest = self._number(raw.get("smallest"), "redveil.cuts.smallest")
        if smallest is not None and not smallest > 0:
            self._fail("redveil.cuts.smallest is not positive", "use a positive number")
            return None
        # Through str: an integer that is too large for a float becomes infinite and is reported.
        return CutRule(method, count, tuple(float(str(v)) for v in values), smallest)

    def _is_date(self) -> bool:
        listed = "enum" in self._constraints() or "categories" in self.raw
        return self.raw.get("type") in DATE_TYPES and not listed

    def _date(self, kind: Kind) -> Attribute | None:
        type_ = DATE_TYPES[DATE_TYPES.index(self.raw["type"])]
        pattern = str(self.raw.get("format", DEFAULT))
        fault = date_format_fault(pattern, needs_day=type_ != "yearmonth")
        if fault is not None:
            remedy = "use default (ISO 8601), or a pattern of %d %m %Y %y %H %M %S %f %z"
            self._fail(f"format: {fault}", remedy)
            return None
        minimum, maximum = (self._day(name, pattern) for name in ("minimum", "maximum"))
        if minimum is None or maximum is None:
            return None
        if not minimum < maximum:
            self._fail("the bounds are empty", "declare a minimum before the maximum")
            return None
        cuts = self._date_cuts(minimum, maximum)
        if not cuts:
            return None
        return Attribute(
            self._name(),
            kind,
            self._required(),
            categories=categories_of(cuts, maximum),
            date=DateRule(minimum, maximum, type_, pattern),
        )

    def _day(self, name: str, pattern: str) -> date | None:
        """Read a bound, in the format of the field or in ISO 8601."""
        value = self._constraints().get(name)
        if value is None:
            self._fail("no bounds", "declare constraints.minimum and constraints.maximum")
            return None
        text = str(value)
        day = DateFormat(pattern).read(text) or DateFormat().read(text)
        if day is None:
            self._fail(f"constraints.{name} is not a date", 'write it as "2019-12-31"')
        return day

    def _date_cuts(self, minimum: date, maximum: date) -> tuple[str, ...]:
        declared = self._extras().get("cuts", default_period(minimum, maximum))
        if declared in PERIODS:
            cuts = period_cuts(PERIODS[PERIODS.index(declared)], minimum, maximum)
        elif isinstance(declared, str) or not isinstance(declared, Sequence):
            self._fail(
                "redveil.cuts of a date is not a period or a list",
                f'use {", ".join(PERIODS)}, or a list such as ["2018", "2019-06-30"]',
            )
            return ()
        else:
            cuts = tuple(str(cut) for cut in declared)
            fault = cuts_fault(cuts, minimum, maximum)
            if fault is not None:
                self._fail(fault, "correct redveil.cuts")
                return ()
        if not 1 <= len(cuts) < MOST_BINS:
            self._fail(
                f"{len(cuts)} cut points within the bounds",
                f"declare redveil.cuts that give 1 to {MOST_BINS - 1}",
            )
        return cuts

    def _number(self, value: object, name: str) -> float | None:
        if value is None:
            return None
        if _is_number(value) and math.isfinite(float(str(value))):
            return float(str(value))
        self._fail(f"{name} is not a finite number", "write a number")
        return None


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _label(value: str | float) -> str:
    """Return a category as text, as in data files: integers without a decimal point."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)
