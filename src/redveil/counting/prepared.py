"""Prepared data: what every algorithm works on, made once a run. The entities stay sealed."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from redveil.counting.backend import Backend
from redveil.counting.columns import Classes, Counts
from redveil.counting.labels import Labels
from redveil.counting.local import LocalCounts
from redveil.counting.questions import Bins, Ends, Joint, NodePair, Quadrants, Size
from redveil.data.binning import BinnedTable
from redveil.errors import PlanError
from redveil.kernels.joint import JointCounts
from redveil.kernels.subtree import SplitSets
from redveil.schema import Schema, Side
from redveil.sealed import Sealed
from redveil.trees.splits import Splits
from redveil.trees.tree import Tree

Flag = NDArray[np.uint8]
Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class PreparedData:
    """The public splits of a run, and the backend that counts entities by them.

    schema: the schema whose splits trees are made of
    splits: the public candidate splits of each view
    counts: who counts; the entities are there, sealed or on other machines
    stop:   uint8[1], set to 1 from outside to end all work at the next opportunity
    """

    schema: Schema
    splits: Mapping[Side, Splits]
    counts: Backend
    stop: Flag
    _at_roots: list[Sealed[list[JointCounts]]] = field(default_factory=list, repr=False)
    _one_at_a_time: Lock = field(default_factory=Lock, repr=False)

    @classmethod
    def of(
        cls, schema: Schema, table: Sealed[BinnedTable], stop: Flag | None = None
    ) -> PreparedData:
        """Prepare a packed table on this machine."""
        splits = splits_of(schema)
        return cls.asking(LocalCounts(table, splits), schema, splits, stop)

    @classmethod
    def asking(
        cls,
        counts: Backend,
        schema: Schema,
        splits: Mapping[Side, Splits],
        stop: Flag | None = None,
    ) -> PreparedData:
        """Prepare data that a backend has."""
        return cls(schema, splits, counts, np.zeros(1, dtype=np.uint8) if stop is None else stop)

    def halt(self) -> None:
        """End all work at the next opportunity."""
        self.stop[0] = 1

    # Counts, from whichever backend

    def size(self) -> Sealed[Integers]:
        """Return how many entities there are, sealed int64[1]."""
        return self.counts.ask(Size())

    def ends(self, left: Tree, right: Tree) -> Sealed[Integers]:
        """Return how many entities end where in two trees, sealed int64[left ends, right ends]."""
        return self.counts.ask(Ends(left, right))

    def bins(
        self, tree: Tree, nodes: Collection[int], labels: Labels, classes: int
    ) -> Sealed[Counts]:
        """Count entities by bin and class at some nodes, sealed counts[bins, nodes · classes]."""
        return self.counts.ask(Bins(tree, tuple(nodes), labels, classes))

    def joint(
        self, left: Tree, right: Tree, matches: Sequence[NodePair]
    ) -> Sealed[list[JointCounts]]:
        """Count how the splits of both views fall together at pairs of nodes of two trees.

        Counts at the roots are kept, because every pair of trees begins there.
        """
        question = Joint(left, right, tuple(matches))
        if left.splits or right.splits:
            return self.counts.ask(question)
        with self._one_at_a_time:
            if not self._at_roots:
                self._at_roots.append(self.counts.ask(question))
            return self._at_roots[0]

    def quadrants(self, side: Side, labels: Labels, classes: int) -> Sealed[list[JointCounts]]:
        """Count how the splits of one view fall together among the entities of each class."""
        return self.counts.ask(Quadrants(side, labels, classes))

    # Entities one by one, only on this machine

    @property
    def here(self) -> LocalCounts:
        """The entities, if they are on this machine; runs that need them are refused otherwise."""
        if not isinstance(self.counts, LocalCounts):
            raise PlanError("walks need the entities on this machine")
        return self.counts

    def sets(self, side: Side) -> Sealed[SplitSets]:
        """Return the splits of a view as sets of entities."""
        return self.here.sets(side)

    def classes(self, labels: Labels) -> Sealed[Classes]:
        """Return the class of each entity, sealed int32[N]."""
        return self.here.classes(labels)


def splits_of(schema: Schema) -> dict[Side, Splits]:
    """Return the candidate splits of both views. Public."""
    return {side: Splits.of(schema.view(side)) for side in Side}
