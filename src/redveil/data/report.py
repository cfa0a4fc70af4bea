"""The load report, for the data owner only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from redveil.schema import Side
from redveil.schema.view import plural

_MOST_LISTED: Final = 20


@dataclass(frozen=True, slots=True)
class AttributeCounts:
    """The numbers of missing, clamped and undeclared values of one attribute.

    Undeclared values become missing, but are not counted as missing.

    >>> AttributeCounts(Side.LEFT, "age", missing=2, clamped=1).line()
    'left, age: 2 missing, 1 clamped to a bound'
    """

    side: Side
    attribute: str
    missing: int = 0
    clamped: int = 0
    undeclared: int = 0

    def line(self) -> str | None:
        """Return the counts as a line of text, or None if they are all zero."""
        parts = [
            f"{count:,} {what}"
            for count, what in (
                (self.missing, "missing"),
                (self.clamped, "clamped to a bound"),
                (self.undeclared, "in undeclared categories, now missing"),
            )
            if count
        ]
        return f"{self.side}, {self.attribute}: {', '.join(parts)}" if parts else None


@dataclass(frozen=True, slots=True)
class LoadReport:
    r"""True counts over the joined entities. NOT private, for the data owner only.

    unit: what one entity is called

    >>> report = LoadReport(5000, left_only=1, ignored_left=("note",), unit="patient")
    >>> print("\n".join(report.lines()))
    5,000 patients in both views
    1 patient in the left view only: dropped
    left, columns not in the schema: note
    """

    joined: int
    left_only: int = 0
    right_only: int = 0
    attributes: tuple[AttributeCounts, ...] = ()
    ignored_left: tuple[str, ...] = ()
    ignored_right: tuple[str, ...] = ()
    unit: str = "entity"

    def lines(self) -> list[str]:
        """Return the report as lines, without zeros and with long lists shortened."""
        lines = [f"{self._counted(self.joined)} in both views"]
        for side, count in ((Side.LEFT, self.left_only), (Side.RIGHT, self.right_only)):
            if count:
                lines.append(f"{self._counted(count)} in the {side} view only: dropped")
        for side, names in ((Side.LEFT, self.ignored_left), (Side.RIGHT, self.ignored_right)):
            if names:
                listed = ", ".join(_shortened(names))
                lines.append(f"{side}, columns not in the schema: {listed}")
        counts = [line for line in (a.line() for a in self.attributes) if line is not None]
        return lines + _shortened(counts)

    def _counted(self, count: int) -> str:
        return f"{count:,} {self.unit if count == 1 else plural(self.unit)}"


def _shortened(items: Sequence[str]) -> list[str]:
    """Return the first items and the number of further ones."""
    more = len(items) - _MOST_LISTED
    if more <= 0:
        return list(items)
    return [*items[:_MOST_LISTED], f"… and {more} more"]
