"""A view as scikit-learn wants it: a matrix of codes, and what each comparison of a code means."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from redveil.seam.queries import Attribute, Kind, Known, Literal
from redveil.seam.truth import CodedColumn, Column, NumericColumn

# Digits after which decimal numbers tell all doubles apart.
_DIGITS: Final = 17


@dataclass(frozen=True, slots=True, eq=False)
class Feature:
    """A column of the matrix. Its codes are whole numbers, in the order of what they stand for.

    values: the distinct numbers of a numeric attribute, float64[codes]
    label:  the category for which a categorical attribute has the code 1; all others have 0

    >>> grade = Feature(Attribute("grade", Kind.ORDINAL, categories=("low", "mid", "high")))
    >>> grade.up_to(1.5)
    Literal(attribute='grade', op='<=', value='mid')
    >>> Feature(Attribute("sick", Kind.BOOLEAN)).up_to(0.5)
    Literal(attribute='sick', op='=', value=False)
    """

    attribute: Attribute
    values: NDArray[np.float64] | None = None
    label: str = ""

    def up_to(self, threshold: float) -> Literal | Known:
        """Return the literal that is true for codes up to a threshold; ∞ separates known ones."""
        name, kind = self.attribute.name, self.attribute.kind
        if math.isinf(threshold):
            return Known(name)
        code = math.floor(threshold)
        if self.values is not None:
            return Literal(name, "<=", between(*map(float, self.values[code : code + 2])))
        if kind is Kind.ORDINAL:
            return Literal(name, "<=", self.attribute.categories[code])
        if kind is Kind.CATEGORICAL:
            return Literal(name, "!=", self.label)
        return Literal(name, "=", value=False)


@dataclass(frozen=True, slots=True, eq=False)
class Features:
    """One view: float32[N, features], NaN where a value is missing. NOT private."""

    matrix: NDArray[np.float32]
    columns: tuple[Feature, ...]

    @property
    def rows(self) -> int:
        """The number of entities."""
        return int(self.matrix.shape[0])


def features_of(columns: Mapping[str, Column], rows: int) -> Features:
    """Return a view's features. Numbers become ranks, so that single precision is exact.

    >>> declared = Attribute("age", Kind.NUMERIC, minimum=0, maximum=110)
    >>> age = NumericColumn(declared, np.array([41.0, np.nan, 17.0]))
    >>> features_of({"age": age}, 3).matrix[:, 0].tolist()
    [1.0, nan, 0.0]
    """
    found = [pair for column in columns.values() for pair in _features(column)]
    matrix = np.empty((rows, len(found)), dtype=np.float32)
    for place, (_, codes) in enumerate(found):
        matrix[:, place] = codes
    return Features(matrix, tuple(feature for feature, _ in found))


def _features(column: Column) -> Iterator[tuple[Feature, NDArray[Any]]]:
    attribute, known = column.attribute, column.known
    if isinstance(column, NumericColumn):
        values, ranks = np.unique(column.bounded().values[known], return_inverse=True)
        yield Feature(attribute, values=values), _with_gaps(ranks, known)
    elif isinstance(column, CodedColumn) and attribute.kind is Kind.CATEGORICAL:
        # Of two categories, one says everything.
        labels = attribute.categories[1:] if len(attribute.categories) == 2 else None
        for label in labels or attribute.categories:
            equal = column.codes == attribute.categories.index(label)
            yield Feature(attribute, label=label), _with_gaps(equal[known], known)
    else:
        yield Feature(attribute), _with_gaps(column.codes[known], known)


def _with_gaps(codes: NDArray[Any], known: NDArray[np.bool_]) -> NDArray[np.float32]:
    spread = np.full(known.size, np.nan, dtype=np.float32)
    spread[known] = codes
    return spread


def between(low: float, high: float) -> float:
    """Return a short number that is at least as large as one number, and smaller than another.

    >>> between(17.0, 41.0), between(0.1, 0.2), between(2.0, 2.0000001)
    (30.0, 0.15, 2.0)
    """
    middle = low / 2 + high / 2
    for digits in range(1, _DIGITS):
        short = float(f"{middle:.{digits}g}")
        if low <= short < high:
            return short
    return low
