"""What runs would detect, from public values alone."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

from redveil.algorithms.catalogue import make_algorithm
from redveil.algorithms.tuning import REFERENCE_CHOICE
from redveil.errors import InputError
from redveil.findings.detection import detections
from redveil.findings.released_table import SplitCounts, split_counts
from redveil.findings.reporting import Constraints
from redveil.findings.required_budget import Design
from redveil.findings.study import study
from redveil.losses.loss import LARGEST_EPSILON, Loss, Price, parse_loss
from redveil.report.detection import Detectable
from redveil.schema import Schema, Side

if TYPE_CHECKING:
    from redveil.algorithms.algorithm import Algorithm

# The values of ε that are tried, in percent of the one given.
PERCENT = (1, 3, 10, 30, 100, 300)


def detectable(
    epsilon: str | float | Fraction,
    entities: int,
    schema: Schema | None = None,
    *,
    delta: str | float | Fraction | None = None,
) -> Detectable:
    """Return the smallest matches that runs would find, and confirm. Needs no data.

    For six values of ε up to three times the given one, and for the parts of a study that loses
    the given one in all. A match is two queries that each cover 5, 20 or 50 % of the entities; it
    counts as found if the run would choose its splits with odds of 9 : 1 and report it.

    epsilon:  the privacy loss ε of a study
    entities: about how many entities the data has
    schema:   the schema, for its number of splits; without it, a usual number is assumed
    delta:    the δ of every run

    >>> sorted(detectable(1, entities=5_000).detections[-1].limits)
    ['common', 'medium', 'rare']
    """
    return detected(make_algorithm(), parse_loss(epsilon, delta), entities, schema)


def detected(
    wanted: Algorithm, loss: Loss, entities: int, schema: Schema | None = None
) -> Detectable:
    """Return what runs of an algorithm would detect."""
    wanted.profile.check_loss(loss)
    if entities < 1:
        raise InputError("entities must be at least 1")
    splits = _usual_splits() if schema is None else split_counts(schema)

    def designer(size: float, price: Price) -> tuple[Design, ...]:
        return wanted.designs(schema, size, price)

    around = [loss.epsilon * Fraction(percent, 100) for percent in PERCENT]
    losses = [replace(loss, epsilon=one) for one in around if one <= LARGEST_EPSILON]
    constraints = Constraints()
    return Detectable(
        entities,
        detections(designer, constraints, splits, entities, losses),
        study(designer, constraints, splits, entities, loss),
    )


def _usual_splits() -> SplitCounts:
    """Return as many splits on each side as make the reference number of pairs."""
    each = round(math.sqrt(math.exp(REFERENCE_CHOICE) / 2))
    return dict.fromkeys(Side, each)
