"""The load report, for the data's owner only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from redveil.schema import Side

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
            f"{count} {what}"
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
    r"""True counts over the joined entities. NOT private, for the data's owner only.

    >>> report = LoadReport(joined=10, left_only=2, ignored_left=("note",))
    >>> print("\n".join(report.lines()))
    10 entities in both views
    2 entities in the left view only: dropped
    left, columns not in the schema: note
    """

    joined: int
    left_only: int = 0
    right_only: int = 0
    attributes: tuple[AttributeCounts, ...] = ()
    ignored_left: tuple[str, ...] = ()
    ignored_right: tuple[str, ...] = ()

    def lines(self) -> list[str]:
        """Return the report as lines, without zeros and with long lists shortened."""
        lines = [f"{_entities(self.joined)} in both views"]
        for side, count in ((Side.LEFT, self.left_only), (Side.RIGHT, self.right_only)):
            if count:
                lines.append(f"{_entities(count)} in the {side} view only: dropped")
        for side, names in ((Side.LEFT, self.ignored_left), (Side.RIGHT, self.ignored_right)):
            if names:
                listed = ", ".join(_shortened(names))
                lines.append(f"{side}, columns not in the schema: {listed}")
        counts = [line for line in (a.line() for a in self.attributes) if line is not None]
        return lines + _shortened(counts)


def _entities(count: int) -> str:
    return "1 entity" if count == 1 else f"{count} entities"


def _shortened(items: Sequence[str]) -> list[str]:
    """Return the first items and the number of further ones."""
    more = len(items) - _MOST_LISTED
    if more <= 0:
        return list(items)
    return [*items[:_MOST_LISTED], f"… and {more} more"]
