"""Draft a schema from the data, for the owner to correct. A draft is NOT private."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from redveil.data.columns import parse_number
from redveil.data.distinct import Value, distinct, label
from redveil.data.frame import Frame, ParquetFile
from redveil.data.join import entity_keys
from redveil.data.raw import RawTable, Source, shown
from redveil.data.source import open_source
from redveil.data.table import FloatArray
from redveil.errors import LoadError
from redveil.file_kind import FileKind
from redveil.files import write_text
from redveil.schema import Attribute, Kind, Schema, Side, Status, View
from redveil.schema.cuts import MOST_BINS, CutRule, default_rule

USUAL_MARKERS: Final = ("NA", "N/A", "NaN", "nan", "null", "?")
MOST_CATEGORIES: Final = 50
# The difference of two larger bounds would overflow.
_LARGEST: Final = 8e307
_FAR_ABOVE_MEDIAN: Final = 50
_THREE_POWERS: Final = 1000
# Up to this share of values that are not numbers, a column may be numeric with errors.
_FEW_ODD: Final = 0.1


@dataclass(frozen=True, slots=True)
class Remark:
    """What a draft took from the data about one column, for its owner to check.

    >>> print(Remark(Side.LEFT, "sex", "2 categories taken from the data"))
    left, sex: 2 categories taken from the data
    """

    side: Side
    attribute: str
    text: str

    def __str__(self) -> str:
        return f"{self.side}, {self.attribute}: {self.text}"


@dataclass(frozen=True, slots=True)
class Draft:
    """A proposed schema with a remark on every column. NOT private until its owner has edited it.

    >>> import pyarrow as pa
    >>> proposal = draft(
    ...     pa.table({"id": [1, 2, 3], "sick": [0, 1, 0]}),
    ...     pa.table({"id": [3, 2, 1], "age": [31, 57, 64]}),
    ... )
    >>> for remark in proposal.remarks:
    ...     print(remark)
    left, id: entity key, different in every row
    left, sick: Boolean, because its only values are 0 and 1; no missing values
    right, id: entity key, different in every row
    right, age: minimum and maximum taken from the data, rounded outwards; no missing values
    """

    schema: Schema
    remarks: tuple[Remark, ...]
    rules: Mapping[tuple[Side, str], CutRule] = field(default_factory=lambda: MappingProxyType({}))

    def to_datapackage(self) -> dict[str, object]:
        """Return the schema's descriptor, with the remark on each field under `redveil.draft`.

        Columns that are left out are listed too, with `use` set to false.

        >>> import pyarrow as pa
        >>> table = pa.table({"id": ["a", "b"], "x": [0.25, 7.5]})
        >>> package = draft(table, table).to_datapackage()
        >>> package["resources"][0]["schema"]["fields"][1]["redveil"]["cuts"]
        {'method': 'equal-width', 'count': 20}
        """
        package: Any = self.schema.to_datapackage()
        for side, resource in zip(Side, package["resources"], strict=True):
            fields = resource["schema"]["fields"]
            known = {entry["name"]: entry for entry in fields}
            for remark in self.remarks:
                if remark.side is not side:
                    continue
                if remark.attribute not in known:
                    unused = {"name": remark.attribute, "type": "any", "redveil": {"use": False}}
                    known[remark.attribute] = unused
                    fields.append(unused)
                extras = known[remark.attribute].setdefault("redveil", {})
                extras["draft"] = remark.text
                rule = self.rules.get((side, remark.attribute))
                if rule is not None:
                    extras["cuts"] = _described(rule)
        return dict(package)

    def to_json(self) -> str:
        """Return the text of the draft's `datapackage.json`."""
        return json.dumps(self.to_datapackage(), indent=2, ensure_ascii=False) + "\n"

    def save(self, path: str | Path) -> None:
        """Write the draft as `datapackage.json`, atomically, for `Schema.read`.

        >>> import pyarrow as pa, tempfile
        >>> table = pa.table({"id": ["a", "b"], "x": [0.25, 7.5]})
        >>> proposal = draft(table, table)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     proposal.save(Path(folder) / "datapackage.json")
        ...     Schema.read(Path(folder) / "datapackage.json") == proposal.schema
        True
        """
        write_text(Path(path), self.to_json(), FileKind.SCHEMA)


