"""One of the two views: its side, and its declarations."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from redveil.schema.attribute import Attribute, Kind


class Side(StrEnum):
    """One of the two views.

    >>> Side.LEFT.other
    <Side.RIGHT: 'right'>
    """

    LEFT = "left"
    RIGHT = "right"

    @property
    def other(self) -> Side:
        """The other view."""
        return Side.RIGHT if self is Side.LEFT else Side.LEFT


class Status(StrEnum):
    """Whether the owner has declared the schema, or a draft proposes it.

    >>> Status("draft")
    <Status.DRAFT: 'draft'>
    """

    DECLARED = "declared"
    DRAFT = "draft"


@dataclass(frozen=True, slots=True)
class View:
    """One of the two tables: its entity key and its attributes in declared order.

    delimiter: of a text file; None if the file's name tells
    sheet:     of a workbook, its name or its number from 1; None for the first

    >>> View("diagnoses", "id", (Attribute("asthma", Kind.BOOLEAN),)).names
    ('asthma',)
    """

    name: str
    key: str
    attributes: tuple[Attribute, ...]
    path: str | None = None
    missing_values: tuple[str, ...] = ("",)
    delimiter: str | None = None
    encoding: str = "utf-8"
    sheet: str | int | None = None

    def __post_init__(self) -> None:
        # Every resource of a data package has a path; with a default, saving changes nothing.
        if self.path is None:
            object.__setattr__(self, "path", f"{self.name}.csv")

    @property
    def names(self) -> tuple[str, ...]:
        """The attributes' names, in order."""
        return tuple(a.name for a in self.attributes)

    @property
    def orders(self) -> dict[str, tuple[str, ...]]:
        """The categories of each ordinal attribute, lowest first."""
        return {a.name: a.categories for a in self.attributes if a.kind is Kind.ORDINAL}

    @property
    def split_count(self) -> int:
        """The number of candidate splits."""
        return sum(a.splits for a in self.attributes)


def plural(unit: str) -> str:
    """Return the plural of a declared unit.

    >>> plural("patient"), plural("entity"), plural("person")
    ('patients', 'entities', 'people')
    """
    if unit == "person":
        return "people"
    if unit.endswith("y") and unit[-2:-1] not in "aeiou":
        return f"{unit[:-1]}ies"
    return f"{unit}es" if unit.endswith(("s", "x", "ch", "sh")) else f"{unit}s"
