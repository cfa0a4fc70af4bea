"""One trial of a run: everything it may touch, with its own stream of randomness."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from redveil.algorithms.measure import Grown, measure
from redveil.algorithms.parameters import Parameters, RootScore
from redveil.algorithms.targets import Target, attribute_target
from redveil.data.binning import BinnedTable
from redveil.findings.leaf_table import LeafTable
from redveil.privacy.plan import Purse
from redveil.privacy.randomness import Randomness
from redveil.schema import Schema, Side
from redveil.sealed import Released, Sealed, combine, within
from redveil.trees.counting import Positions, route
from redveil.trees.tree import Tree
from redveil.trees.twin import BY_AGREEMENT, BY_LEVERAGE, Avoid, Soil, Twins, grow_twins
from redveil.trees.walks import Ground

Targets = Callable[[Sealed[BinnedTable], Schema, Side, int], Target]


@dataclass(frozen=True, slots=True)
class Trial:
    """What one trial works with. Trials share nothing that changes, so they run in parallel."""

    number: int
    data: Sealed[BinnedTable]
    schema: Schema
    ground: Ground
    soil: Soil | None
    parameters: Parameters
    purse: Purse
    randomness: Randomness
    progress: Callable[[], None]
    targets: Targets = attribute_target

    def twins(self, avoid: Avoid, steps: Sequence[str]) -> Released[Twins]:
        """Grow a pair of matched trees."""
        assert self.soil is not None, "whoever grows twins has prepared their soil"
        weak = self.parameters.root_score is RootScore.AGREEMENT
        root = BY_AGREEMENT if weak else BY_LEVERAGE
        return grow_twins(self.soil, root, avoid, steps, self.purse, self.randomness)

    def grown(self, twins: Released[Twins]) -> dict[Side, Grown]:
        """Return both trees of a pair, and where everybody ends in them."""
        return {
            side: (
                combine(lambda both, s=side: both.tree(s), twins),
                self.positions(twins.value.tree(side)),
            )
            for side in Side
        }

    def measured(
        self, grown: dict[Side, Grown], pair: int, number: int | None = None
    ) -> Released[LeafTable]:
        """Return the leaf table of a pair of trees, the first being 1, of this or another trial."""
        trial = self.number if number is None else number
        return measure(grown, trial, pair, self.parameters, self.purse, self.randomness)

    def positions(self, tree: Tree) -> Sealed[Positions]:
        """Return where everybody ends in a released tree, sealed int16[N]."""
        splits = self.ground.splits[tree.side]
        return within(lambda table: route(table.view(tree.side), splits, tree), self.data)
