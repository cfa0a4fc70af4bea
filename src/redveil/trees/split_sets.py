"""The candidate splits of a view as sets of entities. Private; only used inside a seal."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from redveil.data.binning import BinnedView
from redveil.data.table import pack
from redveil.kernels.bits import range_bits
from redveil.kernels.subtree import SplitSets
from redveil.schema import Kind
from redveil.trees.splits import Splits


def split_sets(view: BinnedView, splits: Splits) -> SplitSets:
    """Return the entities for which each split holds, and those whose value is known."""
    attributes = splits.view.attributes
    is_bit = np.array([attributes[a].kind is Kind.BOOLEAN for a in splits.attribute])
    rows = view.row[splits.attribute]
    holds = np.zeros((len(splits), -(-view.rows // 64)), dtype=np.uint64)
    holds[is_bit] = view.bits[rows[is_bit]]
    if not is_bit.all():
        coded = ~is_bit
        holds[coded] = range_bits(view.codes, rows[coded], splits.low[coded], splits.high[coded])
    known, row_of = _known(view, splits)
    first = np.concatenate([[0], np.cumsum(np.bincount(splits.attribute))])
    return SplitSets(holds, known, row_of[splits.attribute], first.astype(np.int32))


def all_entities(rows: int) -> NDArray[np.uint64]:
    """Return the set of all entities, uint64[words]."""
    return pack(np.ones(rows, dtype=np.bool_))


def _known(view: BinnedView, splits: Splits) -> tuple[NDArray[np.uint64], NDArray[np.int32]]:
    """Return the distinct sets of entities with a known value, and the set of each attribute.

    The first set contains all entities. Attributes that no entity of the whole table lacks share
    it, so that the sets are the same in every block of the table.
    """
    sets = [all_entities(view.rows)]
    row_of = np.zeros(len(splits.view.attributes), dtype=np.int32)
    for number, attribute in enumerate(splits.view.attributes):
        if not view.lacking[number]:
            continue
        row = int(view.row[number])
        if attribute.kind is Kind.BOOLEAN:
            absent = view.absent[view.absent_row[row]]
        else:
            absent = pack(view.codes[row] == np.iinfo(view.codes.dtype).max)
        row_of[number] = len(sets)
        sets.append(sets[0] & ~absent)
    return np.array(sets, dtype=np.uint64), row_of
