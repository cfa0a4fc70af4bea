"""The plan of a run, and the names by which its steps are paid for."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Final

from redveil.algorithms.parameters import Algorithm, Counts, Parameters
from redveil.privacy.loss import Price, divide
from redveil.privacy.plan import Plan, Step

# What the private size costs, and what its step is called.
SIZE_SHARE: Final = Fraction(1, 100)
SIZE_STEP: Final = "size"


def size_step(price: Price) -> Step:
    """Return the step that measures the number of entities in a run.

    >>> size_step(Fraction(1))
    Step(name='size', mechanism='count', price=Fraction(1, 100))
    """
    return Step(SIZE_STEP, "count", price * SIZE_SHARE)


def make_plan(parameters: Parameters, price: Price) -> Plan:
    """Divide a price over the steps of a run: a pure function of public parameters.

    Twins and tree pairs: `tree_share` of a trial's share goes to the trees, the rest to the table.
    Alternation: with a alternations, a trial grows a + 1 trees and measures a tables, in equal
    shares; a private start takes one more. Without any, its two splits are the trees.

    >>> plan = make_plan(Parameters(depth=2, trials=1), Fraction(1))
    >>> [step.name for step in plan.steps][:2], plan.steps[0].price
    (['trial 1, twins, level 1', 'trial 1, twins, level 2'], Fraction(1, 4))
    """
    share = price / parameters.trials
    steps = _alternation_steps if parameters.algorithm.alternates else _pair_steps
    return Plan(
        price,
        tuple(
            step
            for trial in range(1, parameters.trials + 1)
            for step in steps(parameters, trial, share)
        ),
    )


def tree_steps(parameters: Parameters, trial: int, tree: int) -> tuple[str, ...]:
    """Return the names of a tree's steps: one a level, or one for a whole tree.

    >>> tree_steps(Parameters(algorithm=Algorithm.ALT_EXPM, depth=2), trial=1, tree=3)
    ('trial 1, tree 3, level 1', 'trial 1, tree 3, level 2')
    """
    if parameters.walks:
        return (f"trial {trial}, tree {tree}, walk",)
    if parameters.draws_exactly:
        return (f"trial {trial}, tree {tree}",)
    return tuple(
        f"trial {trial}, tree {tree}, level {level + 1}" for level in range(parameters.depth)
    )


def pair_step(trial: int) -> str:
    """Return the name of a walk over tree pairs.

    >>> pair_step(2)
    'trial 2, tree pair, walk'
    """
    return f"trial {trial}, tree pair, walk"


def twin_steps(depth: int, trial: int) -> tuple[str, ...]:
    """Return the names of a twin pair's steps, one a level.

    >>> twin_steps(2, trial=1)
    ('trial 1, twins, level 1', 'trial 1, twins, level 2')
    """
    return tuple(f"trial {trial}, twins, level {level + 1}" for level in range(depth))


def start_step(trial: int) -> str:
    """Return the name of an alternation's private start.

    >>> start_step(1)
    'trial 1, start'
    """
    return f"trial {trial}, start"


def table_step(trial: int, pair: int, part: str) -> str:
    """Return the name of one part of a leaf table.

    >>> table_step(1, 2, "cells")
    'trial 1, leaf table 2, cells'
    """
    return f"trial {trial}, leaf table {pair}, {part}"


def table_shares(parameters: Parameters) -> dict[str, int]:
    """Return what is measured of a leaf table, and in which proportion it is paid for.

    Cells alone give supports and overlaps their smallest errors up to depth 4, and margins would
    only cost (docs/decisions/0010). They can be asked for, with least squares to fit them in.

    >>> table_shares(Parameters())
    {'cells': 1}
    """
    if parameters.counts is Counts.CELLS:
        return {"cells": 1}
    if parameters.counts is Counts.TWO_PASS:
        return {"cells": 1, "left margin": 1}
    return {"cells": 2, "left margin": 1, "right margin": 1}


def stages(parameters: Parameters) -> int:
    """Return how many times a run reports progress: once a tree or pair, once a table.

    >>> stages(Parameters(algorithm=Algorithm.ALT_EXPM, trials=1, alternations=2))
    5
    """
    if not parameters.algorithm.alternates:
        return 2 * parameters.trials
    return parameters.trials * (max(parameters.trees, 1) + parameters.tables)


def _alternation_steps(parameters: Parameters, trial: int, share: Price) -> Iterator[Step]:
    """Yield an alternation trial's steps in the order in which they are taken."""
    private = parameters.starts_privately
    part = share / (private + parameters.trees + parameters.tables)
    if private:
        yield Step(start_step(trial), "choose", part)
    for tree in range(1, parameters.trees + 1):
        names = tree_steps(parameters, trial, tree)
        for name in names:
            yield Step(name, "walk" if parameters.walks else "choose", part / len(names))
        if tree > 1:
            yield from _table_steps(parameters, trial, tree - 1, part)
    if not parameters.trees:
        yield from _table_steps(parameters, trial, 1, part)


def _pair_steps(parameters: Parameters, trial: int, share: Price) -> Iterator[Step]:
    """Yield the steps of a trial that makes one pair of trees."""
    price = share * parameters.tree_share
    if parameters.algorithm is Algorithm.TWIN:
        for name in twin_steps(parameters.depth, trial):
            yield Step(name, "choose", price / parameters.depth)
    else:
        yield Step(pair_step(trial), "walk", price)
    yield from _table_steps(parameters, trial, 1, share * (1 - parameters.tree_share))


def _table_steps(parameters: Parameters, trial: int, pair: int, price: Price) -> Iterator[Step]:
    """Yield a leaf table's steps."""
    shares = table_shares(parameters)
    prices = divide(price, list(shares.values()))
    for part, part_price in zip(shares, prices, strict=True):
        yield Step(table_step(trial, pair, part), "count", part_price)
