"""Required budget: the ε, or the number of entities, that a redescription would have needed."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from redveil.errors import PlanError
from redveil.findings.critical_values import report_critical_values
from redveil.findings.discovery import FAMILY_WISE_ERROR
from redveil.findings.estimate import Moments, estimate
from redveil.findings.leaf_table import LeafTable, Prices
from redveil.findings.leverage import largest_log_p
from redveil.findings.released_table import SplitCounts
from redveil.findings.reporting import Constraints
from redveil.findings.statistics import CriticalValues, expected_jaccard, jaccard_bounds
from redveil.losses.loss import LARGEST_EPSILON, Loss, Price, choice_epsilon
from redveil.losses.score import MOST_ENTITIES, Score
from redveil.query.leaves import term_ends
from redveil.schema import Side
from redveil.trees.scores import CORRESPONDENCE, LEVERAGE, TREE_GINI, agreement
from redveil.trees.scores.correspondence import correspondence
from redveil.trees.tree import Tree

# A redescription that most would call good: each query covers half of the entities, and the two
# share two thirds of them; and the share of the entities in a rarer one.
GOOD_JACCARD: Final = 0.5
COMMON_SHARE: Final = 0.5
RARE_SHARE: Final = 0.1
# The odds at which its splits count as chosen.
ODDS_OF_THE_CHOICE: Final = 9.0


@dataclass(frozen=True, slots=True)
class Choice:
    """A private choice of a pair of splits: its price, and the score it is made by."""

    price: Price
    score: Score


@dataclass(frozen=True, slots=True)
class Design:
    """What a run measures, as far as it decides what can be found.

    depth:       of the trees that a choice begins
    tables:      how many leaf tables there are
    cells_price: what the cells of these trees' table cost
    choice:      the private choice on which these trees build, if there is one
    """

    depth: int
    tables: int
    cells_price: Price
    choice: Choice | None


# Critical values by depth and number of tables. They hardly depend on the price, so they are
# simulated once for every shape.
KnownValues: TypeAlias = dict[tuple[int, int], CriticalValues]
# What a run would measure, given a number of entities and a price: one design for each way in which
# the only match in the data can be found.
Designer = Callable[[float, Price], Sequence[Design]]


@dataclass(frozen=True, slots=True)
class RequiredBudget:
    """About how large ε (at this size), or the size (at this ε), would have to be.

    Infinity stands for more than a run can have.
    """

    epsilon: float
    size: float


@dataclass(frozen=True, slots=True)
class Match:
    """Two queries that would have been worth reporting.

    share: the share of the entities that each of them covers, up to a half

    >>> Match(jaccard=0.5).both(1_200)
    400.0
    """

    jaccard: float
    share: float = COMMON_SHARE

    def both(self, size: float) -> float:
        """Return how many entities they have in common."""
        return 2 * self.share * size * self.jaccard / (1 + self.jaccard)

    @property
    def corrected(self) -> float:
        """The chance-corrected index: 0 if unrelated, 1 if the same.

        >>> round(Match(jaccard=0.5).corrected, 2), Match(jaccard=1.0, share=0.1).corrected
        (0.25, 1.0)
        """
        by_chance = expected_jaccard(self.share, self.share, 1.0)
        return (self.jaccard - by_chance) / (1 - by_chance)


def good_match(wanted: Constraints, share: float = COMMON_SHARE) -> Match:
    """Return a good match among those that may be reported.

    >>> good_match(Constraints())
    Match(jaccard=0.5, share=0.5)
    >>> good_match(Constraints(min_jaccard=0.9, max_support=0.2))
    Match(jaccard=0.95, share=0.2)
    """
    good = wanted.min_jaccard < GOOD_JACCARD
    jaccard = GOOD_JACCARD if good else (1 + wanted.min_jaccard) / 2
    return Match(jaccard, min(share, wanted.max_support))


def required_budget(
    designer: Designer,
    constraints: Constraints,
    splits: SplitCounts,
    size: float,
    loss: Loss,
    match: Match,
) -> RequiredBudget:
    """Return what a match would have needed to be reported.

    Found by trying: its two splits among others that are unrelated, and a table with nothing but
    that match, measured without luck, good or bad, at the prices of the plan that would be made.
    Public, as the noisy size is.
    """
    entities = max(size, 1.0)
    known: KnownValues = {}

    def at(scale_size: float, scale_price: float) -> bool:
        larger = loss.epsilon * Fraction(scale_price).limit_denominator(10**6)
        price = replace(loss, epsilon=larger).price
        scaled = entities * scale_size
        return any(
            is_chosen(design.choice, splits, scaled, match)
            and is_reported(design, constraints, scaled, match, known)
            for design in designer(scaled, price)
        )

    epsilon = float(loss.epsilon)
    return RequiredBudget(
        epsilon * _smallest(lambda factor: at(1.0, factor), float(LARGEST_EPSILON) / epsilon),
        entities * _smallest(lambda factor: at(factor, 1.0), MOST_ENTITIES / entities),
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


def is_reported(
    design: Design, wanted: Constraints, size: float, match: Match, known: KnownValues
) -> bool:
    """Return whether a match that is chosen would satisfy the constraints.

    known: critical values, filled as they are needed
    """
    moments, critical = _measured(design, size, match, known)
    return bool(
        jaccard_bounds(moments, 0.0)[0][0] >= wanted.min_jaccard
        and moments.both[0] >= wanted.min_support
        and wanted.max_support >= match.share
        and largest_log_p(moments, critical.leverages)[0] <= math.log(wanted.max_p_value)
    )


def is_confirmed(
    design: Design, comparable: float, size: float, match: Match, known: KnownValues
) -> bool:
    """Return whether a match that is reported would be confirmed.

    comparable: the decimal logarithm of the number of pairs that it is compared with
    known:      critical values, filled as they are needed
    """
    moments, critical = _measured(design, size, match, known)
    log_p = float(largest_log_p(moments, critical.confirming)[0]) / math.log(10)
    return log_p + comparable <= math.log10(FAMILY_WISE_ERROR)


def _measured(
    design: Design, size: float, match: Match, known: KnownValues
) -> tuple[Moments, CriticalValues]:
    """Return what would be measured of a match, without luck, and the errors to allow for."""
    half = np.arange(2**design.depth) < 2 ** (design.depth - 1)
    table = _only(match, half, size, design.cells_price)
    shape = design.depth, design.tables
    if shape not in known:
        terms = term_ends(table.left, inner=True), term_ends(table.right, inner=True)
        known[shape] = report_critical_values(table, *terms, design.tables)
    return estimate(table).moments(half[None], half[None]), known[shape]


def _only(match: Match, half: NDArray[np.bool_], size: float, price: Price) -> LeafTable:
    """Return a table with nothing in it but a match.

    half: the leaves on either side that make up its query, bool[leaves]
    """
    both, each = match.both(size), match.share * size
    quarters = np.array([[size - 2 * each + both, each - both], [each - both, both]])
    side = half.astype(np.int64)
    cells = quarters[side[:, None], side[None, :]] / (half.size // 2) ** 2
    inner = (0,) * (half.size - 1)
    return LeafTable(
        Tree(Side.LEFT, inner), Tree(Side.RIGHT, inner), cells, None, None, Prices(price)
    )


def is_chosen(choice: Choice | None, splits: SplitCounts, size: float, match: Match) -> bool:
    """Return whether the first choice takes the match rather than any other pair of splits.

    The scores of other pairs, of two halves each, lie around 0, spread by coincidence. Their
    weights add up as those of independent Gaussian energies do: on average, or, where ε is large,
    as much as the largest.
    """
    if choice is None:
        return True
    sharpness = float(choice_epsilon(choice.price)) / float(choice.score.width)
    both, each = match.both(size), match.share * size
    if choice.score.name == LEVERAGE.name:
        excess, spread = both - each * match.share, math.sqrt(size) / 4
    elif choice.score.name == agreement(1).name:
        # The smaller matched side less half of the unmatched; of two halves, twice the leverage.
        excess, spread = 2 * both - each, math.sqrt(size) / 2
    elif choice.score.name == CORRESPONDENCE.name:
        matched = both, size - 2 * each + both
        excess, spread = correspondence(*matched, 2 * (each - both)), math.sqrt(size)
    elif choice.score.name == TREE_GINI.name:
        # Of unrelated splits, the purity is above that of none by about one entity.
        excess, spread = _purity(both, each, size) - _purity(each * match.share, each, size), 1.0
    else:
        raise PlanError(f"it is not known how {choice.score.name} tells a match from other pairs")
    others = math.log(2 * math.prod(max(splits[side], 1) for side in Side))
    heat = sharpness * spread
    weight = others + heat**2 / 2 if heat**2 <= 2 * others else heat * math.sqrt(2 * others)
    return sharpness * excess >= weight + math.log(ODDS_OF_THE_CHOICE)


def _purity(both: float, each: float, size: float) -> float:
    """Return the tree Gini of a split with so many entities, for a class with as many."""
    inside, outside = (both, each - both), (each - both, size - 2 * each + both)
    return sum(sum(count**2 for count in side) / max(sum(side), 1.0) for side in (inside, outside))
