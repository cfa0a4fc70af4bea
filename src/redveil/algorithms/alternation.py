"""Alternation: trees on either side in turn, each predicting the leaves of the one before.

AltExpM chooses every split by itself, AltMCMC whole trees: by a walk, or exactly. The pairs of
neighbouring trees yield leaf tables. The first tree predicts a random attribute, as in the paper,
or one side of a pair of splits that was chosen privately because they go together. Where there is
too little for trees of their own, those two splits are all there is.
"""

from __future__ import annotations

from redveil.algorithms.measure import Grown
from redveil.algorithms.parameters import Algorithm
from redveil.algorithms.schedule import start_step, tree_steps
from redveil.algorithms.targets import Target, leaf_target
from redveil.algorithms.trial import Trial
from redveil.findings.leaf_table import LeafTable
from redveil.privacy.randomness import Randomness, below
from redveil.schema import Schema, Side
from redveil.sealed import Released
from redveil.trees.levelwise import grow
from redveil.trees.walks import walk_to_tree
from redveil.trees.whole_tree import draw_tree


def alternate(trial: Trial) -> list[Released[LeafTable]]:
    """Run one trial and return its leaf tables."""
    if not trial.parameters.trees:
        return [_start_alone(trial)]
    side, target = _first_target(trial)
    latest: dict[Side, Grown] = {}
    tables: list[Released[LeafTable]] = []
    for tree_number in range(1, trial.parameters.trees + 1):
        if trial.ground.stop[0]:
            raise KeyboardInterrupt
        side = side.other
        latest[side] = _grow(trial, side, target, tree_number)
        tree, positions = latest[side]
        target = leaf_target(tree.value, positions)
        trial.progress()
        if tree_number > 1:
            tables.append(trial.measured(latest, tree_number - 1))
            trial.progress()
    return tables


def _start_alone(trial: Trial) -> Released[LeafTable]:
    """Return the leaf table of the two splits that a private start chose."""
    stumps = trial.twins({}, (start_step(trial.number),))
    trial.progress()
    table = trial.measured(trial.grown(stumps), 1)
    trial.progress()
    return table


def _first_target(trial: Trial) -> tuple[Side, Target]:
    """Return what the first tree predicts, and the view that it is from."""
    if trial.parameters.starts_privately:
        stump = trial.twins({}, (start_step(trial.number),)).value.right
        return Side.RIGHT, leaf_target(stump, trial.positions(stump))
    side, number = random_attribute(trial.schema, trial.randomness)
    return side, trial.targets(trial.data, trial.schema, side, number)


def random_attribute(schema: Schema, randomness: Randomness) -> tuple[Side, int]:
    """Return a uniformly random attribute of either view. Has nothing to do with the data."""
    lefts, rights = len(schema.left.attributes), len(schema.right.attributes)
    number = below(randomness, lefts + rights)
    return (Side.LEFT, number) if number < lefts else (Side.RIGHT, number - lefts)


def _grow(trial: Trial, side: Side, target: Target, number: int) -> Grown:
    """Grow one tree, in the algorithm's way."""
    steps = tree_steps(trial.parameters, trial.number, number)
    if trial.parameters.algorithm is Algorithm.ALT_EXPM:
        return grow(
            trial.data,
            side,
            trial.ground.splits[side],
            target.classes,
            target.number,
            steps,
            trial.purse,
            trial.randomness,
            trial.ground.rules,
        )
    if trial.parameters.draws_exactly:
        tree = draw_tree(
            trial.ground,
            side,
            trial.parameters.depth,
            target.classes,
            target.number,
            trial.purse.pay(steps[0], "choose"),
            trial.randomness,
        )
        return tree, trial.positions(tree.value)
    receipt = trial.purse.pay(steps[0], "walk")
    tree = walk_to_tree(
        trial.ground,
        side,
        trial.parameters.depth,
        target.classes,
        target.number,
        trial.parameters.steps,
        receipt,
        trial.randomness,
    )
    return tree, trial.positions(tree.value)
