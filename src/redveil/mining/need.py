"""What it would have taken: the ε or the number of entities at which something would hold up."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Final

import numpy as np

from redveil.mining.estimate import estimate
from redveil.mining.leaf_query import term_cells
from redveil.mining.leaf_table import LeafTable
from redveil.mining.parameters import Constraints, Parameters, RootScore
from redveil.mining.reach import Reach, report_reach
from redveil.mining.statistics import jaccard_bounds, pessimistic_p_values
from redveil.mining.tuning import tune, tuned_plan
from redveil.privacy.loss import LARGEST_EPSILON, Loss, Price, choice_epsilon
from redveil.privacy.plan import Plan
from redveil.privacy.score import MOST_ENTITIES
from redveil.schema import Schema, Side
from redveil.trees.scores import LEVERAGE, margin
from redveil.trees.tree import Tree

# A redescription that most would call good: two halves of the entities that share two thirds.
GOOD: Final = 0.5
# The odds at which its splits are taken to be chosen.
ODDS: Final = 9.0


@dataclass(frozen=True, slots=True)
class Need:
    """About how large ε (at this size), or the size (at this ε), would have to be.

    Infinity stands for more than a run can have.
    """

    epsilon: float
    size: float


def good_match(wanted: Constraints) -> float:
    """Return the Jaccard index of a good match among those that may be reported.

    >>> good_match(Constraints()), good_match(Constraints(min_jaccard=0.9))
    (0.5, 0.95)
    """
    return GOOD if wanted.min_jaccard < GOOD else (1 + wanted.min_jaccard) / 2


def needed(parameters: Parameters, schema: Schema, size: float, loss: Loss, jaccard: float) -> Need:
    """Return what a redescription of half the entities would have needed to be reported.

    Found by trying: its two splits among others that have nothing to do with each other, and a
    table with nothing but that redescription, measured without luck, good or bad, at the prices of
    the plan that the rule makes. Public, as the noisy size is.
    """
    people = max(size, 1.0)
    # The reach hardly depends on the price, so it is simulated once for every shape.
    known: dict[tuple[int, int], Reach] = {}

    def at(scale_size: float, scale_price: float) -> bool:
        larger = loss.epsilon * Fraction(scale_price).limit_denominator(10**6)
        price = replace(loss, epsilon=larger).price
        return _is_reported(parameters, schema, people * scale_size, price, jaccard, known)

    price = float(loss.epsilon)
    return Need(
        price * _smallest(lambda factor: at(1.0, factor), float(LARGEST_EPSILON) / price),
        people * _smallest(lambda factor: at(factor, 1.0), MOST_ENTITIES / people),
    )


def _smallest(enough: Callable[[float], bool], most: float) -> float:
    """Return the smallest factor that is enough, within a tenth; infinity if it is above most."""
    high = 1.0
    while not enough(high):
        if high >= most:
            return math.inf
        high = min(2 * high, most)
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
    """Whether two halves with a Jaccard index would be met with, and satisfy the constraints.

    known: reaches by depth and number of tables, filled as they are needed.
    """
    tuned = tune(parameters, schema, size, price)
    plan = tuned_plan(tuned, price)
    if not _is_chosen(tuned, plan, schema, size, jaccard):
        return False
    paid = next(step.price for step in plan.steps if step.name.endswith("cells"))
    leaves = 2**tuned.depth
    half = np.arange(leaves) < leaves // 2
    both = size * jaccard / (1 + jaccard)
    share = np.where(half[:, None] == half[None, :], both, size / 2 - both) / (leaves // 2) ** 2
    inner = (0,) * (leaves - 1)
    table = LeafTable(
        Tree(Side.LEFT, inner), Tree(Side.RIGHT, inner), share, None, None, paid, None, None
    )
    tables = tuned.trials * tuned.tables
    shape = tuned.depth, tables
    if shape not in known:
        terms = term_cells(table.left, inner=True), term_cells(table.right, inner=True)
        known[shape] = report_reach(table, *terms, tables)
    fitted, reach = estimate(table), known[shape]
    moments = fitted.moments(half[None], half[None])
    wanted = parameters.constraints
    low = jaccard_bounds(moments, reach.intervals)[1][0]
    fewest = moments.both[0] - reach.intervals * moments.both_both[0] ** 0.5
    return bool(
        low >= wanted.min_jaccard
        and fewest >= wanted.min_support
        and wanted.max_support >= 1 / 2
        and pessimistic_p_values(moments, fitted, reach.counts)[0] <= wanted.max_p_value
    )


def _is_chosen(tuned: Parameters, plan: Plan, schema: Schema, size: float, jaccard: float) -> bool:
    """Whether the first choice of twins, or of a start, takes the pair rather than any other.

    Others have scores around 0, spread by chance. Their weights add up as those of independent
    Gaussian energies do: on average, or, where ε is large, as much as the largest of them.
    """
    first = next((s for s in plan.steps if s.name.endswith(("twins, level 1", "start"))), None)
    if first is None:
        return True
    price = first.price
    epsilon = float(price if isinstance(price, Fraction) else choice_epsilon(price))
    excess = size * (jaccard / (1 + jaccard) - 1 / 4)
    spread = math.sqrt(size) / 4
    if tuned.root_score is RootScore.MARGIN:
        # Of two halves, the margin is twice the leverage.
        sharpness = 2 * epsilon / float(margin(1).width)
    else:
        sharpness = epsilon / float(LEVERAGE.width)
    rivals = math.log(2 * math.prod(max(schema.view(side).split_count, 1) for side in Side))
    heat = sharpness * spread
    weight = rivals + heat**2 / 2 if heat**2 <= 2 * rivals else heat * math.sqrt(2 * rivals)
    return sharpness * excess >= weight + math.log(ODDS)
