"""The tuning rule: from the private size, the price and the schema to depth and repetitions.

It is public and fixed; docs/explanation/tuning.md has the evidence, all of it from generated data.
What counts is the number of entities per unit of noise, N·ε, and how many pairs of splits there are
to choose from: a choice among e^12 of them, some 160 000, is the reference. A price in ρ counts as
the ε at which a pair of twin trees would be chosen equally well.

Twin trees ask for more than that: how strongly the two views are related. A first pair of depth 1,
the scout, tells; the rest of the price is then spent on the shape that suits. Whatever it tells has
been released, so the rule may depend on it.

The thresholds are here; each algorithm applies them in its own `tuned` method.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, TypeAlias

from redveil.losses.loss import Price, choice_epsilon
from redveil.losses.plan import Plan
from redveil.schema import Schema, Side
from redveil.schema.naming import without_years

if TYPE_CHECKING:
    from redveil.algorithms.algorithm import Algorithm

# The logarithm of the reference number of pairs of splits.
REFERENCE_CHOICE: Final = 12.0
# The N·ε from which the trees of an alternation get one more level, and it one more tree and table.
# The first entry stands for no alternation at all: the two splits of its start are reported.
ALTERNATION_DEPTHS: Final = (0, 6_000)
ALTERNATIONS: Final = (0, 6_000, 10_000)
# The N·ε from which twin trees begin with a scout, how much of it the scout gets, and the share of
# it that the scout gets at least.
SCOUT_FROM: Final = 450
SCOUT_NEEDS: Final = 300
LEAST_SCOUT_SHARE: Final = Fraction(1, 25)

# The N·ε from which a tree that describes a given query gets one more level, and a run one more
# tree, both in terms of `strength`.
DESCRIBING_DEPTHS: Final = (0, 1_200)
DESCRIBING_TREES: Final = (0, 8_000, 16_000, 24_000)
# Below this N·ε, one split is chosen by agreement; above it, a tree is drawn by its purity.
GINI_FROM: Final = 500
# Below this N·ε, so much goes to the split: what is counted has to be confirmed with the rest.
HALF_FOR_TREES_FROM: Final = 250
SMALLER_TREE_SHARE: Final = Fraction(1, 4)


def strength(schema: Schema | None, size: float) -> float:
    """Return the number of entities, scaled to the reference number of splits to choose from."""
    entities = max(size, 0.0)
    if schema is None:
        return entities
    pairs = math.prod(schema.view(side).split_count for side in Side)
    return entities * REFERENCE_CHOICE / max(math.log(2 * max(pairs, 1)), 1.0)


def fresh_roots(
    schema: Schema | None, required: Mapping[Side, Collection[str]] = MappingProxyType({})
) -> int:
    """Return how many pairs of twin trees can each begin with attributes not used before.

    required: names of attributes, of which each root takes one. That side may repeat them, as
              long as the other side has attributes that were not used before.
    """
    if schema is None:
        return MOST_PAIRS
    known = {side: {a.name for a in schema.view(side).attributes if a.splits} for side in Side}
    free = [
        len(set(map(without_years, names)))
        for side, names in known.items()
        if not required.get(side)
    ]
    bound = [len(names & set(required.get(side, ()))) for side, names in known.items()]
    return max(min(free) if free else max(bound), 1)


def pair_epsilon(price: Price, depth: int, tree_share: Fraction) -> float:
    """Return the ε of a pair of twin trees; for ρ, the ε at which its levels are chosen as well.

    >>> from redveil.losses.loss import Rho
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


def scout_share(worth: float, price: Price) -> Fraction:
    """Return the share of its price that a run spends on a scout; 0 if there is none.

    worth: the N·ε of the whole price, spent on one pair of depth 1

    >>> scout_share(400, Fraction(1)), scout_share(3_000, Fraction(1))
    (Fraction(0, 1), Fraction(1, 10))
    """
    if worth < SCOUT_FROM:
        return Fraction(0)
    share = max(SCOUT_NEEDS / worth, float(LEAST_SCOUT_SHARE))
    # In ρ, a share of the price is worth its square root.
    share = share if isinstance(price, Fraction) else share**2
    return Fraction(math.ceil(1000 * share), 1000)


# How strongly views are related, as a scout would find, in words. Plans that are made without data
# assume the second.
USUAL: Final = 0.12
RELATED: Final = {"weakly": 0.05, "usually": USUAL, "strongly": 0.2}
# What a pair of twin trees of each depth needs, in N·ε, by how strongly the views are related: the
# leverage of the scout's splits per entity, from LEAST_RELATED on.
LEAST_RELATED: Final = 0.01
MOST_PAIRS: Final = 12
# With more pairs than this, each needs more: in proportion to their number.
PAIRS_AT_FULL_STRENGTH: Final = 5
# Depth 2 is worth it from so many pairs on; from fewer, if the views are strongly related.
FEWEST_DEEP_PAIRS: Final = 6
FEWEST_DEEP_PAIRS_IF_STRONG: Final = 3
STRONGLY_RELATED: Final = 0.15
# Views that offer fewer pairs of roots than this are not worth deeper trees.
FEWEST_ROOTS: Final = 3


def needed(depth: int, related: float) -> float:
    """Return the N·ε that a pair of twin trees of some depth needs.

    related: the leverage of the scout's splits, per entity

    >>> [round(needed(depth, 0.1)) for depth in (1, 2, 3)]
    [300, 1000, 4000]
    """
    x = max(related, LEAST_RELATED)
    if depth == 1:
        return min(max(36 / x - 60, 120), 1_000)
    # Every further level divides the entities once more, and has four times as many cells.
    return float(min(max(10 / x**2, 350), 2_200) * 4 ** (depth - 2))


