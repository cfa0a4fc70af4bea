"""Ground for twin trees, from views filled by hand."""

from __future__ import annotations

import numpy as np

from redveil.data.binning import BinnedTable
from redveil.schema import Side
from redveil.sealed import Sealed
from redveil.trees.split_sets import split_sets
from redveil.trees.splits import Splits
from redveil.trees.twin import Soil
from support.tiny import Tiny, table_of


def soil_of(table: BinnedTable, splits: dict[Side, Splits]) -> Soil:
    """Return what twins grow on, for packed data."""
    sets = {side: Sealed(split_sets(table.view(side), splits[side])) for side in Side}
    return Soil.of(Sealed(table), sets, splits, np.zeros(1, np.uint8))


def tiny_soil(left: Tiny, right: Tiny) -> Soil:
    """Return what twins grow on, for two tiny views."""
    return soil_of(table_of(left, right), {Side.LEFT: left.splits, Side.RIGHT: right.splits})
