"""Markers of missing values: texts, and the numbers that some of them are."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from math import isnan

from redveil.data.distinct import TRIMMED, label
from redveil.data.numbers import read_number
from redveil.schema.number_format import NumberFormat


@dataclass(frozen=True, slots=True)
class Markers:
    """What means missing in a view.

    A marker that is a number means that number, however it is written. So it means the same in a
    text file, a column of integers and a column of decimals.

    >>> markers = Markers.of(["NA", "-99.0"])
    >>> "NA" in markers.texts, -99.0 in markers.numbers, "-99" in markers.keys
    (True, True, True)
    """

    texts: frozenset[str]
    numbers: frozenset[float]

    @classmethod
    def of(cls, given: Iterable[str]) -> Markers:
        """Return the markers that a schema declares."""
        texts = frozenset(text.strip(TRIMMED) for text in given)
        numbers = (read_number(text) for text in texts)
        return cls(texts, frozenset(n for n in numbers if n is not None and not isnan(n)))

    @property
    def keys(self) -> frozenset[str]:
        """The texts of entity keys that mean missing; an empty key always does."""
        written = (label(number) for number in self.numbers)
        return self.texts | {"", *(text for text in written if text is not None)}

    def numbers_in(self, written: NumberFormat) -> frozenset[float]:
        """Return the numbers that markers are, if numbers are written in some other way.

        >>> sorted(Markers.of(["-99", "1,5", "NA"]).numbers_in(NumberFormat(",")))
        [-99.0, 1.5]
        """
        if written.is_plain:
            return self.numbers
        read = ((written.read(text), read_number(text)) for text in self.texts)
        found = (plain if number is None else number for number, plain in read)
        return frozenset(n for n in found if n is not None and not math.isnan(n))

    def without_texts(self) -> Markers:
        """Return what means missing among numbers: other numbers, never their texts.

        >>> Markers.of(["NA", "-99"]).without_texts().texts
        frozenset()
        """
        return replace(self, texts=frozenset())

    def mark(self, text: str) -> bool:
        """Return whether a text is a marker, or a number that a marker is.

        >>> Markers.of(["-99.0"]).mark("-99")
        True
        """
        return text in self.texts or read_number(text) in self.numbers
