"""One trial of a run: everything that it may touch, with its own stream of randomness."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field

from redveil.algorithms.leaf_counts import Counts, Given, Grown, count_leaves
from redveil.algorithms.profile import Targets
from redveil.counting.prepared import PreparedData
from redveil.findings.leaf_table import LeafTable
from redveil.growing.twin import Twins
from redveil.privacy.purse import Purse
from redveil.privacy.randomness import Randomness
from redveil.schema import Side
from redveil.sealed import Released


@dataclass(frozen=True, slots=True)
class Scouted:
    """What a scout has released: a pair of twin trees of depth 1, and their table."""

    twins: Released[Twins]
    table: Released[LeafTable]


@dataclass(frozen=True, slots=True)
class Trial:
    """What one trial works with. Trials share nothing that changes, so they run in parallel.

    progress: called after each tree or pair of trees, and after each leaf table
    required: names of attributes, of which each root of twin trees takes one; any, if there are
              none
    scouted:  what was released before the plan was made, if anything
    """

    number: int
    data: PreparedData
    targets: Targets
    purse: Purse
    randomness: Randomness
    progress: Callable[[], None]
    required: Mapping[Side, Collection[str]] = field(default_factory=dict)
    scouted: Scouted | None = None

    def measure(
        self,
        grown: Mapping[Side, Grown | Given],
        counts: Counts,
        number: int = 1,
        trial: int | None = None,
    ) -> Released[LeafTable]:
        """Measure a leaf table of this trial, the first being 1, and report progress."""
        table = count_leaves(
            self.data, grown, counts, trial or self.number, number, self.purse, self.randomness
        )
        self.progress()
        return table
