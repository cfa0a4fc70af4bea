"""Prepared data: what every algorithm works on, made once a run. Private; it stays sealed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from redveil.data.binning import BinnedTable
from redveil.kernels.joint import JointCounts
from redveil.kernels.subtree import SplitSets
from redveil.schema import Schema, Side
from redveil.sealed import Sealed, within
from redveil.trees.counting import Positions, route
from redveil.trees.joint import count_jointly
from redveil.trees.split_sets import all_entities, split_sets
from redveil.trees.splits import Splits
from redveil.trees.tree import Tree

Flag = NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class Needs:
    """What an algorithm needs besides the table itself.

    sets:  every candidate split as a set of entities (walks, whole-tree draws, twin trees)
    joint: how the splits of both views fall together over all entities (twin trees, starts)
    """

    sets: bool = False
    joint: bool = False


@dataclass(frozen=True, slots=True)
class PreparedData:
    """The binned table of a run, and what is computed from it once for all trials.

    schema:   the schema whose splits trees are made of
    table:    the binned table
    splits:   the public candidate splits of each view
    sets:     the splits as sets of entities, by side; empty unless needed
    joint:    joint counts of all pairs of splits over all entities; None unless needed
    entities: the set of all entities, uint64[words]
    rows:     how many entities there are
    stop:     uint8[1], set to 1 from outside to end all work at the next opportunity
    """

    schema: Schema
    table: Sealed[BinnedTable]
    splits: Mapping[Side, Splits]
    sets: Mapping[Side, Sealed[SplitSets]]
    joint: Sealed[JointCounts] | None
    entities: Sealed[NDArray[np.uint64]]
    rows: Sealed[int]
    stop: Flag

    @classmethod
    def of(
        cls, schema: Schema, table: Sealed[BinnedTable], needs: Needs, stop: Flag | None = None
    ) -> PreparedData:
        """Prepare a binned table."""
        splits = {side: Splits.of(schema.view(side)) for side in Side}
        sides = Side if needs.sets or needs.joint else ()
        sets = {side: within(partial(_sets, side, splits[side]), table) for side in sides}
        return cls(
            schema=schema,
            table=table,
            splits=splits,
            sets=sets,
            joint=within(count_jointly, sets[Side.LEFT], sets[Side.RIGHT]) if needs.joint else None,
            entities=within(lambda binned: all_entities(binned.rows), table),
            rows=within(lambda binned: binned.rows, table),
            stop=np.zeros(1, dtype=np.uint8) if stop is None else stop,
        )

    def halt(self) -> None:
        """End all work at the next opportunity."""
        self.stop[0] = 1

    def positions(self, tree: Tree) -> Sealed[Positions]:
        """Return where each entity ends in a released tree, sealed int16[N]."""
        splits = self.splits[tree.side]
        return within(lambda binned: route(binned.view(tree.side), splits, tree), self.table)


def _sets(side: Side, splits: Splits, table: BinnedTable) -> SplitSets:
    return split_sets(table.view(side), splits)