def draft(
    left: object, right: object, *, key: str | None = None, right_key: str | None = None
) -> Draft:
    """Propose a schema for two tables, which are given as for `load`.

    The entity key is `key` (in the right table `right_key`, if its name differs), or else a column
    named id in both tables, or else the first common column whose values all differ. The schema's
    status is `draft` until its owner changes it.

    >>> import pyarrow as pa
    >>> table = pa.table({"id": ["a", "b"], "x": [0.25, 7.5]})
    >>> draft(table, table).schema.status
    <Status.DRAFT: 'draft'>
    """
    sides = [_read(given, side) for given, side in ((left, Side.LEFT), (right, Side.RIGHT))]
    keys = _keys(sides[0], sides[1], key, right_key)
    names = [_view_name(left, Side.LEFT), _view_name(right, Side.RIGHT)]
    if names[0] == names[1]:
        names = [side.value for side in Side]
    remarks: list[Remark] = []
    rules: dict[tuple[Side, str], CutRule] = {}
    views: list[View] = []
    for given, name, table, key_name in zip((left, right), names, sides, keys, strict=True):
        proposals = table.proposals(key_name)
        attributes = tuple(p.attribute for p in proposals.values() if p.attribute is not None)
        if not attributes:
            raise LoadError(
                f"{table.source.place}: no attributes besides the entity key; "
                "add columns of numbers, categories or Booleans"
            )
        remarks.append(Remark(table.side, key_name, "entity key, different in every row"))
        for column, proposal in proposals.items():
            remarks.append(Remark(table.side, column, proposal.remark))
            if proposal.rule is not None and proposal.rule.method != "explicit":
                rules[table.side, column] = proposal.rule
        layout = table.source.layout
        views.append(
            View(
                name,
                key_name,
                attributes,
                path=_path(given),
                missing_values=table.markers,
                delimiter=layout.delimiter,
                encoding=layout.encoding,
            )
        )
    schema = Schema("dataset", views[0], views[1], status=Status.DRAFT)
    return Draft(schema, tuple(remarks), rules)


def _described(rule: CutRule) -> dict[str, object]:
    """Return a rule as it is written in a descriptor."""
    if rule.method == "equal-width":
        return {"method": rule.method, "count": rule.count}
    return {"method": rule.method}


@dataclass(frozen=True, slots=True, eq=False)
class _RawSide:
    """One table before conversion, with a summary of each column."""

    side: Side
    source: Source
    raw: RawTable
    summaries: dict[str, Summary]
    markers: tuple[str, ...]

    def proposals(self, key: str) -> dict[str, Proposal]:
        """Return the proposals for all columns but the key, in the table's order."""
        return {
            name: propose(name, self.summaries.get(name), {*self.markers, *self.raw.markers})
            for name in self.source.names
            if name != key
        }

    def is_key(self, name: str) -> bool:
        """Return whether a column can be the entity key."""
        try:
            entity_keys(self.raw, name, self.markers)
        except LoadError:
            return False
        return True


def _read(given: object, side: Side) -> _RawSide:
    source = open_source(given, side, None)
    names = source.names
    if isinstance(source, Frame | ParquetFile):
        # Columns of unsupported types, such as dates, are left out and do not raise an error.
        names = tuple(name for name in names if _is_readable(source, name)) or names
    raw = source.read(names)
    summaries: dict[str, Summary] = {}
    seen: set[str] = set()
    for name, column in raw.columns.items():
        values, index = distinct(column)
        summaries[name] = Summary(values, np.bincount(index, minlength=len(values)))
        seen.update(text for text in map(label, values) if text in USUAL_MARKERS)
    markers = ("", *(text for text in USUAL_MARKERS if text in seen))
    return _RawSide(side, source, raw, summaries, markers)


def _is_readable(source: Source, name: str) -> bool:
    try:
        source.read([name])
    except LoadError:
        return False
    return True


