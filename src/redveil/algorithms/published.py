"""The published profile: the paper's method as it stands. For data that is not sensitive.

Candidate splits are the values that occur in the data, numeric targets have Freedman–Diaconis
bins, walks stop when their scores settle, and noise is floating-point Laplace. Each of these
depends on the data or leaks it (docs/known-limits.md); certificates made here say so.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from redveil.algorithms.targets import Target, attribute_target
from redveil.data.binning import BinnedTable
from redveil.data.dataset import Dataset
from redveil.data.table import NumericColumn, Table
from redveil.errors import InputError
from redveil.privacy.randomness import SystemRandomness
from redveil.schema import Attribute, Kind, Schema, Side, View
from redveil.sealed import Sealed, open_for_owner, within
from redveil.trees.counting import Classes

# Bytes for the sets of entities that walks keep for every candidate split.
LARGEST_SETS = 8e9


class PublishedRandomness(SystemRandomness):
    """The system's randomness with Laplace noise as the paper has it: real numbers, scale 1/ε."""

    def laplace(self, epsilon: Fraction, count: int) -> NDArray[np.float64]:  # type: ignore[override]
        """Return floating-point Laplace noise, float64[count]."""
        seed = int.from_bytes(self.words(2).tobytes())
        return np.random.default_rng(seed).laplace(0.0, 1.0 / float(epsilon), count)


def observed_dataset(dataset: Dataset) -> Dataset:
    """Return the data set under the schema that its own values make. NOT private.

    Every value that occurs is a cut point; attributes with one value are left out.
    """
    table = open_for_owner(dataset.table)
    views = {side: _observed_view(dataset.schema.view(side), table, side) for side in Side}
    schema = replace(dataset.schema, left=views[Side.LEFT], right=views[Side.RIGHT])
    if not views[Side.LEFT].attributes or not views[Side.RIGHT].attributes:
        raise InputError("a view has no attribute with two values; there is nothing to split")
    splits = schema.left.split_count + schema.right.split_count
    if splits * table.rows / 8 > LARGEST_SETS:
        raise InputError(
            f"{splits} different values are too many candidate splits for the published profile; "
            "use the hardened one, whose cut points are declared"
        )
    return replace(dataset, schema=schema)


class ObservedTargets:
    """Initial targets by the Freedman–Diaconis rule, from the values themselves."""

    def __init__(self, table: Sealed[Table]) -> None:
        self._table = table

    def __call__(
        self, data: Sealed[BinnedTable], schema: Schema, side: Side, number: int
    ) -> Target:
        """Return an attribute as a target."""
        attribute = schema.view(side).attributes[number]
        if attribute.kind is not Kind.NUMERIC:
            return attribute_target(data, schema, side, number)
        column = open_for_owner(self._table).view(side)[attribute.name]
        assert isinstance(column, NumericColumn)
        bins = freedman_diaconis_bins(column.values)
        return Target(within(lambda _: _equal_width(column.values, bins), data), bins)


def freedman_diaconis_bins(values: NDArray[np.float64]) -> int:
    """Return the number of equal-width bins: range / (2 · IQR · n^(-1/3)), rounded up.

    >>> freedman_diaconis_bins(np.arange(1000.0))
    10
    """
    known = values[~np.isnan(values)]
    low, high = np.quantile(known, [0.25, 0.75]) if known.size else (0.0, 0.0)
    width = 2 * (high - low) / max(known.size, 1) ** (1 / 3)
    if width <= 0:
        # More than half of the values are the same: the rule says nothing, two bins do.
        return 2
    return int(np.clip(np.ceil((known.max() - known.min()) / width), 1, 256))


def _equal_width(values: NDArray[np.float64], bins: int) -> Classes:
    known = ~np.isnan(values)
    classes = np.full(values.size, -1, dtype=np.int32)
    if known.any():
        low, high = values[known].min(), values[known].max()
        share = (values[known] - low) / (high - low if high > low else 1.0)
        classes[known] = np.minimum((share * bins).astype(np.int32), bins - 1)
    return classes


def _observed_view(view: View, table: Table, side: Side) -> View:
    """Return a view whose cut points are the values that occur."""
    attributes = [
        _observed_attribute(attribute, table.view(side)[attribute.name])
        if attribute.kind is Kind.NUMERIC
        else attribute
        for attribute in view.attributes
    ]
    return replace(view, attributes=tuple(a for a in attributes if a.splits > 0))


def _observed_attribute(attribute: Attribute, column: object) -> Attribute:
    assert isinstance(column, NumericColumn)
    known = column.values[~np.isnan(column.values)]
    # value <= largest holds for everybody, so the largest is no cut.
    return replace(attribute, cuts=tuple(np.unique(known)[:-1].tolist()))
