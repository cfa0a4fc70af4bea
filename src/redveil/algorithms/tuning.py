"""The tuning rule: from the private size, ε and the schema to depth, trials and alternations.

It is public and fixed; docs/tuning.md has the evidence, all of it from generated data. What counts
is how many entities there are per unit of noise, N·ε, and how many pairs of splits there are to
choose from: a choice among e^12 of them, some 160 000, is taken as usual. A price in ρ counts as
the ε at which a pair of twins would be chosen as well.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Final

from redveil.algorithms.parameters import DEEPEST_EXACT, Parameters, RootScore
from redveil.algorithms.schedule import SIZE_SHARE, make_plan, size_step
from redveil.privacy.loss import Price, choice_epsilon
from redveil.privacy.plan import Plan
from redveil.schema import Schema, Side

USUAL_CHOICE: Final = 12.0
# From how much N·ε on a pair of twins has another level, and a run another pair.
DEPTHS: Final = (0, 1_500, 4_000)
TRIALS: Final = (0, 8_000, 16_000, 24_000)
# From how much an alternation's trees have another level, and it another tree and table. At first
# it has none, and reports the two splits of its start.
ALTERNATING_DEPTHS: Final = (0, 6_000)
ALTERNATIONS: Final = (0, 6_000, 10_000)
# Below this the margin finds something more often; above, the leverage finds something better.
LEVERAGE_FROM: Final = 800


def tune(parameters: Parameters, schema: Schema | None, size: float, price: Price) -> Parameters:
    """Return the parameters with everything set that was left to the rule.

    >>> few = tune(Parameters.of(), None, size=1_000, price=Fraction(1))
    >>> many = tune(Parameters.of(), None, size=100_000, price=Fraction(1))
    >>> (few.depth, few.trials), (many.depth, many.trials)
    ((1, 1), (3, 4))
    """
    auto, tuned, entities = parameters.auto, parameters, strength(schema, size)

    def worth(trials: int, depth: int) -> float:
        return entities * pair_epsilon(price / trials, depth, parameters.tree_share)

    if "trials" in auto:
        depth = len(DEPTHS) if "depth" in auto else parameters.depth
        trials = _reached(TRIALS, lambda t: t * worth(t, depth))
        tuned = replace(tuned, trials=min(trials, _fresh_roots(schema)))
    deep, more = parameters.depth, parameters.alternations
    if "depth" in auto:
        depths = ALTERNATING_DEPTHS if parameters.algorithm.alternates else DEPTHS
        deep = _reached(depths, lambda depth: worth(tuned.trials, depth))
    if "alternations" in auto:
        more = _reached(ALTERNATIONS, lambda _: worth(tuned.trials, DEEPEST_EXACT)) - 1
        # Deeper trees than the start's have to be grown.
        more = max(more, int(deep > 1))
    tuned = replace(tuned, depth=deep, alternations=more)
    if "root_score" in auto:
        weak = worth(tuned.trials, tuned.depth) < LEVERAGE_FROM
        tuned = replace(tuned, root_score=RootScore.AGREEMENT if weak else RootScore.LEVERAGE)
    return tuned


def strength(schema: Schema | None, size: float) -> float:
    """Return N, as it would be with a usual number of splits to choose from."""
    entities = max(size, 0.0)
    if schema is None:
        return entities
    pairs = math.prod(sum(a.splits for a in schema.view(side).attributes) for side in Side)
    return entities * USUAL_CHOICE / max(math.log(2 * max(pairs, 1)), 1.0)


def _fresh_roots(schema: Schema | None) -> int:
    """Return how many pairs of twins can begin with attributes that none before them began with."""
    if schema is None:
        return len(TRIALS)
    views = (schema.view(side).attributes for side in Side)
    return max(min(sum(a.splits > 0 for a in attributes) for attributes in views), 1)


def pair_epsilon(price: Price, depth: int, tree_share: Fraction) -> float:
    """Return the ε of a pair of twins; for ρ the one at which its levels are chosen as well.

    >>> from redveil.privacy.loss import Rho
    >>> pair_epsilon(Fraction(1, 2), 3, Fraction(1, 2))
    0.5
    >>> round(pair_epsilon(Rho(Fraction(1, 50)), 3, Fraction(1, 2)), 2)
    0.98
    """
    if isinstance(price, Fraction):
        return float(price)
    return float(choice_epsilon(price * tree_share / depth) * depth / tree_share)


def tuned_plan(parameters: Parameters, price: Price) -> Plan:
    """Return the plan of a run: the size first, if anything was left to the rule."""
    if not parameters.auto:
        return make_plan(parameters, price)
    rest = make_plan(parameters, price * (1 - SIZE_SHARE))
    return Plan(price, (size_step(price), *rest.steps))


@dataclass(frozen=True, slots=True)
class Tuned:
    """What the rule would do from some size on."""

    size: int
    parameters: Parameters
    plan: Plan


def cases(
    parameters: Parameters, schema: Schema | None, price: Price, most: int
) -> tuple[Tuned, ...]:
    """Return all plans that the rule makes for up to so many entities, the fewest first.

    >>> [one.size for one in cases(Parameters.of(), None, Fraction(1), most=20_000)]
    [0, 800, 1500, 4000, 8000, 16000]
    """

    def tuned(size: int) -> Parameters:
        return tune(parameters, schema, size, price)

    found: list[Tuned] = []
    size = 0
    while size <= most:
        here = tuned(size)
        found.append(Tuned(size, here, tuned_plan(here, price)))
        size = _next_change(tuned, size, most + 1)
    return tuple(found)


def _next_change(tuned: Callable[[int], Parameters], size: int, end: int) -> int:
    """Return from how many entities on the rule decides otherwise, or the end.

    Halving the distance finds it, for more entities never lead back to what fewer had.
    """
    here = tuned(size)
    while end - size > 1:
        middle = (size + end) // 2
        if tuned(middle) == here:
            size = middle
        else:
            end = middle
    return end


def _reached(thresholds: tuple[int, ...], worth: Callable[[int], float]) -> int:
    """Return how many there can be: the largest number whose worth reaches its threshold."""
    numbers = enumerate(thresholds, start=1)
    return max(number for number, threshold in numbers if worth(number) >= threshold)