def _keys(
    left: _RawSide, right: _RawSide, key: str | None, right_key: str | None
) -> tuple[str, str]:
    """Return the key columns, or raise a LoadError if there are none."""
    if right_key is not None and key is None:
        raise LoadError("--right-key without --key; give the left table's key too")
    if key is not None:
        found = key, right_key or key
        for table, name in zip((left, right), found, strict=True):
            if name not in table.raw.columns:
                remedy = "check --key and --right-key"
                raise LoadError(f"{table.source.place}: no key column {shown(name)}; {remedy}")
    else:
        found = _named_id(left, right) or _first_unique(left, right)
    for table, name in zip((left, right), found, strict=True):
        entity_keys(table.raw, name, table.markers)
    return found


def _named_id(left: _RawSide, right: _RawSide) -> tuple[str, str] | None:
    names = [
        next((name for name in table.raw.columns if name.strip().casefold() == "id"), None)
        for table in (left, right)
    ]
    return (names[0], names[1]) if names[0] is not None and names[1] is not None else None


def _first_unique(left: _RawSide, right: _RawSide) -> tuple[str, str]:
    for name in left.raw.columns:
        if name in right.raw.columns and left.is_key(name) and right.is_key(name):
            return name, name
    raise LoadError(
        f"{left.source.place} and {right.source.place}: no common column differs in every row; "
        "name the entity key with --key (and --right-key if its name differs)"
    )


def _view_name(given: object, side: Side) -> str:
    """Return a view's name, made from its file's in the characters that data packages allow."""
    if not isinstance(given, str | Path):
        return side.value
    stem = Path(given).name.partition(".")[0].lower()
    return re.sub(r"[^a-z0-9]+", "-", stem).strip("-") or side.value


def _path(given: object) -> str | None:
    """Return a file's path for the descriptor, which may not contain absolute paths."""
    if not isinstance(given, str | Path):
        return None
    path = Path(given)
    return path.name if path.is_absolute() else path.as_posix()


@dataclass(frozen=True, slots=True, eq=False)
class Summary:
    """The distinct values of a column and their frequencies, int64[values].

    >>> Summary(["f", "m"], np.array([3, 4])).counts.sum()
    np.int64(7)
    """

    values: Sequence[Value]
    counts: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Proposal:
    """A proposed attribute, None if the column is left out, and a remark on it.

    >>> Proposal("left out: no values").attribute is None
    True
    """

    remark: str
    attribute: Attribute | None = None
    rule: CutRule | None = None


def propose(name: str, summary: Summary | None, markers: Collection[str]) -> Proposal:
    """Propose an attribute for a column; columns that cannot be read have no summary.

    >>> propose("sex", Summary(["f", "m", ""], np.array([3, 4, 1])), {""}).remark
    '2 categories taken from the data; some missing values'
    """
    if summary is None:
        return Proposal("left out: not text, numbers or Booleans")
    texts = [label(value) for value in summary.values]
    present = [i for i, text in enumerate(texts) if text is not None and text not in markers]
    if not present:
        return Proposal("left out: no values")
    labels = {text for i in present if (text := texts[i]) is not None}
    required = len(present) == len(texts)
    note = "no missing values" if required else "some missing values"
    attribute = _boolean(name, labels)
    if attribute is not None:
        plural = "values are" if len(labels) > 1 else "value is"
        what = f"Boolean, because its only {plural} {' and '.join(sorted(labels))}"
        return Proposal(f"{what}; {note}", replace(attribute, required=required))
    numbers = [parse_number(summary.values[i], markers) for i in present]
    if all(number is not None for number in numbers):
        values = np.array(numbers, dtype=np.float64)
        return _numeric(name, values, summary.counts[present], required=required)
    if not 2 <= len(labels) <= MOST_CATEGORIES:
        return Proposal(f"left out: {_why_not(labels, numbers)}")
    attribute = Attribute(name, Kind.CATEGORICAL, required, categories=tuple(sorted(labels)))
    return Proposal(f"{len(labels)} categories taken from the data; {note}", attribute)


def _why_not(labels: set[str], numbers: Sequence[float | None]) -> str:
    """Return why the values are neither numbers nor categories, without quoting them."""
    if len(labels) == 1:
        return "only one distinct value"
    odd = sum(number is None for number in numbers)
    if odd > _FEW_ODD * len(numbers):
        return "too many distinct values"
    texts = "one value" if odd == 1 else f"{odd} distinct values"
    return f"numbers except for {texts}; correct the file, or extend missingValues"


