"""Declared attributes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

from redveil.schema.dates import DateRule


class Kind(StrEnum):
    """The four kinds of attributes.

    >>> Kind("ordinal").is_ordered
    True
    """

    BOOLEAN = "boolean"
    CATEGORICAL = "categorical"
    ORDINAL = "ordinal"
    NUMERIC = "numeric"

    @property
    def is_ordered(self) -> bool:
        """Whether literals are inequalities (`<=`, `>`) and not equalities (`=`, `!=`)."""
        return self in (Kind.ORDINAL, Kind.NUMERIC)


@dataclass(frozen=True, slots=True)
class Attribute:
    """A declared attribute. Everything in it is public.

    The *bin* of a value is its position among the cut points (numeric) or the categories; a Boolean
    has bins 0 and 1. `required` means that no value is missing. An attribute with a `date` rule is
    ordinal, and its categories are the ends of its bins. `decimal_char` and `group_char` are the
    characters of numbers in text. A `title` is what readers call the attribute, if not by its name.

    >>> age = Attribute("age", Kind.NUMERIC, minimum=0, maximum=120, cuts=(18.0, 65.0))
    >>> age.bins
    3
    >>> Attribute("sex", Kind.CATEGORICAL, categories=("f", "m")).bins
    2
    """

    name: str
    kind: Kind
    required: bool = False
    categories: tuple[str, ...] = ()
    minimum: float = 0.0
    maximum: float = 1.0
    cuts: tuple[float, ...] = ()
    true_values: tuple[str, ...] = ("true", "True", "TRUE", "1", "1.0")
    false_values: tuple[str, ...] = ("false", "False", "FALSE", "0", "0.0")
    integer: bool = False
    decimal_char: str = "."
    group_char: str = ""
    date: DateRule | None = None
    title: str = ""

    @property
    def bins(self) -> int:
        """The number of bins, not counting missing."""
        if self.kind is Kind.BOOLEAN:
            return 2
        if self.kind is Kind.NUMERIC:
            return len(self.cuts) + 1
        return len(self.categories)

    @property
    def splits(self) -> int:
        """The number of possible splits on this attribute.

        >>> Attribute("sick", Kind.BOOLEAN).splits
        1
        """
        if self.kind is Kind.CATEGORICAL and self.bins > 2:
            return self.bins
        return self.bins - 1


def untitled(attribute: Attribute) -> Attribute:
    """Return an attribute without its title.

    >>> untitled(Attribute("hba1c", Kind.NUMERIC, title="HbA1c (%)")).title
    ''
    """
    return replace(attribute, title="")
