"""What it would have taken: the ε or the number of entities at which something would hold up."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Final

import numpy as np
from numpy.typing import NDArray

from redveil.algorithms.parameters import Constraints, Parameters, RootScore
from redveil.algorithms.tuning import tune, tuned_plan
from redveil.findings.critical_values import Reach, report_reach
from redveil.findings.estimate import estimate
from redveil.findings.leaf_table import LeafTable
from redveil.findings.statistics import jaccard_bounds, pessimistic_p_values
from redveil.privacy.loss import LARGEST_EPSILON, Loss, Price, choice_epsilon
from redveil.privacy.plan import Plan
from redveil.privacy.score import MOST_ENTITIES
from redveil.query.leaves import term_ends
from redveil.schema import Schema, Side
from redveil.trees.scores import LEVERAGE, agreement
from redveil.trees.tree import Tree

# A redescription that most would call good: two halves of the entities that share two thirds; and
# the share of the entities in a rarer one.
GOOD: Final = 0.5
COMMON: Final = 0.5
RARE: Final = 0.1
# The odds at which its splits are taken to be chosen.
ODDS: Final = 9.0


@dataclass(frozen=True, slots=True)
class Need:
    """About how large ε (at this size), or the size (at this ε), would have to be.

    Infinity stands for more than a run can have.
    """

    epsilon: float
    size: float


@dataclass(frozen=True, slots=True)
class Match:
    """Two queries that would have been worth reporting.

    share: which share of the entities each of them covers, up to a half.

    >>> Match(jaccard=0.5).both(1_200)
    400.0
    """

    jaccard: float
    share: float = COMMON

    def both(self, size: float) -> float:
        """Return how many entities they have in common."""
        return 2 * self.share * size * self.jaccard / (1 + self.jaccard)


def good_match(wanted: Constraints, share: float = COMMON) -> Match:
    """Return a good match among those that may be reported.

    >>> good_match(Constraints())
    Match(jaccard=0.5, share=0.5)
    >>> good_match(Constraints(min_jaccard=0.9, max_support=0.2))
    Match(jaccard=0.95, share=0.2)
    """
    jaccard = GOOD if wanted.min_jaccard < GOOD else (1 + wanted.min_jaccard) / 2
    return Match(jaccard, min(share, wanted.max_support))


def needed(parameters: Parameters, schema: Schema, size: float, loss: Loss, match: Match) -> Need:
    """Return what a redescription would have needed to be reported.

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
        return _is_reported(parameters, schema, people * scale_size, price, match, known)

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
    match: Match,
    known: dict[tuple[int, int], Reach],
) -> bool:
    """Whether a match would be met with, and satisfy the constraints.

    known: reaches by depth and number of tables, filled as they are needed.
    """
    tuned = tune(parameters, schema, size, price)
    plan = tuned_plan(tuned, price)
    if not _is_chosen(tuned, plan, schema, size, match):
        return False
    paid = next(step.price for step in plan.steps if step.name.endswith("cells"))
    half = np.arange(2**tuned.depth) < 2 ** (tuned.depth - 1)
    table = _only(match, half, size, paid)
    tables = tuned.trials * tuned.tables
    shape = tuned.depth, tables
    if shape not in known:
        terms = term_ends(table.left, inner=True), term_ends(table.right, inner=True)
        known[shape] = report_reach(table, *terms, tables)
    fitted, reach = estimate(table), known[shape]
    moments = fitted.moments(half[None], half[None])
    wanted = parameters.constraints
    low = jaccard_bounds(moments, reach.intervals)[1][0]
    fewest = moments.both[0] - reach.intervals * moments.both_both[0] ** 0.5
    return bool(
        low >= wanted.min_jaccard
        and fewest >= wanted.min_support
        and wanted.max_support >= match.share
        and pessimistic_p_values(moments, fitted, reach.counts)[0] <= wanted.max_p_value
    )


def _only(match: Match, half: NDArray[np.bool_], size: float, paid: Price) -> LeafTable:
    """Return a table with nothing in it but a match.

    half: the leaves on either side that make up its query, bool[leaves].
    """
    both, each = match.both(size), match.share * size
    quarters = np.array([[size - 2 * each + both, each - both], [each - both, both]])
    side = half.astype(np.int64)
    cells = quarters[side[:, None], side[None, :]] / (half.size // 2) ** 2
    inner = (0,) * (half.size - 1)
    trees = Tree(Side.LEFT, inner), Tree(Side.RIGHT, inner)
    return LeafTable(*trees, cells, None, None, paid, None, None)


def _is_chosen(tuned: Parameters, plan: Plan, schema: Schema, size: float, match: Match) -> bool:
    """Whether the first choice of twins, or of a start, takes the pair rather than any other.

    Others, of two halves, have scores around 0, spread by chance. Their weights add up as those of
    independent Gaussian energies do: on average, or, where ε is large, as much as the largest.
    """
    first = next((s for s in plan.steps if s.name.endswith(("twins, level 1", "start"))), None)
    if first is None:
        return True
    price = first.price
    epsilon = float(price if isinstance(price, Fraction) else choice_epsilon(price))
    both, each = match.both(size), match.share * size
    if tuned.root_score is RootScore.AGREEMENT:
        # The smaller matched sides, less half of those outside; of two halves twice the leverage.
        excess, spread = 2 * both - each, math.sqrt(size) / 2
        sharpness = epsilon / float(agreement(1).width)
    else:
        excess, spread = both - each * match.share, math.sqrt(size) / 4
        sharpness = epsilon / float(LEVERAGE.width)
    rivals = math.log(2 * math.prod(max(schema.view(side).split_count, 1) for side in Side))
    heat = sharpness * spread
    weight = rivals + heat**2 / 2 if heat**2 <= 2 * rivals else heat * math.sqrt(2 * rivals)
    return sharpness * excess >= weight + math.log(ODDS)
