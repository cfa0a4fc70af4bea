"""The generated clinic, mined with randomness that repeats."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import cache
from typing import Any

import redveil
from redveil.algorithms.algorithm import Algorithm
from redveil.algorithms.catalogue import make_algorithm
from redveil.data.synthetic import clinic_frames, clinic_schema
from redveil.findings.reporting import Constraints, Reporting
from redveil.losses.loss import Loss
from redveil.mining import mine, report
from redveil.report.result import Result
from redveil.schema import Schema, Status
from support.seeded import SeededRandomness

#: Satisfied by nearly every pair of queries, so that there is much to look at.
ANYTHING = Constraints(max_p_value=1, min_jaccard=0, min_support=0, max_support=1)
#: Satisfied by no pair of queries at all.
NOTHING = Constraints(max_p_value=5e-324, min_jaccard=1)

#: Labels from the lowest to the highest, for an evaluator that does not know the schema.
ORDERS = {"smoking": ("never", "former", "current")}


@cache
def clinic(patients: int = 2000) -> redveil.Dataset:
    """Return the clinic, loaded and sealed."""
    return redveil.load(*clinic_frames(patients), clinic_schema())


@cache
def mined_clinic(
    constraints: Constraints = ANYTHING,
    seed: int = 1,
    *,
    draft: bool = False,
    prune: float | str | None = None,
    **parameters: Any,
) -> Result:
    """Return the same result each time."""
    schema: Schema = clinic_schema()
    if draft:
        schema = replace(schema, status=Status.DRAFT)
    dataset = redveil.load(*clinic_frames(2000), schema) if draft else clinic()
    chosen = {"algorithm": "alt-expm", "trials": 2, **parameters}
    if chosen["algorithm"].startswith("alt-"):
        chosen = {"depth": 2, "alternations": 2, **chosen}
    algorithm = make_algorithm(**chosen)
    reporting = algorithm.profile.reporting(constraints, prune)
    return mined(dataset, algorithm, reporting, Fraction(3), seed)


def mined(
    dataset: redveil.Dataset,
    algorithm: Algorithm,
    reporting: Reporting,
    epsilon: Fraction,
    seed: int,
) -> Result:
    """Mine with randomness that repeats, each trial with its own stream."""

    def streams(trial: int) -> SeededRandomness:
        return SeededRandomness(1000 * seed + trial)

    return report(mine(dataset, algorithm, reporting, Loss(epsilon), streams))
