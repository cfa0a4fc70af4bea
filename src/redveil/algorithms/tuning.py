"""The tuning rule: from the private size, the price and the schema to depth and repetitions.

It is public and fixed; docs/explanation/tuning.md has the evidence, all of it from generated data.
What counts is the number of entities per unit of noise, N·ε, and how many pairs of splits there are
to choose from: a choice among e^12 of them, some 160 000, is the reference. A price in ρ counts as
the ε at which a pair of twin trees would be chosen equally well.

The thresholds are here; each algorithm applies them in its own `tuned` method.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Final

from redveil.privacy.loss import Price, choice_epsilon
from redveil.privacy.plan import Plan
from redveil.schema import Schema, Side

if TYPE_CHECKING:
    from redveil.algorithms.algorithm import Algorithm

# The logarithm of the reference number of pairs of splits.
REFERENCE_CHOICE: Final = 12.0
# The N·ε from which a pair of twin trees gets one more level, and a run one more pair.
TWIN_DEPTHS: Final = (0, 1_500, 4_000)
TWIN_TRIALS: Final = (0, 8_000, 16_000, 24_000)
# The N·ε from which the trees of an alternation get one more level, and it one more tree and table.
# The first entry stands for no alternation at all: the two splits of its start are reported.
ALTERNATION_DEPTHS: Final = (0, 6_000)
ALTERNATIONS: Final = (0, 6_000, 10_000)
# Below this N·ε, agreement finds something more often; above it, leverage finds something better.
LEVERAGE_FROM: Final = 800

# The N·ε from which a tree that describes a given query gets one more level, and a run one more
# tree. There are fewer splits to choose from, which `strength` allows for.
DESCRIBING_DEPTHS: Final = (0, 1_200)
DESCRIBING_TREES: Final = (0, 8_000, 16_000, 24_000)
# Below this N·ε, one split is chosen by agreement; above it, a tree is drawn by its purity.
GINI_FROM: Final = 500


def strength(schema: Schema | None, size: float) -> float:
    """Return the number of entities, scaled to the reference number of splits to choose from."""
    entities = max(size, 0.0)
    if schema is None:
        return entities
    pairs = math.prod(schema.view(side).split_count for side in Side)
    return entities * REFERENCE_CHOICE / max(math.log(2 * max(pairs, 1)), 1.0)


def fresh_roots(schema: Schema | None) -> int:
    """Return how many pairs of twin trees can each begin with attributes not used before."""
    if schema is None:
        return len(TWIN_TRIALS)
    views = (schema.view(side).attributes for side in Side)
    return max(min(sum(a.splits > 0 for a in attributes) for attributes in views), 1)


def pair_epsilon(price: Price, depth: int, tree_share: Fraction) -> float:
    """Return the ε of a pair of twin trees; for ρ, the ε at which its levels are chosen as well.

    >>> from redveil.privacy.loss import Rho
    >>> pair_epsilon(Fraction(1, 2), 3, Fraction(1, 2))
    0.5
    >>> round(pair_epsilon(Rho(Fraction(1, 50)), 3, Fraction(1, 2)), 2)
    0.98
    """
    if isinstance(price, Fraction):
        return float(price)
    return float(choice_epsilon(price * tree_share / depth) * depth / tree_share)


def reached(thresholds: tuple[int, ...], worth: Callable[[int], float]) -> int:
    """Return the largest number, counted from 1, whose worth reaches its threshold.

    >>> reached((0, 10, 20), lambda number: 15.0)
    2
    """
    numbers = enumerate(thresholds, start=1)
    return max(number for number, threshold in numbers if worth(number) >= threshold)


def is_weak(worth: float) -> bool:
    """Return whether there is so little N·ε that roots are chosen by agreement."""
    return worth < LEVERAGE_FROM


@dataclass(frozen=True, slots=True)
class TunedCase:
    """What the rule does from some number of entities on."""

    size: int
    algorithm: Algorithm
    plan: Plan


def tuned_cases(
    algorithm: Algorithm, schema: Schema | None, price: Price, most: int
) -> tuple[TunedCase, ...]:
    """Return every plan that the rule makes for up to so many entities, the fewest first.

    >>> from redveil.algorithms.twin import Twin
    >>> [one.size for one in tuned_cases(Twin.of(), None, Fraction(1), most=20_000)]
    [0, 800, 1500, 4000, 8000, 16000]
    """

    def tuned(size: int) -> Algorithm:
        return algorithm.tuned(schema, size, price)

    found: list[TunedCase] = []
    size = 0
    while size <= most:
        here = tuned(size)
        found.append(TunedCase(size, here, here.plan(price)))
        size = _next_change(tuned, size, most + 1)
    return tuple(found)


def _next_change(tuned: Callable[[int], Algorithm], size: int, end: int) -> int:
    """Return the number of entities from which the rule decides otherwise, or the end.

    Bisection finds it, because more entities never lead back to what fewer had.
    """
    here = tuned(size)
    while end - size > 1:
        middle = (size + end) // 2
        if tuned(middle) == here:
            size = middle
        else:
            end = middle
    return end
