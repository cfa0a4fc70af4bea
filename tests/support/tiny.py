"""Views small enough for every tree over them to be listed, filled with values by hand."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from oracle.splits import splits_of
from oracle.walk import Candidates, candidates
from redveil.data.binning import BinnedTable, BinnedView, bin_view
from redveil.data.table import MISSING, CodedColumn, Column, NumericColumn
from redveil.schema import Attribute, Kind, View
from redveil.trees.splits import Splits

Value = int | None


def tiny_view(booleans: int, cuts: int) -> View:
    """Return a view of some Booleans and one number; they may be missing.

    The number has more splits than the others, so that the base measure of walks matters.
    """
    flags = [Attribute(f"flag {i}", Kind.BOOLEAN) for i in range(booleans)]
    points = tuple(float(c) for c in range(1, cuts + 1))
    number = Attribute("number", Kind.NUMERIC, minimum=0, maximum=cuts + 1, cuts=points)
    return View("view", "id", (*flags, number))


@dataclass(frozen=True)
class Tiny:
    """One view with its values, values[attribute][entity] as bins; None is missing."""

    view: View
    values: Sequence[Sequence[Value]]

    @property
    def rows(self) -> int:
        """How many entities there are."""
        return len(self.values[0])

    @cached_property
    def splits(self) -> Splits:
        """The splits, as the package lists them."""
        return Splits.of(self.view)

    @cached_property
    def candidates(self) -> Candidates:
        """The splits, as the slow twins take them."""
        listed = splits_of(self.view)
        runs = [(one.attribute, min(one.holds), max(one.holds)) for one in listed]
        return candidates(self.values, runs)

    @cached_property
    def packed(self) -> BinnedView:
        """The values, as the package packs them."""
        columns: dict[str, Column] = {}
        for attribute, values in zip(self.view.attributes, self.values, strict=True):
            if attribute.kind is Kind.BOOLEAN:
                codes = np.array([MISSING if v is None else v for v in values], np.uint8)
                columns[attribute.name] = CodedColumn(attribute, codes)
            else:
                numbers = np.array([math.nan if v is None else v + 0.5 for v in values])
                columns[attribute.name] = NumericColumn(attribute, numbers)
        return bin_view(columns, self.view, self.rows)


def table_of(left: Tiny, right: Tiny) -> BinnedTable:
    """Return both views as one table."""
    return BinnedTable(left.rows, left.packed, right.packed)


def tiny_entities(rows: int, booleans: int, cuts: int, seed: int) -> Tiny:
    """Return values that follow the entities' numbers, with noise; every tenth is missing."""
    generator = np.random.default_rng(seed)
    hidden = np.arange(rows) / rows

    def column(bins: int) -> list[Value]:
        noisy = hidden + generator.normal(0, 0.35, rows)
        found = np.clip((noisy * bins).astype(int), 0, bins - 1).tolist()
        absent = generator.random(rows) < 0.1
        return [None if gone else v for v, gone in zip(found, absent, strict=True)]

    values = [column(2) for _ in range(booleans)] + [column(cuts + 1)]
    return Tiny(tiny_view(booleans, cuts), values)
