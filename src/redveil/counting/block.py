"""A block of a data set: some of its entities, packed. Private; blocks live inside a backend."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from threading import Lock
from typing import Final

import numpy as np
from numpy.typing import NDArray

from redveil.counting.columns import Classes, Positions, route
from redveil.counting.split_sets import SplitPlanes, plane_counts
from redveil.data.binning import BinnedTable
from redveil.schema import Side
from redveil.trees.splits import Splits
from redveil.trees.tree import Tree

# Entities are counted in blocks of this many, multiples of 64, so that what is made of a block on
# the way stays small. A block's counts are added to those of the others, which takes as long for a
# small block as for a large one: so blocks are as large as they may be, if every core has some.
LEAST_ENTITIES: Final = 2**15
MOST_ENTITIES: Final = 2**17
BLOCKS_PER_CORE: Final = 4
# The bit planes of all entities are kept from question to question if they fit into this many
# bytes; otherwise they are made again for each question.
KEPT_PLANE_BYTES: Final = 2**29

Given = Mapping[int, Classes]


class Block:
    """The entities `first` … `first + rows − 1` of a packed table.

    table:  the packed table of all entities
    splits: the public candidate splits of each view
    given:  classes that no released value describes, int32[N] by number (`labels.GivenLabels`)
    threads: whether counting it may use all cores, if it is the only block
    keeps:  whether to keep the bit planes
    """

    def __init__(
        self,
        table: BinnedTable,
        splits: Mapping[Side, Splits],
        given: Given,
        first: int,
        last: int,
        *,
        keeps: bool,
        threads: bool,
    ) -> None:
        self.first = first
        self.rows = last - first
        self.is_whole = self.rows == table.rows
        self.threads = threads and self.is_whole
        self.splits = splits
        self._table = table
        self._given = given
        self._keeps = keeps
        self._kept: dict[Side, SplitPlanes] = {}
        self._one_at_a_time = Lock()

    @property
    def table(self) -> BinnedTable:
        """The packed table of these entities; a copy, unless they are all."""
        return (
            self._table if self.is_whole else self._table.block(self.first, self.first + self.rows)
        )

    def planes(self, side: Side) -> SplitPlanes:
        """Return what the sets of a view's splits are made of, for these entities."""
        if not self._keeps:
            return self._made(side)
        with self._one_at_a_time:
            if side not in self._kept:
                self._kept[side] = self._made(side)
            return self._kept[side]

    def _made(self, side: Side) -> SplitPlanes:
        return SplitPlanes.of(self.table.view(side), self.splits[side])

    def positions(self, tree: Tree) -> Positions:
        """Return where each of these entities ends in a tree, int16[rows]."""
        # Of the whole table, because the columns of a block would have to be copied.
        view = self._table.view(tree.side)
        return route(view, self.splits[tree.side], tree, self.first, self.rows)

    def given(self, number: int) -> Classes:
        """Return these entities' classes among those that were given, int32[rows]."""
        return self._given[number][self.first : self.first + self.rows]


def blocks_of(
    table: BinnedTable,
    splits: Mapping[Side, Splits],
    given: Given,
    size: int | None = None,
    *,
    threads: bool = True,
) -> tuple[Block, ...]:
    """Divide a packed table into blocks of at most `size` entities; there is always one.

    size:    a multiple of 64; by default, what suits the number of entities and of cores
    threads: whether counting may use all cores
    """
    words = -(-table.rows // 64)
    planes = sum(int(plane_counts(one.view.attributes).sum()) for one in splits.values())
    keeps = 8 * words * planes <= KEPT_PLANE_BYTES
    return tuple(
        Block(table, splits, given, first, last, keeps=keeps, threads=threads)
        for first, last in _ranges(table.rows, size or block_size(table.rows, os.cpu_count() or 1))
    )


def block_size(rows: int, cores: int) -> int:
    """Return how many entities a block should have, a multiple of 64.

    >>> [block_size(rows, 2) for rows in (1000, 1_000_000, 10_000_000)]
    [32768, 125056, 131072]
    """
    even = -(-rows // (64 * cores * BLOCKS_PER_CORE)) * 64
    return min(max(even, LEAST_ENTITIES), MOST_ENTITIES)


def _ranges(rows: int, size: int) -> Iterator[tuple[int, int]]:
    """Yield the first entity of each block, and that after its last."""
    for first in range(0, max(rows, 1), size):
        yield first, min(first + size, rows)


def members(at_left: Positions, at_right: Positions, match: tuple[int, int]) -> NDArray[np.bool_]:
    """Return which entities lie in both nodes of a pair, bool[rows]."""
    both: NDArray[np.bool_] = (at_left == match[0]) & (at_right == match[1])
    return both
