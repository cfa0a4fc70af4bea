"""The plan of a run, and the names by which its steps are paid for."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from redveil.mining.parameters import Algorithm, Counts, Parameters
from redveil.privacy.loss import divide
from redveil.privacy.plan import Plan, Step


def make_plan(parameters: Parameters, epsilon: Fraction) -> Plan:
    """Divide ε over the steps of a run: a pure function of public parameters.

    Alternation: with a alternations, a trial grows a + 1 trees and measures a tables, 2a + 1 equal
    shares. Tree pairs: `tree_share` of a trial's share goes to the walk, the rest to the table.

    >>> plan = make_plan(Parameters(depth=2, trials=1, alternations=1), Fraction(1))
    >>> [step.name for step in plan.steps][:2], plan.steps[0].epsilon
    (['trial 1, tree 1, level 1', 'trial 1, tree 1, level 2'], Fraction(1, 6))
    """
    share = epsilon / parameters.trials
    steps = _pair_steps if parameters.algorithm is Algorithm.TREE_PAIR else _alternation_steps
    return Plan(
        epsilon,
        tuple(
            step
            for trial in range(1, parameters.trials + 1)
            for step in steps(parameters, trial, share)
        ),
    )


def tree_steps(parameters: Parameters, trial: int, tree: int) -> tuple[str, ...]:
    """Return the names of a tree's steps: one a level, or one for a whole walk.

    >>> tree_steps(Parameters(depth=2), trial=1, tree=3)
    ('trial 1, tree 3, level 1', 'trial 1, tree 3, level 2')
    """
    if parameters.algorithm.uses_walks:
        return (f"trial {trial}, tree {tree}, walk",)
    return tuple(
        f"trial {trial}, tree {tree}, level {level + 1}" for level in range(parameters.depth)
    )


def pair_step(trial: int) -> str:
    """Return the name of a walk over tree pairs.

    >>> pair_step(2)
    'trial 2, tree pair, walk'
    """
    return f"trial {trial}, tree pair, walk"


def table_step(trial: int, pair: int, part: str) -> str:
    """Return the name of one part of a leaf table.

    >>> table_step(1, 2, "cells")
    'trial 1, leaf table 2, cells'
    """
    return f"trial {trial}, leaf table {pair}, {part}"


def table_shares(parameters: Parameters) -> dict[str, int]:
    """Return what is measured of a leaf table, and in which proportion it is paid for.

    Cells carry the overlaps; margins steady the supports.

    >>> table_shares(Parameters())
    {'cells': 2, 'left margin': 1, 'right margin': 1}
    """
    if parameters.counts is Counts.TWO_PASS:
        return {"cells": 1, "left margin": 1}
    return {"cells": 2, "left margin": 1, "right margin": 1}


def stages(parameters: Parameters) -> int:
    """Return how many times a run reports progress: once a tree or pair, once a table.

    >>> stages(Parameters(trials=1, alternations=2))
    5
    """
    if parameters.algorithm is Algorithm.TREE_PAIR:
        return 2 * parameters.trials
    return parameters.trials * (2 * parameters.alternations + 1)


def _alternation_steps(parameters: Parameters, trial: int, share: Fraction) -> Iterator[Step]:
    """Yield an alternation trial's steps in the order in which they are taken."""
    part = share / (2 * parameters.alternations + 1)
    for tree in range(1, parameters.alternations + 2):
        names = tree_steps(parameters, trial, tree)
        for name in names:
            yield Step(
                name, "walk" if parameters.algorithm.uses_walks else "choose", part / len(names)
            )
        if tree > 1:
            yield from _table_steps(parameters, trial, tree - 1, part)


def _pair_steps(parameters: Parameters, trial: int, share: Fraction) -> Iterator[Step]:
    """Yield a tree-pair trial's steps."""
    yield Step(pair_step(trial), "walk", share * parameters.tree_share)
    yield from _table_steps(parameters, trial, 1, share * (1 - parameters.tree_share))


def _table_steps(parameters: Parameters, trial: int, pair: int, price: Fraction) -> Iterator[Step]:
    """Yield a leaf table's steps."""
    shares = table_shares(parameters)
    prices = divide(price, list(shares.values()))
    for part, part_price in zip(shares, prices, strict=True):
        yield Step(table_step(trial, pair, part), "count", part_price)