def _boolean(name: str, labels: set[str]) -> Attribute | None:
    """Propose a Boolean for 0/1, true/false or yes/no, even if only one of them occurs."""
    plain = Attribute(name, Kind.BOOLEAN)
    folded = {text.casefold() for text in labels}
    if folded <= {"0", "1", "0.0", "1.0"}:
        return plain
    for true, false in (("true", "false"), ("yes", "no")):
        if folded <= {true, false}:
            if labels <= {*plain.true_values, *plain.false_values}:
                return plain
            return Attribute(
                name,
                Kind.BOOLEAN,
                true_values=tuple(sorted({true, *(t for t in labels if t.casefold() == true)})),
                false_values=tuple(sorted({false, *(t for t in labels if t.casefold() == false)})),
            )
    return None


def _numeric(
    name: str, values: FloatArray, counts: NDArray[np.int64], *, required: bool
) -> Proposal:
    """Propose bounds and a rule for cut points."""
    finite = np.isfinite(values)
    values, counts = values[finite], counts[finite]
    if not values.size or values.min() == values.max():
        return Proposal("left out: only one distinct value")
    minimum, maximum = outward(float(values.min()), float(values.max()))
    integer = bool((values == np.floor(values)).all())
    rule = choose_rule(values, counts, minimum, maximum, integer=integer)
    cuts = rule.points(minimum, maximum)
    if not 1 <= len(cuts) < MOST_BINS:
        return Proposal("left out: values too close together for cut points")
    attribute = Attribute(name, Kind.NUMERIC, required, minimum=minimum, maximum=maximum, cuts=cuts)
    note = "no missing values" if required else "some missing values"
    what = "minimum and maximum taken from the data, rounded outwards"
    return Proposal(f"{what}; {note}", attribute, rule)


def outward(minimum: float, maximum: float) -> tuple[float, float]:
    """Round bounds outwards to two digits of their range, so that they are not the extremes.

    >>> outward(0, 164_220)
    (0.0, 170000.0)
    >>> outward(-0.123, 0.4567)
    (-0.13, 0.46)
    """
    low, high = max(minimum, -_LARGEST), min(maximum, _LARGEST)
    digit = Decimal((0, (1,), math.floor(math.log10(high - low)) - 1))
    floor = (Decimal(repr(float(low))) / digit).to_integral_value(ROUND_FLOOR) * digit
    ceiling = (Decimal(repr(float(high))) / digit).to_integral_value(ROUND_CEILING) * digit
    return float(floor) + 0.0, float(ceiling) + 0.0


def choose_rule(
    values: FloatArray,
    counts: NDArray[np.int64],
    minimum: float,
    maximum: float,
    *,
    integer: bool,
) -> CutRule:
    """Choose every integer of a short range, decades for a heavy tail, otherwise equal widths.

    >>> payments = np.array([0.0, 10, 500, 90_000])
    >>> choose_rule(payments, np.array([90, 5, 4, 1]), 0, 90_000, integer=True).method
    'decades'
    """
    rule = default_rule(minimum, maximum, integer=integer)
    if rule.method == "explicit" or not _is_heavy(np.abs(values), counts):
        return rule
    decades = CutRule("symmetric-decades" if minimum < 0 else "decades")
    return decades if 1 <= len(decades.points(minimum, maximum)) < MOST_BINS else rule


def _is_heavy(sizes: FloatArray, counts: NDArray[np.int64]) -> bool:
    """Return whether the largest value is far above the median or the smallest values."""
    largest = float(sizes.max())
    positive = sizes > 0
    small = _quantile(sizes[positive], counts[positive], 0.01)
    median = _quantile(sizes, counts, 0.5)
    return largest > _FAR_ABOVE_MEDIAN * median or largest > _THREE_POWERS * small


def _quantile(values: FloatArray, counts: NDArray[np.int64], share: float) -> float:
    """Return the smallest value that is not exceeded in at least this share of the rows."""
    order = np.argsort(values)
    below = np.cumsum(counts[order])
    return float(values[order][np.searchsorted(below, share * below[-1])])
