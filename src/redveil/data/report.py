"""The load report: what loading left out or read as missing. For the data owner only."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from redveil.base.display import Block, Displayed, Listing, Note
from redveil.data.reading import Reading, ValueCount, in_order
from redveil.schema import Side
from redveil.schema.view import plural

_MOST_LISTED: Final = 20
# So many values are few: they may be codes.
_FEW: Final = 5
_AS_MISSING: Final = "count as missing"
_AS_THEY_ARE: Final = (
    "are compared as they are; list those that mean no answer in missingValues, or widen the bounds"
)
# The owner is warned if more than this share of the entities is affected.
ALARMING_SHARE: Final = 0.01
#: Below this share of the smaller table's keys, two tables hardly overlap.
HARDLY: Final = 0.5


@dataclass(frozen=True, slots=True)
class AttributeCounts:
    """How many values of one attribute are missing, or are not as declared.

    Unreadable and undeclared values become missing, but are not counted as missing. Values outside
    the bounds are compared as they are. `lacking` counts entities without a value that the schema
    requires, whatever the reason.

    values: how often the most frequent numbers and dates that are not as declared were there

    >>> nine = ValueCount(Reading.OUTSIDE, "-9", 3)
    >>> AttributeCounts(Side.LEFT, "age", missing=2, outside=3, values=(nine,)).line()
    'left, age: 2 missing, 3 outside the bounds (3 times -9)'
    """

    side: Side
    attribute: str
    missing: int = 0
    outside: int = 0
    undeclared: int = 0
    unreadable: int = 0
    lacking: int = 0
    values: tuple[ValueCount, ...] = ()

    def line(self) -> str | None:
        """Return the counts as a line of text, or None if they are all zero."""
        parts = [
            f"{count:,} {what}{then}"
            for count, what, then in (
                (self.missing, "missing", ""),
                (self.outside, f"outside the bounds{self.codes(Reading.OUTSIDE)}", ""),
                (
                    self.undeclared,
                    f"in undeclared categories{self.codes(Reading.UNDECLARED)}",
                    ", now missing",
                ),
                (
                    self.unreadable,
                    f"unreadable{self.codes(Reading.UNREADABLE)}",
                    ", now missing",
                ),
            )
            if count
        ]
        if self.lacking:
            parts.append("required, so left out")
        return f"{self.side}, {self.attribute}: {', '.join(parts)}" if parts else None

    def codes(self, reading: Reading) -> str:
        """Return in brackets how often each value was there, if few values hold most.

        >>> age = AttributeCounts(Side.LEFT, "age", outside=9)
        >>> age.codes(Reading.OUTSIDE)
        ''
        """
        total = {
            Reading.OUTSIDE: self.outside,
            Reading.UNDECLARED: self.undeclared,
            Reading.UNREADABLE: self.unreadable,
        }[reading]
        few = [one for one in self.values if one.reading is reading][:_FEW]
        held = sum(one.count for one in few)
        if 2 * held <= total:
            return ""
        listed = [f"{one.count:,} time{'s' * (one.count > 1)} {one.value}" for one in few]
        return f" ({', '.join([*listed, '…'] if held < total else listed)})"


@dataclass(frozen=True, slots=True)
class ViewCounts:
    """What loading left out of one view before any value was read.

    only:     entities that the other view does not have
    repeated: entities with several rows
    keyless:  rows without an entity key
    ignored:  columns that the schema does not declare

    >>> ViewCounts(only=3).repeated
    0
    """

    only: int = 0
    repeated: int = 0
    keyless: int = 0
    ignored: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Slip:
    """One way in which rows do not fit the schema: where, what happens to them, and the remedy.

    places: the first of them, as in "left.csv, line 7, column age"; empty unless asked for

    >>> slip = Slip("not a number", "missing", "correct it", 2, ("a.csv, line 7, column age",))
    >>> slip.lines()
    ['a.csv, line 7, column age: not a number; correct it', '… and 1 more like it']
    """

    what: str
    outcome: str
    remedy: str
    count: int
    places: tuple[str, ...] = ()

    def lines(self) -> list[str]:
        """Return one line for each place, and one for the rest."""
        lines = [f"{place}: {self.what}; {self.remedy}" for place in self.places]
        more = self.count - len(self.places)
        return [*lines, f"… and {more:,} more like it"] if more and lines else lines


@dataclass(frozen=True, slots=True)
class LoadReport(Displayed):
    r"""True counts. NOT private, for the data owner only.

    joined:     the entities that were loaded
    incomplete: entities in both views that were left out, for want of a required value
    attributes: counts over the entities in both views, those left out included
    slips:      where rows do not fit the schema; empty unless asked for
    unit:       what one entity is called

    >>> report = LoadReport(5000, left=ViewCounts(only=1, ignored=("note",)), unit="patient")
    >>> print("\n".join(report.lines()))
    5,000 patients in both views
    1 patient in the left view only: left out
    left, columns not in the schema: note
    """

    joined: int
    incomplete: int = 0
    left: ViewCounts = ViewCounts()
    right: ViewCounts = ViewCounts()
    attributes: tuple[AttributeCounts, ...] = ()
    slips: tuple[Slip, ...] = ()
    unit: str = "entity"

    @classmethod
    def together(cls, reports: Sequence[LoadReport]) -> LoadReport:
        """Return the report of several groups of entities as one.

        >>> LoadReport.together([LoadReport(2, incomplete=1), LoadReport(3)]).joined
        5
        """
        first = reports[0]

        def view(side: str) -> ViewCounts:
            parts = [getattr(one, side) for one in reports]
            only, repeated, keyless = (
                sum(getattr(one, name) for one in parts) for name in ("only", "repeated", "keyless")
            )
            return ViewCounts(only, repeated, keyless, parts[0].ignored)

        attributes = tuple(
            _together(one) for one in zip(*(report.attributes for report in reports), strict=True)
        )
        return cls(
            sum(one.joined for one in reports),
            sum(one.incomplete for one in reports),
            view("left"),
            view("right"),
            attributes,
            unit=first.unit,
        )

    @property
    def has_few_in_common(self) -> bool:
        """Whether under half of the smaller table's entities are in the other, or none is left.

        >>> LoadReport(49, left=ViewCounts(only=900), right=ViewCounts(only=51)).has_few_in_common
        True
        >>> LoadReport(50, left=ViewCounts(only=900), right=ViewCounts(only=50)).has_few_in_common
        False
        """
        common = self.joined + self.incomplete
        fewest = common + min(one.only + one.repeated for one in (self.left, self.right))
        return not self.joined or common < HARDLY * fewest

    def __repr__(self) -> str:
        return f"<LoadReport: {self._counted(self.joined)} in both views; NOT private>"

    def _shown(self) -> Iterator[Block]:
        yield Note("NOT PRIVATE: true counts, for the data owner only")
        for warning in self.warnings():
            yield Note(f"warning: {warning}")
        yield from self._overall()
        counted = [one for one in self.attributes if one.line() is not None]
        if counted:
            heads = ("view", "attribute", "missing", "outside", "undeclared", "unreadable")
            rows = [
                (
                    one.side.value,
                    one.attribute,
                    *(f"{n:,}" for n in (one.missing, one.outside, one.undeclared, one.unreadable)),
                )
                for one in counted
            ]
            yield Listing(heads, rows, right=range(2, 6))
            for one in counted:
                if any(one.codes(reading) for reading in tuple(Reading)[1:]):
                    yield Note(one.line() or "")
        yield from self.details()

    def lines(self) -> list[str]:
        """Return the report as lines, without zeros and with long lists shortened."""
        counts = [line for line in (a.line() for a in self.attributes) if line is not None]
        return self._overall() + _shortened(counts)

    def _overall(self) -> list[str]:
        """Return what is not about single attributes, as lines."""
        lines = [f"{self._counted(self.joined)} in both views"]
        sides = ((Side.LEFT, self.left), (Side.RIGHT, self.right))
        for side, view in sides:
            if view.only:
                lines.append(f"{self._counted(view.only)} in the {side} view only: left out")
        for side, view in sides:
            if view.repeated:
                counted = self._counted(view.repeated)
                lines.append(f"{counted} with several rows in the {side} view: left out")
            if view.keyless:
                rows = "1 row" if view.keyless == 1 else f"{view.keyless:,} rows"
                lines.append(f"{rows} without an entity key in the {side} view: left out")
        if self.incomplete:
            lines.append(f"{self._counted(self.incomplete)} without a required value: left out")
        for side, view in sides:
            if view.ignored:
                listed = ", ".join(_shortened(view.ignored))
                lines.append(f"{side}, columns not in the schema: {listed}")
        return lines

    def warnings(self) -> list[str]:
        """Return a line for few common keys, and for all that affects over one entity in a hundred.

        >>> age = AttributeCounts(Side.LEFT, "age", unreadable=30)
        >>> LoadReport(1000, attributes=(age,)).warnings()
        ['left, age: 3.0 % of the values are unreadable and count as missing']
        """
        if not self.joined:
            return ["no entity was loaded: the two views have no entity in common that fits them"]
        common = self.joined + self.incomplete
        found = []
        if self.has_few_in_common:
            found.append("under half of the keys are in both tables; check the key columns")
        for side, view in ((Side.LEFT, self.left), (Side.RIGHT, self.right)):
            if _is_alarming(view.repeated, common + view.repeated):
                share = _percent(view.repeated, common + view.repeated)
                found.append(f"{side}: {share} of the {plural(self.unit)} have several rows")
            if _is_alarming(view.keyless, common + view.keyless):
                share = _percent(view.keyless, common + view.keyless)
                found.append(f"{side}: {share} of the rows have no entity key")
        if _is_alarming(self.incomplete, common):
            share = _percent(self.incomplete, common)
            found.append(f"{share} of the {plural(self.unit)} lack a required value")
        for one in self.attributes:
            for count, reading, what, then in (
                (one.outside, Reading.OUTSIDE, "outside the bounds", _AS_THEY_ARE),
                (one.unreadable, Reading.UNREADABLE, "unreadable", _AS_MISSING),
                (one.undeclared, Reading.UNDECLARED, "undeclared categories", _AS_MISSING),
            ):
                if _is_alarming(count, common):
                    where = f"{one.side}, {one.attribute}: {_percent(count, common)}"
                    found.append(f"{where} of the values are {what}{one.codes(reading)} and {then}")
        return found

    def details(self) -> list[str]:
        """Return where rows do not fit the schema and the remedy, one place a line."""
        return [line for slip in self.slips for line in slip.lines()]

    def _counted(self, count: int) -> str:
        return f"{count:,} {self.unit if count == 1 else plural(self.unit)}"


def _together(counts: Sequence[AttributeCounts]) -> AttributeCounts:
    """Return the counts of an attribute in several groups of entities as one."""
    values = Counter[tuple[Reading, str]]()
    for one in counts:
        for each in one.values:
            values[each.reading, each.value] += each.count
    return AttributeCounts(
        counts[0].side,
        counts[0].attribute,
        missing=sum(one.missing for one in counts),
        outside=sum(one.outside for one in counts),
        undeclared=sum(one.undeclared for one in counts),
        unreadable=sum(one.unreadable for one in counts),
        lacking=sum(one.lacking for one in counts),
        values=tuple(in_order(values)),
    )


def _is_alarming(count: int, total: int) -> bool:
    return count > ALARMING_SHARE * total


def _percent(count: int, total: int) -> str:
    return f"{100 * count / total:.1f} %"


def _shortened(items: Sequence[str]) -> list[str]:
    """Return the first items and the number of further ones."""
    more = len(items) - _MOST_LISTED
    if more <= 0:
        return list(items)
    return [*items[:_MOST_LISTED], f"… and {more} more"]
