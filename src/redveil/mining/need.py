"""What it would have taken: the ε or the number of entities at which something would hold up."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Final

import numpy as np

from redveil.mining.estimate import estimate
from redveil.mining.leaf_query import term_cells
from redveil.mining.leaf_table import LeafTable
from redveil.mining.parameters import Parameters
from redveil.mining.reach import Reach, report_reach
from redveil.mining.statistics import jaccard_bounds, pessimistic_p_values
from redveil.mining.tuning import tune, tuned_plan
from redveil.privacy.loss import Loss, Price
from redveil.schema import Schema, Side
from redveil.trees.tree import Tree

# A redescription that most would call good: two halves of the entities that share two thirds.
GOOD: Final = 0.5
MOST: Final = 2**30


@dataclass(frozen=True, slots=True)
class Need:
    """About how large ε (at this size), or the size (at this ε), would have to be."""

    epsilon: float
    size: float


def needed(
    parameters: Parameters, schema: Schema, size: float, loss: Loss, jaccard: float = GOOD
) -> Need:
    """Return what a redescription of half the entities would have needed to be reported.

    Found by trying: a table with nothing but that redescription, measured without luck, good or
    bad, at the prices of the plan that the rule makes. Public, as the noisy size is.
    """
    people = max(size, 1.0)
    # The reach hardly depends on the price, so it is simulated once for every shape.
    known: dict[tuple[int, int], Reach] = {}

    def at(scale_size: float, scale_price: float) -> bool:
        larger = loss.epsilon * Fraction(scale_price).limit_denominator(10**6)
        price = replace(loss, epsilon=larger).price
        return _is_reported(parameters, schema, people * scale_size, price, jaccard, known)

    return Need(
        float(loss.epsilon) * _smallest(lambda factor: at(1.0, factor)),
        people * _smallest(lambda factor: at(factor, 1.0)),
    )


def _smallest(enough: Callable[[float], bool]) -> float:
    """Return the smallest factor that is enough, within a tenth; infinity if there is none."""
    high = 1.0
    while not enough(high):
        high *= 2
        if high > MOST:
            return float("inf")
    low = high / 2
    while high / low > 1.1:
        middle = (low * high) ** 0.5
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def _is_reported(
    parameters: Parameters,
    schema: Schema,
    size: float,
    price: Price,
    jaccard: float,
    known: dict[tuple[int, int], Reach],
) -> bool:
    """Whether two halves with a Jaccard index would satisfy the constraints.

    known: reaches by depth and number of tables, filled as they are needed.
    """
    tuned = tune(parameters, schema, size, price)
    plan = tuned_plan(tuned, price)
    paid = next(step.price for step in plan.steps if step.name.endswith("cells"))
    leaves = 2**tuned.depth
    half = np.arange(leaves) < leaves // 2
    both = size * jaccard / (1 + jaccard)
    share = np.where(half[:, None] == half[None, :], both, size / 2 - both) / (leaves // 2) ** 2
    inner = (0,) * (leaves - 1)
    table = LeafTable(
        Tree(Side.LEFT, inner), Tree(Side.RIGHT, inner), share, None, None, paid, None, None
    )
    shape = tuned.depth, tuned.trials
    if shape not in known:
        terms = term_cells(table.left, inner=True), term_cells(table.right, inner=True)
        known[shape] = report_reach(table, *terms, tuned.trials)
    fitted, reach = estimate(table), known[shape]
    moments = fitted.moments(half[None], half[None])
    wanted = parameters.constraints
    low = jaccard_bounds(moments, reach.intervals)[1][0]
    return bool(
        low >= wanted.min_jaccard
        and pessimistic_p_values(moments, fitted, reach.counts)[0] <= wanted.max_p_value
    )