# The N·ε of each of so many pairs of twin trees of some depth.
Worth: TypeAlias = Callable[[int, int], float]


@dataclass(frozen=True, slots=True)
class Shape:
    """What is grown after the scout: pairs of twin trees of a depth.

    again: whether the roots may be the scout's; otherwise they avoid its attributes
    """

    depth: int
    pairs: int
    again: bool = False


def shape_after_scout(related: float, worth: Worth, roots: int) -> Shape:
    """Return how the rest of the price is spent.

    related: the leverage of the scout's splits, per entity
    worth:   the N·ε of each of so many pairs of some depth
    roots:   how many pairs can begin with attributes not used before

    >>> shape_after_scout(0.18, lambda depth, pairs: 2_400 / pairs, 20)
    Shape(depth=2, pairs=5, again=False)
    >>> shape_after_scout(0.08, lambda depth, pairs: 2_400 / pairs, 20)
    Shape(depth=1, pairs=5, again=False)
    """
    strong = related >= STRONGLY_RELATED
    fewest = FEWEST_DEEP_PAIRS_IF_STRONG if strong else FEWEST_DEEP_PAIRS
    if (pairs := affordable(2, related, worth, roots)) >= min(fewest, max(roots, FEWEST_ROOTS)):
        return Shape(2, pairs)
    if pairs := affordable(1, related, worth, roots - 1):
        return Shape(1, pairs)
    return Shape(1, 1, again=True)


def affordable(depth: int, related: float, worth: Worth, most: int) -> int:
    """Return how many pairs of twin trees of a depth there can be; 0 if not even one.

    >>> affordable(1, 0.15, lambda depth, pairs: 1_000 / pairs, 20)
    5
    """

    def enough(pairs: int) -> float:
        # The relations that are left for later roots are weaker than the scout's.
        return needed(depth, related) * max(pairs / PAIRS_AT_FULL_STRENGTH, 1.0)

    numbers = range(1, min(most, MOST_PAIRS) + 1)
    return max((pairs for pairs in numbers if worth(depth, pairs) >= enough(pairs)), default=0)


@dataclass(frozen=True, slots=True)
class TunedCase:
    """What the rule does from some number of entities on, or at it.

    algorithm: as it is tuned; if a scout decides, as if the views were usually related
    by_related: the same by how strongly the views are related, if a scout decides
    """

    size: int
    algorithm: Algorithm
    plan: Plan
    by_related: Mapping[str, Algorithm] = field(default_factory=dict)


def tuned_case(algorithm: Algorithm, schema: Schema | None, price: Price, size: int) -> TunedCase:
    """Return what the rule does with so many entities.

    >>> from redveil.algorithms.twin import Twin
    >>> case = tuned_case(Twin.of(), None, Fraction(1), 3_000)
    >>> [(one.depth, one.trials) for one in case.by_related.values()]
    [(1, 5), (1, 8), (2, 7)]
    """
    tuned = algorithm.tuned(schema, size, price)
    shapes: Mapping[str, Algorithm] = {}
    if tuned.adapts:
        shapes = {word: tuned.shaped(schema, size, price, x) for word, x in RELATED.items()}
    return TunedCase(size, tuned, tuned.plan(price), shapes)


def tuned_cases(
    algorithm: Algorithm, schema: Schema | None, price: Price, most: int
) -> tuple[TunedCase, ...]:
    """Return the plans that the rule makes for up to so many entities, the fewest first.

    Every plan, except where a scout decides: there are too many of those, so they are listed at
    round numbers of entities.

    >>> from redveil.algorithms.alternation import AltExpM
    >>> [one.size for one in tuned_cases(AltExpM.of(), None, Fraction(1), most=20_000)]
    [0, 6000, 10000]
    >>> from redveil.algorithms.twin import Twin
    >>> [one.size for one in tuned_cases(Twin.of(), None, Fraction(1), most=4_000)]
    [0, 450, 500, 1000, 2000]
    """

    def tuned(size: int) -> Algorithm:
        return algorithm.tuned(schema, size, price)

    found: list[TunedCase] = []
    size = 0
    while size <= most:
        found.append(tuned_case(algorithm, schema, price, size))
        if found[-1].algorithm.adapts:
            found += _at_round_numbers(algorithm, schema, price, size, most)
            break
        size = _next_change(tuned, size, most + 1)
    return tuple(found)


def _at_round_numbers(
    algorithm: Algorithm, schema: Schema | None, price: Price, size: int, most: int
) -> list[TunedCase]:
    """Return the cases beyond a size, up to the one after which no shape changes."""

    def shapes(case: TunedCase) -> list[tuple[int, int]]:
        return [(one.depth, one.trials) for one in case.by_related.values()]

    cases = [
        tuned_case(algorithm, schema, price, number)
        for number in round_numbers(most)
        if number > size
    ]
    while len(cases) > 1 and shapes(cases[-1]) == shapes(cases[-2]):
        cases.pop()
    return cases


def round_numbers(most: int) -> Iterator[int]:
    """Yield 1, 2, 5, 10, 20, 50 and so on.

    >>> list(round_numbers(60))
    [1, 2, 5, 10, 20, 50]
    """
    power = 1
    while power <= most:
        yield from (first * power for first in (1, 2, 5) if first * power <= most)
        power *= 10


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
