"""The tuning rule: from the private size, ε and the schema to depth and trials.

It is public and fixed; docs/tuning.md has the evidence, all of it from generated data. What counts
is how many entities there are per unit of noise, N·ε, and how many pairs of splits there are to
choose from: a choice among e^12 of them, some 160 000, is taken as usual.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Final

from redveil.mining.parameters import Parameters, RootScore
from redveil.mining.schedule import SIZE_SHARE, make_plan, size_step
from redveil.privacy.plan import Plan
from redveil.schema import Schema, Side

USUAL_CHOICE: Final = 12.0
# From how much N·ε on a pair of twins has another level, and a run another pair.
DEPTHS: Final = (0, 1_500, 4_000)
TRIALS: Final = (0, 8_000, 16_000, 24_000)
# Below this the margin finds something more often; above, the leverage finds something better.
LEVERAGE_FROM: Final = 800


def tune(
    parameters: Parameters, schema: Schema | None, size: float, epsilon: Fraction
) -> Parameters:
    """Return the parameters with everything set that was left to the rule.

    >>> few = tune(Parameters.of(), None, size=1_000, epsilon=Fraction(1))
    >>> many = tune(Parameters.of(), None, size=100_000, epsilon=Fraction(1))
    >>> (few.depth, few.trials), (many.depth, many.trials)
    ((1, 1), (3, 4))
    """
    worth, auto = strength(schema, size, epsilon), parameters.auto
    tuned = parameters
    if "trials" in auto:
        tuned = replace(tuned, trials=_reached(TRIALS, worth))
    if "depth" in auto:
        tuned = replace(tuned, depth=_reached(DEPTHS, worth / tuned.trials))
    if "root_score" in auto:
        weak = worth / tuned.trials < LEVERAGE_FROM
        tuned = replace(tuned, root_score=RootScore.MARGIN if weak else RootScore.LEVERAGE)
    return tuned


def strength(schema: Schema | None, size: float, epsilon: Fraction) -> float:
    """Return N·ε, as it would be with a usual number of splits to choose from."""
    worth = max(size, 0.0) * float(epsilon)
    if schema is None:
        return worth
    pairs = math.prod(sum(a.splits for a in schema.view(side).attributes) for side in Side)
    return worth * USUAL_CHOICE / max(math.log(2 * max(pairs, 1)), 1.0)


def tuned_plan(parameters: Parameters, epsilon: Fraction) -> Plan:
    """Return the plan of a run: the size first, if anything was left to the rule."""
    if not parameters.auto:
        return make_plan(parameters, epsilon)
    rest = make_plan(parameters, epsilon * (1 - SIZE_SHARE))
    return Plan(epsilon, (size_step(epsilon), *rest.steps))


@dataclass(frozen=True, slots=True)
class Tuned:
    """What the rule would do from some size on."""

    size: int
    parameters: Parameters
    plan: Plan


def cases(
    parameters: Parameters, schema: Schema | None, epsilon: Fraction, sizes: Iterable[int]
) -> tuple[Tuned, ...]:
    """Return the different plans that the rule makes for some sizes, the smallest first.

    >>> [one.size for one in cases(Parameters.of(), None, Fraction(1), (100, 200, 5_000, 10_000))]
    [100, 5000, 10000]
    """
    found: list[Tuned] = []
    for size in sizes:
        tuned = tune(parameters, schema, size, epsilon)
        if not found or tuned != found[-1].parameters:
            found.append(Tuned(size, tuned, tuned_plan(tuned, epsilon)))
    return tuple(found)


def _reached(thresholds: tuple[int, ...], worth: float) -> int:
    """Return how many thresholds are reached."""
    return sum(worth >= threshold for threshold in thresholds)
