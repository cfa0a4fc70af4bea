"""MCMCTreePair: one walk over pairs of trees, then their leaf table."""

from __future__ import annotations

from redveil.algorithms.alternation import random_attribute
from redveil.algorithms.measure import measure
from redveil.algorithms.parameters import PairScore
from redveil.algorithms.schedule import pair_step
from redveil.algorithms.trial import Trial
from redveil.findings.leaf_table import LeafTable
from redveil.schema import Side
from redveil.sealed import Released, Sealed
from redveil.trees.counting import Classes
from redveil.trees.walks import walk_to_pair


def walk_pair_trial(trial: Trial) -> list[Released[LeafTable]]:
    """Run one trial and return its leaf table."""
    receipt = trial.purse.pay(pair_step(trial.number), "walk")
    trees = walk_to_pair(
        trial.ground,
        trial.parameters.depth,
        _target(trial),
        trial.parameters.steps,
        receipt,
        trial.randomness,
    )
    trial.progress()
    grown = {side: (tree, trial.positions(tree.value)) for side, tree in trees.items()}
    table = measure(grown, trial.number, 1, trial.parameters, trial.purse, trial.randomness)
    trial.progress()
    return [table]


def _target(trial: Trial) -> tuple[Side, Sealed[Classes], int] | None:
    """Return what the first tree is to predict: an attribute of the other view, or nothing."""
    if trial.parameters.pair_score is PairScore.ASSOCIATION:
        return None
    side, number = random_attribute(trial.schema, trial.randomness)
    target = trial.targets(trial.data, trial.schema, side, number)
    return side.other, target.classes, target.number
