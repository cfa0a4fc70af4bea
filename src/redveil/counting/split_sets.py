"""The candidate splits of a view as sets of entities. Private; only used inside a seal."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from redveil.data.binning import BinnedView
from redveil.data.table import pack
from redveil.kernels.compress import compress, movers
from redveil.kernels.planes import bit_planes, range_sets
from redveil.kernels.subtree import SplitSets
from redveil.schema import Attribute, Kind
from redveil.trees.splits import Splits

Sets = NDArray[np.uint64]
Numbers = NDArray[np.int32]


@dataclass(frozen=True, slots=True, eq=False)
class SplitPlanes:
    """All that the sets of a view's splits are made of, in a fraction of their room.

    splits:    the public candidate splits
    planes:    uint64[planes, words], the bit planes of all attributes (`kernels.planes`)
    known:     uint64[some, words], sets of entities whose value is known
    known_row: int32[attributes], which of these sets belongs to an attribute
    """

    splits: Splits
    planes: Sets
    known: Sets
    known_row: Numbers

    @classmethod
    def of(cls, view: BinnedView, splits: Splits) -> SplitPlanes:
        """Make the planes of a view."""
        attributes = splits.view.attributes
        count = plane_counts(attributes)
        coded = np.array([a.kind is not Kind.BOOLEAN for a in attributes], dtype=np.bool_)
        is_coded = np.repeat(coded, count)
        planes = np.empty((len(is_coded), -(-view.rows // 64)), dtype=np.uint64)
        planes[~is_coded] = view.bits[view.row[~coded]]
        if coded.any():
            planes[is_coded] = bit_planes(view.codes, view.row[coded], count[coded])
        return cls(splits, planes, *_known(view, attributes, planes))

    def among(self, members: Sets) -> SplitPlanes:
        """Return the planes of some entities only, so that counting scales with their number.

        members: uint64[words], the entities to keep.
        """
        moves = movers(members)
        planes, known = (compress(each, members, moves) for each in (self.planes, self.known))
        return replace(self, planes=planes, known=known)

    def sets(self) -> SplitSets:
        """Return the entities for which each split holds, and those whose value is known."""
        splits, attributes = self.splits, self.splits.view.attributes
        count = plane_counts(attributes)
        # The plane of a Boolean is the set of its only split, as if true were the bin 0.
        is_bit = np.array([a.kind is Kind.BOOLEAN for a in attributes], dtype=np.bool_)
        shown = ~is_bit[splits.attribute]
        holds = range_sets(
            self.planes,
            (np.cumsum(count, dtype=np.int32) - count)[splits.attribute],
            count[splits.attribute],
            splits.low * shown,
            splits.high * shown,
        )
        first = np.concatenate([[0], np.cumsum(np.bincount(splits.attribute))])
        return SplitSets(
            holds, self.known, self.known_row[splits.attribute], first.astype(np.int32)
        )


def plane_counts(attributes: tuple[Attribute, ...]) -> Numbers:
    """Return how many planes each attribute has, int32[attributes].

    One set for a Boolean; otherwise one for each digit of the number of bins, which stands for a
    missing value.
    """
    return np.array(
        [1 if a.kind is Kind.BOOLEAN else a.bins.bit_length() for a in attributes], dtype=np.int32
    )


def split_sets(view: BinnedView, splits: Splits) -> SplitSets:
    """Return the entities for which each split holds, and those whose value is known."""
    return SplitPlanes.of(view, splits).sets()


def all_entities(rows: int) -> Sets:
    """Return the set of all entities, uint64[words]."""
    return pack(np.ones(rows, dtype=np.bool_))


def _known(
    view: BinnedView, attributes: tuple[Attribute, ...], planes: Sets
) -> tuple[Sets, Numbers]:
    """Return the distinct sets of entities with a known value, and the set of each attribute.

    The first set contains all entities. Attributes that no entity of the whole table lacks share
    it, so that the sets are the same in every block of the table.
    """
    sets = [all_entities(view.rows)]
    row_of = np.zeros(len(attributes), dtype=np.int32)
    begin = np.concatenate([[0], np.cumsum(plane_counts(attributes))])
    for number, attribute in enumerate(attributes):
        if not view.lacking[number]:
            continue
        row_of[number] = len(sets)
        if attribute.kind is Kind.BOOLEAN:
            absent = view.absent[view.absent_row[view.row[number]]]
            sets.append(sets[0] & ~absent)
        else:
            # Only a missing value is in no plane.
            sets.append(reduce(np.bitwise_or, planes[begin[number] : begin[number + 1]]))
    return np.array(sets, dtype=np.uint64), row_of
